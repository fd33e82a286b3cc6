// `conclave prove`: what holds for every population size, with a certificate.
#include "conclave/prove/prove.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/output.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/cli/progress_line.hpp"
#include "conclave/cli/prove_lemmas.hpp"
#include "conclave/cli/terminal.hpp"
#include "conclave/experiment/exact_text.hpp"
#include "conclave/experiment/option_values.hpp"

namespace conclave::cli {
namespace {

struct ProveOptions {
  std::string protocol;
  std::vector<std::string> params;
  std::string init;
  std::string target;
  std::string lemma;
  std::string certificate;
  std::string timeout;
  std::string memory;
  std::string format = "table";
  bool show = false;
  bool quiet = false;
};

// Ends a proof at the deadline or at the interrupt key, and says which it was.
class Watch {
 public:
  Watch(prove::Engine& engine, double seconds, const std::atomic<bool>& interrupted)
      : watcher_([this, &engine, seconds, &interrupted](const std::stop_token& done) {
          const auto begin = std::chrono::steady_clock::now();
          while (!done.stop_requested()) {
            timed_out_ = seconds > 0 && seconds_since(begin) > seconds;
            if (timed_out_ || interrupted) engine.interrupt();
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
          }
        }) {}
  bool timed_out() const { return timed_out_; }

