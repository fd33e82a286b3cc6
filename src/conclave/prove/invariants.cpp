#include "conclave/prove/invariants.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "conclave/base/check.hpp"

namespace conclave::prove {
namespace {

constexpr unsigned effort_of_query = 60'000'000;

// Removes states from a set one by one while what is left of it, made whole again by `largest`,
// still satisfies `is_enough`.
template <class Largest, class IsEnough>
States minimized(States set, Largest largest, IsEnough is_enough) {
  for (std::size_t state = 0; state < set.size(); ++state) {
    if (!set[state]) continue;
    States smaller = set;
    smaller[state] = false;
    smaller = largest(std::move(smaller));
    if (is_enough(smaller)) set = std::move(smaller);
  }
  return set;
}

// Vectors w that generate all with w change(t) = 0 modulo p for every live t: unit vectors, on
// which each constraint is eliminated by Euclid's algorithm. O(states^2 transitions).
std::vector<Counts> kernel_modulo(std::int64_t p, const Net& net, const std::vector<bool>& live) {
  const auto reduced = [p](std::int64_t value) { return ((value % p) + p) % p; };
  std::vector<Counts> all(net.states, Counts(net.states));
  for (std::size_t state = 0; state < net.states; ++state) all[state][state] = 1;
  const auto subtract = [&](Counts& a, const Counts& b, std::int64_t factor) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = reduced(a[i] - factor * b[i]);
  };
  for (std::size_t t = 0; t < net.transitions.size(); ++t) {
    if (!live[t]) continue;
    const auto value = [&](const Counts& w) {
      return reduced(weight_change(w, net.transitions[t]));
    };
    std::optional<std::size_t> pivot;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (value(all[i]) == 0) continue;
      if (!pivot) {
        pivot = i;
        continue;
      }
      Counts &a = all[*pivot], &b = all[i];
      while (value(b) != 0) {
        subtract(a, b, value(a) / value(b));
        std::swap(a, b);
      }
    }
    if (!pivot) continue;
    const std::int64_t left = std::gcd(value(all[*pivot]), p);
    for (std::int64_t& each : all[*pivot]) each = reduced(each * (p / left));
  }
  std::erase_if(
      all, [](const Counts& w) { return std::ranges::all_of(w, [](auto x) { return x == 0; }); });
  return all;
}

}  // namespace

Invariants::Invariants(Engine& engine, const text::CountsModel& model, const Net& net)
    : engine_(engine),
      model_(model),
      net_(net),
      variables_(model.others),
      n_(engine.context().int_const("n")),
      solver_(engine),
      generation_(engine.context()) {
  z3::context& context = engine_.context();
  variables_.emplace_back("n");
  for (std::size_t state = 0; state < net_.states; ++state) {
    for (const char letter : {'c', 'i'}) {
      variables_.push_back(letter + std::to_string(state));
      (letter == 'c' ? now_ : first_).push_back(context.int_const(variables_.back().c_str()));
    }
  }
  const z3::expr zero = context.int_val(0);
  for (const auto* counts : {&now_, &first_}) {
    z3::expr_vector all(context);
    for (const z3::expr& each : *counts) {
      solver_.add(each >= zero);
      all.push_back(each);
    }
    solver_.add(sum(all) == n_);
  }
  for (std::size_t state = 0; state < net_.states; ++state) {
    if (!model_.may_start[state]) solver_.add(first_[state] == zero);
  }
  solver_.add(n_ >= 2);
  solver_.add(parse(model_.init));
  generation_ = context.bool_val(true);
}

z3::expr Invariants::parse(const std::string& formula) const {
  return engine_.parse(formula, variables_);
}

z3::expr Invariants::is_occupied(const States& set) const {
  z3::expr_vector any(context());
  for (std::size_t state = 0; state < set.size(); ++state) {
    if (set[state]) any.push_back(now_[state] >= 1);
  }
  return mk_or(any);
}

z3::expr Invariants::covers(const Bag& bag) const {
  z3::expr_vector all(context());
  for (const auto& [state, count] : bag) all.push_back(now_[state] >= context().int_val(count));
  return mk_and(all);
}

z3::expr Invariants::is_enabled(const Transition& transition) const {
  return covers(Net::needs(transition));
}

std::optional<Pair> Invariants::find(const std::vector<z3::expr>& assumptions) {
  std::vector<z3::expr> all = assumptions;
  all.push_back(generation_);
  const Answer answer = solver_.check(all, effort_of_query);
  gave_up_ = answer == Answer::unknown;
  if (answer != Answer::sat) return std::nullopt;
  const z3::model model = solver_.model();
  Pair pair;
  for (const z3::expr& each : first_) pair.first.push_back(value_in(model, each));
  for (const z3::expr& each : now_) pair.now.push_back(value_in(model, each));
  return pair;
}

std::optional<Pair> Invariants::refute(const std::vector<z3::expr>& assumptions) {
  for (;;) {
    auto pair = find(assumptions);
    if (!pair) return std::nullopt;
    auto invariant = excluding(*pair);
    if (!invariant) return pair;
    learn(std::move(*invariant));
  }
}

void Invariants::set_live(const std::vector<bool>& live) {
  live_ = live;
  kernels_.clear();
  if (weights_) {
    weights_->allow(live_);
  } else {
    weights_ = std::make_unique<WeightSearch>(engine_, net_, live_, true);
  }
  std::erase_if(found_, [&](const Invariant& each) { return !is_inductive(each); });
  restart();
}

