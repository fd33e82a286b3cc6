// A cable between members that can be cut or go dead: forwards TCP connections to a port of
// loopback, in a thread of its own.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "election/tests/support/loopback.hpp"

namespace conclave::election::testing {

class BadCable {
 public:
  explicit BadCable(std::uint16_t target) : target_(target) {
    thread_ = std::thread([this] { run(); });
  }
  ~BadCable() {
    is_over_ = true;
    thread_.join();
    drop_all();
    close(listener_.descriptor);
  }
  BadCable(const BadCable&) = delete;
  BadCable& operator=(const BadCable&) = delete;

  std::uint16_t port() const { return listener_.port; }
  void cut() { is_cut_ = true; }  // all connections there are now are reset
  // Connections there are now carry nothing any more, but stay; new ones are as good as ever.
  void kill_silently() { is_dead_ = true; }
  int connections() const { return connections_; }  // so far

 private:
  struct Pair {
    std::array<int, 2> ends;
    bool is_dead = false;
  };

  static void drop(const Pair& pair) {
    const linger now{1, 0};
    for (const int end : pair.ends) {
      setsockopt(end, SOL_SOCKET, SO_LINGER, &now, sizeof now);
      close(end);
    }
  }
  void drop_all() {
    for (const Pair& pair : std::exchange(pairs_, {})) drop(pair);
  }

  void run() {
    while (!is_over_) {
      if (is_cut_.exchange(false)) drop_all();
      if (is_dead_.exchange(false))
        for (Pair& pair : pairs_) pair.is_dead = true;
      std::vector<pollfd> waiting{{listener_.descriptor, POLLIN, 0}};
      for (const Pair& pair : pairs_)
        for (const int end : pair.ends)
          waiting.push_back({end, static_cast<short>(pair.is_dead ? 0 : POLLIN), 0});
      poll(waiting.data(), waiting.size(), 1);
      forward(waiting);
      if (waiting[0].revents != 0) add();
    }
  }
  void add() {
    sockaddr_in address = loopback(target_);
    const int near = accept(listener_.descriptor, nullptr, nullptr);
    const int far = socket(AF_INET, SOCK_STREAM, 0);
    pairs_.push_back({{near, far}});
    ++connections_;
    if (connect(far, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return;
    drop(pairs_.back());
    pairs_.pop_back();
  }
  void forward(const std::vector<pollfd>& waiting) {
    std::vector<Pair> left;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const Pair& pair = pairs_[i];
      const bool is_well =
          pair.is_dead || ((waiting[1 + 2 * i].revents == 0 || move(pair.ends[0], pair.ends[1])) &&
                           (waiting[2 + 2 * i].revents == 0 || move(pair.ends[1], pair.ends[0])));
      if (is_well)
        left.push_back(pair);
      else
        drop(pair);
    }
    pairs_ = std::move(left);
  }
  static bool move(int from, int to) {
    std::array<char, 2048> buffer;
    const ssize_t size = recv(from, buffer.data(), buffer.size(), 0);
    return size > 0 &&
           send(to, buffer.data(), static_cast<std::size_t>(size), MSG_NOSIGNAL) == size;
  }

  std::uint16_t target_;
  Listener listener_ = listener();
  std::vector<Pair> pairs_;
  std::atomic<bool> is_over_ = false, is_cut_ = false, is_dead_ = false;
  std::atomic<int> connections_ = 0;
  std::thread thread_;
};

}  // namespace conclave::election::testing
