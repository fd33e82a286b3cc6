// Certificates of kind "counts"; long because each rule has its obligation here. A stage is a
// closed set of reachable configurations; docs/ explanation/proofs.md has the argument why these
// obligations are enough.
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/join_parts.hpp"
#include "conclave/check/check.hpp"
#include "conclave/text/counts_model.hpp"

namespace conclave::check {
namespace {

using text::CountsModel;
using Transition = text::CountsTransition;
using Set = std::vector<bool>;
using Weights = std::vector<std::int64_t>;
using Bag = std::map<std::size_t, std::uint64_t>;

constexpr std::uint64_t most_weight = std::uint64_t{1} << 40;  // sums stay in 64 bits
constexpr std::size_t most_stages = 5000;
constexpr std::array<std::string_view, 5> classes{"0", "n log n", "n^2", "n^2 log n", "n^3"};

Bag needs(const Transition& transition) {
  Bag bag;
  for (const std::size_t state : transition.pre) ++bag[state];
  return bag;
}

std::int64_t change(const Weights& w, const Transition& t) {
  return w[t.post[0]] + w[t.post[1]] - w[t.pre[0]] - w[t.pre[1]];
}

bool meets(const std::array<std::size_t, 2>& agents, const Set& set) {
  return set[agents[0]] || set[agents[1]];
}

std::string some(std::vector<std::string> parts) {
  return parts.empty() ? "false" : fmt::format("(or false {})", join_parts(parts, " "));
}
std::string every(std::vector<std::string> parts) {
  return parts.empty() ? "true" : fmt::format("(and true {})", join_parts(parts, " "));
}
std::string negation(const std::string& formula) { return fmt::format("(not {})", formula); }

std::string occupied(const Set& set, char counts) {
  std::vector<std::string> parts;
  for (std::size_t state = 0; state < set.size(); ++state) {
    if (set[state]) parts.push_back(fmt::format("(>= {}{} 1)", counts, state));
  }
  return some(parts);
}

std::string weighted(const Weights& w, char counts) {
  std::string sum = "(+ 0 0";
  for (std::size_t state = 0; state < w.size(); ++state) {
    const std::string size = std::to_string(w[state] < 0 ? -w[state] : w[state]);
    if (w[state] == 0) continue;
    sum += fmt::format(" (* {} {}{})", w[state] < 0 ? "(- " + size + ")" : size, counts, state);
  }
  return sum + ")";
}

std::string covers(const Bag& bag) {
  std::vector<std::string> parts;
  for (const auto& [state, count] : bag) parts.push_back(fmt::format("(>= c{} {})", state, count));
  return every(parts);
}

class Counts {
 public:
  Counts(const Json& certificate, SolverProcess& solver)
      : json_(certificate), solver_(solver), model_(model()), states_(model_.states.size()) {}

  std::string check() {
    compare_listing();
    declare();
    Set live(model_.transitions.size(), true);
    const auto never = indices(member(json_, "never"), live.size());
    for (const std::size_t t : never) live[t] = false;
    for (const Json& each : member(json_, "invariants").items()) add_invariant(each, live);
    solver_.refute(any_enabled(never), "never");
    const std::string always = check_always();
    const auto stages = member(json_, "stages").items();
    const std::string header =
        fmt::format("{}, every n >= 2, init {}: ", model_.text->name(), model_.start);
    if (word(member(json_, "result")) == "not proved") {
      require(stages.empty() && !always.empty(), "nothing is proved");
      return header + always;
    }
    require(!stages.empty() && stages.size() <= most_stages, "there are no stages, or too many");
    visit(0, live);
    require(visited_.size() == stages.size(), "a stage has no parent");
    const std::string result = word(member(json_, "result"));
    if (result == "stays") {
      check_closed(live);
    } else {
      require(result == "reached" || (result == "lasts" && !has_weak_), "result");
    }
    const std::string& bound = word(member(json_, "bound"));
    require(bound.empty() || (slowest_ < classes.size() && classes[slowest_] == bound), "bound");
    return fmt::format("{}{}{}{} with probability 1, {}{}", header, always,
                       always.empty() ? "" : "; ", model_.stop_text, result,
                       bound.empty() ? "" : fmt::format(", O({}) interactions", bound));
  }

 private:
  CountsModel model() const try {
    const Json& protocol = member(json_, "protocol");
    text::CountsQuestion question{.start = word(member(json_, "init")),
                                  .target = word(member(json_, "target"))};
    for (const JsonMember& each : member(json_, "params").members()) {
      question.given.push_back({each.name, word(each.value)});
    }
    return text::counts_model(
        std::make_shared<text::ProtocolText>(word(member(protocol, "name")),
                                             word(member(protocol, "content"))),
        question);
  } catch (const Error& error) {
    throw Rejected(fmt::format("protocol: {}", error.what()));
  }

