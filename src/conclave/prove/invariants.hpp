// Facts about every reachable configuration C of every run from C0, found when a query needs them.
//
// Each kind is inductive by its form: it holds for C = C0, and a live transition keeps it.
//   linear   w C <= w C0                         no live transition increases w C
//   trap     Y occupied in C0 => in C            Y is a trap
//   follow   Z empty in C0, occupied in C => Y occupied in C      Y is a trap (or empty), and each
//            live transition that puts an agent into Z takes one out of Z or puts one into Y
//   modular  w C = w C0 modulo p                 live transitions change w C by multiples of p
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "conclave/prove/net.hpp"
#include "conclave/prove/solver.hpp"
#include "conclave/prove/weights.hpp"

namespace conclave::prove {

struct Invariant {
  enum class Kind : std::uint8_t { linear, trap, follow, modular };
  Kind kind;
  Counts weights{};          // of linear and modular
  std::int64_t modulus = 0;  // of modular
  States z{}, y{};           // of follow; y alone of trap
};

// A start and a configuration that no invariant excludes.
struct Pair {
  Counts first;
  Counts now;
};

class Invariants {
 public:
  // All three must outlive it. Before anything is asked, `set_live` says which transitions fire.
  Invariants(Engine& engine, const text::CountsModel& model, const Net& net);

  // The number of agents in a state: in C, and in C0.
  z3::expr now(std::size_t state) const { return now_[state]; }
  z3::expr first(std::size_t state) const { return first_[state]; }
  z3::expr population() const { return n_; }
  const std::vector<z3::expr>& counts() const { return now_; }
  z3::context& context() const { return engine_.context(); }
  // A formula of the model.
  z3::expr parse(const std::string& formula) const;
  z3::expr is_occupied(const States& set) const;
  z3::expr covers(const Bag& bag) const;
  z3::expr is_enabled(const Transition& transition) const;
  z3::expr named(const z3::expr& formula) { return solver_.named(formula); }

  // Some pair that satisfies all assumptions and the invariants known so far; nothing: there is
  // none, or (`unknown` becomes true) Z3 gave up.
  std::optional<Pair> find(const std::vector<z3::expr>& assumptions);
  // The same, looking for invariants until there is no pair left or none excludes the one found.
  std::optional<Pair> refute(const std::vector<z3::expr>& assumptions);
  bool gave_up() const { return gave_up_; }

  // Only these transitions ever fire: before anything else is asked, and again with more of them.
  // Invariants that the new ones break are dropped.
  void set_live(const std::vector<bool>& live);
  const std::vector<bool>& live() const { return live_; }
  const std::vector<Invariant>& all() const { return found_; }

 private:
  bool is_inductive(const Invariant& invariant) const;
  z3::expr formula(const Invariant& invariant) const;
  z3::expr weighted(const Counts& weights, const std::vector<z3::expr>& counts) const;
  std::optional<Invariant> excluding(const Pair& pair);
  std::optional<Invariant> trap_excluding(const Pair& pair) const;
  std::optional<Invariant> follow_excluding(const Pair& pair) const;
  std::optional<Invariant> modular_excluding(const Pair& pair);
  const std::vector<Counts>& kernel(std::int64_t modulus);
  void learn(Invariant invariant);
  void restart();

  Engine& engine_;
  const text::CountsModel& model_;
  const Net& net_;
  std::vector<std::string> variables_;
  z3::expr n_;
  std::vector<z3::expr> now_, first_;
  Solver solver_;
  z3::expr generation_;  // assumed with every query: invariants of dropped generations are void
  std::vector<bool> live_;
  std::vector<Invariant> found_;
  std::unique_ptr<WeightSearch> weights_;
  std::map<std::int64_t, std::vector<Counts>> kernels_;
  bool gave_up_ = false;
};

}  // namespace conclave::prove
