#include "election/detail/link.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include <asio/buffer.hpp>
#include <asio/connect.hpp>
#include <asio/io_context.hpp>
#include <fmt/format.h>

namespace conclave::election::detail {
namespace {

using asio::ip::tcp;

constexpr std::size_t read_bytes = std::size_t{16} * 1024;
constexpr std::size_t most_output = std::size_t{64} * 1024;
// Certificates and hellos take about three thousand.
constexpr std::size_t most_early_bytes = std::size_t{64} * 1024;

std::string address_of(const tcp::socket& socket) {
  asio::error_code error;
  const auto endpoint = socket.remote_endpoint(error);
  if (error) return "an unknown address";
  return to_string(Endpoint{endpoint.address().to_string(), endpoint.port()});
}

}  // namespace

std::shared_ptr<Link> Link::accept(const LinkSettings& settings, tcp::socket socket) {
  auto link = std::make_shared<Link>(settings, std::move(socket), std::nullopt, false);
  link->address_ = address_of(link->socket_);
  link->begin();
  return link;
}

std::shared_ptr<Link> Link::dial(const LinkSettings& settings, MemberIndex peer,
                                 const Endpoint& endpoint, bool insists) {
  auto link =
      std::make_shared<Link>(settings, tcp::socket{settings.loop->context()}, peer, insists);
  link->address_ = to_string(endpoint);
  link->connect(endpoint);
  return link;
}

Link::Link(const LinkSettings& settings, tcp::socket socket, std::optional<MemberIndex> expected,
           bool insists)
    : settings_(&settings),
      socket_(std::move(socket)),
      resolver_(settings.loop->context()),
      expected_(expected),
      insists_(insists),
      tunnel_(settings.tls.get(), side(), expected),
      introduction_(settings.membership, expected, insists),
      allowance_(static_cast<double>(settings.limits.bytes_at_once)),
      charged_(Loop::Clock::now()) {
  ++settings_->counters->connections_now;
}
Link::~Link() = default;

void Link::send(const Frame& frame) {
  if (is_closed_) return;
  encode(frame, frames_);
  ++settings_->counters->frames_sent;
  flush_soon();
}

bool Link::has_room() const {
  return frames_.size() + tunnel_.output_size() - written_ < most_output;
}

void Link::end(std::optional<Farewell> farewell) {
  if (is_closed_) return;
  if (farewell) {
    if (tunnel_.is_open()) send(*farewell);
    write_out();
  }
  close_socket();
}

void Link::refuse(const Verdict& verdict) {
  if (is_closed_) return;
  ++settings_->counters->refusals[static_cast<std::size_t>(verdict.refusal)];
  end(Farewell{Farewell::Kind::refused, verdict.refusal});
  settings_->owner->on_closed(
      *this,
      {Ending::Kind::refused, fmt::format("{}: {}", name_of(verdict.refusal), verdict.sentence)});
}

bool Link::insists() const { return expected_ ? insists_ : peer() && peer()->insists; }

bool Link::replaces(const Link& older) const {
  if (peer()->incarnation != older.peer()->incarnation) return true;
  if (insists() || side() == older.side()) return true;
  const bool are_we_smaller = settings_->membership.self.member < peer()->sender;
  return are_we_smaller == (side() == Side::opened);
}

std::string Link::name() const {
  const auto member = peer() ? std::optional{peer()->sender} : expected_;
  return member ? fmt::format("member {} at {}", *member, address_) : address_;
}

// The address of a plain link must be loopback; a name may stand for several addresses.
void Link::connect(const Endpoint& endpoint) {
  deadline_ = settings_->loop->after(settings_->limits.introduction, [self = shared_from_this()] {
    self->close({Ending::Kind::lost, "it does not answer in time"});
  });
  asio::error_code error;
  const auto address = asio::ip::make_address(endpoint.host, error);
  if (!error) return connect_to({tcp::endpoint{address, endpoint.port}});
  resolver_.async_resolve(
      endpoint.host, std::to_string(endpoint.port),
      [self = shared_from_this()](const asio::error_code& failure, const auto& results) {
        if (failure || self->is_closed_) return self->on_connected(failure);
        self->connect_to({results.begin(), results.end()});
      });
}

void Link::connect_to(const std::vector<tcp::endpoint>& candidates) {
  const bool is_local = std::ranges::all_of(
      candidates, [](const tcp::endpoint& one) { return one.address().is_loopback(); });
  if (!settings_->tls && !is_local)
    return settings_->loop->post([self = shared_from_this()] {
      self->close({Ending::Kind::lost, "without TLS only loopback addresses may be used"});
    });
  asio::async_connect(socket_, candidates,
                      [self = shared_from_this()](const asio::error_code& error, const auto&) {
                        self->on_connected(error);
                      });
}

void Link::on_connected(const asio::error_code& error) {
  if (is_closed_) return;
  if (error) return close({Ending::Kind::lost, error.message()});
  settings_->loop->cancel(deadline_);
  begin();
}

void Link::begin() {
  asio::error_code ignored;
  socket_.set_option(tcp::no_delay{true}, ignored);
  socket_.non_blocking(true, ignored);
  deadline_ = settings_->loop->after(settings_->limits.introduction, [self = shared_from_this()] {
    self->refuse({Refusal::too_slow, "it has not introduced itself in time"});
  });
  wait_to_read();
  process();
}

void Link::wait_to_read() {
  socket_.async_wait(tcp::socket::wait_read,
                     [self = shared_from_this()](const asio::error_code& error) {
                       if (!self->is_closed_ && !error) self->read();
                     });
}

void Link::wait_to_write() {
  if (std::exchange(waits_to_write_, true)) return;
  socket_.async_wait(tcp::socket::wait_write,
                     [self = shared_from_this()](const asio::error_code& error) {
                       self->waits_to_write_ = false;
                       if (!self->is_closed_ && !error) self->flush();
                     });
}

void Link::read() {
  std::array<std::byte, read_bytes> buffer{};
  asio::error_code error;
  const std::size_t size = socket_.read_some(asio::buffer(buffer), error);
  if (error && error != asio::error::would_block)
    return close({Ending::Kind::lost,
                  error == asio::error::eof ? "it has closed the connection" : error.message()});
  settings_->counters->bytes_received += size;
  if (!is_ready()) early_bytes_ += size;
  if (early_bytes_ > most_early_bytes)
    return refuse({Refusal::oversized, "an endless introduction"});
  tunnel_.feed(std::span{buffer}.first(size));
  process();
  if (!is_closed_) charge(size);
}

// Reading goes on, at once or as soon as the budget allows it.
void Link::charge(std::size_t bytes) {
  const auto now = Loop::Clock::now();
  const TransportLimits& limits = settings_->limits;
  const auto rate = static_cast<double>(limits.bytes_per_second);
  const double elapsed = std::chrono::duration<double>(now - charged_).count();
  charged_ = now;
  allowance_ = std::min(static_cast<double>(limits.bytes_at_once), allowance_ + elapsed * rate) -
               static_cast<double>(bytes);
  if (allowance_ > 0) return wait_to_read();
  ++settings_->counters->pauses;
  const std::chrono::duration<double> pause{(static_cast<double>(read_bytes) - allowance_) / rate};
  pause_ = settings_->loop->after(std::chrono::duration_cast<Loop::Clock::duration>(pause),
                                  [self = shared_from_this()] {
                                    if (!self->is_closed_) self->wait_to_read();
                                  });
}

void Link::process() {
  if (tunnel_.is_open() && expected_ && !std::exchange(is_greeted_, true))
    send(introduction_.hello(*expected_));
  std::array<std::byte, 4096> plain{};
  while (!is_closed_) {
    const std::size_t size = tunnel_.read(plain);
    if (size == 0) break;
    take(std::span{plain}.first(size));
  }
  if (is_closed_) return;
  flush_soon();  // the handshake, an alert
  if (tunnel_.failure()) return fail_tunnel();
  if (tunnel_.is_finished()) close({Ending::Kind::lost, "it has closed the connection"});
}

void Link::take(std::span<const std::byte> plain) {
  while (!is_closed_) {
    const auto decoded = decoder_.next(plain);
    if (!decoded) return;
    if (const auto* refusal = std::get_if<Refusal>(&*decoded))
      return refuse({*refusal, "what it sends is no frame"});
    ++settings_->counters->frames_received;
    const auto verdict =
        std::visit([this](const auto& frame) { return on(frame); }, std::get<Frame>(*decoded));
    if (verdict) return refuse(*verdict);
  }
}

bool Link::is_revoked() const {
  return settings_->tls && settings_->tls->has_revoked(tunnel_.serial());
}

std::optional<Verdict> Link::on(const Hello& hello) {
  if (is_revoked())
    return Verdict{Refusal::revoked,
                   fmt::format("its certificate {} is revoked here", tunnel_.serial())};
  if (auto verdict = introduction_.on_hello(hello, tunnel_.peer())) return verdict;
  if (!std::exchange(is_greeted_, true)) send(introduction_.hello(hello.sender));
  Ready ready = settings_->owner->position(hello);
  ready.echo = hello.nonce;
  send(ready);
  return {};
}

std::optional<Verdict> Link::on(const Ready& ready) {
  if (auto verdict = introduction_.on_ready(ready)) return verdict;
  settings_->loop->cancel(deadline_);
  ready_since_ = Loop::Clock::now();
  if (tunnel_.is_resumed()) ++settings_->counters->connections_resumed;
  return settings_->owner->on_ready(*this, ready);
}

std::optional<Verdict> Link::on(const Message& message) {
  if (auto verdict = introduction_.on_message()) return verdict;
  if (next_number_ && message.number != *next_number_)
    return Verdict{Refusal::out_of_order,
                   fmt::format("message {} where {} is due", message.number, *next_number_)};
  next_number_ = message.number + 1;
  return settings_->owner->on_message(*this, message);
}

std::optional<Verdict> Link::on(const Acknowledgement& acknowledgement) {
  if (auto verdict = introduction_.on_message()) return verdict;
  return settings_->owner->on_acknowledgement(*this, acknowledgement.received);
}

std::optional<Verdict> Link::on(const Farewell& farewell) {
  switch (farewell.kind) {
    case Farewell::Kind::leaving:
      close({Ending::Kind::left, "it has left"});
      break;
    case Farewell::Kind::superseded:
      close({Ending::Kind::superseded, "another connection takes its place"});
      break;
    case Farewell::Kind::refused:
      close({Ending::Kind::refused_by_peer,
             fmt::format("it refuses us: {}", name_of(farewell.reason))});
      break;
  }
  return {};
}

// All that one callback sends goes out in one piece.
void Link::flush_soon() {
  if (std::exchange(is_flush_due_, true)) return;
  settings_->loop->post([self = shared_from_this()] {
    if (!self->is_closed_ && self->is_flush_due_) self->flush();
  });
}

void Link::flush() {
  is_flush_due_ = false;
  if (write_out() && is_ready()) settings_->owner->on_writable(*this);
}

bool Link::write_out() {
  if (!frames_.empty() && tunnel_.is_open()) {
    tunnel_.write(frames_);
    frames_.clear();
  }
  std::vector<std::byte>& output = tunnel_.output();
  asio::error_code error;
  while (written_ < output.size() && !error) {
    const std::size_t size =
        socket_.write_some(asio::buffer(output.data() + written_, output.size() - written_), error);
    written_ += size;
    settings_->counters->bytes_sent += size;
  }
  if (error == asio::error::would_block) wait_to_write();
  if (error) return false;  // of worse errors the reading side learns too, and has more to say
  output.clear();
  written_ = 0;
  return true;
}

void Link::fail_tunnel() {
  const TunnelFailure failure = *tunnel_.failure();
  if (failure.refusal) return refuse({*failure.refusal, failure.sentence});
  close({Ending::Kind::refused_by_peer, failure.sentence});
}

void Link::close(const Ending& ending) {
  if (is_closed_) return;
  close_socket();
  settings_->owner->on_closed(*this, ending);
}

void Link::close_socket() {
  is_closed_ = true;
  --settings_->counters->connections_now;
  settings_->loop->cancel(deadline_);
  settings_->loop->cancel(pause_);
  resolver_.cancel();
  asio::error_code ignored;
  socket_.close(ignored);
}

}  // namespace conclave::election::detail
