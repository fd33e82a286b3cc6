#include "conclave/catalog/text_gpu.hpp"

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/catalog/gpu_run.hpp"
#include "conclave/text/condition_tally.hpp"

namespace conclave::catalog {
namespace {

using gpu::Tables;
using gpu::TableStep;
using text::Node;
using text::Operator;
using Operation = TableStep::Operation;

[[noreturn]] void refuse(const text::Compiled& compiled, const char* reason) {
  throw Error(fmt::format("engine gpu does not run {}: {}; use engine agents, whose trials it runs",
                          compiled.text().name(), reason));
}

// Writes a condition as code for a stack, and makes sure that no number on it leaves 64 bits.
class ConditionCode {
 public:
  ConditionCode(const text::Compiled& compiled, const Node& condition) : compiled_(compiled) {
    write(condition);
    if (deepest_ > Tables::deepest_stack) refuse(compiled_, "its conditions nest too deeply");
  }
  std::vector<TableStep> steps() && { return std::move(steps_); }

 private:
  static constexpr double largest = 4e18;

  // Returns a bound on the magnitude of the number that it leaves on the stack.
  double write(const Node& node) {
    switch (node.kind) {
      case Node::Kind::constant:
        return write_constant(node);
      case Node::Kind::count:
        push({Operation::count, static_cast<std::int64_t>(node.index)});
        return static_cast<double>(compiled_.agents());
      case Node::Kind::operation:
        return write_operation(node);
      default:
        refuse(compiled_, "its conditions ask for more than numbers of agents");
    }
  }

  double write_constant(const Node& node) {
    const auto value = node.constant.small();
    if (!value || static_cast<double>(*value) > largest || static_cast<double>(*value) < -largest) {
      refuse(compiled_, "its conditions have numbers that are not whole or too large");
    }
    push({Operation::constant, *value});
    return std::abs(static_cast<double>(*value));
  }

  double write_operation(const Node& node) {
    const bool is_swapped =
        node.operation == Operator::greater || node.operation == Operator::greater_equal;
    std::vector<double> bounds;
    for (std::size_t i = 0; i < node.parts.size(); ++i) {
      bounds.push_back(write(node.parts[is_swapped ? node.parts.size() - 1 - i : i]));
    }
    const std::size_t operands = bounds.size();
    steps_.push_back({code_of(node.operation)});
    if (node.operation == Operator::unequal) steps_.push_back({Operation::negation});
    depth_ -= operands - 1;
    const double bound = bound_of(node.operation, bounds);
    if (bound > largest) refuse(compiled_, "numbers in its conditions may leave 64 bits");
    return bound;
  }

  static double bound_of(Operator operation, const std::vector<double>& bounds) {
    switch (operation) {
      case Operator::add:
      case Operator::subtract:
        return bounds[0] + bounds[1];
      case Operator::multiply:
        return bounds[0] * bounds[1];
      case Operator::negate:
      case Operator::absolute:
        return bounds[0];
      case Operator::minimum:
      case Operator::maximum:
        return std::max(bounds[0], bounds[1]);
      case Operator::choice:
        return std::max(bounds[1], bounds[2]);
      default:
        return 1;
    }
  }

  Operation code_of(Operator operation) const {
    switch (operation) {
      case Operator::add:
        return Operation::add;
      case Operator::subtract:
        return Operation::subtract;
      case Operator::multiply:
        return Operation::multiply;
      case Operator::negate:
        return Operation::negate;
      case Operator::absolute:
        return Operation::absolute;
      case Operator::minimum:
        return Operation::minimum;
      case Operator::maximum:
        return Operation::maximum;
      case Operator::equal:
      case Operator::unequal:
        return Operation::equal;
      case Operator::less:
      case Operator::greater:
        return Operation::less;
      case Operator::less_equal:
      case Operator::greater_equal:
        return Operation::less_equal;
      case Operator::conjunction:
        return Operation::conjunction;
      case Operator::disjunction:
        return Operation::disjunction;
      case Operator::negation:
        return Operation::negation;
      case Operator::choice:
        return Operation::choice;
      default:
        refuse(compiled_, "its conditions divide, round, or take roots, powers or logarithms");
    }
  }