  void compare_listing() const {
    require(member(json_, "states") == Json(model_.states), "states differ from the protocol's");
    std::vector<Json> all;
    for (const auto& [pre, post] : model_.transitions) {
      const std::vector<std::size_t> from(pre.begin(), pre.end()), to(post.begin(), post.end());
      all.emplace_back(std::vector<Json>{from, to});
    }
    require(member(json_, "transitions") == Json(all), "transitions differ from the protocol's");
  }

  void declare() {
    std::string commands = "(declare-const n Int)(assert (>= n 2))\n";
    for (const std::string& each : model_.others)
      commands += fmt::format("(declare-const {} Int)\n", each);
    for (const char letter : {'i', 'c'}) {
      for (std::size_t state = 0; state < states_; ++state) {
        commands +=
            fmt::format("(declare-const {0}{1} Int)(assert (>= {0}{1} 0))\n", letter, state);
        if (letter == 'i' && !model_.may_start[state])
          commands += fmt::format("(assert (= i{} 0))\n", state);
      }
      commands += fmt::format("(assert (= n {}))\n", weighted(Weights(states_, 1), letter));
    }
    solver_.send(commands + fmt::format("(assert {})\n", model_.init));
  }

  static std::vector<std::size_t> indices(const Json& list, std::size_t end) {
    std::vector<std::size_t> all;
    require(list.is_array(), "a list is missing");
    for (const Json& each : list.items()) {
      all.push_back(count(each, SIZE_MAX));
      require(all.back() < end, "a number is out of range");
    }
    return all;
  }
  Set set_of(const Json& list) const {
    Set set(states_);
    for (const std::size_t state : indices(list, states_)) set[state] = true;
    return set;
  }
  Weights weights_of(const Json& list, bool may_be_negative) const {
    Weights weights;
    for (const Json& each : list.items()) {
      const bool is_negative = each.plain().starts_with('-');
      require(may_be_negative || !is_negative, "a weight is negative");
      const Json size = Json::parse(each.plain().substr(is_negative ? 1 : 0)).value_or(Json());
      const auto value = static_cast<std::int64_t>(count(size, most_weight));
      weights.push_back(is_negative ? -value : value);
    }
    require(weights.size() == states_, "weights are not those of the states");
    return weights;
  }

  template <class Allowed>
  void require_all(const Set& live, Allowed allowed, std::string_view sentence) const {
    for (std::size_t t = 0; t < live.size(); ++t) {
      require(!live[t] || allowed(model_.transitions[t]), sentence);
    }
  }
  bool is_trap(const Set& set, const Set& live) const {
    return none_of(live,
                   [&](const Transition& t) { return meets(t.pre, set) && !meets(t.post, set); });
  }
  bool is_siphon(const Set& set, const Set& live) const {
    return none_of(live,
                   [&](const Transition& t) { return meets(t.post, set) && !meets(t.pre, set); });
  }
  template <class Wrong>
  bool none_of(const Set& live, Wrong wrong) const {
    for (std::size_t t = 0; t < live.size(); ++t) {
      if (live[t] && wrong(model_.transitions[t])) return false;
    }
    return true;
  }

  void add_invariant(const Json& json, const Set& live) {
    const std::string& kind = word(member(json, "kind"));
    const auto assert_that = [&](const std::string& f) {
      solver_.send(fmt::format("(assert {})\n", f));
    };
    if (kind == "trap" || kind == "follow") {
      const Set y = set_of(member(json, "y"));
      require(is_trap(y, live), "an invariant's set is no trap");
      if (kind == "trap")
        return assert_that(fmt::format("(=> {} {})", occupied(y, 'i'), occupied(y, 'c')));
      const Set z = set_of(member(json, "z"));
      const auto follows = [&](const Transition& t) {
        return !meets(t.post, z) || meets(t.pre, z) || meets(t.post, y);
      };
      require_all(live, follows, "an invariant's set is entered from elsewhere");
      return assert_that(some({occupied(z, 'i'), negation(occupied(z, 'c')), occupied(y, 'c')}));
    }
    const Weights w = weights_of(member(json, "w"), true);
    if (kind == "linear") {
      require_all(
          live, [&](const Transition& t) { return change(w, t) <= 0; }, "an invariant's sum grows");
      return assert_that(fmt::format("(<= {} {})", weighted(w, 'c'), weighted(w, 'i')));
    }
    require(kind == "modular", "an invariant of an unknown kind");
    const auto p = static_cast<std::int64_t>(count(member(json, "p"), most_weight));
    require(p >= 2, "an invariant's modulus is too small");
    require_all(
        live, [&](const Transition& t) { return change(w, t) % p == 0; },
        "an invariant's remainder changes");
    assert_that(fmt::format("(= (mod (- {} {}) {}) 0)", weighted(w, 'c'), weighted(w, 'i'), p));
  }

