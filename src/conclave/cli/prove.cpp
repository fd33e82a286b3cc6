// `conclave prove`: what holds for every population size, with a certificate.
#include "conclave/prove/prove.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/output.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/cli/progress.hpp"
#include "conclave/cli/terminal.hpp"
#include "conclave/experiment/option_values.hpp"

namespace conclave::cli {
namespace {

struct ProveOptions {
  std::string protocol;
  std::vector<std::string> params;
  std::string init;
  std::string target;
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

std::string text_of(const ProveOptions& options, const prove::Verdict& verdict) {
  const prove::Proof& proof = verdict.proof;
  std::string all =
      fmt::format("{}: every n >= 2, init {}\n", verdict.model.text->name(), verdict.model.start);
  for (const std::string& each : verdict.model.warnings) all += fmt::format("note    {}\n", each);
  if (proof.result == prove::Proof::Result::vacuous) {
    return all + "vacuous  no population fits the initial configuration\n";
  }
  if (!verdict.is_proved()) {
    all += fmt::format("not proved  {} with probability 1\n", verdict.model.stop_text);
    if (!proof.pair) return all;
    return all + fmt::format("        no rule excludes going from [{}] to [{}] for ever\n",
                             configuration_text(verdict, proof.pair->first),
                             configuration_text(verdict, proof.pair->now));
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

void print(const ProveOptions& options, const prove::Verdict& verdict) {
  if (!options.certificate.empty() && !verdict.certificate.is_null()) {
    Output file(options.certificate);
    file.write(verdict.certificate.dump() + '\n');
    file.finish();
  }
  fmt::print("{}", text_of(options, verdict));
}

Exit prove_file(const ProveOptions& options) {
  if (!text::ProtocolText::is_path(options.protocol)) {
    throw Error(fmt::format("{} is not a protocol file", options.protocol));
  }
  const auto text = text::ProtocolText::read(options.protocol);
  const double seconds = options.timeout.empty() ? 0 : real_option("timeout", options.timeout);
  prove::Engine engine(4096);
  const std::atomic<bool>& interrupted = interrupted_flag();
  Watch watch(engine, seconds, interrupted);
  try {
    PhaseLine line(options.quiet, interrupted);
    const prove::Verdict verdict = prove::prove(text, question_of(options), engine, std::ref(line));
    print(options, verdict);
    return verdict.is_proved() ? Exit::done : Exit::not_converged;
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

Exit status: 0 proved, 1 failed, 2 misused, 3 not proved, 4 refuted, 130 interrupted.)";

}  // namespace

void add_prove(Command& conclave) {
  auto options = std::make_shared<ProveOptions>();
  Command command = conclave.subcommand(
      "prove", "Prove for every population size that a protocol reaches its goal");
  command.word("PROTOCOL", options->protocol, "A protocol file: my.pp");
  command.list_option("--param", "NAME=VALUE", options->params,
                      "A parameter of the protocol; those that depend on n and are not given are "
                      "any number");
  command.option("--init", "NAME", options->init,
                 "The initial configuration, one of the file's (default: its first)");
  command.option("--target", "CONDITION", options->target,
                 "What is to be reached, such as 'count(leader) == 1' (default: the file's stop "
                 "condition)");
  command.option("--certificate", "FILE", options->certificate,
                 "Write the proof to FILE, for conclave-check");
  command.option("--timeout", "SECONDS", options->timeout, "Give up after this time");
  command.flag("--show", options->show, "Print the stages of the proof");
  command.flag("--quiet", options->quiet, "No progress line");
  command.file_size_option();
  command.footer(prove_examples);
  command.runs([options] { return prove_file(*options); });
}

}  // namespace conclave::cli