  void push(const TableStep& step) {
    steps_.push_back(step);
    deepest_ = std::max(deepest_, ++depth_);
  }

  const text::Compiled& compiled_;
  std::vector<TableStep> steps_;
  std::size_t depth_ = 0;
  std::size_t deepest_ = 0;
};

void check(const text::Compiled& compiled) {
  if (compiled.is_network()) refuse(compiled, "networks of reactions have a clock of their own");
  if (!compiled.transitions().has_table()) {
    refuse(compiled, "it has too many states for a table of its transitions");
  }
  if (compiled.follows_states()) {
    refuse(compiled, "its conditions speak of silence, or of sums, minima or maxima over the "
                     "agents, or count more than eight sets");
  }
  if (compiled.observes_census()) {
    refuse(compiled, "its observables need the whole configuration: silence, or sums, minima or "
                     "maxima over the agents");
  }
}

void add_start(Tables& tables, const text::CompiledStart& start) {
  if (start.is_random) return;
  for (std::size_t i = 0; i < start.census.size(); ++i) {
    tables.start_ends.push_back(start.ends[i]);
    tables.start_states.push_back(static_cast<std::uint32_t>(start.census[i].first));
  }
}

// Reactions on which chance decides, in the order in which the table names them.
void add_entries(Tables& tables, const text::Transitions& transitions) {
  const auto* const table = transitions.table();
  for (std::size_t i = 0; i < std::size_t{tables.states} * tables.states; ++i) {
    if (table[i].is_certain()) {
      tables.entries.push_back(table[i].word);
      continue;
    }
    const text::Reaction& reaction = transitions.random_reaction(table[i]);
    tables.entries.push_back(1u << 31 | static_cast<std::uint32_t>(tables.reactions.size()));
    tables.reactions.push_back({static_cast<std::uint32_t>(tables.outcomes.size()),
                                static_cast<std::uint32_t>(reaction.outcomes.size()),
                                reaction.total});
    for (const text::Outcome& each : reaction.outcomes) {
      tables.outcomes.push_back(
          {static_cast<std::uint32_t>(each.u), static_cast<std::uint32_t>(each.v), each.weight});
    }
  }
}

// The protocol for engine gpu, with all that it refers to.
template <class Word>
struct Owned {
  Owned(Tables made) : tables(std::move(made)), protocol(tables) {}
  Tables tables;
  gpu::TableProtocol<Word> protocol;
};

// The protocol alone, in the ownership of all.
template <class Word>
std::shared_ptr<const void> owned(Tables tables) {
  const auto all = std::make_shared<const Owned<Word>>(std::move(tables));
  return {all, &all->protocol};
}

}  // namespace

gpu::Tables tables_of(const text::Compiled& compiled, std::size_t start) {
  check(compiled);
  Tables tables{.states = static_cast<std::uint32_t>(compiled.space().size())};
  add_entries(tables, compiled.transitions());
  tables.words.assign(compiled.counting_steps(), compiled.counting_steps() + tables.states);
  add_start(tables, compiled.starts()[start]);
  tables.stop = ConditionCode(compiled, compiled.stop()).steps();
  if (compiled.fail()) tables.fail = ConditionCode(compiled, *compiled.fail()).steps();
  return tables;
}

std::unique_ptr<const PreparedRun> text_on_gpu(std::unique_ptr<const PreparedRun> agents,
                                               std::shared_ptr<const text::Compiled> compiled,
                                               std::size_t start, unsigned device) {
  Tables tables = tables_of(*compiled, start);
  const bool is_small = tables.states <= 1u << 8;
  DeviceRun run{.protocol = is_small ? owned<std::uint8_t>(std::move(tables))
                                     : owned<std::uint16_t>(std::move(tables)),
                .make = is_small ? gpu::engine_of_table_8 : gpu::engine_of_table_16,
                .device = device};
  run.finish = [compiled = std::move(compiled)](TrialResult& result) {
    std::vector<AgentCount> counts;
    for (const Observation& each : result.observations) {
      counts.push_back(std::get<std::uint64_t>(each.value));
    }
    result.observations = text::ConditionTally::observations_of(*compiled, counts);
  };
  return on_gpu(std::move(agents), std::move(run));
}

}  // namespace conclave::catalog
