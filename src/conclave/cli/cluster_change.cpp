#include "conclave/cli/cluster_change.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/descriptor.hpp"
#include "conclave/base/error.hpp"
#include "conclave/base/json.hpp"
#include "conclave/base/printable.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/cli/member_files.hpp"
#include "conclave/cli/terminal.hpp"
#include "conclave/election/config.hpp"

namespace conclave::cli {
namespace {

using namespace std::chrono_literals;
using election::MemberIndex;

struct Answer {
  int code = 0;  // of HTTP
  std::string body;
};

void connect(const Descriptor& socket, const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path))
    throw Error(fmt::format("the name of the status socket '{}' is too long", path));
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const timeval patience{.tv_sec = 5, .tv_usec = 0};
  ::setsockopt(socket.number(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  if (::connect(socket.number(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0)
    throw Error(
        fmt::format("no member answers on '{}': {}", path, std::generic_category().message(errno)));
}

// One request of a member's status socket.
Answer ask(const std::string& path, const std::string& request) {
  const Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  connect(socket, path);
  const std::string text = request + " HTTP/1.0\r\n\r\n";
  if (::send(socket.number(), text.data(), text.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(text.size()))
    throw Error(fmt::format("cannot ask on '{}'", path));
  std::string answer;
  char buffer[4096];
  for (ssize_t size = 0; (size = ::recv(socket.number(), buffer, sizeof(buffer), 0)) > 0;)
    answer.append(buffer, static_cast<std::size_t>(size));
  const std::size_t body = answer.find("\r\n\r\n");
  if (answer.size() < 12 || body == std::string::npos)
    throw Error(fmt::format("the member on '{}' gives no answer", path));
  return {std::atoi(answer.c_str() + 9), answer.substr(body + 4)};
}

// The part of a member's status that matters here.
struct Status {
  bool leads = false;
  std::string leader;  // empty: it knows none
  bool is_settled = false;
  MemberIndex next = 0;
  std::vector<election::Seat> seats;  // by number
};

Status read_status(const std::string& json) {
  const auto parsed = Json::parse(json);
  if (!parsed) throw Error("the member's status makes no sense");
  constexpr std::string_view seat = "list.seats.";
  Status status;
  for (const auto& [path, value] : parsed->leaves()) {
    if (path == "leads") status.leads = value == "true";
    if (path == "leader") status.leader = value;
    if (path == "list.settled") status.is_settled = value == "true";
    if (path == "list.next") status.next = static_cast<MemberIndex>(std::stoul(value));
    if (path.starts_with(seat)) {
      const auto member = static_cast<MemberIndex>(std::stoul(path.substr(seat.size())));
      status.seats.push_back({member, election::parse_endpoint(value)});
    }
  }
  return status;
}

// The member with this configuration file, whose state and list are queried.
class Leader {
 public:
  explicit Leader(const std::string& config_file) : config_(election::read_config(config_file)) {
    if (config_.status_socket.empty())
      throw Error(fmt::format("'{}' names no status socket", config_file));
    if (!config_.service.is_elastic)
      throw Error(fmt::format("'{}' does not say elastic = true: the list of this cluster is fixed",
                              config_file));
  }

  const election::NodeConfig& config() const { return config_; }

  Status status() const { return read_status(ask(config_.status_socket, "GET /").body); }
  void require_that_it_leads(const Status& status) const {
    if (status.leads) return;
    const MemberIndex self = config_.service.transport.self;
    if (status.leader.empty())
      throw Error(fmt::format("member {} does not lead, and knows no leader", self));
    throw Error(fmt::format("member {} does not lead: member {} does, ask it on its machine", self,
                            status.leader));
  }
  // Begins the change. Not empty: why it is refused. Throws Error if there is no answer, and the
  // change may have begun.
  std::string order(const std::string& request) const {
    const Answer answer = ask(config_.status_socket, "POST " + request);
    return answer.code == 202 ? "" : printable(answer.body.substr(0, answer.body.find('\n')));
  }
  // Until a majority has the change.
  void await(MemberIndex member, bool has_seat) const {
    const auto end = std::chrono::steady_clock::now() + 60s;
    while (std::chrono::steady_clock::now() < end) {
      const Status now = status();
      const bool has =
          std::ranges::find(now.seats, member, &election::Seat::member) != now.seats.end();
      if (has == has_seat && now.is_settled) return;
      if (!now.leads)
        throw std::runtime_error(
            "the leader has changed meanwhile: ask the next one whether the change has come about");
      std::this_thread::sleep_for(50ms);
    }
    throw std::runtime_error(
        "a majority has not taken the change within a minute; it may come yet");
  }

 private:
  election::NodeConfig config_;
};

}  // namespace

Exit add_member(const ClusterChange& change) {
  const Leader leader(change.config);
  const auto& transport = leader.config().service.transport;
  const std::filesystem::path folder = std::filesystem::path(change.config).parent_path();
  const std::chrono::days days(count_option_64("--days", change.days, 1, 36500));
  const election::Endpoint address = election::parse_endpoint(change.address);
  const Status status = leader.status();
  leader.require_that_it_leads(status);
  const MemberIndex next = status.next;
  MemberFiles files{.folder = folder,
                    .member = {transport.cluster, next},
                    .members = status.seats,
                    .authority = leader.config().authority_file,
                    .is_elastic = true,
                    .timing = leader.config().service.timing};
  files.members.push_back({next, address});
  if (!transport.credentials) throw Error("members are added to clusters with certificates only");
  const std::string key =
      change.authority_key.empty() ? (folder / "ca.key").string() : change.authority_key;
  const election::Authority authority{transport.credentials->authority,
                                      election::read_private_file(key)};
  FreshFiles fresh;  // of no use where the change is refused
  const auto config = write_member_files(files, authority, election::valid_for(days), fresh);
  std::string refusal;
  try {
    refusal = leader.order(fmt::format("/add?member={}&at={}", next, to_string(address)));
  } catch (const Error&) {
    fresh.keep();  // the change may have begun
    throw;
  }
  if (!refusal.empty()) throw Error(refusal);
  fresh.keep();
  leader.await(next, true);
  fmt::print("member {} has a seat: start it with conclave node --config {}\n", next,
             config.string());
  return Exit::done;
}

Exit remove_member(const ClusterChange& change) {
  const Leader leader(change.config);
  const auto member = static_cast<MemberIndex>(
      count_option_64("MEMBER", change.member, 0, election::most_member_numbers - 1));
  leader.require_that_it_leads(leader.status());
  const std::string refusal = leader.order(fmt::format("/remove?member={}", member));
  if (!refusal.empty()) throw Error(refusal);
  leader.await(member, false);
  fmt::print("member {} has no seat any more\n", member);
  return Exit::done;
}

}  // namespace conclave::cli
