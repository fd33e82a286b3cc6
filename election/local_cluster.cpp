#include "election/local_cluster.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <fmt/format.h>

#include "conclave/base/descriptor.hpp"
#include "conclave/base/error.hpp"
#include "election/service.hpp"

namespace conclave::election {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Stage = ProcessReport::Stage;
static_assert(sizeof(ProcessReport) <= PIPE_BUF, "reports must go through the pipe in one piece");

[[noreturn]] void cannot(std::string_view doing) {
  throw Error(fmt::format("cannot {}: {}", doing, std::generic_category().message(errno)));
}

struct Pipe {
  Descriptor read;
  Descriptor write;

  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) cannot("make a pipe");
    read = Descriptor(ends[0]);
    write = Descriptor(ends[1]);
  }
};

void allow_many_descriptors(MemberIndex n) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t wanted = 4 * rlim_t{n} + 64;
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min(limit.rlim_max, wanted);
  ::setrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur < wanted) {
    throw Error(
        fmt::format("{} processes need {} descriptors each, and the limit is {} (ulimit -n)", n,
                    wanted, limit.rlim_cur));
  }
}

// A socket that a process inherits.
struct Listening {
  Descriptor listener;
  std::uint16_t port = 0;
};

Listening listen_on_loopback() {
  Listening seat{Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  const bool listens = seat.listener.number() >= 0 &&
                       ::bind(seat.listener.number(), raw, length) == 0 &&
                       ::listen(seat.listener.number(), SOMAXCONN) == 0 &&
                       ::getsockname(seat.listener.number(), raw, &length) == 0;
  if (!listens) cannot("listen on 127.0.0.1");
  seat.port = ntohs(address.sin_port);
  return seat;
}

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Patient, the more the more processes there are: they share few cores, and none is expected to
// fail.
std::chrono::seconds patience_for(std::size_t n) {
  return std::chrono::seconds(20 * (1 + n / 200));
}
Timing patient_timing(std::size_t n) {
  const std::chrono::seconds lease = patience_for(n);
  return {.lease = lease,
          .renewal = lease / 4,
          .patience = 2 * lease,
          .answer = lease,
          .election = 3 * lease};
}

// The parts of a local cluster that each of its processes uses.
struct Plan {
  const LocalClusterOptions& options;
  std::vector<Endpoint> members;
  int gate;     // closed by the parent: begin
  int leaving;  // closed by the parent: everybody knows the leader
  int reports;
};

// One of the processes.
class Process {
 public:
  Process(const Plan& plan, MemberIndex self, int listener)
      : plan_(plan), self_(self), service_(loop_, options(plan, self, listener), callbacks()) {}

  void run() {
    report(Stage::ready);
    await_end_of(plan_.gate);  // nothing is read from other members before everybody is woken
    if (plan_.options.wakes_all || self_ == 0) service_.wake();
    loop_.when_readable(plan_.leaving, [this] { loop_.stop(); });
    loop_.run();
    report(Stage::left);
  }

 private:
  static ServiceOptions options(const Plan& plan, MemberIndex self, int listener) {
    ServiceOptions result;
    result.transport.cluster = "local";
    result.transport.self = self;
    result.transport.members = plan.members;
    result.transport.listener = listener;
    const auto& credentials = plan.options.credentials;
    if (!credentials.empty()) result.transport.credentials = credentials[self];
    const std::chrono::seconds longest = 3 * patience_for(plan.members.size());
    result.transport.limits.introduction = longest;
    result.transport.limits.silence = longest;
    result.transport.limits.patience = longest;
    result.transport.limits.acknowledgement_delay = 1s;  // no member waits for one
    result.transport.limits.strangers = plan.members.size();
    result.timing = patient_timing(plan.members.size());
    result.is_first_start = true;
    result.seed = plan.options.seed;
    return result;
  }

  Service::Callbacks callbacks() {
    return {.changed =
                [this] {
                  if (has_decided_ || service_.view().leader == nobody) return;
                  has_decided_ = true;
                  report(Stage::decided);
                },
            .log = {},
            .failed = [this](const std::exception&) { loop_.stop(); }};
  }

  static void await_end_of(int descriptor) {
    char byte = 0;
    while (::read(descriptor, &byte, 1) < 0 && errno == EINTR) {
    }
  }

  void report(Stage stage) {
    const MemberView view = service_.view();
    const TransportCounters& counters = service_.counters();
    const ProcessReport report{.stage = stage,
                               .member = self_,
                               .leader = view.leader,
                               .leads = view.leads,
                               .term = view.term,
                               .sent = service_.sent(),
                               .bytes = counters.bytes_sent,
                               .connections = counters.connections_opened};
    [[maybe_unused]] const auto written = ::write(plan_.reports, &report, sizeof(report));
  }

  const Plan& plan_;
  MemberIndex self_;
  bool has_decided_ = false;
  Loop loop_;
  Service service_;
};

[[noreturn]] void be_process(const Plan& plan, MemberIndex self, int listener) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // never outlive the command
  ::signal(SIGINT, SIG_IGN);           // the command ends us
  try {
    Process(plan, self, listener).run();
  } catch (const std::exception& error) {
    ProcessReport report{.stage = Stage::failed, .member = self};
    std::strncpy(report.failure, error.what(), sizeof(report.failure) - 1);
    [[maybe_unused]] const auto written = ::write(plan.reports, &report, sizeof(report));
  }
  ::_exit(0);
}

