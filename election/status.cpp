// The file is long because two formats of the same values and their endpoint belong together.
#include "election/status.hpp"

#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <deque>
#include <optional>
#include <string_view>
#include <utility>

#include <asio/io_context.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/write.hpp>
#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/json.hpp"
#include "election/service.hpp"
#include "election/system.hpp"

namespace conclave::election {
namespace {

using namespace std::chrono_literals;
using Local = asio::local::stream_protocol;

// Those that are not 0, by their names.
template <std::size_t kinds>
Json counts_json(const std::array<std::uint64_t, kinds>& counts,
                 std::string_view (*name)(std::size_t)) {
  Json json = Json::object();
  for (std::size_t kind = 0; kind < kinds; ++kind)
    if (counts[kind] != 0) json[name(kind)] = counts[kind];
  return json;
}

std::string_view refusal_name(std::size_t kind) { return name_of(static_cast<Refusal>(kind)); }

// The list of an elastic cluster, as this member has it.
Json list_json(const Service& service) {
  const Configuration& list = service.configuration();
  const MemberIndex learner = service.view().learner;
  Json seats = Json::object();
  for (const Seat& seat : list.seats) seats[std::to_string(seat.member)] = to_string(seat.endpoint);
  return {
      {"term", list.stamp.term},         {"version", list.stamp.version},
      {"settled", service.is_settled()}, {"learner", learner == nobody ? Json() : Json(learner)},
      {"next", list.next_member},        {"seats", seats}};
}

Json table_json(const Service& service) {
  Json table = Json::object();
  for (const auto& [member, incarnation] : service.table().entries())
    table[std::to_string(member)] = to_string(incarnation);
  return table;
}

// Values that a page shows more than once are read from the service once, at one moment.
struct Moment {
  explicit Moment(const Service& service)
      : at(service.now()), lease(service.lease()), holds(lease.holds(at)) {}

  milliseconds left() const {
    return holds ? std::chrono::duration_cast<milliseconds>(lease.until - at) : milliseconds(0);
  }
  milliseconds at_ms() const { return std::chrono::duration_cast<milliseconds>(at); }

  Instant at;
  Lease lease;
  bool holds;
};

double seconds_of(Instant time) { return std::chrono::duration<double>(time).count(); }

// Negative: it has expired.
double seconds_until(std::chrono::system_clock::time_point time) {
  return std::chrono::duration<double>(time - std::chrono::system_clock::now()).count();
}

// One metric with its kind and its help, as Prometheus wants them.
class Metrics {
 public:
  explicit Metrics(const Service& service)
      : labels_(fmt::format(R"(cluster="{}",member="{}")", service.cluster(), service.self())) {}

