#include "conclave/prove/stages.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "conclave/prove/speed.hpp"
#include "conclave/prove/weights.hpp"

namespace conclave::prove {
namespace {

constexpr std::size_t most_stages = 400;
constexpr std::size_t most_bags = 2000;
constexpr std::size_t most_guesses = 200;
constexpr std::size_t most_ranked_alone = 20;

// A stage that is being worked on: what is known in it.
struct Setting {
  std::vector<z3::expr> facts;  // names
  std::vector<bool> live;
};

class StageSearch {
 public:
  StageSearch(const text::CountsModel& model, const Net& net, Engine& engine,
              Invariants& invariants, const ProgressCallback& progress)
      : model_(model),
        net_(net),
        engine_(engine),
        invariants_(invariants),
        progress_(progress),
        stop_(invariants.parse(model.stop)),
        not_stop_(invariants.named(!stop_)) {}

  Proof run() {
    Proof proof;
    if (!invariants_.find({})) {
      proof.result = invariants_.gave_up() ? Proof::Result::not_proved : Proof::Result::vacuous;
      return proof;
    }
    proof.never = find_never(net_, invariants_, progress_);
    const bool is_proved = solve({}, {.facts = {}, .live = invariants_.live()}, {});
    proof.gave_up = gave_up_;
    proof.pair = pair_;
    if (!is_proved) return proof;
    proof.stages = std::move(stages_);
    const bool all_terminal = std::ranges::all_of(
        proof.stages, [](const Stage& each) { return each.rule != Stage::Rule::weak; });
    proof.result = stop_is_closed() ? Proof::Result::stays
                   : all_terminal   ? Proof::Result::lasts
                                    : Proof::Result::reached;
    return proof;
  }

 private:
  // Proves the claim from a stage with these facts on, if it can. `dead` is what the facts newly
  // imply of the stage.
  bool solve(std::optional<std::size_t> parent, const Setting& setting,
             std::vector<std::size_t> dead) {
    if (stages_.size() >= most_stages) return false;
    const std::size_t id = stages_.size();
    stages_.push_back({.parent = parent, .dead = std::move(dead)});
    report_progress(progress_, "stages", stages_.size(), 0);
    return is_terminal(setting) || ranks(id, setting) || splits(id, setting, true) ||
           descends(id, setting) || splits(id, setting, false);
  }

  std::vector<z3::expr> with(const Setting& setting, const z3::expr& fact) const {
    std::vector<z3::expr> all = setting.facts;
    all.push_back(fact);
    return all;
  }

  std::optional<Pair> refute(const Setting& setting, const z3::expr& name) {
    auto pair = invariants_.refute(with(setting, name));
    gave_up_ = gave_up_ || (!pair && invariants_.gave_up());
    return pair;
  }
  bool is_refuted(const Setting& setting, const z3::expr& name) {
    return !refute(setting, name) && !invariants_.gave_up();
  }
  // By the invariants known so far.
  bool is_possible(const Setting& setting, const z3::expr& name) {
    return invariants_.find(with(setting, name)) || invariants_.gave_up();
  }

  bool is_terminal(const Setting& setting) {
    if (setting.facts.empty()) {  // where some start is open, no invariant can help
      z3::expr_vector same(invariants_.context());
      for (std::size_t state = 0; state < net_.states; ++state) {
        same.push_back(invariants_.now(state) == invariants_.first(state));
      }
      if (is_possible({.facts = {not_stop_}, .live = {}}, invariants_.named(mk_and(same)))) {
        return false;
      }
    }
    pair_ = refute(setting, not_stop_);
    return !pair_ && !invariants_.gave_up();
  }

  // The child of a stage after new facts: transitions that they disable are dead.
  bool enter(std::size_t parent, Setting setting) {
    std::vector<std::size_t> open, dead;
    for (std::size_t t = 0; t < net_.transitions.size(); ++t) {
      if (setting.live[t]) open.push_back(t);
    }
    while (!open.empty()) {
      z3::expr_vector any(invariants_.context());
      for (const std::size_t t : open) any.push_back(invariants_.is_enabled(net_.transitions[t]));
      const auto pair = invariants_.find(with(setting, invariants_.named(mk_or(any))));
      if (!pair) {
        if (!invariants_.gave_up()) dead = open;
        break;
      }
      std::erase_if(open,
                    [&](std::size_t t) { return is_enabled(pair->now, net_.transitions[t]); });
    }
    for (const std::size_t t : dead) setting.live[t] = false;
    stages_[parent].children.push_back(stages_.size());
    return solve(parent, setting, std::move(dead));
  }

