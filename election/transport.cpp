// The connections of a member and what waits to go over them. The file is long because it is one
// state machine per peer: dialling, introducing, sending, acknowledging, giving up, closing.
#include "election/transport.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include <asio/ip/tcp.hpp>
#include <fmt/format.h>

#include "conclave/base/check.hpp"
#include "conclave/base/error.hpp"
#include "election/configuration.hpp"
#include "election/detail/edge.hpp"
#include "election/detail/link.hpp"
#include "election/detail/listener.hpp"
#include "election/system.hpp"

namespace conclave::election {
namespace {

using asio::ip::tcp;
using detail::Edge;
using detail::Ending;
using detail::Link;
using detail::Verdict;
using Clock = Loop::Clock;

// A transport's knowledge about another member.
struct Peer {
  Peer(MemberIndex its_index, Endpoint where, const TransportLimits& limits)
      : index(its_index),
        endpoint(std::move(where)),
        edge({limits.queued_messages, limits.queued_bytes}),
        retry_delay(limits.first_retry) {}

  MemberIndex index;
  Endpoint endpoint;
  Edge edge;
  std::shared_ptr<Link> live;     // carries messages; at most one
  std::shared_ptr<Link> dialled;  // being opened by us; at most one
  Loop::Clock::duration retry_delay;
  Loop::TimerId retry = 0;
  Loop::TimerId watch = 0;                     // runs while messages wait for acknowledgement
  Loop::TimerId acknowledgement = 0;           // runs while one is owed
  Loop::Clock::time_point progress;            // when the peer has last acknowledged something new
  std::string trouble = "it does not answer";  // why there is no connection
  bool insists = false;       // it has told us that there is another connection, but there is none
  bool is_connected = false;  // as last reported to the application
};

constexpr Farewell superseded{Farewell::Kind::superseded, {}};

void check(const TransportOptions& options) {
  check_cluster_name(options.cluster);
  if (options.self >= options.members.size())
    throw Error(fmt::format("member {} is none of the {} members, which count from 0", options.self,
                            options.members.size()));
  if (options.credentials) check_credentials(*options.credentials, {options.cluster, options.self});
}

}  // namespace

class Transport::Core final : public detail::LinkOwner {
 public:
  Core(Loop& loop, const TransportOptions& options, TransportEvents& events);
  ~Core() override;
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  bool send(MemberIndex to, std::span<const std::byte> bytes);
  void close(std::function<void()> closed);
  void reload(const std::optional<Credentials>& credentials,
              const std::vector<std::string>& revoked);
  void move(MemberIndex member, Endpoint endpoint);
  const TransportCounters& counters() const { return counters_; }
  std::size_t pending() const { return pending_; }
  std::uint16_t port() const { return listener_.port(); }

 private:
  Ready position(const Hello& hello) override;
  std::optional<Verdict> on_ready(Link& link, const Ready& ready) override;
  std::optional<Verdict> on_message(Link& link, const Message& message) override;
  std::optional<Verdict> on_acknowledgement(Link& link, std::uint32_t received) override;
  void on_writable(Link& link) override { pump(peers_[link.peer()->sender]); }
  void on_closed(Link& link, const Ending& ending) override;

  Peer& peer(MemberIndex member);
  void welcome(tcp::socket socket);
  void dial(Peer& peer);
  void retry_later(Peer& peer);
  std::shared_ptr<Link> release(Link& link);
  void install(Peer& peer, std::shared_ptr<Link> link);
  void pump(Peer& peer);
  void watch(Peer& peer, Clock::duration time);
  void look_at(Peer& peer);
  void drop(Peer& peer, const std::string& why);
  void disconnect(Peer& peer, const std::string& why);
  void give_up(Peer& peer, const std::string& why);
  void owe_acknowledgement(Peer& peer);
  void acknowledge(Peer& peer);
  void settle(Peer& peer, std::size_t pending_before);
  void finish_closing_soon(Clock::duration time);
  void finish_closing();
  void cancel_timers(const Peer& peer) {
    for (const Loop::TimerId timer : {peer.retry, peer.watch, peer.acknowledgement})
      loop_->cancel(timer);
  }
  template <class... Arguments>
  void log(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    events_->on_log(fmt::format(text, std::forward<Arguments>(arguments)...));
  }

