// `conclave node`: one member of a cluster of real processes.
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/json.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/cli/terminal.hpp"
#include "election/config_file.hpp"
#include "election/frame.hpp"
#include "election/status.hpp"
#include "election/system.hpp"

namespace conclave::cli {
namespace {

// Lines on standard output and standard error of a process that must outlive whoever reads them.
// Nothing here throws, blocks or raises a signal: a line that cannot be written now, because the
// descriptor is closed, the disk is full or the reader of a pipe has gone or sleeps, is dropped and
// counted.
class Journal {
 public:
  enum class Format { text, json };
  enum class Level { info, warning, error };

  // The journal of one member, on standard error. Text has those above `Level::info` and, if
  // verbose, all; JSON always has all, one object per line: time, level, cluster, member, event,
  // message.
  Journal(Format format, bool is_verbose, std::string cluster, election::MemberIndex member);

  void add(Level level, std::string_view event, std::string_view message);
  std::uint64_t lost() const { return lost_; }  // lines

 private:
  std::string line(Level level, std::string_view event, std::string_view message) const;

  static constexpr std::array<std::string_view, 3> level_names{"info", "warning", "error"};
  Format format_;
  bool is_verbose_;
  std::string cluster_;
  election::MemberIndex member_;
  std::uint64_t lost_ = 0;
};

constexpr std::size_t longest_line =
    4000;  // a pipe takes PIPE_BUF = 4096 bytes whole or not at all

bool has_room(int descriptor) {
  pollfd end{.fd = descriptor, .events = POLLOUT, .revents = 0};
  return ::poll(&end, 1, 0) == 1 && (end.revents & POLLOUT) != 0;
}

// Whether the whole text went out, in one piece. At most 4000 bytes go, the rest is cut off.
bool write_line(int descriptor, std::string text) {
  if (text.size() > longest_line) text.resize(longest_line);
  text += '\n';
  if (!has_room(descriptor)) return false;
  ssize_t written = -1;
  do {
    written = ::write(descriptor, text.data(), text.size());
  } while (written < 0 && errno == EINTR);
  return written == static_cast<ssize_t>(text.size());
}

Journal::Journal(Format format, bool is_verbose, std::string cluster, election::MemberIndex member)
    : format_(format), is_verbose_(is_verbose), cluster_(std::move(cluster)), member_(member) {}

void Journal::add(Level level, std::string_view event, std::string_view message) {
  const bool is_wanted = format_ == Format::json || is_verbose_ || level != Level::info;
  if (is_wanted && !write_line(STDERR_FILENO, line(level, event, message))) ++lost_;
}

std::string Journal::line(Level level, std::string_view event, std::string_view message) const {
  if (format_ == Format::text) return fmt::format("conclave: {}", message);
  const Json json{{"time", election::wall_clock_text()},
                  {"level", level_names[static_cast<std::size_t>(level)]},
                  {"cluster", cluster_},
                  {"member", member_},
                  {"event", event},
                  {"message", message.substr(0, longest_line / 2)}};
  return json.dump(-1, Json::Encoding::ascii);
}

// Reports this process's state to its supervisor by systemd's protocol: a datagram of text to the
// socket that NOTIFY_SOCKET names. Written by hand because it takes twenty lines; libsystemd would
// be one more library to link, even on machines without systemd.
// "READY=1", "STOPPING=1", "STATUS=...", several of them on lines of their own. Does nothing if
// NOTIFY_SOCKET is not set; never blocks, throws or fails.
void notify_supervisor(std::string_view state) {
  const char* const name = std::getenv("NOTIFY_SOCKET");  // NOLINT: read only; nothing here sets it
  if (name == nullptr) return;
  const std::string_view path(name);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path)) return;
  std::memcpy(address.sun_path, path.data(), path.size());
  if (path.front() == '@') address.sun_path[0] = '\0';  // a name outside the file system
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return;
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  ::sendto(socket, state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
           reinterpret_cast<const sockaddr*>(&address), length);
  ::close(socket);
}

using namespace std::chrono_literals;

struct NodeOptions {
  std::string config;
  std::string seed;
  std::string log = "text";
  bool stays = false;
  bool waits = false;
  bool is_verbose = false;
};

constexpr std::array<std::string_view, 2> log_formats{"text", "json"};

// Signals that have arrived; a handler can do no more than note them.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): signal handlers take no context.
std::atomic<int> told_to_leave = 0;  // the signal
std::atomic<bool> told_to_reload = false;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

