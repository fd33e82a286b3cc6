#include "election/detail/listener.hpp"

#include <sys/socket.h>

#include <utility>

#include <asio/io_context.hpp>
#include <fmt/format.h>

#include "conclave/base/error.hpp"

namespace conclave::election::detail {
namespace {

using asio::ip::tcp;

// The first address of the host; listening needs one only.
tcp::endpoint address_to_listen(asio::io_context& context, const Endpoint& endpoint) {
  asio::error_code error;
  const auto address = asio::ip::make_address(endpoint.host, error);
  if (!error) return {address, endpoint.port};
  tcp::resolver resolver{context};
  const auto results = resolver.resolve(endpoint.host, std::to_string(endpoint.port), error);
  if (error)
    throw Error(fmt::format("cannot listen on {}: {}", to_string(endpoint), error.message()));
  return *results.begin();
}

tcp::acceptor acceptor_at(asio::io_context& context, const Endpoint& endpoint, bool is_plain) {
  const tcp::endpoint address = address_to_listen(context, endpoint);
  if (is_plain && !address.address().is_loopback())
    throw Error(fmt::format("without TLS only loopback addresses may be used, not {}",
                            to_string(endpoint)));
  tcp::acceptor acceptor{context};
  asio::error_code error;
  acceptor.open(address.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address{true}, error);
  if (!error) acceptor.bind(address, error);
  if (!error) acceptor.listen(tcp::acceptor::max_listen_connections, error);
  if (error)
    throw Error(fmt::format("cannot listen on {}: {}", to_string(endpoint), error.message()));
  return acceptor;
}

tcp::acceptor acceptor_of(asio::io_context& context, int listener, bool is_plain) {
  sockaddr_storage name{};
  socklen_t length = sizeof name;
  if (getsockname(listener, reinterpret_cast<sockaddr*>(&name), &length) != 0)
    throw Error(fmt::format("descriptor {} is no socket that listens", listener));
  tcp::acceptor acceptor{context};
  asio::error_code error;
  acceptor.assign(name.ss_family == AF_INET6 ? tcp::v6() : tcp::v4(), listener, error);
  if (error)
    throw Error(fmt::format("cannot listen on descriptor {}: {}", listener, error.message()));
  if (is_plain && !acceptor.local_endpoint().address().is_loopback())
    throw Error("without TLS only loopback addresses may be used");
  return acceptor;
}

tcp::acceptor acceptor_for(asio::io_context& context, const TransportOptions& options) {
  const bool is_plain = !options.credentials;
  if (options.listener) return acceptor_of(context, *options.listener, is_plain);
  return acceptor_at(context, options.listen.value_or(options.members[options.self]), is_plain);
}

}  // namespace

Listener::Listener(Loop& loop, const TransportOptions& options, OnAccept on_accept,
                   OnTrouble on_trouble)
    : loop_(&loop),
      on_accept_(std::move(on_accept)),
      on_trouble_(std::move(on_trouble)),
      recovery_(options.limits.longest_retry),
      acceptor_(acceptor_for(loop.context(), options)),
      port_(acceptor_.local_endpoint().port()) {
  acceptor_.non_blocking(true);
}

Listener::~Listener() { stop(); }

void Listener::start() { accept(); }

void Listener::stop() {
  loop_->cancel(later_);
  asio::error_code ignored;
  acceptor_.close(ignored);
}

void Listener::accept() {
  const auto wait = tcp::acceptor::wait_read;
  acceptor_.async_wait(wait, [this, life = std::weak_ptr{life_}](const asio::error_code& failure) {
    if (failure || life.expired() || !acceptor_.is_open()) return;
    asio::error_code error;
    tcp::socket socket = acceptor_.accept(error);
    if (!error) on_accept_(std::move(socket));
    if (!error || error == asio::error::would_block || error == asio::error::connection_aborted)
      return accept();
    on_trouble_(fmt::format("cannot accept a connection: {}", error.message()));
    later_ = loop_->after(recovery_, [this] { accept(); });  // descriptors may be free then
  });
}

}  // namespace conclave::election::detail
