// A protocol file as it was written: statements and expressions, nothing looked up yet.
// docs/reference/own-protocols.md describes the language.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conclave/text/mistake.hpp"
#include "conclave/text/number.hpp"

namespace conclave::text {

// A name where it is written.
struct Name {
  std::string text;
  Place place;
};

enum class Operator : std::uint8_t {
  add,
  subtract,
  multiply,
  divide,
  modulo,
  power,
  negate,
  equal,
  unequal,
  less,
  less_equal,
  greater,
  greater_equal,
  conjunction,
  disjunction,
  negation,
  choice,  // if ... then ... else
  floor,
  ceiling,
  nearest,
  square_root,
  binary_logarithm,
  natural_logarithm,
  minimum,
  maximum,
  absolute,
};

constexpr bool is_comparison(Operator operation) {
  return operation >= Operator::equal && operation <= Operator::greater_equal;
}

enum class Form : std::uint8_t {
  number,
  name,       // a field, a parameter, a value: whatever the place allows
  member,     // u.field, v.field
  one_of,     // A | B
  operation,  // on the parts
  count,      // count(P), all(P), any(P), none(P): P is the only part
  aggregate,  // sum(x), mean(x), min(x), max(x) over all agents: x is the only part
  call,       // f(a, b): a function of the file, by its name
};

struct Expression {
  Form form = Form::number;
  Place place{};
  Number number{};
  Operator operation{};
  std::string name{};         // of a name, of a member's field, of a count, of a function
  char agent = 0;             // of a member: 'u' or 'v'
  std::vector<Name> names{};  // of one_of
  std::vector<Expression> parts{};
};

// `digit: 0..q-1`, `marked: bool`, `opinion: {A, B, blank}`.
struct FieldText {
  Name name;
  std::vector<Name> values{};               // an enumeration, or
  std::optional<Expression> low{}, high{};  // a range; neither: bool
};

// A parameter of a protocol file as it is declared; default and range are evaluated later.
struct ParameterText {
  Name name;
  Expression fallback;
  std::optional<Expression> low{}, high{};
  std::string fallback_text{}, range_text{};  // as they were written
  std::string meaning{};

  // Whether a number in the default or in the range is written with a decimal point.
  bool has_decimals() const;
};

struct Definition {  // let, fun, leader, output, observe
  Name name;
  Expression value;
  std::string meaning{};
  bool is_function = false;
  std::vector<Name> parameters{};  // of a function
};

// A field that gets a value, in a rule or in an initial configuration.
struct Assignment {
  Name field;
  Expression value;
};

// One agent on the left of a rule.
struct Pattern {
  Place place{};
  std::vector<Name> states{};  // none: any
  std::vector<Expression> conditions{};
};

// One agent on the right of a rule or in a start: who it is like, and what is different.
struct Target {
  Place place{};
  std::optional<Name> state{};
  char like = 0;  // 'u' or 'v'; 0: the agent that stands there
  std::vector<Assignment> assignments{};
};

struct OutcomeText {
  Place place{};
  Target initiator{}, responder{};
  std::optional<Expression> probability{};  // none: 1
};

struct Statement;

// `A + B -> A + A`, with outcomes, or `A + B do { ... }`, with a block.
struct RuleText {
  Place place{};
  bool is_unordered = false;
  bool is_sum = false;  // of several lines of a list with the same left side
  Pattern initiator{}, responder{};
  std::optional<Expression> guard{};
  std::vector<OutcomeText> outcomes{};
  std::vector<Statement> block;

