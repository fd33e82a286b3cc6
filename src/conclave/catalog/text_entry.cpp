#include "conclave/catalog/text_entry.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/join_parts.hpp"
#include "conclave/base/poisson_clock.hpp"
#include "conclave/catalog/analyses.hpp"
#include "conclave/catalog/gpu_run.hpp"
#include "conclave/catalog/population_run.hpp"
#include "conclave/catalog/rare_request.hpp"
#include "conclave/text/protocol_text.hpp"
#include "conclave/text/sources.hpp"

namespace conclave::catalog {
namespace {

// `describe` examines a file with this many agents and the default parameters.
constexpr AgentCount described_n = 1000;

std::shared_ptr<const text::Compiled> compile(const std::shared_ptr<const text::ProtocolText>& text,
                                              const std::vector<Setting>& settings, AgentCount n) {
  return text::Compiled::make(text, given_of(settings), n);
}

// With the start that a request describes by the agents in each state, if it does.
std::shared_ptr<const text::ProtocolText> with_shares(
    const std::shared_ptr<const text::ProtocolText>& text, const std::string& start) {
  return start.find('=') == start.npos ? text : text->with_start(start);
}

// A network whose molecules are born or die may have any number, others at least two.
AgentCount population_of(const text::ProtocolText& text, Interactions n) {
  const auto& reactions = text.document().reactions;
  const bool is_open = std::ranges::any_of(reactions, [](const text::ReactionText& each) {
    return each.reactants.size() != each.products.size();
  });
  return is_open && n < 2u ? *n.as_uint64() : checked_population(n);
}

// For this request; the start that it names must fit n.
std::shared_ptr<const text::Compiled> compile_for(
    const RunRequest& request, const std::shared_ptr<const text::ProtocolText>& plain) {
  const auto text = with_shares(plain, request.start);
  if (text->document().is_network && request.digraph) {
    throw Error(fmt::format("{} is a network of reactions, which is well mixed: it has no --graph",
                            text->name()));
  }
  auto compiled = compile(text, request.settings, population_of(*text, request.n));
  for (std::size_t i = 0; i < compiled->starts().size(); ++i) {
    const bool is_chosen =
        request.start.empty() ? i == 0 : compiled->text().starts()[i].name == request.start;
    const std::string& objection = compiled->starts()[i].objection;
    if (is_chosen && !objection.empty()) throw Error(objection);
  }
  return compiled;
}

Fraction time_of(const text::Number& time, const text::Compiled& compiled) {
  if (time.is_real() || time.denominator() > std::numeric_limits<std::int64_t>::max()) {
    throw Error(fmt::format("{} stops at a time with too many digits", compiled.text().name()));
  }
  return {Interactions::from_wide(static_cast<Interactions::Wide>(time.numerator())),
          static_cast<std::uint64_t>(time.denominator())};
}

// `stop when ... or time >= 10` is what --until says, unless the request has an end of its own.
void set_horizon(TrialPlan& plan, const text::Compiled& compiled) {
  if (compiled.lasting()) plan.lasting = time_of(*compiled.lasting(), compiled);
  if (!compiled.horizon() || plan.until || plan.limit != Interactions::max()) return;
  const bool has_condition = compiled.text().document().stop->name != "false";
  plan.until =
      Horizon{.time = time_of(*compiled.horizon(), compiled), .or_convergence = has_condition};
}

// The number of the start of this name, or of the first.
std::size_t start_of(const std::string& name, const text::ProtocolText& text) {
  const auto found = std::ranges::find(text.starts(), name, &Start::name);
  return found == text.starts().end() ? 0 : static_cast<std::size_t>(found - text.starts().begin());
}

std::unique_ptr<const PreparedRun> prepare_on_gpu(
    RunRequest request, const std::shared_ptr<const text::Compiled>& compiled) {
  if (compiled->is_open() || compiled->lasting() || compiled->measures_holding()) {
    throw Error("engine gpu supports neither births and deaths nor 'stop when ... for' nor hold=1");
  }
  if (request.given || request.places_randomly) {
    throw Error("engine gpu does not support --init-from and --placement; engine agents does");
  }
  request.engine = agents_engine.name;
  auto agents = prepare_text(request, compiled);
  return text_on_gpu(std::move(agents), compiled, start_of(request.start, compiled->text()),
                     request.device);
}

// With its properties as a reason to end, if they are to be checked. They are watched up to the
// first convergence, which must be where a trial ends.
std::shared_ptr<const text::ProtocolText> checked(
    const RunRequest& request, const std::shared_ptr<const text::ProtocolText>& text) {
  if (!request.plan.checks) return text;
  const text::Document& document = text->document();
  if (document.properties.empty()) {
    throw Error(fmt::format("{} says nothing that --check could watch: add a line such as always "
                            "count(leader) >= 1",
                            text->name()));
  }
  if (request.plan.until || !request.plan.faults.empty() || document.horizon || document.lasting ||
      request.engine == gpu_engine.name) {
    throw Error("--check watches trials up to their convergence: it goes neither with --until, "
                "--fault and engine gpu nor with a stop condition that has a time");
  }
  return text->with_checks();
}

std::unique_ptr<const PreparedRun> prepare(RunRequest request,
                                           const std::shared_ptr<const text::ProtocolText>& plain) {
  const auto text = checked(request, plain);
  auto compiled = compile_for(request, text);
  set_horizon(request.plan, *compiled);
  if (request.plan.lasting && !request.plan.faults.empty()) {
    throw Error(fmt::format(
        "{} stops when its condition has lasted, which does not go with --fault", text->name()));
  }
  if (request.plan.checks && compiled->measures_holding()) {
    throw Error("--check watches trials up to their convergence: leave out hold=1");
  }
  if (compiled->is_network() && !compiled->is_open()) {  // as far as its clock can follow
    request.plan.limit = std::min(request.plan.limit, PoissonClock::most_points);
  }
  if (request.engine == gpu_engine.name) return prepare_on_gpu(request, compiled);
  auto run = prepare_text(request, compiled);
  if (compiled->is_open() || request.plan.checks || !fills_a_device(request, *run)) return run;
  try {
    return prepare_on_gpu(request, compiled);
  } catch (const Error&) {  // a file that the device cannot run
    return run;
  }
}

// The strings that the views of an entry look at.
struct Strings {
  std::shared_ptr<const text::ProtocolText> text;
  std::string convergence;
  std::string states{};
  std::vector<std::string> domains{};
  std::vector<Variable> variables{};
};

std::string states_text(const text::Compiled& compiled) {
  const std::uint64_t size = compiled.space().size();
  const bool is_exact = size < std::numeric_limits<std::uint64_t>::max();
  std::string count = is_exact ? fmt::format("{}", size) : "2^64 or more";
  if (compiled.parameters().empty()) return count;
  return fmt::format("{} with the default parameters and n = {}", count, described_n);
}

// Fills in the fields that are known only once the file has been compiled.
void examine(Entry& entry, Strings& strings) {
  AgentCount n = described_n;
  if (strings.text->document().is_network) {
    n = text::Compiled::fixed_population(strings.text, {}).value_or(n);
  }
  const auto compiled = compile(strings.text, {}, population_of(*strings.text, n));
  if (compiled->is_network()) {
    entry.details.push_back(
        {"time", compiled->is_open()
                     ? std::string("continuous; molecules are born or die, an interaction is a "
                                   "reaction")
                     : fmt::format("continuous; on average {:.6g} interactions per unit for n = {}",
                                   compiled->ticks_per_time().as_double(), compiled->agents())});
  }
  strings.states = states_text(*compiled);
  const auto& fields = compiled->space().fields();
  for (const text::Field& field : fields) strings.domains.push_back(field.domain());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::string_view name = strings.text->document().fields[i].name.text;
    strings.variables.push_back({name, strings.domains[i], {}});
  }
  entry.info.states = strings.states;
  entry.info.variables = strings.variables;
  entry.bytes_per_agent = bytes_per_state(*compiled);
  entry.warnings = compiled->warnings();
}

// A whole number or a short decimal as a number, so that rows can be drawn over it; any other
// fraction as the text that gives it back exactly.
decltype(ParameterValue::value) shown(const text::Number& value) {
  if (const auto whole = value.small(); whole && *whole >= 0) {
    return static_cast<std::uint64_t>(*whole);
  }
  constexpr std::int64_t digits = 1'000'000'000'000;
  try {
    const auto scaled = (value * text::Number(digits)).small();
    constexpr std::int64_t most_exact = 1'000'000'000'000'000;
    if (scaled && *scaled > -most_exact && *scaled < most_exact) return value.as_double();
  } catch (const text::NumberError&) {  // no short one
  }
  return to_string(value);
}

ProtocolInfo info_of(const Strings& strings) {
  ProtocolInfo info{};
  info.name = strings.text->name();
  info.title = strings.text->document().title;
  info.paper = strings.text->document().paper;
  info.network =
      strings.text->document().is_network ? "well mixed" : "complete graph, or any with --graph";
  info.convergence = strings.convergence;
  info.demo_n = described_n;
  info.observables = strings.text->observables();
  return info;
}

std::vector<ParameterInfo> parameters_of(const text::ProtocolText& text) {
  std::vector<ParameterInfo> all;
  for (const text::ParameterText& each : text.document().parameters) {
    const char* const any = each.has_decimals() ? "any number from 0" : "any whole number";
    const std::string allowed = each.range_text.empty() ? any : each.range_text;
    all.push_back({each.name.text, each.meaning, each.fallback_text, allowed});
  }
  return all;
}

std::vector<Detail> details_of(const text::ProtocolText& text) {
  const text::Document& document = text.document();
  std::vector<Detail> details{{"rules", fmt::format("{}", document.rules.size())}};
  if (document.is_network) details = {{"reactions", fmt::format("{}", document.reactions.size())}};
  std::vector<std::string> outputs;
  for (const auto& output : text.document().outputs) outputs.push_back(output.name.text);
  if (!outputs.empty()) details.push_back({"outputs", join_parts(outputs, ", ")});
  for (const text::PropertyText& each : document.properties) {
    details.push_back({"always", each.text});
  }
  for (const text::PropertyText& each : document.goals) {
    details.push_back({"eventually", each.text});
  }
  for (const text::ComputationText& each : document.computations) {
    details.push_back({"computes", each.text});
  }
  details.push_back({"source hash", text.hash()});
  return details;
}

std::vector<EngineInfo> text_engines() {
  std::vector<EngineInfo> engines{agents_engine, events_engine, counts_engine};
  if (gpu::is_built()) engines.push_back(gpu_engine);
  return engines;
}

Entry run_entry_of(const std::shared_ptr<const text::ProtocolText>& text) {
  const auto strings = std::make_shared<Strings>(
      Strings{text, fmt::format("the first time that {}", text->document().stop_text)});
  return {.info = info_of(*strings),
          .starts = text->starts(),
          .parameters = parameters_of(*text),
          .engines = text_engines(),
          .examine = [strings](Entry& entry) { examine(entry, *strings); },
          .details = details_of(*text),
          .owner = strings,
          .keeps_census = true,
          .fixed_population =
              [text](const std::vector<Setting>& settings, const std::string& start) {
                const auto all = with_shares(text, start);
                return text::Compiled::fixed_population(all, given_of(settings),
                                                        start_of(start, *all));
              },
          .prepare = [text](const RunRequest& request) { return prepare(request, text); }};
}

// Analyses are of finitely many configurations, and of conditions without a duration.
void refuse_open(const text::Compiled& compiled, std::string_view command) {
  if (compiled.is_open()) {
    throw Error(fmt::format("{} examines finitely many configurations, and the molecules of {} are "
                            "born or die; `run` is exact in law",
                            command, compiled.text().name()));
  }
  if (!compiled.lasting()) return;
  throw Error(
      fmt::format("{} does not follow for how long a condition holds: leave 'for' out of the "
                  "stop condition of {}",
                  command, compiled.text().name()));
}

// Those that this build has.
void add_analyses(Entry& entry, const std::shared_ptr<const text::ProtocolText>& text) {
  const Analyses all = analyses();
  if (all.verify_text != nullptr) {
    entry.verify = [text, run = all.verify_text](const VerifyRequest& request) {
      const auto compiled = compile_for(request.run, text);
      refuse_open(*compiled, "verify");
      Verified verified = run(request, *compiled);
      verified.owner = compiled;
      return verified;
    };
  }
  if (all.search_text != nullptr) {
    entry.search = [text, run = all.search_text](const SearchRequest& request) {
      const auto compiled = compile_for(request.run, text);
      refuse_open(*compiled, "search");
      Searched found = run(request, *compiled);
      found.owner = compiled;
      return found;
    };
  }
  if (all.rare_text != nullptr) {
    entry.rare = [text, run = all.rare_text](const RareRequest& request) {
      const auto compiled = compile_for(request.run, text);
      refuse_open(*compiled, "rare");
      return run(request, compiled);
    };
  }
}

Entry entry_of(const std::shared_ptr<const text::ProtocolText>& text) {
  Entry entry = run_entry_of(text);
  add_analyses(entry, text);
  return entry;
}

}  // namespace

std::vector<text::Given> given_of(const std::vector<Setting>& settings) {
  std::vector<text::Given> given;
  for (const Setting& each : settings) given.push_back({each.name, each.value});
  return given;
}

std::size_t bytes_per_state(const text::Compiled& compiled) {
  if (compiled.space().size() <= 1u << 8) return 1;
  return compiled.transitions().has_table() ? 2 : 8;
}

std::vector<ParameterValue> text_parameters(const text::Compiled& compiled) {
  std::vector<ParameterValue> parameters;
  for (const auto& [name, value] : compiled.parameters()) {
    parameters.push_back({name, shown(value)});
  }
  return parameters;
}

Entry text_entry(const std::string& path) { return entry_of(text::ProtocolText::read(path)); }

std::vector<std::string> files_of(std::string_view protocol) {
  const std::string file = file_of(protocol);
  if (!text::is_plain_file(file)) return {};  // a pipe is read only once
  return text::ProtocolText::read(file)->files_read();
}

Entry kept_text_entry(const std::string& name, std::string_view content) {
  return entry_of(std::make_shared<const text::ProtocolText>(name, content));
}

}  // namespace conclave::catalog
