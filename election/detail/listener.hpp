// The socket where a member accepts connections.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <asio/ip/tcp.hpp>

#include "election/transport.hpp"

namespace conclave::election::detail {

class Listener {
 public:
  using OnAccept = std::function<void(asio::ip::tcp::socket)>;
  using OnTrouble = std::function<void(const std::string&)>;

  // Listens at once, and accepts from start() to stop(). Throws Error.
  Listener(Loop& loop, const TransportOptions& options, OnAccept on_accept, OnTrouble on_trouble);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  void start();
  void stop();
  std::uint16_t port() const { return port_; }

 private:
  void accept();

  Loop* loop_;
  OnAccept on_accept_;
  OnTrouble on_trouble_;
  Loop::Clock::duration recovery_;
  asio::ip::tcp::acceptor acceptor_;
  std::uint16_t port_;
  Loop::TimerId later_ = 0;
  std::shared_ptr<int> life_ = std::make_shared<int>();  // tells Asio's callback whether this lives
};

}  // namespace conclave::election::detail