  Loop* loop_;
  TransportEvents* events_;
  TransportCounters counters_;
  detail::LinkSettings settings_;
  std::map<MemberIndex, Endpoint> via_;
  detail::Listener listener_;
  std::deque<Peer> peers_;  // grows where the cluster is elastic; timers refer to its elements
  std::vector<std::shared_ptr<Link>> strangers_;  // accepted, not introduced yet; oldest first
  std::size_t pending_ = 0;
  std::function<void()> closed_;
  bool is_closing_ = false;
  Loop::TimerId closing_ = 0;
};

Transport::Core::Core(Loop& loop, const TransportOptions& options, TransportEvents& events)
    : loop_(&loop),
      events_(&events),
      via_(options.via),
      listener_((check(options), loop), options,
                [this](tcp::socket socket) { welcome(std::move(socket)); },
                [this](const std::string& line) { events_->on_log(line); }) {
  settings_.loop = &loop;
  settings_.membership = {{options.cluster, options.self},
                          static_cast<MemberIndex>(options.members.size()),
                          unforeseeable_number(),
                          options.agreement};
  if (options.credentials)
    settings_.tls = std::make_unique<detail::TlsSettings>(*options.credentials, options.revoked);
  settings_.limits = options.limits;
  settings_.counters = &counters_;
  settings_.owner = this;
  if (options.is_elastic) settings_.membership.members = most_member_numbers;
  for (MemberIndex i = 0; i < options.members.size(); ++i) move(i, options.members[i]);
  listener_.start();
}

Transport::Core::~Core() {
  for (const auto& stranger : strangers_) stranger->end({});
  for (Peer& peer : peers_) {
    if (peer.live) peer.live->end({});
    if (peer.dialled) peer.dialled->end({});
    cancel_timers(peer);
  }
  loop_->cancel(closing_);
}

void Transport::Core::move(MemberIndex member, Endpoint endpoint) {
  const auto via = via_.find(member);
  peer(member).endpoint = via == via_.end() ? std::move(endpoint) : via->second;
}

Peer& Transport::Core::peer(MemberIndex member) {
  CONCLAVE_CHECK(member < settings_.membership.members);
  while (peers_.size() <= member)
    peers_.emplace_back(static_cast<MemberIndex>(peers_.size()), Endpoint{}, settings_.limits);
  return peers_[member];
}

bool Transport::Core::send(MemberIndex to, std::span<const std::byte> bytes) {
  CONCLAVE_CHECK(to != settings_.membership.self.member);
  CONCLAVE_CHECK(bytes.size() <= max_message_bytes);
  Peer& peer = this->peer(to);
  if (is_closing_ || !peer.edge.push(bytes)) return false;
  ++pending_;
  ++counters_.messages_sent;
  if (peer.edge.pending() == 1) {
    peer.progress = Clock::now();
    watch(peer, std::min(settings_.limits.silence, settings_.limits.patience));
  }
  if (peer.live)
    pump(peer);
  else
    dial(peer);
  return true;
}

void Transport::Core::close(std::function<void()> closed) {
  CONCLAVE_CHECK(!is_closing_);
  is_closing_ = true;
  closed_ = std::move(closed);
  listener_.stop();
  finish_closing_soon(pending_ == 0 ? Clock::duration::zero() : settings_.limits.farewell);
}

void Transport::Core::reload(const std::optional<Credentials>& credentials,
                             const std::vector<std::string>& revoked) {
  if (credentials.has_value() != (settings_.tls != nullptr))
    throw Error("TLS can neither begin nor end while a member runs");
  if (!credentials) return;
  check_credentials(*credentials, settings_.membership.self);
  settings_.tls = std::make_unique<detail::TlsSettings>(*credentials, revoked);
  for (Peer& peer : peers_) {
    const auto live = peer.live;
    if (live && live->is_revoked())
      live->refuse({Refusal::revoked, "its certificate has been revoked"});
  }
}

void Transport::Core::finish_closing_soon(Clock::duration time) {
  loop_->cancel(closing_);
  closing_ = loop_->after(time, [this] { finish_closing(); });
}

void Transport::Core::finish_closing() {
  for (const auto& stranger : std::exchange(strangers_, {})) stranger->end({});
  for (Peer& peer : peers_) {
    if (const auto dialled = std::exchange(peer.dialled, nullptr)) dialled->end({});
    acknowledge(peer);
    if (const auto live = std::exchange(peer.live, nullptr)) live->end(Farewell{});
    cancel_timers(peer);
  }
  if (const auto closed = std::exchange(closed_, nullptr)) closed();
}

void Transport::Core::welcome(tcp::socket socket) {
  strangers_.push_back(Link::accept(settings_, std::move(socket)));
  // An honest peer needs milliseconds, so the oldest is the one that most likely will not come.
  if (strangers_.size() > peers_.size() + settings_.limits.strangers)
    strangers_.front()->refuse(
        {Refusal::too_many_connections, "newer connections push out the oldest"});
}

void Transport::Core::dial(Peer& peer) {
  if (peer.live || peer.dialled || peer.retry != 0 || peer.endpoint.host.empty()) return;
  ++counters_.dials;
  peer.dialled = Link::dial(settings_, peer.index, peer.endpoint, peer.insists);
}

void Transport::Core::retry_later(Peer& peer) {
  if (peer.live || peer.dialled || peer.retry != 0) return;
  peer.retry = loop_->after(peer.retry_delay, [this, &peer] {
    peer.retry = 0;
    dial(peer);
  });
  peer.retry_delay = std::min(2 * peer.retry_delay, settings_.limits.longest_retry);
}

Ready Transport::Core::position(const Hello& hello) {
  const auto [received, first] = peer(hello.sender).edge.position_for(hello.incarnation);
  return {.echo = 0, .received = received, .first = first};
}

// Takes the link from wherever it waits.
std::shared_ptr<Link> Transport::Core::release(Link& link) {
  auto self = link.shared_from_this();
  std::erase(strangers_, self);
  if (link.expected() && peers_[*link.expected()].dialled == self)
    peers_[*link.expected()].dialled = nullptr;
  return self;
}

std::optional<Verdict> Transport::Core::on_ready(Link& link, const Ready& ready) {
  Peer& peer = peers_[link.peer()->sender];
  auto self = release(link);
  ++(link.side() == detail::Side::opened ? counters_.connections_opened
                                         : counters_.connections_accepted);
  if (peer.live && !link.replaces(*peer.live)) {
    ++counters_.connections_superseded;
    link.end(superseded);
    return {};
  }
  const std::size_t before = peer.edge.pending();
  const auto resumption = peer.edge.resume(link.peer()->incarnation, ready);
  if (!resumption)
    return Verdict{Refusal::malformed, "it claims to have received what was never sent"};
  counters_.messages_lost += resumption->lost;
  settle(peer, before);
  install(peer, std::move(self));
  if (resumption->is_other_process) events_->on_restarted(peer.index);
  pump(peer);
  return {};
}

void Transport::Core::install(Peer& peer, std::shared_ptr<Link> link) {
  const auto old = std::exchange(peer.live, std::move(link));
  peer.insists = false;
  peer.retry_delay = settings_.limits.first_retry;
  loop_->cancel(std::exchange(peer.retry, 0));
  if (peer.dialled && !peer.dialled->insists() && settings_.membership.self.member > peer.index)
    std::exchange(peer.dialled, nullptr)->end({});  // it could not replace this one
  if (old) {
    ++counters_.connections_superseded;
    old->end(superseded);
  }
  if (std::exchange(peer.is_connected, true)) return;
  log("connected with {}", peer.live->name());
}

void Transport::Core::pump(Peer& peer) {
  while (peer.live && peer.live->has_room()) {
    const auto message = peer.edge.next();
    if (!message) return;
    peer.live->send(*message);
  }
}

std::optional<Verdict> Transport::Core::on_message(Link& link, const Message& message) {
  if (auto verdict = on_acknowledgement(link, message.received)) return verdict;
  Peer& peer = peers_[link.peer()->sender];
  const Edge::Arrival arrival = peer.edge.arrive(message.number);
  if (arrival == Edge::Arrival::gap) return Verdict{Refusal::out_of_order, "messages are missing"};
  ++(arrival == Edge::Arrival::fresh ? counters_.messages_received : counters_.duplicates);
  if (arrival == Edge::Arrival::duplicate) return {};
  owe_acknowledgement(peer);
  events_->on_message(peer.index, message.bytes);
  return {};
}

std::optional<Verdict> Transport::Core::on_acknowledgement(Link& link, std::uint32_t received) {
  Peer& peer = peers_[link.peer()->sender];
  const std::size_t before = peer.edge.pending();
  if (!peer.edge.acknowledge(received))
    return Verdict{Refusal::malformed, "it acknowledges what was never sent"};
  settle(peer, before);
  return {};
}

// Some of its messages are gone since there were so many.
void Transport::Core::settle(Peer& peer, std::size_t pending_before) {
  const std::size_t gone = pending_before - peer.edge.pending();
  if (gone == 0) return;
  pending_ -= gone;
  peer.progress = Clock::now();
  if (peer.edge.pending() == 0) loop_->cancel(std::exchange(peer.watch, 0));
  if (pending_ == 0 && is_closing_ && closed_) finish_closing_soon(Clock::duration::zero());
}

void Transport::Core::watch(Peer& peer, Clock::duration time) {
  loop_->cancel(peer.watch);
  peer.watch = loop_->after(time, [this, &peer] {
    peer.watch = 0;
    look_at(peer);
  });
}

// Messages wait for acknowledgement. For too long?
void Transport::Core::look_at(Peer& peer) {
  const TransportLimits& limits = settings_.limits;
  const auto now = Clock::now();
  if (now - peer.progress >= limits.patience) return give_up(peer, peer.trouble);
  if (peer.live && now - std::max(peer.progress, peer.live->ready_since()) >= limits.silence) {
    drop(peer, "it acknowledges nothing");
    retry_later(peer);
  }
  watch(peer, std::min(limits.silence, peer.progress + limits.patience - now));
}

// The connection with it is of no use any more.
void Transport::Core::drop(Peer& peer, const std::string& why) {
  const auto live = std::exchange(peer.live, nullptr);
  if (!live) return;
  live->end({});
  log("lost {}: {}", live->name(), why);
  disconnect(peer, why);
}

void Transport::Core::disconnect(Peer& peer, const std::string& why) {
  peer.trouble = why;
  if (std::exchange(peer.is_connected, false)) events_->on_disconnected(peer.index, why);
}

void Transport::Core::give_up(Peer& peer, const std::string& why) {
  const std::string sentence =
      fmt::format("member {} at {}: {}", peer.index, to_string(peer.endpoint), why);
  drop(peer, why);
  if (const auto dialled = std::exchange(peer.dialled, nullptr)) dialled->end({});
  loop_->cancel(std::exchange(peer.retry, 0));
  peer.retry_delay = settings_.limits.first_retry;
  const std::size_t before = peer.edge.pending();
  counters_.messages_lost += peer.edge.forget();
  settle(peer, before);
  log("gave up {}", sentence);
  events_->on_unreachable(peer.index, sentence);
}

void Transport::Core::owe_acknowledgement(Peer& peer) {
  if (4 * peer.edge.owed() >= settings_.limits.queued_messages) return acknowledge(peer);
  if (peer.acknowledgement != 0) return;
  peer.acknowledgement = loop_->after(settings_.limits.acknowledgement_delay, [this, &peer] {
    peer.acknowledgement = 0;
    acknowledge(peer);
  });
}

void Transport::Core::acknowledge(Peer& peer) {
  if (peer.live && peer.edge.owed() > 0)
    peer.live->send(Acknowledgement{peer.edge.acknowledgement()});
}

void Transport::Core::on_closed(Link& link, const Ending& ending) {
  const auto self = release(link);
  const auto member = link.peer() ? std::optional{link.peer()->sender} : link.expected();
  const bool is_common = ending.kind == Ending::Kind::superseded;
  if (!is_common) log("{}: {}", link.name(), ending.why);
  // Only who has introduced itself, or has been dialled, may tell us something about a member.
  if (!member || (!link.expected() && !link.is_ready())) return;
  Peer& peer = peers_[*member];
  if (peer.live == self) peer.live = nullptr;
  if (!is_common && !peer.live) disconnect(peer, ending.why);
  peer.insists = is_common && !peer.live;
  if (ending.kind == Ending::Kind::left && !peer.live) return give_up(peer, ending.why);
  // The connection that takes its place needs time for its introduction.
  if (is_common) peer.retry_delay = std::max(peer.retry_delay, settings_.limits.introduction / 10);
  if (peer.edge.pending() > 0) retry_later(peer);
}

Transport::Transport(Loop& loop, const TransportOptions& options, TransportEvents& events)
    : core_(std::make_unique<Core>(loop, options, events)) {}
Transport::~Transport() = default;

bool Transport::send(MemberIndex to, std::span<const std::byte> bytes) {
  return core_->send(to, bytes);
}
void Transport::close(std::function<void()> closed) { core_->close(std::move(closed)); }
void Transport::reload(const std::optional<Credentials>& credentials,
                       const std::vector<std::string>& revoked) {
  core_->reload(credentials, revoked);
}
void Transport::move_member(MemberIndex member, Endpoint endpoint) {
  core_->move(member, std::move(endpoint));
}
const TransportCounters& Transport::counters() const { return core_->counters(); }
std::size_t Transport::pending() const { return core_->pending(); }
std::uint16_t Transport::port() const { return core_->port(); }

}  // namespace conclave::election
