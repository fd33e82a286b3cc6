// `conclave solve`: expected hitting times of any Markov chain in PRISM's explicit files.
//
// The answer is one JSON object, from which the text is made, so that both say the same. Every time
// comes with a bound on its relative error that the solver proves after the fact; --exact repeats
// the computation in fractions.
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/json.hpp"
#include "conclave/chain/explicit_files.hpp"
#include "conclave/chain/hitting_times.hpp"
#include "conclave/chain/method.hpp"
#include "conclave/chain/rational_chain.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/cli/terminal.hpp"

namespace conclave::cli {
namespace {

using chain::StateIndex;
// A sum of probabilities this far from 1 is reported: printing 12 digits does not explain it.
constexpr double noteworthy_defect = 1e-10;

struct SolveOptions {
  std::string transitions;
  std::string labels;
  std::string target;
  std::string rewards;
  std::string from;
  std::string steps;
  std::string method = "auto";
  std::string format = "table";
  bool variance = false;
  bool all = false;
  bool exact = false;
};

// The contents of the files.
struct Question {
  chain::MarkovChain chain;
  chain::StateSet target;
  std::vector<double> costs;
  StateIndex from = 0;
};

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

StateIndex state_number(const std::string& option, const std::string& text, std::size_t states) {
  return static_cast<StateIndex>(count_option_64(option, text, 0, states - 1));
}

// The .lab file given, or the one beside the transitions, if there is one.
std::optional<chain::Labels> labels_of(const SolveOptions& options, std::size_t states) {
  std::filesystem::path path(options.labels);
  if (path.empty()) {
    path = std::filesystem::path(options.transitions).replace_extension(".lab");
    if (!std::filesystem::exists(path)) return std::nullopt;
  }
  return chain::read_labels(path.string(), states);
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789,") == std::string::npos;
}

std::vector<StateIndex> numbered_states(const std::string& text, std::size_t states) {
  std::vector<StateIndex> result;
  for (const std::string& number : list_option("--target", text)) {
    result.push_back(state_number("--target", number, states));
  }
  return result;
}

std::vector<StateIndex> target_states(const SolveOptions& options,
                                      const std::optional<chain::Labels>& labels,
                                      std::size_t states) {
  if (is_number(options.target)) return numbered_states(options.target, states);
  if (!labels) {
    throw Error("no labels: give --labels FILE, or --target with numbers of states");
  }
  if (!options.target.empty()) return labels->of(options.target);
  for (const char* name : {"target", "done", "converged"}) {
    if (labels->has(name)) return labels->of(name);
  }
  return labels->of("target");  // which says what labels there are
}

StateIndex first_state(const SolveOptions& options, const std::optional<chain::Labels>& labels,
                       std::size_t states) {
  if (!options.from.empty()) return state_number("--from", options.from, states);
  if (!labels || !labels->has("init") || labels->of("init").empty()) return 0;
  return labels->of("init").front();
}

std::vector<double> costs_of(const SolveOptions& options, const chain::MarkovChain& chain) {
  if (options.rewards.empty()) return {};
  const std::string ending = std::filesystem::path(options.rewards).extension().string();
  if (ending == ".srew") return chain::read_state_rewards(options.rewards, chain.size());
  if (ending == ".trew") return chain::read_transition_rewards(options.rewards, chain);
  throw Error(fmt::format("--rewards takes a .srew or a .trew file, not '{}'", options.rewards));
}

Question read_question(const SolveOptions& options) {
  Question question{
      .chain = chain::read_transitions(options.transitions), .target = {}, .costs = {}};
  const std::size_t states = question.chain.size();
  const auto labels = labels_of(options, states);
  const auto target = target_states(options, labels, states);
  if (target.empty()) throw Error("the target is empty: no state has its label");
  question.target = chain::set_of(target, states);
  question.costs = costs_of(options, question.chain);
  question.from = first_state(options, labels, states);
  return question;
}

// The method that found most values and why it was taken; where several took part, all of them.
void add_methods(const std::vector<chain::MethodUse>& uses, Json& json) {
  if (uses.empty()) return;  // all states belong to the target or may miss it
  const chain::MethodUse& main = chain::main_use(uses);
  json["method"] = chain::name_of(main.method);
  json["method_reason"] = main.reason;
  json["method_states"] = Json::object();
  for (const chain::MethodUse& use : uses) {
    json["method_states"][chain::name_of(use.method)] = use.states;
  }
}

std::string method_text(const Json& json) {
  std::string text =
      fmt::format("{}, because {}", json["method"].text(), json["method_reason"].text());
  const Json& states = json["method_states"];
  if (states.size() < 2) return text;
  text += "; states by method:";
  for (const chain::MethodInfo& info : chain::numerical_methods()) {
    if (states.contains(info.name))
      text += fmt::format(" {} {}", info.name, states[info.name].dump());
  }
  return text;
}

Json json_of(double value) { return std::isinf(value) ? Json("infinite") : Json(value); }

Json answer(const Question& question, const chain::HittingTimes& times,
            const SolveOptions& options) {
  const StateIndex slowest = times.slowest();
  Json json{{"states", question.chain.size()},
            {"transitions", question.chain.transitions()},
            {"target_states", question.target.count()},
            {"from", question.from},
            {"expected", json_of(times.mean[question.from])},
            {"maximum", json_of(times.mean[slowest])},
            {"maximum_from", slowest},
            {"infinite_states", times.infinite},
            {"relative_error", times.relative_error},
            {"residual", times.residual},
            {"row_defect", question.chain.largest_defect().first}};
  add_methods(times.methods, json);
  if (options.variance) {
    json["variance"] = json_of(times.variance[question.from]);
    json["variance_error"] = times.variance_error;
  }
  if (!options.steps.empty()) {
    std::vector<double> law = chain::hitting_distribution(
        question.chain, question.target, question.from,
        count_option_64("--distribution", options.steps, 0, 100'000'000));
    std::partial_sum(law.begin(), law.end(), law.begin());
    json["distribution"] = law;
  }
  if (options.all) {
    json["expected_from"] = Json::array();
    for (const double mean : times.mean) json["expected_from"].push_back(json_of(mean));
  }
  return json;
}

// The expectations as fractions: from the first state, or from all that have a finite one.
void add_fractions(const Question& question, const chain::HittingTimes& times,
                   const SolveOptions& options, chain::Method method, Json& json) {
  std::vector<StateIndex> from;
  for (StateIndex state = 0; state < times.mean.size(); ++state) {
    const bool is_wanted = options.all ? !std::isinf(times.mean[state]) : state == question.from;
    if (is_wanted) from.push_back(state);
  }
  const auto chain = chain::read_rational_transitions(options.transitions);
  const auto fractions = chain::rational_hitting_times(chain, question.target, from, method);
  add_methods({fractions.method}, json);
  Json all = Json::array();
  for (const double mean : times.mean) all.push_back(json_of(mean));
  for (std::size_t k = 0; k < from.size(); ++k) all[from[k]] = fractions.mean[k].get_str();
  json["expected"] = all[question.from];
  if (options.all) json["expected_from"] = all;
}

std::string value_text(const Json& value) {
  return value.is_number_float() ? fmt::format("{:.15g}", value.number())
         : value.is_string()     ? value.text()
                                 : value.dump();
}

void print_list(std::string_view title, const Json& values) {
  fmt::print("\n{}\n", title);
  for (std::size_t k = 0; k < values.size(); ++k) fmt::print("{} {}\n", k, value_text(values[k]));
}

void print_text(const Json& json) {
  const auto line = [](std::string_view label, const std::string& text) {
    fmt::print("{:<22} {}\n", label, wrapped(text, output_width(), 23));
  };
  line("states", json["states"].dump());
  line("transitions", json["transitions"].dump());
  line("target states", json["target_states"].dump());
  line(fmt::format("expected from {}", json["from"].dump()), value_text(json["expected"]));
  if (json.contains("variance")) {
    line("variance", fmt::format("{} (error at most {:.2g} of the second moment)",
                                 value_text(json["variance"]), json["variance_error"].number()));
  }
  line("maximum",
       fmt::format("{} from state {}", value_text(json["maximum"]), json["maximum_from"].dump()));
  if (json["infinite_states"] != 0) {
    line("infinite",
         fmt::format("from {} states, which may miss the target", json["infinite_states"].dump()));
  }
  line("relative error", fmt::format("at most {:.2g}, certified", json["relative_error"].number()));
  if (json.contains("method")) line("method", method_text(json));
  if (const double defect = json["row_defect"].number(); defect > noteworthy_defect) {
    line("rows", fmt::format("miss 1 by up to {:.2g}; self-loops take the rest", defect));
  }
  if (json.contains("distribution"))
    print_list("distribution: P(T <= t) for t = 0, 1, ...", json["distribution"]);
  if (json.contains("expected_from")) print_list("state expected", json["expected_from"]);
}

Exit solve(const SolveOptions& options) {
  if (options.exact && !options.rewards.empty()) {
    throw Error("--exact counts steps; it cannot be combined with --rewards");
  }
  if (options.variance && options.rewards.ends_with(".trew")) {
    throw Error("--variance needs costs that depend on the state alone, a .srew file");
  }
  const chain::Method method = chain::parse_method(
      options.method, options.exact ? chain::fraction_methods() : chain::numerical_methods());
  const Question question = read_question(options);
  const double loaded = cpu_seconds();
  const chain::HittingTimes times =
      chain::hitting_times(question.chain, question.target,
                           {.variance = options.variance,
                            .costs = question.costs,
                            .method = options.exact ? chain::Method::automatic : method});
  Json json = answer(question, times, options);
  if (options.exact) add_fractions(question, times, options, method, json);
  const double solved = cpu_seconds();
  if (options.format == "json") {
    fmt::print("{}\n", json.dump(2));
  } else {
    print_text(json);
  }
  tell("loaded in {:.2f}, solved in {:.2f} CPU seconds\n", loaded, solved - loaded);
  return Exit::done;
}

std::string names(std::span<const chain::MethodInfo> methods) {
  std::string text;
  for (const chain::MethodInfo& info : methods) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", info.name);
  }
  return text;
}

}  // namespace