  RuleText();
  RuleText(const RuleText&);
  RuleText(RuleText&&) noexcept;
  RuleText& operator=(const RuleText&);
  RuleText& operator=(RuleText&&) noexcept;
  ~RuleText();
};

// One thing that a block does.
struct Statement {
  enum class Kind : std::uint8_t {
    assign,  // u.x = value, v.y = value: all at once
    let,     // a name for the value of now
    choose,  // a name for a number drawn from low..high
    chance,  // with probability p { body } else { otherwise }
    branch,  // if c { body } else { otherwise }
    each,    // { body } for u, then for v
    call,    // of a step by its name
    rules,   // the first that applies
  };
  struct Change {
    char agent = 0;  // 'u' or 'v'; 0: the one that `each` is about
    Assignment assignment;
  };
  Kind kind = Kind::assign;
  Place place{};
  std::string name{};                // of let, choose, call
  std::vector<Expression> values{};  // let: value; choose: low, high; chance: p; branch: c
  std::vector<Change> changes{};
  std::vector<Statement> body{}, otherwise{};
  std::vector<RuleText> rules{};
};

inline RuleText::RuleText() = default;
inline RuleText::RuleText(const RuleText&) = default;
inline RuleText::RuleText(RuleText&&) noexcept = default;
inline RuleText& RuleText::operator=(const RuleText&) = default;
inline RuleText& RuleText::operator=(RuleText&&) noexcept = default;
inline RuleText::~RuleText() = default;

// A block with a name, which other blocks call.
struct StepText {
  Name name;
  std::vector<Statement> body{};
};

// One direction of `A + B -> C + D rate 2.5` or `A <-> B rate 1, 0.5`, in a network.
struct ReactionText {
  Place place{};
  std::vector<Name> reactants{}, products{};  // at most two reactants
  Expression rate{};
};

// How many agents begin in which states.
struct StartItem {
  enum class Kind : std::uint8_t { number, percentage, all, rest, evenly, randomly };
  Kind kind = Kind::number;
  Place place{};
  std::optional<Expression> count{};
  Target target{};
};

// A named initial configuration as it is written.
struct StartText {
  Name name;
  std::vector<StartItem> items{};
  std::string meaning{};
};

// `always count(leader) >= 1`: what the file says about every configuration of its runs; or, of
// `eventually`, what is reached from every one with probability 1.
struct PropertyText {
  Expression condition;
  std::string text{};  // as it was written: "count(leader) >= 1"
};

// `computes if A > B then yes else no over A, B when A != B`: which output all agents agree on in
// the end, by how many of them start in which state.
struct ComputationText {
  // At most one condition holds of an input; where none does, nothing is said.
  struct Case {
    Expression condition;
    Name output;
  };
  Place place{};
  std::vector<Name> inputs{};  // the states in which agents start
  std::vector<Case> cases{};
  std::string text{};  // as it was written
};

// `import "clock.pp" as slow with digit as hour`
struct ImportText {
  Place place{};
  std::string path{};
  std::string alias{};  // none: names stay as they are
  std::vector<std::pair<Name, Name>> renames{};
};

// A whole file.
struct Document {
  std::string title{};
  std::string paper{};
  std::vector<ImportText> imports{};
  std::vector<ParameterText> parameters{};
  std::vector<Definition> definitions{};
  std::vector<FieldText> fields{};  // `states` is the field called state
  std::optional<Definition> leader{};
  std::vector<Definition> outputs{};
  std::vector<StartText> starts{};
  std::optional<Expression> stop{}, fail{};
  std::string stop_text{};              // as it was written
  std::optional<Expression> horizon{};  // of `time >= ...` in the stop condition
  std::optional<Expression> lasting{};  // of `stop when ... for T`
  std::optional<Expression> hold{};     // of `hold while ...`
  std::vector<Definition> observables{};
  std::vector<PropertyText> properties{}, goals{};  // of `always` and of `eventually`
  std::vector<ComputationText> computations{};
  std::vector<StepText> steps{};
  std::vector<RuleText> rules{};
  bool is_network = false;  // of reactions, which take the place of rules
  std::vector<ReactionText> reactions{};
  std::optional<Expression> volume{};  // none: n, or 1 where molecules are born or die
};

inline constexpr const char* state_field = "state";

enum class Dialect : std::uint8_t {
  protocol,   // .pp: states or fields are declared
  network,    // .crn: species and reactions with rates
  rule_list,  // .rules: states are those the rules name; rules may be written `a, b -> c, d : 1/2`
};

// The syntax of one file, whose number stands in all places; imports are not followed. The document
// owns all it holds, so `text` may go away. Throws Mistake with what was expected and what was
// found, at the first error. O(size).
Document parse(std::string_view text, Dialect dialect, std::uint32_t file = 0);

}  // namespace conclave::text
