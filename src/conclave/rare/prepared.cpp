#include "conclave/rare/prepared.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/real_functions.hpp"
#include "conclave/exact/holding_time.hpp"

namespace conclave::rare {
namespace {

class SplittingRunner final : public Runner {
 public:
  SplittingRunner(std::unique_ptr<const FailingProcess> process, const SplittingOptions& options)
      : process_(std::move(process)), options_(options) {}

  void pilot(const StreamName& name, const KeepComputing& keep_computing) override {
    plan_ = splitting(keep_computing).pilot(name);
  }
  RareRepetition run(const StreamName& name, const KeepComputing& keep_computing) const override {
    return splitting(keep_computing).run(plan_, name);
  }

 private:
  Splitting splitting(const KeepComputing& keep_computing) const {
    return {process_->copy(), options_, keep_computing};
  }

  std::unique_ptr<const FailingProcess> process_;
  SplittingOptions options_;
  SplittingPlan plan_;
};

// The indices of the ways with this name, or of all ways.
std::vector<std::size_t> chosen_ways(std::string_view protocol, std::span<const RareWay> ways,
                                     const std::string& asked) {
  std::vector<std::size_t> chosen;
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    if (asked.empty() || ways[i].name == asked) chosen.push_back(i);
    names.push_back(ways[i].name);
  }
  if (!chosen.empty()) return chosen;
  throw Error(unknown_name(fmt::format("way in which {} fails", protocol), asked, names));
}

constexpr std::string_view impossible =
    "it cannot happen: no interaction that can come before a failure leads to it";

// A word that could only be a name is not taken for an expression.
bool is_word(std::string_view text) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz-_";
  return text.find_first_not_of(letters) == std::string_view::npos;
}

std::optional<std::size_t> find_function(std::string_view protocol,
                                         std::span<const RareFunction> functions,
                                         const std::string& asked) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < functions.size(); ++i) {
    if (functions[i].name == asked) return i;
    names.push_back(functions[i].name);
  }
  if (!is_word(asked)) return std::nullopt;
  throw Error(unknown_name(fmt::format("importance function of {}", protocol), asked, names) +
              (names.empty() ? "; an expression such as count(A) can be given" : ""));
}

// The functions for the chosen ways, in the order of the ways.
std::vector<FunctionChoice> chosen_functions(std::string_view protocol,
                                             std::span<const RareFunction> functions,
                                             std::span<const RareWay> ways,
                                             const std::vector<std::size_t>& chosen_ways,
                                             const std::vector<std::string>& asked) {
  std::vector<FunctionChoice> chosen;
  const auto is_chosen = [&](std::size_t way) {
    return std::ranges::find(chosen_ways, way) != chosen_ways.end();
  };
  const auto is_impossible = [&](std::size_t way) {
    return ways[way].ln_floor == std::numeric_limits<double>::infinity();
  };
  for (std::size_t i = 0; asked.empty() && i < functions.size(); ++i) {
    if (functions[i].by_default && is_chosen(functions[i].way)) {
      chosen.push_back({functions[i].way, i, std::string(functions[i].name)});
    }
  }
  for (const std::string& each : asked) {
    const auto named = each == exact_name ? std::nullopt : find_function(protocol, functions, each);
    if (named && is_chosen(functions[*named].way)) {
      chosen.push_back({functions[*named].way, named, each});
    } else if (named) {
      throw Error(fmt::format("importance function {} is for the way {}", each,
                              ways[functions[*named].way].name));
    }
    for (const std::size_t way : chosen_ways) {
      if (!named) chosen.push_back({way, std::nullopt, each});
    }
  }
  std::ranges::stable_sort(chosen, {}, &FunctionChoice::way);
  for (std::size_t i = 0; i < chosen.size(); ++i)
    chosen[i].place = chosen[i].named.value_or(100 + i);
  std::erase_if(chosen, [&](const FunctionChoice& each) { return is_impossible(each.way); });
  for (const std::size_t way : chosen_ways) {
    const auto is_for = [&](const RareFunction& each) {
      return each.by_default && each.way == way;
    };
    if (std::ranges::find(chosen, way, &FunctionChoice::way) != chosen.end()) continue;
    if (is_impossible(way)) continue;
    if (ways[way].ln_floor && std::ranges::none_of(functions, is_for)) continue;
    throw Error(fmt::format("no importance function is given for the way {} of {}; give one with "
                            "--importance, or choose another way with --way",
                            ways[way].name, protocol));
  }
  return chosen;
}

}  // namespace