void on_node_signal(int signal) {
  if (signal == SIGHUP) {
    told_to_reload = true;
    return;
  }
  told_to_leave = signal;
  std::signal(signal, SIG_DFL);  // a second one ends the process at once
}

class Node {
 public:
  using Level = Journal::Level;

  Node(const NodeOptions& options, election::NodeConfig config, Journal journal)
      : config_path_(options.config),
        config_(std::move(config)),
        journal_(std::move(journal)),
        service_(
            loop_, config_.service,
            {.changed = [this] { on_change(); },
             .log = [this](std::string_view line) { on_log(line); },
             .warn =
                 [this](std::string_view line) { journal_.add(Level::warning, "warning", line); },
             .failed = [this](const std::exception& error) { fail(error); },
             .removed = [this] { on_removal(); },
             .replaced = [this](std::string_view why) { on_replacement(why); }}) {
    if (!config_.status_socket.empty()) endpoint_.emplace(loop_, config_.status_socket, service_);
  }

  Exit run() {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, on_node_signal);
    look_for_signals();
    look_for_certificates();
    if (!config_.stays) loop_.after(config_.give_up, [this] { give_up(); });
    if (config_.wakes) loop_.post([this] { service_.wake(); });
    journal_.add(Level::info, "started", fmt::format("listens on port {}", service_.port()));
    notify_supervisor("READY=1\nSTATUS=no leader yet");
    loop_.run();
    journal_.add(
        Level::info, "ended",
        fmt::format("exit status {}, {} lines lost", static_cast<int>(status_), journal_.lost()));
    return status_;
  }

 private:
  void on_change() {
    const bool leads = service_.holds_lease();
    if (leads != std::exchange(leads_, leads)) {
      journal_.add(Level::info, leads ? "won" : "lost",
                   fmt::format("this member {} in term {}", leads ? "leads" : "leads no more",
                               service_.view().term));
    }
    const election::MemberView view = service_.view();
    if (view.leader == election::nobody) {
      if (config_.stays && has_announced_) say("no leader");
      return;
    }
    const election::Endpoint where = service_.address_of(view.leader);
    say(fmt::format("leader {} ({}), term {}{}", view.leader, to_string(where), view.term,
                    view.leads ? ", this member" : ""));
    if (!config_.stays) leave(Exit::done);
  }

  void say(const std::string& line) {
    if (line == last_line_) return;
    last_line_ = line;
    has_announced_ = true;
    write_line(STDOUT_FILENO, line);
    journal_.add(Level::info, "leader", line);
    notify_supervisor("STATUS=" + line);
  }

  void on_log(std::string_view line) {
    last_log_ = line;
    journal_.add(Level::info, "log", line);
  }

  void fail(const std::exception& error) {
    journal_.add(Level::error, "failed", error.what());
    status_ = Exit::failed;
    loop_.stop();
  }

  void on_removal() {
    say("this member has been removed from the cluster");
    journal_.add(Level::info, "removed", "this member has been removed from the cluster");
    loop_.stop();
  }

  void on_replacement(std::string_view why) {
    journal_.add(Level::error, "replaced", why);
    status_ = Exit::does_not_hold;
    loop_.stop();
  }

  void give_up() {
    if (is_leaving_) return;
    journal_.add(
        Level::error, "gave-up",
        fmt::format("no leader after {} s; {} of {} other members do not answer{}{}",
                    config_.give_up.count(), service_.view().suspected, service_.members() - 1,
                    last_log_.empty() ? "" : "; last: ", last_log_));
    leave(Exit::not_converged);
  }

  void leave(Exit status) {
    if (std::exchange(is_leaving_, true)) return;
    status_ = status;
    service_.leave([this] { loop_.stop(); });
  }

  // Told to end by its supervisor, which is no failure, or from the keyboard.
  void retire(int signal) {
    if (std::exchange(is_leaving_, true)) return;
    status_ = signal == SIGTERM ? Exit::done : Exit::interrupted;
    journal_.add(Level::info, "leaving", "hands over if it leads, and leaves");
    notify_supervisor("STOPPING=1");
    service_.resign_and_leave([this] { loop_.stop(); });
  }

  // Certificates, and which are revoked, as the configuration has them now. Nothing else of it is
  // read again.
  void reload() {
    try {
      const election::NodeConfig fresh = election::read_config(config_path_);
      const election::TransportOptions& transport = fresh.service.transport;
      service_.reload(transport.credentials, transport.revoked);
      journal_.add(Level::info, "reloaded", "certificates have been read again");
    } catch (const std::exception& error) {
      journal_.add(Level::error, "not-reloaded",
                   fmt::format("goes on with the old certificates: {}", error.what()));
    }
  }

  void look_for_signals() {
    if (const int signal = told_to_leave) retire(signal);
    if (told_to_reload.exchange(false)) reload();
    loop_.after(50ms, [this] { look_for_signals(); });
  }

  // New certificates are taken over without a signal. Files that cannot be used, perhaps because
  // they are being copied, are read again when they have changed again.
  void look_for_certificates() {
    if (!config_.service.transport.credentials) return;
    const std::string now = stamp_of_certificates();
    if (!certificates_.empty() && now != certificates_) reload();
    certificates_ = now;
    loop_.after(5s, [this] { look_for_certificates(); });
  }

  std::string stamp_of_certificates() const {
    const election::CredentialFiles& files = config_.credential_files;
    std::string stamp;
    for (const std::string& each : {files.authority, files.certificate, files.key}) {
      struct stat about {};
      if (::stat(each.c_str(), &about) != 0) continue;
      stamp += fmt::format("{} {} {}.{} ", about.st_ino, about.st_size, about.st_mtim.tv_sec,
                           about.st_mtim.tv_nsec);
    }
    return stamp;
  }

  std::string config_path_;
  std::string certificates_;
  election::NodeConfig config_;
  Journal journal_;
  election::Loop loop_;
  election::Service service_;
  std::optional<election::StatusEndpoint> endpoint_;
  std::string last_log_;
  std::string last_line_;
  bool has_announced_ = false;
  bool leads_ = false;
  bool is_leaving_ = false;
  Exit status_ = Exit::done;
};