  template <class Value>
  void add(std::string_view name, std::string_view kind, std::string_view help, Value value) {
    head(name, kind, help);
    text_ += fmt::format("conclave_{}{{{}}} {}\n", name, labels_, value);
  }
  void head(std::string_view name, std::string_view kind, std::string_view help) {
    text_ += fmt::format("# HELP conclave_{0} {2}\n# TYPE conclave_{0} {1}\n", name, kind, help);
  }
  void row(std::string_view name, std::string_view label, std::string_view which,
           std::uint64_t value) {
    text_ += fmt::format("conclave_{}{{{},{}=\"{}\"}} {}\n", name, labels_, label, which, value);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string labels_;
  std::string text_;
};

void add_counters(Metrics& metrics, const Service& service) {
  const TransportCounters& counters = service.counters();
  metrics.head("notes_sent_total", "counter", "Notes sent to other members, by kind.");
  for (std::size_t kind = 0; kind < service.sent().size(); ++kind) {
    if (count_name(kind).empty()) continue;
    metrics.row("notes_sent_total", "kind", count_name(kind), service.sent()[kind]);
  }
  metrics.head("refusals_total", "counter", "Connections refused, by reason.");
  for (std::size_t kind = 0; kind < counters.refusals.size(); ++kind) {
    metrics.row("refusals_total", "reason", refusal_name(kind), counters.refusals[kind]);
  }
  metrics.add("connections", "gauge", "Sockets open now.", counters.connections_now);
  metrics.add("dials_total", "counter", "Attempts to open a connection.", counters.dials);
  metrics.add("connections_resumed_total", "counter", "Connections that resumed a TLS session.",
              counters.connections_resumed);
  metrics.add("bytes_sent_total", "counter", "Bytes sent, with TLS.", counters.bytes_sent);
  metrics.add("bytes_received_total", "counter", "Bytes received.", counters.bytes_received);
  metrics.add("messages_lost_total", "counter", "Messages given up.", counters.messages_lost);
  metrics.add("malformed_total", "counter", "Notes that make no sense.", service.malformed());
}

std::string http(std::string_view status, std::string_view type, std::string_view body) {
  return fmt::format(
      "HTTP/1.0 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n"
      "Connection: close\r\n\r\n{}",
      status, type, body.size(), body);
}

// The value of `name` in "/path?name=value&other=value"; empty: there is none.
std::string_view value_of(std::string_view target, std::string_view name) {
  std::size_t place = target.find('?');
  while (place != std::string_view::npos) {
    target.remove_prefix(place + 1);
    const std::string_view pair = target.substr(0, target.find('&'));
    if (pair.starts_with(name) && pair.substr(name.size()).starts_with('='))
      return pair.substr(name.size() + 1);
    place = target.find('&');
  }
  return {};
}

std::optional<Change> change_in(std::string_view target) {
  Change change;
  const std::string_view path = target.substr(0, target.find('?'));
  if (path != "/add" && path != "/remove") return {};
  change.kind = path == "/add" ? Change::Kind::add : Change::Kind::remove;
  const std::string_view number = value_of(target, "member");
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), change.member);
  if (number.empty() || error != std::errc{} || end != number.data() + number.size()) return {};
  if (change.kind == Change::Kind::add) {
    try {
      change.endpoint = parse_endpoint(value_of(target, "at"));
    } catch (const Error&) {
      return {};
    }
  }
  return change;
}

// A change that has begun is answered at once; the status tells when it is settled.
std::string obey(std::string_view order, Service& service) {
  const std::string_view target = order.substr(0, order.find_first_of(" \r\n"));
  const std::optional<Change> change = change_in(target);
  if (!change) {
    return http("400 Bad Request", "text/plain",
                "write /add?member=N&at=HOST:PORT or /remove?member=N\n");
  }
  const std::string objection = service.change(*change);
  if (!objection.empty()) return http("409 Conflict", "text/plain", objection + "\n");
  return http("202 Accepted", "text/plain", "the change has begun\n");
}

// `question` begins with the first line of a request; what follows it is of no interest.
std::string answer_to(std::string_view question, Service& service) {
  if (question.starts_with("POST ")) return obey(question.substr(5), service);
  if (!question.starts_with("GET ")) {
    return http("405 Method Not Allowed", "text/plain", "only GET and POST are answered\n");
  }
  question.remove_prefix(4);
  const std::string_view path = question.substr(0, question.find_first_of(" \r\n?"));
  if (path == "/") return http("200 OK", "application/json", status_json(service) + "\n");
  if (path == "/metrics") {
    return http("200 OK", "text/plain; version=0.0.4; charset=utf-8", status_metrics(service));
  }
  return http("404 Not Found", "text/plain", "there is / and /metrics\n");
}

// One who asks: its question is read up to the end of the first line, then it is answered.
struct Visitor : std::enable_shared_from_this<Visitor> {
  Visitor(Local::socket end, std::shared_ptr<Service* const> about)
      : socket(std::move(end)), service(std::move(about)) {}