 private:
  std::atomic<bool> timed_out_ = false;
  std::jthread watcher_;
};

text::CountsQuestion question_of(const ProveOptions& options) {
  text::CountsQuestion question{.start = options.init, .target = options.target};
  for (const auto& [name, value] : param_options(options.params)) {
    question.given.push_back({name, value});
  }
  return question;
}

// "3 of A, 2 of B".
std::string configuration_text(const prove::Verdict& verdict, const prove::Counts& counts) {
  std::string all;
  for (std::size_t state = 0; state < counts.size(); ++state) {
    if (counts[state] == 0) continue;
    all += fmt::format("{}{} of {}", all.empty() ? "" : ", ", counts[state],
                       verdict.model.states[state]);
  }
  return all;
}

std::string meaning_of(prove::Proof::Result result) {
  using enum prove::Proof::Result;
  if (result == stays) return "with probability 1, and it stays";
  if (result == lasts) return "with probability 1, and from some time on for ever";
  return "with probability 1; it may be left again";
}

std::string counted(std::size_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

std::string stages_text(const prove::Verdict& verdict) {
  using Rule = prove::Stage::Rule;
  std::string all;
  const auto names = [&](const prove::States& set) {
    std::string list;
    for (std::size_t state = 0; state < set.size(); ++state) {
      if (set[state]) list += (list.empty() ? "" : ", ") + verdict.model.states[state];
    }
    return list;
  };
  for (std::size_t i = 0; i < verdict.proof.stages.size(); ++i) {
    const prove::Stage& stage = verdict.proof.stages[i];
    all += fmt::format("stage {}  ", i);
    if (stage.rule == Rule::terminal) all += "the condition holds throughout\n";
    if (stage.rule == Rule::split) {
      all += fmt::format("by whether any of {} is occupied for ever: stages {} (no) and {}\n",
                         names(stage.set), stage.children[0], stage.children[1]);
    }
    if (stage.rule != Rule::rank && stage.rule != Rule::weak) continue;
    all += stage.rule == Rule::rank ? "never rises, and falls finitely often: "
                                    : "something enabled lowers: ";
    all += configuration_text(verdict, stage.weights);
    if (stage.rule == Rule::rank) all += fmt::format("; then stage {}", stage.children[0]);
    all += '\n';
  }
  return all;
}

std::string always_text(const prove::Verdict& verdict) {
  std::string all;
  for (std::size_t i = 0; i < verdict.always.size(); ++i) {
    const auto& [is_proved, pair] = verdict.always[i];
    all += fmt::format("{}  always {}\n", is_proved ? "proved" : "not proved",
                       verdict.model.text->document().properties[i].text);
    if (!pair) continue;
    all += fmt::format("        no invariant excludes going from [{}] to [{}]\n",
                       configuration_text(verdict, pair->first),
                       configuration_text(verdict, pair->now));
  }
  return all;
}

std::string text_of(const ProveOptions& options, const prove::Verdict& verdict) {
  const prove::Proof& proof = verdict.proof;
  std::string all =
      fmt::format("{}: every n >= 2, init {}\n", verdict.model.text->name(), verdict.model.start);
  for (const std::string& each : verdict.model.warnings) all += fmt::format("note    {}\n", each);
  if (proof.result == prove::Proof::Result::vacuous) {
    return all + "vacuous  no population fits the initial configuration\n";
  }
  all += always_text(verdict);
  if (!verdict.is_reached()) {
    all += fmt::format("not proved  {} with probability 1\n", verdict.model.stop_text);
    if (proof.pair) {
      all += fmt::format("        no rule excludes going from [{}] to [{}] for ever\n",
                         configuration_text(verdict, proof.pair->first),
                         configuration_text(verdict, proof.pair->now));
    }
    if (options.certificate.empty() || verdict.certificate.is_null()) return all;
    return all + fmt::format("certificate {} of what is proved\n", options.certificate);
  }
  if (verdict.has_leader_always) all += "proved  some agent leads, always\n";
  all += fmt::format("proved  {} {}\n", verdict.model.stop_text, meaning_of(proof.result));
  if (verdict.speed != prove::Speed::unknown && verdict.speed != prove::Speed::none) {
    all += fmt::format("bound   O({}) interactions in expectation\n", to_string(verdict.speed));
  }
  all += fmt::format("{}, {}", counted(proof.stages.size(), "stage"),
                     counted(verdict.invariants.size(), "invariant"));
  if (!options.certificate.empty()) all += fmt::format(", certificate {}", options.certificate);
  return all + '\n' + (options.show ? stages_text(verdict) : "");
}

// A run of a few agents in which a property of the file fails, or after which its stop condition is
// out of reach.
struct Refutation {
  std::uint64_t n;
  exact::ClaimReport claim;
};
using Refutations = std::vector<Refutation>;

bool is_in(const Refutations& all, const exact::ClaimReport& claim) {
  return std::ranges::any_of(all, [&](const Refutation& each) {
    return each.claim.name == claim.name && each.claim.statement == claim.statement;
  });
}

// Refutes what is not proved, where the smallest populations can: with the initial configuration
// and the parameters asked for.
Refutations refutations_of(const ProveOptions& options, const prove::Verdict& verdict,
                           PhaseLine& line) {
  constexpr std::uint64_t most_agents = 6;
  const bool asks_stop = options.target.empty() && !verdict.is_reached();
  auto open = static_cast<std::size_t>(
      std::ranges::count(verdict.always, false, &prove::PropertyVerdict::is_proved));
  open += asks_stop ? 1 : 0;
  Refutations found;
  const catalog::Entry entry = catalog::find(options.protocol);
  for (std::uint64_t n = 2; n <= most_agents && found.size() < open; ++n) {
    experiment::RunText run{.protocol = options.protocol, .n = std::to_string(n)};
    run.init = options.init;
    for (const std::string& each : options.params) {
      if (!each.ends_with(std::string("=") + text::any_value)) run.params.push_back(each);
    }
    try {
      catalog::VerifyRequest asked = experiment::verify_request(
          entry, {.from = "start"}, experiment::request_of(entry, run, experiment::verify_usage));
      asked.options.bounds.progress = std::ref(line);
      for (const exact::ClaimReport& each : entry.verify(asked).report.claims) {
        const bool is_asked = each.name == "always" || (asks_stop && each.name == "stop condition");
        if (is_asked && each.fails() && !is_in(found, each)) found.push_back({n, each});
      }
    } catch (
        const Error&) {  // the initial configuration does not fit this n, or there is no memory
    }
  }
  return found;
}

std::string refutation_text(const Refutation& refutation) {
  const exact::ClaimReport& claim = refutation.claim;
  std::string all = fmt::format(
      "refuted  at n = {} (conclave verify --from start): {}{}\n", refutation.n,
      claim.name == "always" ? fmt::format("always {}, ", claim.statement) : "", claim.problem);
  for (const exact::TraceStep& each : claim.counterexample) {
    all += fmt::format("        {:24} [{}]\n", each.interaction, each.configuration);
  }
  return all;
}

std::string verdict_word(const prove::Verdict& verdict, bool is_refuted) {
  if (verdict.is_proved()) return "proved";
  if (is_refuted) return "refuted";
  const bool is_vacuous = verdict.proof.result == prove::Proof::Result::vacuous;
  return is_vacuous ? "vacuous" : "not proved";
}

Json always_json(const prove::Verdict& verdict, const Refutations& refutations) {
  Json all = Json::array();
  for (std::size_t i = 0; i < verdict.always.size(); ++i) {
    const std::string& text = verdict.model.text->document().properties[i].text;
    const auto refuted = std::ranges::find_if(refutations, [&](const Refutation& each) {
      return each.claim.name == "always" && each.claim.statement == text;
    });
    Json one{{"statement", text},
             {"verdict", verdict.always[i].is_proved    ? "proved"
                         : refuted != refutations.end() ? "refuted"
                                                        : "not proved"}};
    if (refuted != refutations.end()) one["refuted_at"] = refuted->n;
    all.push_back(one);
  }
  return all;
}

std::string json_text(const prove::Verdict& verdict, const Refutations& refutations) {
  Json all{{"protocol", verdict.model.text->name()},
           {"init", verdict.model.start},
           {"goal", verdict.model.stop_text},
           {"verdict", verdict_word(verdict, !refutations.empty())},
           {"states", verdict.model.states.size()},
           {"transitions", verdict.model.transitions.size()}};
  if (verdict.is_reached()) {
    all["result"] = verdict.certificate["result"];
    all["leader_always"] = verdict.has_leader_always;
    all["stages"] = verdict.proof.stages.size();
    all["invariants"] = verdict.invariants.size();
    if (verdict.speed != prove::Speed::unknown) all["bound"] = to_string(verdict.speed);
  } else if (verdict.proof.pair) {
    all["from"] = configuration_text(verdict, verdict.proof.pair->first);
    all["to"] = configuration_text(verdict, verdict.proof.pair->now);
  }
  if (!refutations.empty()) all["refuted_at"] = refutations.front().n;
  if (!verdict.always.empty()) all["always"] = always_json(verdict, refutations);
  all["notes"] = verdict.model.warnings;
  return all.dump(2) + '\n';
}

void write_certificate(const ProveOptions& options, const prove::Verdict& verdict) {
  if (options.certificate.empty() || verdict.certificate.is_null()) return;
  Output file(options.certificate);
  file.write(verdict.certificate.dump() + '\n');
  file.finish();
}

// Proves, or else tries to refute; prints what came out.
Exit answer(const ProveOptions& options, prove::Engine& engine,
            const std::atomic<bool>& interrupted) {
  const auto text = text::ProtocolText::read(options.protocol);
  Refutations refutations;
  std::optional<prove::Verdict> verdict;
  {
    PhaseLine line(options.quiet, interrupted);
    verdict = prove::prove(text, question_of(options), engine, std::ref(line));
    const bool is_vacuous = verdict->proof.result == prove::Proof::Result::vacuous;
    if (!verdict->is_proved() && !is_vacuous) {
      refutations = refutations_of(options, *verdict, line);
    }
  }
  write_certificate(options, *verdict);
  if (options.format == "json") {
    fmt::print("{}", json_text(*verdict, refutations));
  } else {
    fmt::print("{}", text_of(options, *verdict));
    for (const Refutation& each : refutations) fmt::print("{}", refutation_text(each));
  }
  if (verdict->is_proved()) return Exit::done;
  return !refutations.empty() ? Exit::does_not_hold : Exit::not_converged;
}

Exit prove_file(const ProveOptions& options) {
  if (const auto proved =
          prove_lemmas({options.protocol, options.lemma, options.certificate, options.params})) {
    return *proved;
  }
  if (!text::ProtocolText::is_path(options.protocol)) {
    throw Error(fmt::format("{} is not a protocol file", options.protocol));
  }
  const double seconds = options.timeout.empty() ? 0 : real_option("--timeout", options.timeout);
  constexpr std::uint64_t megabyte = std::uint64_t{1} << 20;
  const std::uint64_t memory = options.memory.empty()
                                   ? 4096
                                   : experiment::size_option("--memory", options.memory) / megabyte;
  if (!options.certificate.empty()) check_can_be_written(options.certificate);
  prove::Engine engine(static_cast<unsigned>(std::clamp<std::uint64_t>(memory, 64, 1u << 20)));
  const std::atomic<bool>& interrupted = interrupted_flag();
  Watch watch(engine, seconds, interrupted);
  try {
    return answer(options, engine, interrupted);
  } catch (const Interrupted&) {
    if (!watch.timed_out()) return Exit::interrupted;
    fmt::print("timeout  no verdict within {} s\n", options.timeout);
    return Exit::not_converged;
  }
}

constexpr const char* prove_examples = R"(
Examples:
  conclave prove protocols/fratricide.pp
  conclave prove protocols/exact_majority.pp --certificate majority.json
  conclave-check majority.json
  conclave prove protocols/lottery.pp --param top=4
  conclave prove pll --lemma 11

Exit status: 0 proved, 1 failed, 2 misused, 3 not proved, 4 refuted, 130 interrupted.)";

}  // namespace

void add_prove(Command& conclave) {
  auto options = std::make_shared<ProveOptions>();
  Command command = conclave.subcommand(
      "prove", "Prove for every population size that a protocol reaches its goal");
  command.word("PROTOCOL", options->protocol,
               "A protocol file: my.pp; or pll, ppl, prl, timers, ag-minions: their papers' "
               "lemmas for every n and all constants");
  command.repeatable_option(
      "--param", "NAME=VALUE", options->params,
      "A parameter, repeatable; NAME=any stands for every value, as do those whose "
      "default depends on n and that are not given");
  command.option("--init", "NAME", options->init,
                 "The initial configuration, one of the file's (default: its first)");
  command.option("--target", "CONDITION", options->target,
                 "What is to be reached, such as 'count(leader) == 1' (default: the file's stop "
                 "condition)");
  command.option("--lemma", "NAME", options->lemma,
                 "Of a protocol of the catalog: this lemma only, such as 11 or S_PLL");
  command.option("--certificate", "FILE", options->certificate,
                 "Write the proof to FILE, for conclave-check");
  command.option("--timeout", "SECONDS", options->timeout, "Give up after this time");
  command.option("--memory", "SIZE", options->memory, "What Z3 may use (default 4GiB)");
  command.option("--format", "F", options->format, "table or json (default table)");
  command.flag("--show", options->show, "Print the stages of the proof");
  command.flag("--quiet", options->quiet, "No progress line");
  command.file_size_option();
  command.footer(prove_examples);
  command.runs([options] {
    options->format = format_option(options->format, table_or_json);
    return prove_file(*options);
  });
}

}  // namespace conclave::cli