  // By the sum of all rankings found; or by one of them alone, where that gives a class of time and
  // the sum does not.
  bool ranks(std::size_t id, const Setting& setting) {
    const std::vector<Counts> all = rankings(setting.live);
    if (all.empty()) return false;
    Counts total(net_.states);
    for (const Counts& each : all) std::ranges::transform(total, each, total.begin(), std::plus());
    stages_[id].rule = Stage::Rule::rank;
    z3::expr avoid = rank_by(stages_[id], setting, total);
    for (std::size_t i = 0; all.size() > 1 && i < all.size(); ++i) {
      if (stages_[id].speed != Speed::unknown) break;
      Stage alone = stages_[id];
      const z3::expr avoided = rank_by(alone, setting, all[i]);
      if (alone.speed == Speed::unknown) continue;
      stages_[id] = std::move(alone);
      avoid = avoided;
    }
    Setting child = setting;
    for (std::size_t t = 0; t < child.live.size(); ++t) {
      if (weight_change(stages_[id].weights, net_.transitions[t]) < 0) child.live[t] = false;
    }
    child.facts.push_back(invariants_.named(avoid));
    return enter(id, std::move(child));
  }

  // Fills in a stage that ranks by these weights; gives the fact about its child.
  z3::expr rank_by(Stage& stage, const Setting& setting, const Counts& weights) {
    std::vector<bool> lowering(net_.transitions.size());
    for (std::size_t t = 0; t < lowering.size(); ++t) {
      lowering[t] = setting.live[t] && weight_change(weights, net_.transitions[t]) < 0;
    }
    stage.weights = weights;
    stage.more.clear();
    stage.impossible.clear();
    stage.speed = Speed::unknown;
    bool is_complete = true;
    z3::expr_vector avoid(invariants_.context());
    for (Enabling& each : enabling(setting, lowering, stage.impossible, is_complete)) {
      avoid.push_back(!invariants_.covers(each.bag));
      if (each.path.size() > 1) stage.more.push_back(std::move(each));
    }
    if (stage.more.empty() && is_complete) {
      std::tie(stage.speed, stage.factor) =
          speed_of(invariants_, net_, setting.facts, weights, lowering);
    }
    return mk_and(avoid);
  }

  // Weights that no live transition increases, until each live transition that some such weights
  // lower is lowered by one of these.
  std::vector<Counts> rankings(const std::vector<bool>& live) {
    WeightSearch search(engine_, net_, live, false);
    std::vector<Counts> all;
    std::vector<bool> is_open = live;
    for (;;) {
      Counts direction(net_.states);
      for (std::size_t t = 0; t < live.size(); ++t) {
        if (!is_open[t]) continue;
        for (const std::size_t state : net_.transitions[t].pre) ++direction[state];
        for (const std::size_t state : net_.transitions[t].post) --direction[state];
      }
      auto weights = search.find(direction);
      if (!weights) break;
      for (std::size_t t = 0; t < live.size(); ++t) {
        is_open[t] = is_open[t] && weight_change(*weights, net_.transitions[t]) == 0;
      }
      all.push_back(std::move(*weights));
    }
    const bool are_few = net_.transitions.size() <= most_ranked_alone;
    for (std::size_t t = 0; are_few && t < live.size(); ++t) {  // those that lower little else
      Counts direction(net_.states);
      for (const auto& [state, change] : Net::change(net_.transitions[t]))
        direction[state] = -change;
      auto weights = live[t] ? search.find(direction) : std::nullopt;
      if (weights && std::ranges::find(all, *weights) == all.end()) all.push_back(*weights);
    }
    return all;
  }

  // Minimal bags from which transitions of U can come to be enabled, by other live ones: backward,
  // breadth first. `impossible` are those that the facts exclude.
  std::vector<Enabling> enabling(const Setting& setting, const std::vector<bool>& lowering,
                                 std::vector<Bag>& impossible, bool& is_complete) {
    std::vector<Enabling> bags;
    const auto is_new = [&](const Bag& bag) {
      return std::ranges::none_of(bags,
                                  [&](const Enabling& each) { return covers(bag, each.bag); });
    };
    for (std::size_t t = 0; t < lowering.size(); ++t) {
      Bag bag = Net::needs(net_.transitions[t]);
      if (lowering[t] && is_new(bag)) bags.push_back({std::move(bag), {t}});
    }
    const std::size_t most = bags.size() + most_bags;
    for (std::size_t i = 0; i < bags.size() && bags.size() < most; ++i) {
      for (std::size_t t = 0; t < lowering.size(); ++t) {
        if (!setting.live[t] || lowering[t]) continue;
        Bag bag = before(bags[i].bag, net_.transitions[t]);
        const bool is_known =
            std::ranges::any_of(impossible, [&](const Bag& each) { return covers(bag, each); });
        if (is_known || !is_new(bag)) continue;
        if (!is_possible(setting, invariants_.named(invariants_.covers(bag)))) {
          impossible.push_back(std::move(bag));
          continue;
        }
        Enabling found{std::move(bag), {t}};
        found.path.insert(found.path.end(), bags[i].path.begin(), bags[i].path.end());
        bags.push_back(std::move(found));
      }
    }
    is_complete = bags.size() < most;
    return bags;
  }

