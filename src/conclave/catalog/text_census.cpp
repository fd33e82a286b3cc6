// Protocol files in the language of PRISM.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/output.hpp"
#include "conclave/catalog/text_entry.hpp"
#include "conclave/chain/export.hpp"
#include "conclave/text/node.hpp"

namespace conclave::catalog {
namespace {

using chain::TableProtocol;
using text::Node;
using text::Operator;
using text::StateIndex;

constexpr StateIndex most_states = 200;
constexpr std::size_t most_rules = 20'000;
constexpr double most_weight = 2147483647;

// "n_" and the state's name, for many a short name is a keyword of PRISM; what it does not accept
// in a name becomes _, and the state's number makes it unique.
std::string variable(const text::Compiled& compiled, StateIndex state) {
  std::string name = "n_" + compiled.space().name(state);
  const auto is_odd = [](char c) {
    return c != '_' && std::isalnum(static_cast<unsigned char>(c)) == 0;
  };
  if (std::ranges::none_of(name, is_odd)) return name;
  std::ranges::replace_if(name, is_odd, '_');
  return fmt::format("{}_{}", name, state);
}

// An expression of the file in PRISM's language.
class Translation {
 public:
  Translation(const text::Compiled& compiled, const TableProtocol& table)
      : compiled_(compiled), table_(table) {}

  std::string of(const Node& node) const {
    switch (node.kind) {
      case Node::Kind::constant:
        return constant(node);
      case Node::Kind::count:
        return count(compiled_.counted()[node.index].states);
      case Node::Kind::silent:
        return silence();
      default:
        return operation(node);
    }
  }

 private:
  static std::string constant(const Node& node) {
    if (node.type.kind == text::Type::Kind::condition) {
      return compare(node.constant, 0) != 0 ? "true" : "false";
    }
    if (const auto whole = node.constant.small()) return fmt::format("{}", *whole);
    return fmt::format("{:.17g}", node.constant.as_double());
  }

  std::string count(const text::StateSet& set) const {
    std::string sum;
    for (std::size_t state = 0; state < set.size(); ++state) {
      if (set[state]) sum += (sum.empty() ? "" : "+") + table_.states[state];
    }
    return sum.empty() ? "0" : "(" + sum + ")";
  }

  std::string silence() const {
    std::string all;
    for (const TableProtocol::Rule& rule : table_.rules) {
      const std::string& u = table_.states[rule.initiator];
      const std::string& v = table_.states[rule.responder];
      all += (all.empty() ? "" : " & ") +
             (u == v ? fmt::format("{}<2", u) : fmt::format("({}=0 | {}=0)", u, v));
    }
    return all.empty() ? "true" : "(" + all + ")";
  }

  std::string operation(const Node& node) const {
    const auto part = [&](std::size_t i) { return of(node.parts[i]); };
    switch (node.operation) {
      case Operator::negate:
        return "-" + part(0);
      case Operator::negation:
        return "!" + part(0);
      case Operator::choice:
        return fmt::format("({} ? {} : {})", part(0), part(1), part(2));
      case Operator::absolute:
        return fmt::format("max({0},-{0})", part(0));
      case Operator::square_root:
        return fmt::format("pow({},0.5)", part(0));
      case Operator::binary_logarithm:
        return fmt::format("log({},2)", part(0));
      case Operator::natural_logarithm:
        return fmt::format("log({},2.718281828459045)", part(0));
      case Operator::floor:
      case Operator::ceiling:
      case Operator::nearest:
        return fmt::format("{}({})", word(node.operation), part(0));
      case Operator::modulo:
      case Operator::power:
      case Operator::minimum:
      case Operator::maximum:
        return fmt::format("{}({},{})", word(node.operation), part(0), part(1));
      default:
        return fmt::format("({} {} {})", part(0), word(node.operation), part(1));
    }
  }

  static std::string_view word(Operator operation) {
    constexpr std::array<std::pair<Operator, std::string_view>, 19> words{
        {{Operator::add, "+"},
         {Operator::subtract, "-"},
         {Operator::multiply, "*"},
         {Operator::divide, "/"},
         {Operator::equal, "="},
         {Operator::unequal, "!="},
         {Operator::less, "<"},
         {Operator::less_equal, "<="},
         {Operator::greater, ">"},
         {Operator::greater_equal, ">="},
         {Operator::conjunction, "&"},
         {Operator::disjunction, "|"},
         {Operator::floor, "floor"},
         {Operator::ceiling, "ceil"},
         {Operator::nearest, "round"},
         {Operator::modulo, "mod"},
         {Operator::power, "pow"},
         {Operator::minimum, "min"},
         {Operator::maximum, "max"}}};
    return std::ranges::find(words, operation, &std::pair<Operator, std::string_view>::first)
        ->second;
  }

