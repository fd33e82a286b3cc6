#include "election/election.hpp"

#include <atomic>
#include <exception>
#include <filesystem>
#include <utility>

#include "conclave/base/error.hpp"
#include "election/service.hpp"

namespace conclave::election {
namespace {

std::optional<Credentials> credentials_of(const ElectionOptions& options) {
  const CredentialFiles files{options.authority_file, options.certificate_file, options.key_file};
  if (files.authority.empty() && files.certificate.empty() && files.key.empty()) return {};
  return load_credentials(files, {options.cluster, options.self});
}

ServiceOptions service_options(const ElectionOptions& options) {
  ServiceOptions result;
  result.transport.cluster = options.cluster;
  result.transport.self = options.self;
  for (const std::string& member : options.members) {
    result.transport.members.push_back(parse_endpoint(member));
  }
  if (!options.listen.empty()) result.transport.listen = parse_endpoint(options.listen);
  result.transport.credentials = credentials_of(options);
  if (options.lease < milliseconds(30)) throw Error("the lease must be at least 30 ms");
  result.timing = timing_for(options.lease);
  result.state_file = options.state_file;
  const bool is_missing = !result.state_file.empty() && !std::filesystem::exists(result.state_file);
  if (options.founds && is_missing) write_founding_file(result);
  return result;
}

}  // namespace

struct Election::Running {
  Running(const ElectionOptions& options, ElectionCallbacks calls)
      : callbacks(std::move(calls)),
        wakes(options.wakes),
        service(loop, service_options(options),
                {.changed = [this] { tell(); },
                 .log = callbacks.log,
                 .failed = [this](const std::exception& error) { fail(error); },
                 .removed = {}}) {}

  void tell() {
    const MemberView view = service.view();
    const bool acts = service.holds_lease();
    if (acted && !acts && callbacks.lost) callbacks.lost(token);
    if (!acted && acts && callbacks.won) callbacks.won(view.term);
    acted = acts;
    if (acts) token = view.term;
    const bool is_news = std::exchange(leader, view.leader) != view.leader;
    const bool is_other = view.leader != nobody && !view.leads;
    if (is_news && is_other && callbacks.follows) callbacks.follows(view.leader, view.term);
  }

  void fail(const std::exception& error) {
    failure = error.what();
    loop.stop();
  }

  void leave() {
    if (!std::exchange(is_leaving, true)) service.leave([this] { loop.stop(); });
  }
  void retire() {
    if (!std::exchange(is_leaving, true)) service.resign_and_leave([this] { loop.stop(); });
  }

  Loop loop;
  ElectionCallbacks callbacks;
  bool wakes;
  bool acted = false;
  Term token = 0;  // with which it has won last
  MemberIndex leader = nobody;
  bool is_leaving = false;
  std::string failure;
  Service service;
};

Election::Election(const ElectionOptions& options, ElectionCallbacks callbacks)
    : running_(std::make_unique<Running>(options, std::move(callbacks))) {}

Election::~Election() = default;

void Election::run() {
  if (running_->wakes) running_->loop.post([running = running_.get()] { running->service.wake(); });
  running_->loop.run();
  if (!running_->failure.empty()) throw std::runtime_error(running_->failure);
}

void Election::stop() {
  running_->loop.post([running = running_.get()] { running->leave(); });
}

void Election::resign() {
  running_->loop.post([running = running_.get()] { running->service.resign(); });
}

void Election::retire() {
  running_->loop.post([running = running_.get()] { running->retire(); });
}

bool Election::may_act() const { return running_->service.holds_lease(); }

std::optional<std::uint64_t> Election::token() const {
  const Lease lease = running_->service.lease();
  if (!lease.holds(local_time())) return {};
  return lease.term;
}

milliseconds Election::lease_left() const { return running_->service.lease_left(); }

std::uint64_t Election::term() const { return running_->service.lease().term; }

}  // namespace conclave::election