ExactRunner::ExactRunner(MakeTimes make_times, std::size_t way)
    : make_times_(std::move(make_times)), way_(way) {}

void ExactRunner::pilot(const StreamName&, const KeepComputing& keep_computing) {
  const auto times = make_times_({}, [&](std::string_view, std::uint64_t, std::uint64_t) {
    return !keep_computing || keep_computing(0);
  });
  const double mean = times->until(way_).mean;
  if (std::isinf(mean)) throw Unreached(std::string(impossible), mean);
  found_.ln_rate = -logarithm_of(mean);
  found_.configurations = times->configurations();
}

RareRepetition ExactRunner::run(const StreamName&, const KeepComputing&) const { return found_; }

std::vector<RareWay> known_ways(std::span<const RareWay> ways, bool from_own_start,
                                const ExactRunner::MakeTimes& make_times) {
  std::vector<RareWay> known(ways.begin(), ways.end());
  for (RareWay& way : known) {
    if (!from_own_start) way.ln_floor.reset();
  }
  constexpr exact::HoldingLimits quick{.states = 192, .configurations = 2000};
  try {
    const auto times = make_times(quick, {});
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (!times->is_possible(i)) known[i].ln_floor = std::numeric_limits<double>::infinity();
    }
  } catch (const Error&) {
    // Too large to be decided at once.
  }
  return known;
}

std::unique_ptr<Runner> splitting_runner(std::unique_ptr<const FailingProcess> process,
                                         const SplittingOptions& options) {
  return std::make_unique<SplittingRunner>(std::move(process), options);
}

Prepared::Prepared(Subject subject, const Choice& choice, std::span<const RareWay> ways,
                   std::span<const RareFunction> functions, const MakeRunner& make_runner,
                   std::shared_ptr<const void> owner)
    : owner_(std::move(owner)), subject_(std::move(subject)) {
  const std::vector<std::size_t> chosen = chosen_ways(subject_.protocol, ways, choice.way);
  choices_ = chosen_functions(subject_.protocol, functions, ways, chosen, choice.importance);
  for (const std::size_t way : chosen) {
    subject_.ways.push_back({std::string(ways[way].name), std::string(ways[way].meaning),
                             ways[way].ln_bound, ways[way].ln_floor});
    for (const FunctionChoice& each : choices_) {
      if (each.way != way) continue;
      subject_.functions.push_back({subject_.ways.size() - 1, each.text});
      runners_.push_back(make_runner(each));
    }
    if (!has_function(subject_.ways.size() - 1)) {
      subject_.ways.back().refusal =
          std::isfinite(*ways[way].ln_floor)
              ? "splitting needs thousands of levels: name functions with --importance, and raise "
                "--most-levels"
              : std::string(impossible);
    }
  }
  refusals_.resize(choices_.size());
}

bool Prepared::has_function(std::size_t way) const {
  return std::ranges::find(subject_.functions, way, &Subject::Function::way) !=
         subject_.functions.end();
}

void Prepared::pilot(std::size_t function, const KeepComputing& keep_computing) {
  try {
    runners_[function]->pilot(stream_name(function, 0, 1), keep_computing);
  } catch (const Error& error) {
    throw Error(about(function) + ": " + error.what());
  }
}

