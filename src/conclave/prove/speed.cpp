#include "conclave/prove/speed.hpp"

#include <algorithm>

namespace conclave::prove {
namespace {

// Whether every open configuration has an enabled t in U as the class wants it, for this factor.
class Condition {
 public:
  Condition(Invariants& invariants, const Net& net, const std::vector<z3::expr>& facts,
            const Counts& weights, const std::vector<bool>& lowering)
      : invariants_(invariants), net_(net), facts_(facts), weights_(weights), lowering_(lowering) {}

  bool holds(Speed speed, std::int64_t factor) {
    z3::context& context = invariants_.context();
    many_.clear();
    enough_factor_ = factor;
    const z3::expr sum = total();
    for (std::size_t state = 0; state < net_.states; ++state) {
      many_.push_back(context.int_val(factor) * invariants_.now(state) >= sum);
    }
    z3::expr_vector bad(context), open(context);
    for (std::size_t t = 0; t < net_.transitions.size(); ++t) {
      if (!lowering_[t]) continue;
      open.push_back(invariants_.is_enabled(net_.transitions[t]));
      bad.push_back(!open.back() || !is_good(net_.transitions[t], speed));
    }
    std::vector<z3::expr> all = facts_;
    all.push_back(invariants_.named(mk_or(open) && mk_and(bad)));
    return !invariants_.find(all) && !invariants_.gave_up();
  }

 private:
  z3::expr total() const {
    z3::expr_vector parts(invariants_.context());
    for (std::size_t state = 0; state < net_.states; ++state) {
      if (weights_[state] == 0) continue;
      parts.push_back(invariants_.context().int_val(weights_[state]) * invariants_.now(state));
    }
    return sum(parts);
  }

  z3::expr is_good(const Transition& transition, Speed speed) const {
    const std::size_t p = transition.pre[0], q = transition.pre[1];
    if (speed == Speed::n2_log_n) return many_[p] || many_[q];
    if (speed == Speed::n2) return many_[p] && many_[q];
    z3::expr no = invariants_.context().bool_val(false);
    const z3::expr a = invariants_.context().int_val(enough_factor_);
    const auto spreads = [&](std::size_t x, std::size_t y) {
      if (weights_[x] != 1) return no;
      return many_[x] && invariants_.now(x) + a * invariants_.now(y) >= invariants_.population();
    };
    return p == q ? no : spreads(p, q) || spreads(q, p);
  }

  Invariants& invariants_;
  const Net& net_;
  const std::vector<z3::expr>& facts_;
  const Counts& weights_;
  const std::vector<bool>& lowering_;
  std::vector<z3::expr> many_;  // by state: a c >= F
  std::int64_t enough_factor_ = 1;
};

}  // namespace

std::string to_string(Speed speed) {
  switch (speed) {
    case Speed::none:
      return "0";
    case Speed::n_log_n:
      return "n log n";
    case Speed::n2:
      return "n^2";
    case Speed::n2_log_n:
      return "n^2 log n";
    case Speed::n3:
      return "n^3";
    case Speed::unknown:
      break;
  }
  return "unknown";
}

std::pair<Speed, std::int64_t> speed_of(Invariants& invariants, const Net& net,
                                        const std::vector<z3::expr>& facts, const Counts& weights,
                                        const std::vector<bool>& lowering) {
  const std::int64_t largest = std::ranges::max(weights);
  const auto most = static_cast<std::int64_t>(2 * net.states) * largest;
  Condition condition(invariants, net, facts, weights, lowering);
  for (const Speed speed : {Speed::n_log_n, Speed::n2, Speed::n2_log_n}) {
    if (speed == Speed::n_log_n && largest > 1) continue;
    for (std::int64_t factor = 1; factor <= most; factor *= 4) {
      if (condition.holds(speed, factor)) return {speed, factor};
    }
  }
  return {Speed::n3, 0};
}

}  // namespace conclave::prove