// The processes, as their parent sees them.
class Family {
 public:
  ~Family() {
    for (const pid_t child : children_) ::kill(child, SIGKILL);
    await_all();
  }

  void add(pid_t child) { children_.push_back(child); }
  void await_all() {
    for (const pid_t child : std::exchange(children_, {})) ::waitpid(child, nullptr, 0);
  }

 private:
  std::vector<pid_t> children_;
};

// Empty, or why not all processes have come to this stage.
std::string collect(int reports, Stage stage, Clock::time_point until,
                    const std::atomic<bool>& stop, std::vector<ProcessReport>& all) {
  std::size_t missing = all.size();
  while (missing > 0) {
    if (stop) return "interrupted";
    if (Clock::now() > until) return fmt::format("{} processes are not done in time", missing);
    pollfd ready{.fd = reports, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, 100) <= 0) continue;
    ProcessReport report;
    if (::read(reports, &report, sizeof(report)) != sizeof(report)) return "a process has died";
    if (report.stage == Stage::failed) {
      return fmt::format("process {}: {}", report.member, report.failure);
    }
    all[report.member] = report;
    if (report.stage == stage) --missing;
  }
  return {};
}

std::vector<Listening> listen_for_all(MemberIndex n) {
  std::vector<Listening> seats;
  for (MemberIndex each = 0; each < n; ++each) seats.push_back(listen_on_loopback());
  return seats;
}

std::vector<Endpoint> endpoints_of(const std::vector<Listening>& seats) {
  std::vector<Endpoint> endpoints;
  for (const Listening& seat : seats) endpoints.push_back({"127.0.0.1", seat.port});
  return endpoints;
}

}  // namespace

std::vector<Credentials> local_credentials(MemberIndex n) {
  const Validity validity = valid_for(std::chrono::days{1});
  const Authority authority = make_authority("local", validity);
  std::vector<Credentials> all;
  for (MemberIndex each = 0; each < n; ++each)
    all.push_back(issue_credentials(authority, {"local", each}, validity));
  return all;
}

LocalElection elect_locally(const LocalClusterOptions& options, const std::atomic<bool>& stop) {
  allow_many_descriptors(options.n);
  const auto begin = Clock::now();
  const auto until = begin + options.timeout;
  std::vector<Listening> seats = listen_for_all(options.n);
  if (!options.credentials.empty()) warm_up_tls(options.credentials);
  Pipe gate;
  Pipe leaving;
  Pipe reports;
  const Plan plan{options, endpoints_of(seats), gate.read.number(), leaving.read.number(),
                  reports.write.number()};
  Family family;
  for (MemberIndex self = 0; self < options.n; ++self) {
    const pid_t child = ::fork();
    if (child < 0) cannot("start a process");
    if (child == 0) {
      gate.write.close();
      leaving.write.close();
      const int listener = seats[self].listener.release();
      seats.clear();
      be_process(plan, self, listener);
    }
    family.add(child);
  }
  seats.clear();
  reports.write.close();
  LocalElection result;
  result.reports.resize(options.n);
  result.failure = collect(reports.read.number(), Stage::ready, until, stop, result.reports);
  result.start_seconds = seconds_since(begin);
  if (!result.failure.empty()) return result;
  const auto open = Clock::now();
  gate.write.close();
  result.failure = collect(reports.read.number(), Stage::decided, until, stop, result.reports);
  result.seconds = seconds_since(open);
  if (!result.failure.empty()) return result;
  leaving.write.close();
  result.failure = collect(reports.read.number(), Stage::left, until, stop, result.reports);
  if (result.failure.empty()) family.await_all();
  return result;
}

}  // namespace conclave::election
