// `conclave node`: one member of a cluster of real processes.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/cli/terminal.hpp"
#include "conclave/election/config.hpp"
#include "conclave/election/status.hpp"

namespace conclave::cli {
namespace {

using namespace std::chrono_literals;

struct Options {
  std::string config;
  std::string seed;
  bool stays = false;
  bool waits = false;
  bool is_verbose = false;
};

class Node {
 public:
  Node(election::NodeConfig config, bool is_verbose)
      : config_(std::move(config)),
        is_verbose_(is_verbose),
        service_(loop_, config_.service,
                 {.changed = [this] { on_change(); },
                  .log = [this](std::string_view line) { on_log(line); },
                  .failed = [this](const std::exception& error) { fail(error); }}) {
    if (!config_.status_socket.empty()) endpoint_.emplace(loop_, config_.status_socket, service_);
  }

  Exit run() {
    look_for_interrupt();
    if (!config_.stays) loop_.after(config_.give_up, [this] { give_up(); });
    if (config_.wakes) loop_.post([this] { service_.wake(); });
    loop_.run();
    return status_;
  }

 private:
  void on_change() {
    const election::MemberView view = service_.view();
    if (view.leader == election::nobody) {
      if (config_.stays && told_) say("no leader");
      return;
    }
    const auto& where = service_.members()[view.leader];
    say(fmt::format("leader {} ({}), term {}{}", view.leader, to_string(where), view.term,
                    view.leads ? ", this member" : ""));
    if (!config_.stays) leave(Exit::done);
  }

  void say(const std::string& line) {
    if (line == last_line_) return;
    last_line_ = line;
    told_ = true;
    fmt::print("{}\n", line);
    std::fflush(stdout);
  }

  void on_log(std::string_view line) {
    last_log_ = line;
    if (is_verbose_) fmt::print(stderr, "conclave: {}\n", line);
  }

  void fail(const std::exception& error) {
    fmt::print(stderr, "conclave: {}\n", error.what());
    status_ = Exit::failed;
    loop_.stop();
  }

  void give_up() {
    if (is_leaving_) return;
    fmt::print(stderr, "conclave: no leader after {} s; {} of {} other members do not answer{}{}\n",
               config_.give_up.count(), service_.view().suspected, service_.members().size() - 1,
               last_log_.empty() ? "" : "; last: ", last_log_);
    leave(Exit::not_converged);
  }

  void leave(Exit status) {
    if (is_leaving_) return;
    is_leaving_ = true;
    status_ = status;
    service_.leave([this] { loop_.stop(); });
  }

  void look_for_interrupt() {
    if (interrupted_) leave(Exit::interrupted);
    loop_.after(100ms, [this] { look_for_interrupt(); });
  }

  election::NodeConfig config_;
  bool is_verbose_;
  const std::atomic<bool>& interrupted_ = interrupted_flag();
  election::Loop loop_;
  election::Service service_;
  std::optional<election::StatusEndpoint> endpoint_;
  std::string last_log_;
  std::string last_line_;
  bool told_ = false;
  bool is_leaving_ = false;
  Exit status_ = Exit::done;
};

Exit node(const Options& options) {
  election::NodeConfig config = election::read_config(options.config);
  if (options.stays) config.stays = true;
  if (options.waits) config.wakes = false;
  if (!options.seed.empty()) {
    config.service.seed = count_option_64("--seed", options.seed, 0, UINT64_MAX);
  }
  if (!config.service.transport.credentials) {
    fmt::print(stderr, "conclave: insecure: anyone on this machine can take part\n");
  }
  // Whoever has won must reach all that are to know it before it leaves.
  config.service.transport.limits.farewell = 10s;
  return Node(std::move(config), options.is_verbose).run();
}

constexpr const char* examples = R"(
The configuration, in TOML (`conclave cluster init DIR --n N` writes one per member):
  cluster = "demo"                                 member = 0
  members = ["10.0.0.1:7000", "10.0.0.2:7000"]     listen = "0.0.0.0:7000"
  authority = "ca.pem"    certificate = "member-0.pem"    key = "member-0.key"
  state = "member-0.state"    wake = true    stay = true    status = "member-0.sock"
Without `stay` it prints the leader and exits with 0, or with 3 after give_up_s = 60 seconds.

Examples:
  conclave cluster init demo --n 3
  conclave node --config demo/member-0.toml
  conclave node --config demo/member-1.toml --stay
  curl --unix-socket demo/member-1.sock http://member/)";

}  // namespace

void add_node(Command& conclave) {
  auto options = std::make_shared<Options>();
  Command command =
      conclave.subcommand("node", "Take part in the election of a leader between real processes");
  command.required_option("--config", "FILE", options->config, "Who this member is, in TOML");
  command.option("--seed", "S", options->seed,
                 "Seed of its coins, for experiments (default: the system's randomness)");
  command.flag("--stay", options->stays, "Go on after the leader is known, and elect again");
  command.flag("--wait", options->waits, "Do not start an election; wait for another member to");
  command.flag("--verbose", options->is_verbose, "Tell on standard error what happens");
  command.footer(examples);
  command.runs([options] { return node(*options); });
}

}  // namespace conclave::cli
