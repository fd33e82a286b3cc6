// The delay adversaries that `--delay` chooses from, each the whole of its strategy.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "conclave/network/adversary.hpp"

namespace conclave::network {

// Every message takes exactly one unit of time.
struct Unit final : DelayAdversary {
  static constexpr AdversaryInfo info{"unit", "every message takes exactly one unit of time"};

  Unit(NodeCount, const StreamName&) {}
  Ticks delay(const Parcel&, const NetworkView&) override { return unit; }
};

// Independent delays, uniform in (0, 1].
class Uniform final : public DelayAdversary {
 public:
  static constexpr AdversaryInfo info{"uniform", "independent delays, uniform in (0, 1]"};

  Uniform(NodeCount, const StreamName& name) : stream_(name.with(Purpose::delay)) {}
  Ticks delay(const Parcel&, const NetworkView&) override { return draw(); }
  bool foretell(std::span<Ticks> delays) override {
    for (Ticks& each : delays) each = draw();
    return true;
  }

 private:
  Ticks draw() { return 1 + (stream_.word() >> 32); }

  Stream stream_;
};

// Exponential delays of mean 1/4, under the condition that they are at most 1: most messages are
// fast, some are not. Drawn with von Neumann's comparisons of uniform numbers (1951), which need no
// logarithm and give the same bits everywhere.
class Exponential final : public DelayAdversary {
 public:
  static constexpr AdversaryInfo info{
      "exponential", "independent exponential delays of mean 1/4, truncated to (0, 1]"};

  Exponential(NodeCount, const StreamName& name) : stream_(name.with(Purpose::delay)) {}

  Ticks delay(const Parcel&, const NetworkView&) override { return draw(); }
  bool foretell(std::span<Ticks> delays) override {
    for (Ticks& each : delays) each = draw();
    return true;
  }

 private:
  Ticks draw() {
    for (;;) {
      const Ticks quarters = standard();  // in units of a quarter
      if (quarters < 4 * unit) return quarters / 4 + 1;
    }
  }

  // A descending run of uniform numbers has odd length with probability exp(-first). So the first
  // number of an odd run is distributed like the fractional part, and every even run before it adds
  // one to the whole part.
  Ticks standard() {
    for (Ticks whole = 0;; whole += unit) {
      const Ticks first = stream_.word() >> 32;
      bool is_odd = true;
      Ticks last = first;
      for (Ticks next = stream_.word() >> 32; next < last; next = stream_.word() >> 32) {
        last = next;
        is_odd = !is_odd;
      }
      if (is_odd) return whole + first;
    }
  }

  Stream stream_;
};

// Every node hears nothing for a whole unit and then everything at once, each at its own moment of
// the unit.
class Burst final : public DelayAdversary {
 public:
  static constexpr AdversaryInfo info{
      "burst", "a node receives all that was sent to it once per unit, at its own moment"};

  Burst(NodeCount, const StreamName& name) : key_(Stream(name.with(Purpose::delay)).word()) {}

  Ticks delay(const Parcel& parcel, const NetworkView& view) override {
    const Ticks moment = mixed(key_, parcel.to) >> 32;
    return unit - (view.now() + unit - moment) % unit;
  }

 private:
  std::uint64_t key_;
};

// Lower ranks first: the higher the rank of its sender or receiver, the longer a message takes. So
// candidates that cannot win get far before those that will beat them.
class RankOrder final : public DelayAdversary {
 public:
  static constexpr AdversaryInfo info{
      "rank-order", "in proportion to the higher rank of sender and receiver: low ranks first"};

  RankOrder(NodeCount, const StreamName&) {}

  Ticks delay(const Parcel& parcel, const NetworkView& view) override {
    const std::uint64_t rank = std::max(view.node(parcel.from).rank, view.node(parcel.to).rank);
    highest_ = std::max(highest_, rank);
    const double share = static_cast<double>(rank) / static_cast<double>(highest_);
    return std::clamp(static_cast<Ticks>(share * static_cast<double>(unit)), soon, unit);
  }

 private:
  std::uint64_t highest_ = 1;  // rank seen so far
};

// Higher ranks first: the lower the higher rank of its two ends, the longer a message takes. Those
// who will lose find out late and ask referees for as long as they can.
class ReverseRank final : public DelayAdversary {
 public:
  static constexpr AdversaryInfo info{
      "reverse-rank", "the opposite of rank-order: messages of high ranks arrive first"};

  ReverseRank(NodeCount n, const StreamName& name) : order_(n, name) {}

  Ticks delay(const Parcel& parcel, const NetworkView& view) override {
    return std::max(soon, unit - order_.delay(parcel, view));
  }

 private:
  RankOrder order_;
};

// Disputes take as long as they may: DECIDE and the replies to it a whole unit, all else is fast.
// So referees sit in states C2 and C3 while requests pour in.
struct SlowDecide final : DelayAdversary {
  static constexpr AdversaryInfo info{"slow-decide",
                                      "DECIDE, WINS and LOSES take 1, all other messages 1/1024"};

  SlowDecide(NodeCount, const StreamName&) {}

  Ticks delay(const Parcel& parcel, const NetworkView&) override {
    const bool is_dispute =
        parcel.kind == "DECIDE" || parcel.kind == "WINS" || parcel.kind == "LOSES";
    return is_dispute ? unit : soon;
  }
};

// Whoever is ahead is slowed down: all messages from and to the front runner take a whole unit, all
// others are fast, so that the rest of the field catches up with it.
struct SlowLeader final : DelayAdversary {
  static constexpr AdversaryInfo info{
      "slow-leader", "messages from and to the candidate furthest ahead take 1, others 1/1024"};

  SlowLeader(NodeCount, const StreamName&) {}

  Ticks delay(const Parcel& parcel, const NetworkView& view) override {
    const auto leader = view.front_runner();
    const bool concerns_it = leader && (parcel.from == *leader || parcel.to == *leader);
    return concerns_it ? unit : soon;
  }
};

}  // namespace conclave::network