  void serve() {
    socket.async_read_some(asio::buffer(question) + length,
                           [self = shared_from_this()](auto error, std::size_t size) {
                             if (!error) self->take(size);
                           });
  }
  void take(std::size_t size) {
    length += size;
    const std::string_view text(question.data(), length);
    if (text.find('\n') == std::string_view::npos && length < question.size()) return serve();
    if (*service == nullptr) return;
    is_asked = true;
    answer = answer_to(text, **service);
    asio::async_write(socket, asio::buffer(answer),
                      [self = shared_from_this()](auto, auto) { self->end(); });
  }
  void end() {
    asio::error_code ignored;
    socket.close(ignored);
  }

  Local::socket socket;
  std::shared_ptr<Service* const> service;  // to null once the endpoint is gone
  std::string answer;
  std::array<char, 1024> question{};
  std::size_t length = 0;
  bool is_asked = false;
};

}  // namespace

std::string status_json(const Service& service) {
  const MemberView view = service.view();
  const Moment now(service);
  const TransportCounters& counters = service.counters();
  Json json{{"cluster", service.cluster()},
            {"member", service.self()},
            {"members", service.members()},
            {"term", view.term},
            {"leader", view.leader == nobody ? Json() : Json(view.leader)},
            {"leads", now.holds},
            {"lease_left_ms", now.left().count()},
            {"at_ms", now.at_ms().count()},
            {"time", wall_clock_text()},
            {"suspected", view.suspected},
            {"elections", view.elections},
            {"promised", view.promised},
            {"incarnation", to_string(view.incarnation)},
            {"admitted", !view.is_waiting},
            {"replaced", view.replaced},
            {"state_file_missing", service.was_file_missing()}};
  json["sync_seconds"] = seconds_of(view.sync);
  json["round_trip_seconds"] = seconds_of(view.round_trip);
  if (service.expiry())
    json["certificate_expires_days"] = std::floor(seconds_until(*service.expiry()) / 86400);
  if (view.is_waiting) json["recorded_by"] = Json(service.recorded_by());
  if (!service.table().entries().empty()) json["table"] = table_json(service);
  if (service.is_elastic()) json["list"] = list_json(service);
  json["sent"] = counts_json(service.sent(), count_name);
  json["connections"] = counters.connections_now;
  json["bytes_sent"] = counters.bytes_sent;
  json["bytes_received"] = counters.bytes_received;
  json["malformed"] = service.malformed();
  json["refusals"] = counts_json(counters.refusals, refusal_name);
  return json.dump();
}

std::string status_metrics(const Service& service) {
  const MemberView view = service.view();
  const Moment now(service);
  const auto known = view.leader == nobody ? std::int64_t{-1} : std::int64_t{view.leader};
  Metrics metrics(service);
  metrics.add("members", "gauge", "Members of the cluster.", service.members());
  metrics.add("term", "gauge", "Term this member takes part in.", view.term);
  metrics.add("leader", "gauge", "The leader this member knows, -1 if none.", known);
  metrics.add("leads", "gauge", "1 while this member may act as the leader.", now.holds ? 1 : 0);
  metrics.add("lease_left_seconds", "gauge", "How long it may still act.",
              static_cast<double>(now.left().count()) / 1000);
  metrics.add("suspected_members", "gauge", "Members that do not answer.", view.suspected);
  metrics.add("elections_total", "counter", "Elections this member has joined.", view.elections);
  metrics.add("admitted", "gauge", "0 while it waits for other members before it takes part.",
              view.is_waiting ? 0 : 1);
  metrics.add("incarnation_number", "gauge", "Grows when this member has recovered its state.",
              view.incarnation.number);
  metrics.add("replaced_total", "counter",
              "Processes of other members whose place another process has taken.", view.replaced);
  metrics.add("state_file_missing", "gauge", "1 where this process has started without its file.",
              service.was_file_missing() ? 1 : 0);
  metrics.add("sync_seconds", "gauge", "To store a promise on the disk, lately at most.",
              seconds_of(view.sync));
  metrics.add("round_trip_seconds", "gauge", "Until other members answer, lately at most.",
              seconds_of(view.round_trip));
  if (service.expiry())
    metrics.add("certificate_expires_seconds", "gauge",
                "Until the certificate of this member or of its authority expires.",
                std::floor(seconds_until(*service.expiry())));
  add_counters(metrics, service);
  return metrics.take();
}