  const text::Compiled& compiled_;
  const TableProtocol& table_;
};

// All reactions over one total weight; false where that grows too large.
bool add_rules(const text::Compiled& compiled, TableProtocol& table) {
  const StateIndex states = compiled.space().size();
  for (StateIndex u = 0; u < states; ++u) {
    for (StateIndex v = 0; v < states; ++v) {
      table.total_weight = std::lcm(table.total_weight, compiled.reaction(u, v).total);
      if (static_cast<double>(table.total_weight) > most_weight) return false;
    }
  }
  for (StateIndex u = 0; u < states; ++u) {
    for (StateIndex v = 0; v < states; ++v) {
      const text::Reaction reaction = compiled.reaction(u, v);
      for (const text::Outcome& each : reaction.outcomes) {
        table.rules.push_back(
            {u, v, each.u, each.v, table.total_weight / reaction.total * each.weight});
      }
    }
  }
  return table.rules.size() <= most_rules;
}

TableProtocol named_counts(const text::Compiled& compiled, const text::CompiledStart& from) {
  TableProtocol table;
  for (StateIndex state = 0; state < compiled.space().size(); ++state) {
    table.states.push_back(variable(compiled, state));
  }
  table.initial_counts.resize(table.states.size());
  for (const auto& [state, count] : from.census) table.initial_counts[state] += count;
  return table;
}

// As far as silence is concerned.
void add_reacting_pairs(const text::Compiled& compiled, TableProtocol& table) {
  for (StateIndex u = 0; u < compiled.space().size(); ++u) {
    for (StateIndex v = 0; v < compiled.space().size(); ++v) {
      if (compiled.reacts(u, v)) table.rules.push_back({u, v, u, v, 1});
    }
  }
}

// [] A>=1 & B>=1 -> 5/2*A*B/volume : (A'=A-1) & (C'=C+1);
std::string prism_command(const text::MassAction& reaction, const std::vector<std::string>& names) {
  std::map<StateIndex, int> needed, change;
  for (std::size_t i = 0; i < (reaction.is_pair ? 2u : 1u); ++i) {
    ++needed[reaction.reactants[i]];
    --change[reaction.reactants[i]];
    ++change[reaction.products[i]];
  }
  std::string guard, effect, rate = to_string(reaction.rate);
  for (const auto& [species, count] : needed) {
    const std::string& name = names[species];
    guard += fmt::format("{}{}>={}", guard.empty() ? "" : " & ", name, count);
    rate += count == 1 ? "*" + name : fmt::format("*{0}*({0}-1)/2", name);
  }
  if (reaction.is_pair) rate += "/volume";
  for (const auto& [species, by] : change) {
    if (by == 0) continue;
    effect += fmt::format("{}({}'={}{:+})", effect.empty() ? "" : " & ", names[species],
                          names[species], by);
  }
  return fmt::format("  [] {} -> {} : {};\n", guard, rate, effect);
}

}  // namespace

std::optional<TableProtocol> census_table(const text::Compiled& compiled, std::size_t start) {
  const text::CompiledStart& from = compiled.starts()[start];
  if (from.is_random || compiled.space().size() > most_states) return std::nullopt;
  TableProtocol table = named_counts(compiled, from);
  if (!add_rules(compiled, table)) return std::nullopt;
  if (compiled.decisive_aggregates() > 0) return std::nullopt;
  const auto agents = static_cast<double>(compiled.agents());
  if (static_cast<double>(table.total_weight) * agents * agents > most_weight) return std::nullopt;
  table.target = Translation(compiled, table).of(compiled.stop());
  return table;
}

void write_network(const text::Compiled& compiled, std::size_t start, const std::string& path) {
  TableProtocol table = named_counts(compiled, compiled.starts()[start]);
  add_reacting_pairs(compiled, table);
  std::string file =
      fmt::format("// A network of reactions: molecules per species.\nctmc\n\nconst int n = {};\n"
                  "const double volume = {};\n\nmodule network\n",
                  compiled.agents(), to_string(compiled.volume()));
  for (std::size_t s = 0; s < table.states.size(); ++s) {
    file += fmt::format("  {} : [0..n] init {};\n", table.states[s], table.initial_counts[s]);
  }
  for (const text::MassAction& each : compiled.reactions()) {
    if (each.is_active()) file += prism_command(each, table.states);
  }
  file += fmt::format("endmodule\n\nlabel \"target\" = {};\n\n",
                      Translation(compiled, table).of(compiled.stop()));
  write_file(path, file + "rewards \"time\"\n  true : 1;\nendrewards\n");
}

}  // namespace conclave::catalog