  std::string any_enabled(const std::vector<std::size_t>& list) const {
    std::vector<std::string> parts;
    for (const std::size_t t : list) parts.push_back(covers(needs(model_.transitions[t])));
    return some(parts);
  }

  // The properties of the file that the certificate lists follow from the invariants.
  std::string check_always() {
    if (!json_.contains("always")) return {};
    std::vector<std::string> all;
    for (const std::size_t each : indices(member(json_, "always"), model_.always.size())) {
      require(!model_.always[each].empty(), "a property is not linear");
      solver_.refute(negation(model_.always[each]), fmt::format("always {}", each));
      all.push_back("always " + model_.text->document().properties[each].text);
    }
    return join_parts(all, "; ");
  }

  // Checks the stage and those below it, under the facts that have been asserted.
  void visit(std::size_t id, Set live) {
    const Json& stage = member(json_, "stages")[id];
    require(visited_.insert(id).second, "a stage has two parents");
    if (stage.contains("dead")) {
      const auto dead = indices(member(stage, "dead"), live.size());
      solver_.refute(any_enabled(dead), fmt::format("stage {}, dead", id));
      for (const std::size_t t : dead) live[t] = false;
    }
    const std::string& rule = word(member(stage, "rule"));
    if (rule == "terminal")
      return solver_.refute(negation(model_.stop), fmt::format("stage {}, terminal", id));
    if (rule == "weak") return check_weak(id, stage, live);
    if (rule == "rank") return check_rank(id, stage, live);
    require(rule == "split", "a stage has an unknown rule");
    const Set set = set_of(member(stage, "set"));
    const bool siphon = is_siphon(set, live), trap = is_trap(set, live);
    require(siphon || trap, "a split is neither a siphon nor a trap");
    if (!siphon || !trap) slowest_ = classes.size();
    enter(id, 0, 2, negation(occupied(set, 'c')), live);
    enter(id, 1, 2, occupied(set, 'c'), live);
  }

  void enter(std::size_t id, std::size_t which, std::size_t of, const std::string& fact,
             const Set& live) {
    const Json& stages = member(json_, "stages");
    const auto children = indices(member(stages[id], "children"), stages.size());
    require(children.size() == of && children[which] > id, "a stage has the wrong children");
    solver_.send(fmt::format("(push 1)(assert {})\n", fact));
    visit(children[which], live);
    solver_.send("(pop 1)\n");
  }

  void check_weak(std::size_t id, const Json& stage, const Set& live) {
    has_weak_ = true;
    slowest_ = classes.size();
    const Weights w = weights_of(member(stage, "weights"), false);
    std::vector<std::string> stuck{negation(model_.stop)};
    for (std::size_t t = 0; t < live.size(); ++t) {
      const Transition& each = model_.transitions[t];
      if (live[t] && change(w, each) < 0) stuck.push_back(negation(covers(needs(each))));
    }
    solver_.refute(every(stuck), fmt::format("stage {}, weak", id));
  }

  void check_rank(std::size_t id, const Json& stage, Set live) {
    const Weights w = weights_of(member(stage, "weights"), false);
    require_all(
        live, [&](const Transition& t) { return change(w, t) <= 0; }, "a ranking grows");
    Set lowering(live.size());
    std::vector<std::string> avoided;
    for (std::size_t t = 0; t < live.size(); ++t) {
      lowering[t] = live[t] && change(w, model_.transitions[t]) < 0;
      if (!lowering[t]) continue;
      avoided.push_back(negation(covers(needs(model_.transitions[t]))));
      live[t] = false;
    }
    require(!avoided.empty(), "a ranking is constant");
    if (stage.contains("more")) {
      for (const Json& each : member(stage, "more").items()) {
        avoided.push_back(negation(covers(enabling(each, lowering))));
      }
    }
    slowest_ = std::max(slowest_, check_speed(id, stage, w, lowering, live));
    enter(id, 0, 1, every(avoided), live);
  }

