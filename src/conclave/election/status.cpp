#include "conclave/election/status.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <utility>

#include <asio/io_context.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/write.hpp>
#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/election/service.hpp"

namespace conclave::election {
namespace {

using Local = asio::local::stream_protocol;

std::string or_null(MemberIndex member) {
  return member == nobody ? "null" : std::to_string(member);
}

std::string sent_json(const NoteCounts& counts) {
  std::string text;
  for (std::size_t kind = 0; kind < counts.size(); ++kind) {
    if (counts[kind] == 0) continue;
    text += fmt::format("{}\"{}\":{}", text.empty() ? "" : ",", count_name(kind), counts[kind]);
  }
  return "{" + text + "}";
}

std::string refusals_json(const TransportCounters& counters) {
  std::string text;
  for (std::size_t kind = 0; kind < counters.refusals.size(); ++kind) {
    if (counters.refusals[kind] == 0) continue;
    text += fmt::format("{}\"{}\":{}", text.empty() ? "" : ",", name_of(static_cast<Refusal>(kind)),
                        counters.refusals[kind]);
  }
  return "{" + text + "}";
}

// One who asks: read a little, answer, close. Silence ends it too.
struct Visitor : std::enable_shared_from_this<Visitor> {
  Visitor(Local::socket end, std::string text) : socket(std::move(end)), answer(std::move(text)) {}

  void serve() {
    socket.async_read_some(asio::buffer(question), [self = shared_from_this()](auto error, auto) {
      if (!error) self->reply();
    });
  }
  void reply() {
    asio::async_write(socket, asio::buffer(answer),
                      [self = shared_from_this()](auto, auto) { self->socket.close(); });
  }

  Local::socket socket;
  std::string answer;
  std::array<char, 1024> question{};
};

}  // namespace

// Names and clusters have no character that JSON would have to escape.
std::string status_json(const Service& service) {
  const MemberView view = service.view();
  const TransportCounters& counters = service.counters();
  return fmt::format(
      R"({{"cluster":"{}","member":{},"members":{},"term":{},"leader":{},"leads":{},)"
      R"("lease_left_ms":{},"suspected":{},"elections":{},"sent":{},"connections":{},)"
      R"("bytes_sent":{},"bytes_received":{},"malformed":{},"refusals":{}}})",
      service.cluster(), service.self(), service.members().size(), view.term, or_null(view.leader),
      service.holds_lease(), service.lease_left().count(), view.suspected, view.elections,
      sent_json(service.sent()), counters.connections_now, counters.bytes_sent,
      counters.bytes_received, service.malformed(), refusals_json(counters));
}

struct StatusEndpoint::Listener : std::enable_shared_from_this<Listener> {
  static constexpr std::size_t most_visitors = 8;

  Listener(Loop& owner, std::string where, const Service& subject)
      : loop(owner), path(std::move(where)), service(&subject), acceptor(owner.context()) {
    remove_abandoned();
    asio::error_code error;
    acceptor.open(Local(), error);
    const mode_t before = ::umask(0177);  // only for the owner
    if (!error) acceptor.bind(Local::endpoint(path), error);
    ::umask(before);
    if (!error) acceptor.listen(16, error);
    if (error) throw Error(fmt::format("cannot listen on '{}': {}", path, error.message()));
  }

  // A socket is left behind by a process that was killed.
  void remove_abandoned() {
    asio::error_code error;
    Local::socket probe(loop.context());
    probe.connect(Local::endpoint(path), error);
    if (!error) throw Error(fmt::format("another process answers on '{}'", path));
    struct stat about {};
    if (::lstat(path.c_str(), &about) == 0 && S_ISSOCK(about.st_mode)) ::unlink(path.c_str());
  }

  void accept() {
    acceptor.async_accept([self = shared_from_this()](auto error, Local::socket socket) {
      if (error || self->service == nullptr) return;
      self->welcome(std::move(socket));
      self->accept();
    });
  }

  void welcome(Local::socket socket) {
    std::erase_if(visitors, [](const auto& each) { return each.expired(); });
    if (visitors.size() >= most_visitors) return;  // closes it
    const std::string body = status_json(*service) + "\n";
    auto visitor = std::make_shared<Visitor>(
        std::move(socket),
        fmt::format("HTTP/1.0 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n"
                    "Connection: close\r\n\r\n{}",
                    body.size(), body));
    visitors.push_back(visitor);
    visitor->serve();
    loop.after(std::chrono::seconds(2), [weak = std::weak_ptr(visitor)] {
      if (const auto slow = weak.lock()) slow->socket.close();
    });
  }

  Loop& loop;
  std::string path;
  const Service* service;
  Local::acceptor acceptor;
  std::vector<std::weak_ptr<Visitor>> visitors;
};

StatusEndpoint::StatusEndpoint(Loop& loop, const std::string& path, const Service& service)
    : listener_(std::make_shared<Listener>(loop, path, service)) {
  listener_->accept();
}

StatusEndpoint::~StatusEndpoint() {
  listener_->service = nullptr;
  listener_->acceptor.close();
  ::unlink(listener_->path.c_str());
}

}  // namespace conclave::election
