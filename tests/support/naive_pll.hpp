// P_LL of Sudo et al. (TPDS 2020), Algorithms 1 to 5 once more: written from the paper alone, with
// all the variables of Table 3, one statement per line of the pseudocode and a generator of its own
// (SplitMix64), so that it shares no mistake with src/. Slow on purpose. It can tell which lines it
// has executed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

namespace conclave::tests {

class NaivePll {
 public:
  struct Constants {
    int m = 1;
    int c_max = 41;
    int k = 0;             // ceil(lg m)
    bool printed = false;  // lines 9 and 46 to the letter
  };

  enum class Status { x, a, b };

  struct Agent {
    bool leader = true;
    bool tick = false;
    Status status = Status::x;
    int epoch = 1;
    int init = 1;
    int color = 0;
    int count = 0;
    int level_q = 0;
    bool done = false;
    int rand = 0;
    int level_b = 0;
  };

  // The constants of the paper for n agents, with m = ceil(lg n).
  static Constants constants_for(int n) {
    Constants constants;
    constants.m = std::max(1, ceil_lg(n));
    constants.c_max = 41 * constants.m;
    constants.k = ceil_lg(constants.m);
    return constants;
  }

  NaivePll(int n, Constants constants, std::uint64_t seed)
      // Scrambled, so that neighbouring seeds lie far apart.
      : constants_(constants), agents_(static_cast<std::size_t>(n)), word_(scrambled(seed)) {}

  // The number of interactions until exactly one leader is left; nothing if that never happens.
  std::optional<std::uint64_t> stabilize() {
    std::uint64_t steps = 0;
    while (leaders_ > 1) {
      // This costs O(n), so it is looked for now and then only.
      if (constants_.printed && steps % 1024 == 0 && is_frozen()) return std::nullopt;
      leaders_ += step();
      ++steps;
    }
    return steps;
  }

  // Adds every line that does something to this set of bits when it is executed; null: to none.
  void tell(std::uint64_t* lines) { lines_ = lines; }

  // Algorithm 1: a0 initiates, a1 responds.
  void interact(Agent& a0, Agent& a1) const {
    if (in_x(a0) && in_x(a1)) {  // 1
      at(2);
      a0.status = Status::a;  // 2
      a0.level_q = 0;
      a0.done = false;
      a0.leader = true;
      a1.status = Status::b;  // 3
      a1.count = 0;
      a1.leader = false;
    } else if (in_x(a0)) {  // 4, i = 0
      join_late(a0);
    } else if (in_x(a1)) {  // 4, i = 1
      join_late(a1);
    }
    for (const int line : {7, 10}) at(line);
    a0.tick = a1.tick = false;     // 7
    count_up(a0, a1);              // 8
    if (a0.tick) raise_epoch(a0);  // 9
    if (a1.tick) raise_epoch(a1);
    a0.epoch = a1.epoch = std::max(a0.epoch, a1.epoch);  // 10
    if (a0.epoch > a0.init) initialize(a0);              // 11
    if (a1.epoch > a1.init) initialize(a1);
    if (a0.epoch == 1 && a1.epoch == 1) {  // 16
      at(17);
      quick_elimination(a0, a1);                  // 17
    } else if (a0.epoch == 2 && a1.epoch == 2) {  // 18
      at(19);
      tournament(a0, a1);                         // 19
    } else if (a0.epoch == 3 && a1.epoch == 3) {  // 20
      at(21);
      back_up(a0, a1);  // 21
    }
  }

 private:
  static int ceil_lg(int n) {
    int result = 0;
    while ((1 << result) < n) ++result;
    return result;
  }

  void at(int line) const {
    if (lines_ != nullptr) *lines_ |= std::uint64_t{1} << line;
  }

  static bool in_a(const Agent& v) { return v.status == Status::a; }
  static bool in_b(const Agent& v) { return v.status == Status::b; }
  static bool in_x(const Agent& v) { return v.status == Status::x; }

  bool is_frozen() const {
    return std::ranges::all_of(agents_, [](const Agent& v) { return v.epoch > 3; });
  }