struct StatusEndpoint::Listener : std::enable_shared_from_this<Listener> {
  static constexpr std::size_t most_visitors = 16;
  static constexpr auto patience = 2s;     // with one visitor
  static constexpr auto recovery = 200ms;  // until descriptors may be free again

  Listener(Loop& owner, std::string where, Service& subject)
      : loop(owner), path(std::move(where)), service(&subject), acceptor(owner.context()) {
    if (path.size() >= sizeof(sockaddr_un::sun_path))
      throw Error(fmt::format("the name of the status socket '{}' is too long", path));
    remove_abandoned();
    asio::error_code error;
    acceptor.open(Local(), error);
    // A socket file gets its mode from the socket, so it never is open to others.
    if (!error && ::fchmod(acceptor.native_handle(), S_IRUSR | S_IWUSR) != 0) {
      error.assign(errno, asio::error::get_system_category());
    }
    if (!error) acceptor.bind(Local::endpoint(path), error);
    if (!error) acceptor.listen(64, error);
    if (error) throw Error(fmt::format("cannot listen on '{}': {}", path, error.message()));
  }

  // A socket is left behind by a process that was killed.
  void remove_abandoned() {
    asio::error_code error;
    Local::socket probe(loop.context());
    probe.connect(Local::endpoint(path), error);
    if (!error) throw Error(fmt::format("another process answers on '{}'", path));
    struct stat about {};
    if (::lstat(path.c_str(), &about) != 0) return;
    if (!S_ISSOCK(about.st_mode))
      throw Error(fmt::format("'{}' is there and no socket: name another path as status", path));
    ::unlink(path.c_str());
  }

  void accept() {
    acceptor.async_accept([self = shared_from_this()](auto error, Local::socket socket) {
      if (self->service == nullptr || error == asio::error::operation_aborted) return;
      if (error) return self->accept_later();
      self->welcome(std::move(socket));
      self->accept();
    });
  }

  void accept_later() {
    later = loop.after(recovery, [self = shared_from_this()] {
      if (self->service != nullptr) self->accept();
    });
  }

  void welcome(Local::socket socket) {
    std::erase_if(visitors, [](const auto& each) { return each.expired(); });
    if (visitors.size() >= most_visitors) send_one_away();
    auto visitor = std::make_shared<Visitor>(
        std::move(socket), std::shared_ptr<Service* const>(shared_from_this(), &service));
    visitors.push_back(visitor);
    visitor->serve();
    loop.after(patience, [self = shared_from_this(), weak = std::weak_ptr(visitor)] {
      if (const auto slow = weak.lock()) slow->end();
    });
  }

  // The oldest of those that have not asked anything yet, or else the oldest.
  void send_one_away() {
    auto chosen = visitors.begin();
    for (auto each = visitors.begin(); each != visitors.end(); ++each) {
      const auto visitor = each->lock();
      if (visitor && visitor->is_asked) continue;
      chosen = each;
      break;
    }
    if (const auto visitor = chosen->lock()) visitor->end();
    visitors.erase(chosen);
  }

  Loop& loop;
  std::string path;
  Service* service;
  Local::acceptor acceptor;
  std::deque<std::weak_ptr<Visitor>> visitors;  // oldest first
  Loop::TimerId later = 0;
};

StatusEndpoint::StatusEndpoint(Loop& loop, const std::string& path, Service& service)
    : listener_(std::make_shared<Listener>(loop, path, service)) {
  listener_->accept();
}

StatusEndpoint::~StatusEndpoint() {
  listener_->service = nullptr;
  listener_->loop.cancel(listener_->later);
  asio::error_code ignored;
  listener_->acceptor.close(ignored);
  for (const auto& each : listener_->visitors) {
    if (const auto visitor = each.lock()) visitor->end();
  }
  ::unlink(listener_->path.c_str());
}

}  // namespace conclave::election