void Prepared::try_pilot(std::size_t function, const KeepComputing& keep_computing) {
  try {
    runners_[function]->pilot(stream_name(function, 0, 1), keep_computing);
  } catch (const Unreached& unreached) {
    refusals_[function] = {unreached.what(), unreached.ln_floor()};
  } catch (const Error& error) {
    refusals_[function] = {error.what(), std::nullopt};
  }
}

void Prepared::settle() {
  std::optional<Error> unbounded;
  for (std::size_t i = subject_.functions.size(); i-- > 0;) {
    if (!refusals_[i]) continue;
    const std::size_t number = subject_.functions[i].way;
    Subject::Way& way = subject_.ways[number];
    const Error error(about(i) + ": " + refusals_[i]->reason);
    way.refusal = fmt::format("{}: {}", subject_.functions[i].name, refusals_[i]->reason);
    const double floor = refusals_[i]->ln_floor.value_or(0);
    if (std::isinf(floor)) way.ln_floor = floor;
    if (!way.ln_floor && floor > 0) {
      way.ln_floor = floor;
      way.refusal += "; the bound holds with 95 % confidence";
    }
    remove(i);
    if (!has_function(number) && !way.ln_floor) unbounded = error;
  }
  if (unbounded) throw Error(*unbounded);
}

void Prepared::remove(std::size_t function) {
  const auto place = static_cast<std::ptrdiff_t>(function);
  subject_.functions.erase(subject_.functions.begin() + place);
  choices_.erase(choices_.begin() + place);
  runners_.erase(runners_.begin() + place);
  refusals_.erase(refusals_.begin() + place);
}

RareRepetition Prepared::run(std::size_t function, std::uint64_t repetition,
                             const KeepComputing& keep_computing) const {
  return runners_[function]->run(stream_name(function, repetition, 0), keep_computing);
}

// "timeout by group", and how to go on without it where there are other ways to fail.
std::string Prepared::about(std::size_t function) const {
  const Subject::Function& chosen = subject_.functions[function];
  std::string text = subject_.ways[chosen.way].name + " by " + chosen.name;
  if (subject_.ways.size() == 1) return text;
  text += " (leave it out with --way ";
  const char* separator = "";
  for (std::size_t way = 0; way < subject_.ways.size(); ++way) {
    if (way == chosen.way) continue;
    text += separator + subject_.ways[way].name;
    separator = " or ";
  }
  return text + ")";
}

// The stream of a function depends on its place in the protocol's list alone, not on which others
// are used; expressions follow behind, in the order in which they were given.
StreamName Prepared::stream_name(std::size_t function, std::uint64_t repetition,
                                 std::uint64_t kind) const {
  const FunctionChoice& choice = choices_[function];
  return {.seed = subject_.seed,
          .trial = repetition,
          .purpose = rare_purpose,
          .part = (choice.place * 16 + choice.way) * 2 + kind};
}

AgentCount checked_population(AgentCount n) {
  constexpr AgentCount most = 1 << 20;
  if (n <= most) return n;
  throw Error(
      fmt::format("n = {} is too large for rare events: at most {} agents are allowed", n, most));
}

std::shared_ptr<const text::PopulationFormula> importance_formula(
    const std::string& expression, const std::vector<text::FormulaField>& fields,
    const Subject& subject) {
  text::Constants constants{{"n", text::Number(static_cast<std::int64_t>(subject.n))}};
  for (const Subject::Parameter& each : subject.parameters) {
    if (const auto* whole = std::get_if<std::uint64_t>(&each.value)) {
      constants.emplace(each.name, text::Number(static_cast<std::int64_t>(*whole)));
    } else if (const auto* real = std::get_if<double>(&each.value)) {
      constants.emplace(each.name, text::Number::real(*real));
    }
  }
  return std::make_shared<const text::PopulationFormula>(expression, fields, constants);
}

}  // namespace conclave::rare
