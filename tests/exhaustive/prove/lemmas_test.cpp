// The formulas that `prove` derives from `interact`, compared with `interact`; what it proves of
// them; and that it proves nothing of protocols that are wrong.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/every_choice.hpp"
#include "conclave/protocols/population/ag_minions.hpp"
#include "conclave/protocols/population/pll.hpp"
#include "conclave/protocols/population/ppl.hpp"
#include "conclave/protocols/population/prl.hpp"
#include "conclave/protocols/population/timers.hpp"
#include "conclave/prove/provable.hpp"
#include "conclave/prove/theories/theories.hpp"

namespace conclave::prove {
namespace {

using S = SymbolicValues;
using Constants = std::map<std::string, std::int64_t>;

struct Weightless {
  Weightless times(std::uint64_t, std::uint64_t) const { return {}; }
};

// All states that interactions lead to from some, in no particular order.
template <class P>
std::vector<typename P::State> closure(const P& protocol, std::vector<typename P::State> states) {
  const auto add = [&](const auto& state) {
    if (std::ranges::find(states, state) == states.end()) states.push_back(state);
  };
  for (std::size_t i = 0; i < states.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      for (const auto& [a, b] : {std::pair(i, j), std::pair(j, i)}) {
        auto u = states[a];
        auto v = states[b];
        EveryChoice<Weightless> choice;
        protocol.interact(u, v, choice);
        add(u);
        add(v);
      }
    }
  }
  return states;
}

template <class P>
std::vector<typename P::State> arbitrary_states(const P& protocol) {
  std::vector<typename P::State> states;
  EveryChoice<Weightless> choice;
  do {
    states.push_back(protocol.arbitrary(choice));
  } while (choice.next());
  return states;
}

template <class State>
std::map<std::string, std::int64_t> fields_of(const std::string& agent, const State& state) {
  std::map<std::string, std::int64_t> values;
  const auto add = [&](const auto& field) {
    values[agent + std::string(field.name)] =
        static_cast<std::int64_t>(as_integer(state.*field.member));
  };
  std::apply([&](const auto&... field) { (add(field), ...); }, State::fields);
  return values;
}

// The formula, evaluated for each pair of states, gives what `interact` gives.
template <class P>
void expect_agreement(const P& protocol, const StepFormula& step, Terms& terms,
                      const Constants& constants, const std::vector<typename P::State>& states) {
  std::map<std::string, Term> variables;
  for (const FieldSort& field : step.fields) {
    for (const char* agent : {"u.", "v."})
      variables[agent + field.name] = terms.variable(agent + field.name, field.sort == "Bool");
  }
  Assignment values;
  for (const auto& [name, value] : constants) values[terms.variable(name, false)] = value;
  for (const auto& before_u : states) {
    for (const auto& [name, value] : fields_of("u.", before_u)) values[variables.at(name)] = value;
    for (const auto& before_v : states) {
      for (const auto& [name, value] : fields_of("v.", before_v))
        values[variables.at(name)] = value;
      auto u = before_u;
      auto v = before_v;
      EveryChoice<Weightless> choice;
      protocol.interact(u, v, choice);
      std::map<std::string, std::int64_t> after = fields_of("u+.", u);
      after.merge(fields_of("v+.", v));
      after["exact"] = 1;
      for (const auto& [name, term] : step.outputs)
        ASSERT_EQ(evaluate(term, values), after.at(name))
            << name << " of " << to_text(before_u) << " and " << to_text(before_v);
    }
  }
}

Integer constant(Paths& paths, const std::string& name) {
  return {paths, paths.terms().variable(name, false)};
}

template <template <class> class P>
void expect_agreement_of_pll(const char* theory, std::uint32_t c_max, std::uint32_t k) {
  Terms terms;
  Paths paths(terms);
  const P<S> symbolic({constant(paths, "c_max"), constant(paths, "nonce")});
  const StepFormula step = derive_step(symbolic, parse_theory(theory), paths);
  const std::uint32_t nonce = std::uint32_t{1} << k;
  const P<MachineValues> protocol({c_max, nonce});
  const auto states = closure(protocol, {typename P<MachineValues>::State{}});
  EXPECT_GT(states.size(), 15u);
  expect_agreement(protocol, step, terms, {{"c_max", c_max}, {"nonce", nonce}}, states);
}

TEST(StepFormula, OfPllAgreesWithInteractOnAllPairsOfReachableStates) {
  expect_agreement_of_pll<protocols::PllOver>(pll_theory, 1, 0);
  expect_agreement_of_pll<protocols::PllOver>(pll_theory, 2, 1);
}

TEST(StepFormula, OfTimersAndAgMinionsAgreesWithInteractOnAllPairsOfStates) {
  using Reading = protocols::TimersOver<S>::Reading;
  using Tie = protocols::AgMinionsOver<S>::Tie;
  for (const std::uint32_t most : {1u, 2u, 5u}) {
    Terms terms;
    Paths paths(terms);
    const protocols::Timers timers(most, protocols::Timers::Reading::first);
    expect_agreement(timers,
                     derive_step(protocols::TimersOver<S>(constant(paths, "m"), Reading::first),
                                 parse_theory(timers_theory), paths),
                     terms, {{"m", most}}, arbitrary_states(timers));
    Paths others(terms);
    const protocols::AgMinions minions(most, protocols::AgMinions::Tie::contender);
    expect_agreement(minions,
                     derive_step(protocols::AgMinionsOver<S>(constant(others, "m"), Tie::contender),
                                 parse_theory(ag_minions_theory), others),
                     terms, {{"m", most}}, arbitrary_states(minions));
  }
}

TEST(StepFormula, OfPrlAgreesWithInteractOnAllPairsOfStates) {
  Terms terms;
  Paths paths(terms);
  const StepFormula step = derive_step(protocols::PrlOver<S>(constant(paths, "N")),
                                       parse_theory("(domain (x) (>= x.distL 0))"), paths);
  for (const std::uint64_t bound : {2u, 3u}) {
    const protocols::Prl protocol(bound);
    expect_agreement(protocol, step, terms, {{"N", static_cast<std::int64_t>(bound)}},
                     arbitrary_states(protocol));
  }
}

// A protocol whose interactions are changed afterwards.
template <class P, class Change>
struct Mutant {
  using State = typename P::State;
  P protocol;
  Change change;
  void interact(State& u, State& v, auto& choice) const {
    const State before_u = u;
    const State before_v = v;
    protocol.interact(u, v, choice);
    change(before_u, before_v, u, v);
  }
};

// Whether the lemma, and all before it, are proved of the mutant.
template <class P, class Change>
bool is_proved(const char* theory_text, const P& protocol, Paths& paths, Change change,
               const std::string& name) {
  const Theory theory = parse_theory(theory_text);
  Engine engine;
  const Mutant<P, Change> mutant{protocol, change};
  for (const ProvedLemma& lemma :
       prove_theory(theory, derive_step(mutant, theory, paths), engine)) {
    if (lemma.verdict != LemmaVerdict::proved) return false;
    if (lemma.name == name) return true;
  }
  ADD_FAILURE() << "no lemma " << name;
  return false;
}

const auto nothing = [](const auto&, const auto&, auto&, auto&) {};

TEST(ProveTheory, AgMinions) {
  const auto proves = [](auto change) {
    Terms terms;
    Paths paths(terms);
    const protocols::AgMinionsOver<S> protocol(constant(paths, "m"),
                                               protocols::AgMinionsOver<S>::Tie::first);
    return is_proved(ag_minions_theory, protocol, paths, change, "stabilization");
  };
  EXPECT_TRUE(proves(nothing));
  EXPECT_FALSE(proves([](const auto& u, const auto&, auto& new_u, auto&) {  // does not grow
    if (u.leader && new_u.leader) new_u.value = u.value;
  }));
  EXPECT_FALSE(proves([](const auto& u, const auto& v, auto&, auto& new_v) {  // up to m + 1
    if (!new_v.leader) new_v.value = std::max(u.value, v.value);
  }));
  EXPECT_FALSE(proves([](const auto& u, const auto& v, auto& new_u, auto&) {  // both resign
    if (u.leader && v.leader) new_u.leader = false;
  }));
  EXPECT_FALSE(proves([](const auto& u, const auto& v, auto& new_u, auto& new_v) {  // nobody does
    if (u.leader && v.leader) new_u.leader = new_v.leader = true;
  }));
}

TEST(ProveTheory, Timers) {
  const auto proves = [](auto change) {
    Terms terms;
    Paths paths(terms);
    using Timers = protocols::TimersOver<S>;
    return is_proved(timers_theory, Timers(constant(paths, "t_max"), Timers::Reading::first), paths,
                     change, "convergence");
  };
  EXPECT_TRUE(proves(nothing));
  EXPECT_FALSE(proves([](const auto& u, const auto& v, auto& new_u, auto& new_v) {
    if (u.leader && v.leader) new_u.leader = new_v.leader = false;
  }));
  EXPECT_FALSE(proves([](const auto& u, const auto& v, auto& new_u, auto& new_v) {  // no timeout
    if (!u.leader && !v.leader) new_u.leader = new_v.leader = false;
  }));
}

TEST(ProveTheory, Ppl) {
  const auto proves = [](auto change) {
    Terms terms;
    Paths paths(terms);
    const protocols::PplOver<S> protocol(constant(paths, "t_max"), constant(paths, "t_virus"),
                                         constant(paths, "t_emit"));
    return is_proved(ppl_theory, protocol, paths, change, "convergence");
  };
  EXPECT_TRUE(proves(nothing));
  EXPECT_FALSE(proves([](const auto& u, const auto&, auto& new_u, auto&) {  // without line 1
    new_u.timer_l = u.timer_l;
  }));
  EXPECT_FALSE(proves([](const auto& u, const auto& v, auto& new_u, auto& new_v) {  // line 2
    if (!u.leader && !v.leader) new_u.leader = new_v.leader = false;
  }));
  EXPECT_FALSE(proves([](const auto& u, const auto&, auto& new_u, auto&) {  // line 4
    if (!new_u.leader) new_u.virus = u.virus;
  }));
  EXPECT_FALSE(proves([](const auto&, const auto& v, auto&, auto& new_v) {  // line 5
    if (v.leader) new_v.leader = true;
  }));
  EXPECT_FALSE(proves([](const auto& u, const auto&, auto& new_u, auto&) {  // line 7, the shield
    new_u.shield = u.shield;
  }));
  EXPECT_FALSE(proves([](const auto&, const auto& v, auto&, auto& new_v) {  // line 8
    new_v.shield = v.shield;
  }));
}

TEST(ProveTheory, VacuousAndFalseLemmasAreNotProved) {
  const auto verdict = [](const std::string& rule) {
    Terms terms;
    Paths paths(terms);
    const protocols::AgMinionsOver<S> protocol(constant(paths, "m"),
                                               protocols::AgMinionsOver<S>::Tie::first);
    const Theory theory =
        parse_theory("(parameter m (>= m 1)) (start (x) (and x.leader (= x.value 1)))"
                     "(domain (x) (and (>= x.value 1) (<= x.value (ite x.leader (+ m 1) m))))"
                     "(lemma \"it\" \"\" " +
                     rule + ")");
    Engine engine;
    return prove_theory(theory, derive_step(protocol, theory, paths), engine).at(1).verdict;
  };
  EXPECT_EQ(verdict("(step (given (< u.value 0)) false)"), LemmaVerdict::vacuous);
  EXPECT_EQ(verdict("(step (= u+.value u.value))"), LemmaVerdict::not_proved);
  EXPECT_EQ(verdict("(invariant (some (y) (not y.leader)))"), LemmaVerdict::not_proved);
  EXPECT_EQ(verdict("(invariant (all (x) x.leader))"), LemmaVerdict::not_proved);
  EXPECT_EQ(verdict("(step (=> u+.leader u.leader))"), LemmaVerdict::proved);
}

}  // namespace
}  // namespace conclave::prove
