// A rule of Python with more states than fit into a table of all their meetings. Two states are
// asked for what they become when they first meet; the answer is kept, and engines keep tables of
// their own for the states that are occupied.
//
// A state is a number that Python computes from what the state is, not from when it was met, so
// that a trial does not depend on threads or on other trials. The highest bit says who leads.
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/catalog/make_entry.hpp"

#include "python/core/core.hpp"

namespace conclave::python {
namespace {

using StateNumber = std::uint64_t;

// The results of a meeting: with the rest of `total` nothing happens.
struct Reaction {
  struct Outcome {
    StateNumber u, v;
    std::uint32_t weight;
  };
  std::vector<Outcome> outcomes;
  std::uint32_t total = 1;
};

// The answers of the rule so far. For several threads, which need not hold the GIL.
class RuleBook {
 public:
  // meet(u, v) returns the total and a list of (new u, new v, weight).
  RuleBook(std::string name, py::function meet, bool stops)
      : name_(std::move(name)), meet_(std::move(meet)), stops_(stops) {}
  RuleBook(const RuleBook&) = delete;
  RuleBook& operator=(const RuleBook&) = delete;
  ~RuleBook() {
    const py::gil_scoped_acquire acquired;
    meet_ = py::function();
  }

  const std::string& name() const { return name_; }
  bool stops() const { return stops_; }  // when one leader is left

  // Throws what the rule raises. The reference stays valid.
  const Reaction& reaction(StateNumber u, StateNumber v) const {
    {
      const std::shared_lock lock(mutex_);
      if (const auto known = known_.find({u, v}); known != known_.end()) return known->second;
    }
    Reaction asked = ask(u, v);
    const std::unique_lock lock(mutex_);
    return known_.try_emplace({u, v}, std::move(asked)).first->second;
  }

 private:
  Reaction ask(StateNumber u, StateNumber v) const {
    const py::gil_scoped_acquire acquired;
    using Answer =
        std::pair<std::uint32_t, std::vector<std::tuple<StateNumber, StateNumber, std::uint32_t>>>;
    const auto [total, outcomes] = meet_(u, v).cast<Answer>();
    Reaction reaction{{}, total};
    for (const auto& [new_u, new_v, weight] : outcomes) {
      reaction.outcomes.push_back({new_u, new_v, weight});
    }
    return reaction;
  }

  std::string name_;
  py::function meet_;
  bool stops_;
  struct Hash {
    std::size_t operator()(const std::pair<StateNumber, StateNumber>& pair) const {
      return (pair.first ^ std::rotl(pair.second, 29)) * 0x9e3779b97f4a7c15;
    }
  };

  mutable std::shared_mutex mutex_;
  mutable std::unordered_map<std::pair<StateNumber, StateNumber>, Reaction, Hash> known_;
};

class RuleProtocol {
 public:
  struct State {
    StateNumber number = 0;
    friend bool operator==(const State&, const State&) = default;
    static constexpr std::tuple fields{Field{"state", &State::number}};
  };
  static constexpr bool meets_few_states = true;

  explicit RuleProtocol(std::shared_ptr<const RuleBook> book) : book_(std::move(book)) {}

  State initial(std::size_t, AgentCount, Choice auto&) const {
    throw Error(fmt::format("{} has no start of its own: give init={{...}}", book_->name()));
  }
  std::optional<Census<State>> census(std::size_t) const { return std::nullopt; }

  void interact(State& u, State& v, Choice auto& choice) const {
    const Reaction& reaction = book_->reaction(u.number, v.number);
    std::uint32_t left = reaction.total;
    for (const auto& each : reaction.outcomes) {
      if (each.weight == left || choice.chance(each.weight, left)) {
        u.number = each.u;
        v.number = each.v;
        return;
      }
      left -= each.weight;
    }
  }

  Role role(const State& state) const {
    return state.number >> 63 != 0 ? Role::leader : Role::follower;
  }
  Interactions state_count() const { return ~std::uint64_t{0}; }
  std::string name_of(const State& state) const { return fmt::format("s{:016x}", state.number); }
  std::optional<State> state_named(std::string_view name) const {
    State state;
    const bool fits = name.size() == 17 && name[0] == 's';
    const char* const end = name.data() + name.size();
    if (!fits || std::from_chars(name.data() + 1, end, state.number, 16).ptr != end) {
      return std::nullopt;
    }
    return state;
  }

  // Faults would need states that nobody has met yet.
  State arbitrary(Choice auto&) const { return {}; }
  State zero() const { return {}; }
  void set_role(State&, Role) const {}
  std::string objection_to(FaultKind) const {
    return book_->name() + " has more states than are listed; faults need a list of them";
  }

  // The leaders; a trial stops when one is left, if it is to stop at all.
  class Tally : public LeaderTally<RuleProtocol> {
   public:
    explicit Tally(const RuleProtocol& protocol)
        : LeaderTally(protocol), stops_(protocol.book_->stops()) {}
    bool converged() const { return stops_ && LeaderTally::converged(); }
    bool hopeless() const { return false; }
    AgentCount changes_to_stop() const {
      if (!stops_) return ~AgentCount{0} / 4;
      return leaders() == 0 ? 1 : LeaderTally::changes_to_stop();
    }

   private:
    bool stops_;
  };

 private:
  std::shared_ptr<const RuleBook> book_;
};

Protocol rule(const std::string& name, const py::function& meet, bool stops) {
  const auto book = std::make_shared<const RuleBook>(name, meet, stops);
  ProtocolInfo info{};
  info.name = book->name();
  info.title = "a rule of Python";
  info.convergence = "one leader is left";
  const std::vector<Start> starts{{"given", "the configuration that is given", false}};
  catalog::Entry entry{.info = info,
                       .starts = starts,
                       .parameters = {},
                       .engines = catalog::engines_for<RuleProtocol>(),
                       .owner = book,
                       .keeps_census = true,
                       .prepare = [book, info, starts](const catalog::RunRequest& request) {
                         return catalog::prepared(
                             request,
                             catalog::Subject<RuleProtocol>{
                                 .protocol = RuleProtocol(book),
                                 .labels = {.info = info, .starts = starts, .parameters = {}}});
                       }};
  return {name, std::move(entry)};
}

}  // namespace

void bind_rule(py::module_& module) { module.def("rule", &rule); }

}  // namespace conclave::python