// Invariants are asserted under the name of their generation, so that those dropped are void.
void Invariants::restart() {
  z3::context& context = engine_.context();
  generation_ = z3::expr(context, Z3_mk_fresh_const(context, "g", context.bool_sort()));
  for (const Invariant& each : found_) solver_.add(implies(generation_, formula(each)));
}

void Invariants::learn(Invariant invariant) {
  CONCLAVE_CHECK(is_inductive(invariant));
  solver_.add(implies(generation_, formula(invariant)));
  found_.push_back(std::move(invariant));
}

bool Invariants::is_inductive(const Invariant& invariant) const {
  using enum Invariant::Kind;
  if (invariant.kind == trap) return is_trap(net_, live_, invariant.y);
  if (invariant.kind == follow) {
    return is_trap(net_, live_, invariant.y) &&
           largest_follower(net_, live_, invariant.z, invariant.y) == invariant.z;
  }
  for (std::size_t t = 0; t < net_.transitions.size(); ++t) {
    if (!live_[t]) continue;
    const std::int64_t change = weight_change(invariant.weights, net_.transitions[t]);
    if (invariant.kind == linear ? change > 0 : change % invariant.modulus != 0) return false;
  }
  return true;
}

z3::expr Invariants::weighted(const Counts& weights, const std::vector<z3::expr>& counts) const {
  z3::expr_vector parts(context());
  for (std::size_t state = 0; state < weights.size(); ++state) {
    if (weights[state] != 0) parts.push_back(context().int_val(weights[state]) * counts[state]);
  }
  return parts.empty() ? context().int_val(0) : sum(parts);
}

z3::expr Invariants::formula(const Invariant& invariant) const {
  using enum Invariant::Kind;
  const auto occupied = [&](const States& set, const std::vector<z3::expr>& counts) {
    z3::expr_vector any(context());
    for (std::size_t state = 0; state < set.size(); ++state) {
      if (set[state]) any.push_back(counts[state] >= 1);
    }
    return mk_or(any);
  };
  switch (invariant.kind) {
    case linear:
      return weighted(invariant.weights, now_) <= weighted(invariant.weights, first_);
    case trap:
      return implies(occupied(invariant.y, first_), occupied(invariant.y, now_));
    case follow:
      return occupied(invariant.z, first_) || !occupied(invariant.z, now_) ||
             occupied(invariant.y, now_);
    case modular:
      break;
  }
  Counts change = invariant.weights;
  const z3::expr p = context().int_val(invariant.modulus);
  return mod(weighted(change, now_) - weighted(change, first_), p) == 0;
}

std::optional<Invariant> Invariants::excluding(const Pair& pair) {
  if (auto found = trap_excluding(pair)) return found;
  if (auto found = follow_excluding(pair)) return found;
  Counts difference = pair.now;
  for (std::size_t state = 0; state < net_.states; ++state) difference[state] -= pair.first[state];
  if (auto weights = weights_->find(difference)) {
    return Invariant{.kind = Invariant::Kind::linear, .weights = std::move(*weights)};
  }
  return modular_excluding(pair);
}

std::optional<Invariant> Invariants::trap_excluding(const Pair& pair) const {
  const States first = support(pair.first);
  const auto largest = [&](States within) { return largest_trap(net_, live_, std::move(within)); };
  const auto is_enough = [&](const States& set) { return intersects(set, first); };
  States y = largest(complement(support(pair.now)));
  if (!is_enough(y)) return std::nullopt;
  return Invariant{.kind = Invariant::Kind::trap, .y = minimized(std::move(y), largest, is_enough)};
}

std::optional<Invariant> Invariants::follow_excluding(const Pair& pair) const {
  const States now = support(pair.now);
  const States never_first = complement(support(pair.first));
  const auto follower = [&](const States& y) {
    return largest_follower(net_, live_, never_first, y);
  };
  const auto largest = [&](States within) { return largest_trap(net_, live_, std::move(within)); };
  const auto is_enough = [&](const States& y) { return intersects(follower(y), now); };
  States y = largest(complement(now));
  if (!is_enough(y)) return std::nullopt;
  y = minimized(std::move(y), largest, is_enough);
  States z = follower(y);
  return Invariant{.kind = Invariant::Kind::follow, .z = std::move(z), .y = std::move(y)};
}

const std::vector<Counts>& Invariants::kernel(std::int64_t modulus) {
  const auto found = kernels_.find(modulus);
  if (found != kernels_.end()) return found->second;
  return kernels_[modulus] = kernel_modulo(modulus, net_, live_);
}

std::optional<Invariant> Invariants::modular_excluding(const Pair& pair) {
  for (const std::int64_t p : model_.moduli) {
    for (const Counts& weights : kernel(p)) {
      std::int64_t value = 0;
      for (std::size_t state = 0; state < net_.states; ++state) {
        value = (value + weights[state] * ((pair.now[state] - pair.first[state]) % p)) % p;
      }
      if (value == 0) continue;
      return Invariant{.kind = Invariant::Kind::modular, .weights = weights, .modulus = p};
    }
  }
  return std::nullopt;
}

}  // namespace conclave::prove