Exit node(const NodeOptions& options) {
  if (std::ranges::find(log_formats, options.log) == log_formats.end()) {
    throw Error(unknown_name("log format", options.log, log_formats));
  }
  election::NodeConfig config = election::read_config(options.config);
  if (options.stays) config.stays = true;
  if (options.waits) config.wakes = false;
  if (!options.seed.empty()) {
    config.service.seed = count_option_64("--seed", options.seed, 0, UINT64_MAX);
  }
  const election::TransportOptions& transport = config.service.transport;
  Journal journal(options.log == "json" ? Journal::Format::json : Journal::Format::text,
                  options.is_verbose, transport.cluster, transport.self);
  if (!transport.credentials) {
    journal.add(Journal::Level::error, "insecure",
                "insecure: anyone on this machine can take part");
  }
  // Whoever has won must reach all that are to know it before it leaves.
  config.service.transport.limits.farewell = 10s;
  return Node(options, std::move(config), std::move(journal)).run();
}

constexpr const char* node_examples = R"(
The configuration, in TOML (`conclave cluster init DIR --n N` writes one per member):
  cluster = "demo"
  member = 0
  members = ["10.0.0.1:7000", "10.0.0.2:7000"]
  listen = "0.0.0.0:7000"
  authority = "ca.pem"
  certificate = "member-0.pem"
  key = "member-0.key"
  state = "member-0.state"
  wake = true
  stay = true
  status = "member-0.sock"
Without `stay` it prints the leader and exits with 0, or with 3 after give_up_s = 60 seconds.
SIGTERM hands leadership over and exits with 0; SIGHUP reads certificates and `revoked` again.

Examples:
  conclave cluster init demo --n 3
  for i in 0 1 2; do conclave node --config demo/member-$i.toml & done; wait

Members that stay, with `status` as above, answer while they run:
  curl --unix-socket demo/member-0.sock http://member/
  curl --unix-socket demo/member-0.sock http://member/metrics)";

}  // namespace

void add_node(Command& conclave) {
  auto options = std::make_shared<NodeOptions>();
  Command command =
      conclave.subcommand("node", "Take part in the election of a leader between real processes");
  command.required_option("--config", "FILE", options->config, "Who this member is, in TOML");
  command.option("--seed", "S", options->seed,
                 "Seed of its coins, for experiments (default: the system's randomness)");
  command.flag("--stay", options->stays, "Keep running after the leader is known, and elect again");
  command.flag("--wait", options->waits, "Do not start an election; wait for another member to");
  command.flag("--verbose", options->is_verbose, "Log what happens on standard error");
  command.option("--log", "FORMAT", options->log,
                 "text or json, one object per line with all that happens (default text)");
  command.footer(node_examples);
  command.runs([options] { return node(*options); });
}

}  // namespace conclave::cli
