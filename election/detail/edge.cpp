#include "election/detail/edge.hpp"

#include <algorithm>

namespace conclave::election::detail {

bool Edge::push(std::span<const std::byte> bytes) {
  if (queue_.size() >= limits_.messages || queued_bytes_ + bytes.size() > limits_.bytes)
    return false;
  queue_.emplace_back(bytes.begin(), bytes.end());
  queued_bytes_ += bytes.size();
  return true;
}

std::optional<Message> Edge::next() {
  if (sent_ == queue_.size()) return {};
  const auto number = static_cast<std::uint32_t>(first_ + sent_);
  const std::vector<std::byte>& bytes = queue_[sent_++];
  ever_sent_ = std::max(ever_sent_, sent_);
  return Message{number, acknowledgement(), bytes};
}

bool Edge::acknowledge(std::uint32_t received) {
  // Counts beyond 2^32 agree with the wire in their last bits; a queue is much shorter than that.
  const std::uint32_t count = received - static_cast<std::uint32_t>(first_);
  if (count > ever_sent_) {
    // An old acknowledgement that a newer one has overtaken by way of another connection.
    return count > UINT32_MAX / 2;
  }
  for (std::uint32_t i = 0; i < count; ++i) pop();
  return true;
}

std::size_t Edge::forget() {
  const std::size_t lost = queue_.size();
  while (!queue_.empty()) pop();
  return lost;
}

Edge::Arrival Edge::arrive(std::uint32_t number) {
  const std::uint32_t ahead = number - static_cast<std::uint32_t>(received_);
  if (ahead > UINT32_MAX / 2) return Arrival::duplicate;
  if (ahead > 0) return Arrival::gap;
  ++received_;
  ++owed_;
  return Arrival::fresh;
}

std::uint32_t Edge::acknowledgement() {
  owed_ = 0;
  return static_cast<std::uint32_t>(received_);
}

Edge::Position Edge::position_for(std::uint64_t incarnation) const {
  if (incarnation_ && *incarnation_ != incarnation) return {0, 0};
  return {received_, first_};
}

std::optional<Edge::Resumption> Edge::resume(std::uint64_t incarnation, const Ready& ready) {
  const bool is_other_process = incarnation_ && *incarnation_ != incarnation;
  const std::size_t lost = is_other_process ? restart() : 0;
  incarnation_ = incarnation;
  if (is_other_process) first_ = ready.received;  // it may have been here before: go on from there
  if (ready.received > first_ + ever_sent_) return {};
  while (first_ < ready.received) pop();
  received_ = std::max(received_, ready.first);
  sent_ = 0;
  return Resumption{is_other_process, lost};
}

void Edge::pop() {
  queued_bytes_ -= queue_.front().size();
  queue_.pop_front();
  ++first_;
  if (sent_ > 0) --sent_;
  if (ever_sent_ > 0) --ever_sent_;
}

// It is unknown which messages the old incarnation has received: none of them goes to the new one.
std::size_t Edge::restart() {
  const std::size_t lost = ever_sent_;
  while (ever_sent_ > 0) pop();
  first_ = 0;
  sent_ = 0;
  received_ = 0;
  owed_ = 0;
  return lost;
}

}  // namespace conclave::election::detail