  // Sets that divide the stage: siphons that are traps, which cost no time, or others.
  bool splits(std::size_t id, const Setting& setting, bool is_frozen) {
    for (const States& set : candidates(setting, is_frozen)) {
      const z3::expr occupied = invariants_.named(invariants_.is_occupied(set));
      const z3::expr empty = invariants_.named(!invariants_.is_occupied(set));
      if (!is_possible(setting, occupied) || !is_possible(setting, empty)) continue;
      stages_[id].rule = Stage::Rule::split;
      stages_[id].set = set;
      stages_[id].speed = is_frozen ? Speed::none : Speed::unknown;
      for (const z3::expr& fact : {empty, occupied}) {
        Setting child = setting;
        child.facts.push_back(fact);
        if (!enter(id, std::move(child))) return false;
      }
      return true;
    }
    return false;
  }

  std::vector<States> candidates(const Setting& setting, bool is_frozen) const {
    const auto& live = setting.live;
    std::vector<States> all;
    const auto add = [&](const States& set) {
      if (!is_empty(set) && std::ranges::find(all, set) == all.end()) all.push_back(set);
    };
    const States nothing(net_.states);
    for (std::size_t state = 0; state < net_.states; ++state) {
      States set = nothing;
      set[state] = true;
      if (is_siphon(net_, live, set) && (!is_frozen || is_trap(net_, live, set))) add(set);
      if (is_frozen) continue;
      if (is_trap(net_, live, set)) add(set);
      add(largest_trap(net_, live, complement(set)));
      add(largest_follower(net_, live, complement(set), nothing));
    }
    return all;
  }

  // Guesses weights until, outside the condition, something enabled always lowers them.
  bool descends(std::size_t id, const Setting& setting) {
    for (const int most : {1, 2, 4, 8}) {
      Solver guesses(engine_);
      std::vector<z3::expr> weights;
      for (std::size_t state = 0; state < net_.states; ++state) {
        weights.push_back(invariants_.context().int_const(("f" + std::to_string(state)).c_str()));
        guesses.add(weights.back() >= 0 && weights.back() <= most);
      }
      for (std::size_t guess = 0; guess < most_guesses; ++guess) {
        report_progress(progress_, "guesses of weights", guess, most_guesses);
        if (guesses.check({}, 4'000'000) != Answer::sat) break;
        Counts values;
        for (const z3::expr& each : weights) values.push_back(value_in(guesses.model(), each));
        const auto pair = stuck(setting, values);
        if (!pair) {
          if (invariants_.gave_up()) break;
          stages_[id].rule = Stage::Rule::weak;
          stages_[id].weights = values;
          stages_[id].speed = Speed::unknown;
          return true;
        }
        guesses.add(lowers_something(setting, weights, pair->now));
      }
    }
    return false;
  }

  // A configuration outside the condition in which nothing enabled lowers the weights.
  std::optional<Pair> stuck(const Setting& setting, const Counts& weights) {
    z3::expr_vector none(invariants_.context());
    none.push_back(!stop_);
    for (std::size_t t = 0; t < net_.transitions.size(); ++t) {
      const Transition& each = net_.transitions[t];
      if (!setting.live[t] || weight_change(weights, each) >= 0) continue;
      none.push_back(!invariants_.is_enabled(each));
    }
    return refute(setting, invariants_.named(mk_and(none)));
  }

  z3::expr lowers_something(const Setting& setting, const std::vector<z3::expr>& weights,
                            const Counts& now) const {
    z3::expr_vector any(invariants_.context());
    for (std::size_t t = 0; t < net_.transitions.size(); ++t) {
      const auto& [pre, post] = net_.transitions[t];
      if (!setting.live[t] || !is_enabled(now, net_.transitions[t])) continue;
      any.push_back(weights[post[0]] + weights[post[1]] < weights[pre[0]] + weights[pre[1]]);
    }
    return mk_or(any);
  }

  // Whether no transition leads out of the condition.
  bool stop_is_closed() {
    z3::expr_vector left(invariants_.context());
    std::map<std::string, z3::expr> parsed;
    for (std::size_t t = 0; t < net_.transitions.size(); ++t) {
      const std::string& after = model_.stop_after[t];
      if (!invariants_.live()[t] || after == model_.stop) continue;
      const auto known = parsed.try_emplace(after, invariants_.context());
      if (known.second) known.first->second = !invariants_.parse(after);
      left.push_back(invariants_.is_enabled(net_.transitions[t]) && known.first->second);
    }
    return left.empty() || is_refuted({.facts = {invariants_.named(stop_)}, .live = {}},
                                      invariants_.named(mk_or(left)));
  }

  const text::CountsModel& model_;
  const Net& net_;
  Engine& engine_;
  Invariants& invariants_;
  const ProgressCallback& progress_;
  z3::expr stop_, not_stop_;
  std::vector<Stage> stages_;
  std::optional<Pair> pair_;
  bool gave_up_ = false;
};

}  // namespace

Proof prove_reached(const text::CountsModel& model, const Net& net, Engine& engine,
                    Invariants& invariants, const ProgressCallback& progress) {
  return StageSearch(model, net, engine, invariants, progress).run();
}

}  // namespace conclave::prove
