#include "election/leader_client.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
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
#include "election/member_files.hpp"

namespace conclave::election {
namespace {

using namespace std::chrono_literals;

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

}  // namespace

// The part of a member's status that matters here.
struct LeaderClient::Status {
  explicit Status(const std::string& text) {
    const std::optional<Json> json = Json::parse(text);
    if (!json) throw Error("the member's status makes no sense");
    constexpr std::string_view seat = "list.seats.";
    for (const auto& [path, value] : json->leaves()) {
      if (path == "leads") leads = value == "true";
      if (path == "leader") leader = value;
      if (path == "list.settled") is_settled = value == "true";
      if (path == "list.next") next = static_cast<MemberIndex>(std::stoul(value));
      if (path.starts_with(seat))
        seats.push_back({static_cast<MemberIndex>(std::stoul(path.substr(seat.size()))),
                         parse_endpoint(value)});
    }
  }

  bool leads = false;
  std::string leader;  // empty: it knows none
  bool is_settled = false;
  MemberIndex next = 0;
  std::vector<Seat> seats;  // by number
};

LeaderClient::LeaderClient(const std::string& config_file)
    : folder_(std::filesystem::path(config_file).parent_path()), config_(read_config(config_file)) {
  if (config_.status_socket.empty())
    throw Error(fmt::format("'{}' names no status socket", config_file));
  if (!config_.service.is_elastic)
    throw Error(fmt::format("'{}' does not say elastic = true: the list of this cluster is fixed",
                            config_file));
}

LeaderClient::Status LeaderClient::status() const {
  return Status(ask(config_.status_socket, "GET /").body);
}

LeaderClient::Status LeaderClient::leading_status() const {
  Status now = status();
  if (now.leads) return now;
  const MemberIndex self = config_.service.transport.self;
  if (now.leader.empty())
    throw Error(fmt::format("member {} does not lead, and knows no leader", self));
  throw Error(fmt::format("member {} does not lead: member {} does, ask it on its machine", self,
                          now.leader));
}

// Begins the change. Not empty: why it is refused. Throws Error if there is no answer, and the
// change may have begun.
std::string LeaderClient::order(const std::string& request) const {
  const Answer answer = ask(config_.status_socket, "POST " + request);
  return answer.code == 202 ? "" : printable(answer.body.substr(0, answer.body.find('\n')));
}

// Until a majority has the change.
void LeaderClient::await_removal(MemberIndex member) const {
  const auto end = std::chrono::steady_clock::now() + 60s;
  while (std::chrono::steady_clock::now() < end) {
    const Status now = status();
    const bool has = std::ranges::find(now.seats, member, &Seat::member) != now.seats.end();
    if (!has && now.is_settled) return;
    if (!now.leads)
      throw std::runtime_error(
          "the leader has changed meanwhile: ask the next one whether the change has come about");
    std::this_thread::sleep_for(50ms);
  }
  throw std::runtime_error("a majority has not taken the change within a minute; it may come yet");
}

// A learner is forgotten when its leader fails; then its files are there already.
bool LeaderClient::is_requested_again(const NewMember& added, const Endpoint& address) const {
  if (!std::filesystem::exists(std::filesystem::symlink_status(added.config_file))) return false;
  const TransportOptions before = read_config(added.config_file.string()).service.transport;
  if (before.self != added.member || before.members[before.self] != address)
    throw Error(fmt::format("'{}' exists, for {}", added.config_file.string(),
                            to_string(before.members[before.self])));
  return true;
}

NewMember LeaderClient::add(const Addition& addition) const {
  const TransportOptions& transport = config_.service.transport;
  const Status before = leading_status();
  MemberFiles files{.folder = folder_,
                    .member = {transport.cluster, before.next},
                    .members = before.seats,
                    .authority = config_.authority_file,
                    .is_elastic = true,
                    .identity = config_.service.identity,
                    .timing = config_.service.timing};
  files.members.push_back({before.next, addition.address});
  if (!transport.credentials) throw Error("members are added to clusters with certificates only");
  const std::string key = addition.authority_key_file.empty() ? (folder_ / "ca.key").string()
                                                              : addition.authority_key_file;
  const Authority authority{transport.credentials->authority, read_private_file(key)};
  FreshFiles fresh;  // of no use where the change is refused
  NewMember added{before.next, folder_ / fmt::format("member-{}.toml", before.next)};
  if (!is_requested_again(added, addition.address))
    added.config_file = write_member_files(files, authority, valid_for(addition.validity), fresh);
  std::string refusal;
  try {
    refusal = order(fmt::format("/add?member={}&at={}", added.member, to_string(addition.address)));
  } catch (const Error&) {
    fresh.keep();  // the change may have begun
    throw;
  }
  if (!refusal.empty()) throw Error(refusal);
  fresh.keep();
  return added;
}

void LeaderClient::remove(MemberIndex member) const {
  leading_status();
  const std::string refusal = order(fmt::format("/remove?member={}", member));
  if (!refusal.empty()) throw Error(refusal);
  await_removal(member);
}

}  // namespace conclave::election