  // The place of the stage's class among `classes`. Open is where some lowering transition is
  // enabled; what is not open must stay so.
  std::size_t check_speed(std::size_t id, const Json& stage, const Weights& w, const Set& lowering,
                          const Set& others) {
    if (!stage.contains("speed") || stage.contains("more")) return classes.size();
    const std::string& speed = word(member(stage, "speed"));
    const auto a = static_cast<std::int64_t>(count(member(stage, "factor"), most_weight));
    std::set<std::array<std::size_t, 2>> enabling;
    std::vector<std::string> impossible, open, slow;
    std::vector<Bag> excluded;
    for (std::size_t t = 0; t < lowering.size(); ++t) {
      if (!lowering[t]) continue;
      enabling.insert(model_.transitions[t].pre);
      open.push_back(covers(needs(model_.transitions[t])));
      slow.push_back(negation(every({open.back(), is_fast(speed, model_.transitions[t], w, a)})));
    }
    if (stage.contains("impossible")) {
      for (const Json& each : member(stage, "impossible").items()) {
        excluded.push_back(bag_of(each));
        impossible.push_back(covers(excluded.back()));
      }
    }
    solver_.refute(some(impossible), fmt::format("stage {}, impossible", id));
    for (const auto& pre : enabling) {
      const auto stays = [&](const Transition& t) {
        return stays_open(t, pre, enabling, excluded);
      };
      require_all(others, stays, "a class of time, but a ranking's transitions are enabled again");
    }
    solver_.refute(every({some(open), every(slow)}), fmt::format("stage {}, speed", id));
    return static_cast<std::size_t>(std::ranges::find(classes, speed) - classes.begin());
  }

  // Whether a configuration that enables `pre` after t enabled some lowering transition before.
  static bool stays_open(const Transition& t, const std::array<std::size_t, 2>& pre,
                         const std::set<std::array<std::size_t, 2>>& enabling,
                         const std::vector<Bag>& excluded) {
    Bag before = needs({pre, {}});
    for (const std::size_t state : t.post) before[state] -= before[state] > 0 ? 1 : 0;
    for (const std::size_t state : t.pre) ++before[state];
    const auto has = [&](std::size_t state, std::uint64_t least) {
      const auto found = before.find(state);
      return found != before.end() && found->second >= least;
    };
    for (const auto& [p, q] : enabling) {
      if (p == q ? has(p, 2) : has(p, 1) && has(q, 1)) return true;
    }
    return std::ranges::any_of(excluded, [&](const Bag& bag) {
      return std::ranges::all_of(bag,
                                 [&](const auto& each) { return has(each.first, each.second); });
    });
  }

  // The condition of the class: docs/explanation/proofs.md, "Classes of expected time".
  std::string is_fast(const std::string& speed, const Transition& t, const Weights& w,
                      std::int64_t a) const {
    const std::size_t p = t.pre[0], q = t.pre[1];
    const auto many = [&](std::size_t x) {
      return fmt::format("(>= (* {} c{}) {})", a, x, weighted(w, 'c'));
    };
    const auto spreads = [&](std::size_t x, std::size_t y) {
      if (w[x] != 1) return std::string("false");
      return every({many(x), fmt::format("(>= (+ c{} (* {} c{})) n)", x, a, y)});
    };
    if (speed == "n^3") return "true";
    if (speed == "n^2 log n") return some({many(p), many(q)});
    if (speed == "n^2") return every({many(p), many(q)});
    require(speed == "n log n" && std::ranges::max(w) <= 1, "a class of time is unknown");
    return p == q ? "false" : some({spreads(p, q), spreads(q, p)});
  }

  Bag bag_of(const Json& json) const {
    Bag bag;
    for (const Json& each : json.items()) {
      require(each.size() == 2 && each.is_array(), "a bag is malformed");
      bag[count(each[0], states_ - 1)] += count(each[1], 1'000'000);
    }
    return bag;
  }

  // The bag, from which firing the path must be possible and end in a lowering transition.
  Bag enabling(const Json& json, const Set& lowering) const {
    Bag bag = bag_of(member(json, "bag"));
    Bag now = bag;
    const auto path = indices(member(json, "path"), lowering.size());
    require(!path.empty() && lowering[path.back()],
            "a path does not end in the ranking's transitions");
    for (const std::size_t t : path) {
      for (const std::size_t state : model_.transitions[t].pre) {
        require(now[state] > 0, "a path cannot be fired");
        --now[state];
      }
      for (const std::size_t state : model_.transitions[t].post) ++now[state];
    }
    return bag;
  }

  // No transition leads out of the condition.
  void check_closed(const Set& live) {
    std::map<std::string, std::vector<std::size_t>> after;
    for (std::size_t t = 0; t < live.size(); ++t) {
      if (live[t] && model_.stop_after[t] != model_.stop) after[model_.stop_after[t]].push_back(t);
    }
    std::vector<std::string> left;
    for (const auto& [stop, list] : after)
      left.push_back(every({any_enabled(list), negation(stop)}));
    solver_.refute(every({model_.stop, some(left)}), "stays");
  }

  const Json& json_;
  SolverProcess& solver_;
  CountsModel model_;
  std::size_t states_;
  std::set<std::size_t> visited_;
  bool has_weak_ = false;
  std::size_t slowest_ = 0;  // the largest class of a stage
};

}  // namespace

std::string check_counts(const Json& certificate, SolverProcess& solver) {
  return Counts(certificate, solver).check();
}

}  // namespace conclave::check
