// A protocol text as it was written: statements and expressions, nothing looked up yet.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conclave/text/mistake.hpp"
#include "conclave/text/number.hpp"

namespace conclave::text {

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

enum class Form : std::uint8_t {
  number,
  name,       // a field, a parameter, a value: whatever the place allows
  member,     // u.field, v.field
  one_of,     // A | B
  operation,  // on the parts
  count,      // count(P), all(P), any(P), none(P): P is the only part
};

struct Expression {
  Form form = Form::number;
  Place place{};
  Number number{};
  Operator operation{};
  std::string name{};         // of a name, of a member's field, of a count
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

struct ParameterText {
  Name name;
  Expression fallback;
  std::optional<Expression> low{}, high{};
  std::string fallback_text{}, range_text{};  // as they were written
  std::string meaning{};
};

struct Definition {  // let, leader, output, observe
  Name name;
  Expression value;
  std::string meaning{};
};

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

struct RuleText {
  Place place{};
  bool is_unordered = false;
  Pattern initiator{}, responder{};
  std::optional<Expression> guard{};
  std::vector<OutcomeText> outcomes{};
};

struct StartItem {
  enum class Kind : std::uint8_t { number, percentage, all, rest, evenly, randomly };
  Kind kind = Kind::number;
  Place place{};
  std::optional<Expression> count{};
  Target target{};
};

struct StartText {
  Name name;
  std::vector<StartItem> items{};
  std::string meaning{};
};

// A whole file.
struct Document {
  std::string title{};
  std::string paper{};
  std::vector<ParameterText> parameters{};
  std::vector<Definition> definitions{};
  std::vector<FieldText> fields{};  // `states` is the field called state
  std::optional<Definition> leader{};
  std::vector<Definition> outputs{};
  std::vector<StartText> starts{};
  std::optional<Expression> stop{}, fail{};
  std::string stop_text{};  // as it was written
  std::vector<Definition> observables{};
  std::vector<RuleText> rules{};
};

inline constexpr const char* state_field = "state";

}  // namespace conclave::text