void add_solve(Command& conclave) {
  auto options = std::make_shared<SolveOptions>();
  Command command = conclave.subcommand(
      "solve", "Compute expected hitting times of a Markov chain in files, certified");
  command.word("CHAIN", options->transitions, "Transitions: a .tra file as PRISM exports it");
  command.option("--labels", "FILE", options->labels,
                 "The .lab file (default: beside CHAIN, if there is one)");
  command.option("--target", "LABEL|N,...", options->target,
                 "A label, or numbers of states (default: label target, done or converged)");
  command.option("--rewards", "FILE", options->rewards,
                 "Costs of steps, a .srew or .trew file (default: 1 per step)");
  command.option("--from", "N", options->from,
                 "The state to start in (default: label init, else 0)");
  command.flag("--variance", options->variance, "The variance too");
  command.option("--distribution,--steps", "STEPS", options->steps,
                 "Also print P(T <= t) for t = 0 ... STEPS, T the time of arrival");
  command.flag("--all", options->all, "The expectations from all states");
  command.flag("--exact", options->exact, "As a fraction, without any error");
  command.option("--method", "NAME", options->method,
                 fmt::format("{} (default auto); with --exact {}",
                             names(chain::numerical_methods()), names(chain::fraction_methods())));
  command.option("--format", "F", options->format, "table or json (default table)");
  command.footer("\nExamples:\n"
                 "  conclave solve chain.tra --target done\n"
                 "  conclave solve chain.tra --target 17 --from 3 --variance --format json");
  command.runs([options] {
    options->format = format_option(options->format, table_or_json);
    return solve(*options);
  });
}

}  // namespace conclave::cli