  static std::uint64_t scrambled(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  std::uint64_t random_word() { return scrambled(word_ += 0x9e3779b97f4a7c15u); }

  std::size_t random_agent() {
    const std::uint64_t n = agents_.size();
    const std::uint64_t usable = ~std::uint64_t{0} / n * n;
    std::uint64_t word = random_word();
    while (word >= usable) word = random_word();
    return static_cast<std::size_t>(word % n);
  }

  // One interaction of a random ordered pair; returns by how much the number of leaders changed.
  std::int64_t step() {
    const std::size_t initiator = random_agent();
    std::size_t responder = random_agent();
    while (responder == initiator) responder = random_agent();
    Agent& a0 = agents_[initiator];
    Agent& a1 = agents_[responder];
    const int before = int{a0.leader} + int{a1.leader};
    interact(a0, a1);
    return int{a0.leader} + int{a1.leader} - before;
  }

  void join_late(Agent& v) const {  // 5
    at(5);
    v.status = Status::a;
    v.level_q = 0;
    v.done = true;
    v.leader = false;
  }

  void raise_epoch(Agent& v) const {  // 9: printed max, must be min
    at(9);
    v.epoch = constants_.printed ? std::max(v.epoch + 1, 3) : std::min(v.epoch + 1, 3);
  }

  void initialize(Agent& v) const {
    at(14);
    if (in_a(v) && v.epoch == 2) v.rand = 1;     // 12
    if (in_a(v) && v.epoch == 3) v.level_b = 0;  // 13
    v.init = v.epoch;                            // 14
  }

  void count_up(Agent& a0, Agent& a1) const {
    for (Agent* v : {&a0, &a1}) {  // 23
      if (!in_b(*v)) continue;
      at(24);
      v->count = (v->count + 1) % constants_.c_max;  // 24
      if (v->count == 0) {                           // 25
        at(26);
        v->color = (v->color + 1) % 3;  // 26
        v->tick = true;                 // 27
      }
    }
    if (a1.color == (a0.color + 1) % 3) {  // 30, i = 0
      catch_up(a0, a1);
    } else if (a0.color == (a1.color + 1) % 3) {  // 30, i = 1
      catch_up(a1, a0);
    }
  }

  void catch_up(Agent& behind, const Agent& ahead) const {
    at(31);
    behind.color = ahead.color;          // 31
    behind.tick = true;                  // 32
    if (in_b(behind)) behind.count = 0;  // 33
  }

  void quick_elimination(Agent& a0, Agent& a1) const {
    if (a0.leader && !a1.leader && !a0.done) {  // 35, i = 0
      at(36);
      a0.level_q = std::min(a0.level_q + 1, constants_.c_max);  // 36
    } else if (a1.leader && !a0.leader && !a1.done) {           // 35, i = 1
      at(37);
      a1.done = true;  // 37
    }
    if (!in_a(a0) || !in_a(a1) || !a0.done || !a1.done) return;  // 39
    if (a0.level_q != a1.level_q) at(40);
    if (a0.level_q < a1.level_q) {
      a0.leader = false;        // 40
      a0.level_q = a1.level_q;  // 41
    } else if (a1.level_q < a0.level_q) {
      a1.leader = false;
      a1.level_q = a0.level_q;
    }
  }

  void tournament(Agent& a0, Agent& a1) const {
    const int full = 1 << constants_.k;
    if (a0.leader && !a1.leader && a0.rand < full) {  // 43, i = 0
      at(44);
      a0.rand = 2 * a0.rand;                                 // 44
    } else if (a1.leader && !a0.leader && a1.rand < full) {  // 43, i = 1
      at(44);
      a1.rand = 2 * a1.rand + 1;
    }
    // 46: printed of all agents, must be of leaders, since no follower ever completes a nonce.
    const auto may_compare = [&](const Agent& v) {
      return v.rand >= full || (!constants_.printed && !v.leader);
    };
    if (!in_a(a0) || !in_a(a1) || !may_compare(a0) || !may_compare(a1)) return;
    if (a0.rand != a1.rand) at(47);
    if (a0.rand < a1.rand) {
      a0.leader = false;  // 47
      a0.rand = a1.rand;  // 48
    } else if (a1.rand < a0.rand) {
      a1.leader = false;
      a1.rand = a0.rand;
    }
  }

  void back_up(Agent& a0, Agent& a1) const {
    if (a0.tick && a0.leader) {  // 50
      at(51);
      a0.level_b = std::min(a0.level_b + 1, constants_.c_max);  // 51
    }
    if (in_a(a0) && in_a(a1) && a0.level_b < a1.level_b) {  // 53, i = 0
      at(54);
      a0.level_b = a1.level_b;                                     // 54
      a0.leader = false;                                           // 55
    } else if (in_a(a0) && in_a(a1) && a1.level_b < a0.level_b) {  // 53, i = 1
      at(54);
      a1.level_b = a0.level_b;
      a1.leader = false;
    }
    if (a0.leader && a1.leader) at(57);
    if (a0.leader && a1.leader) a1.leader = false;  // 57
  }

  Constants constants_;
  std::uint64_t* lines_ = nullptr;
  std::vector<Agent> agents_;
  std::uint64_t word_;
  std::int64_t leaders_ = static_cast<std::int64_t>(agents_.size());
};

}  // namespace conclave::tests
