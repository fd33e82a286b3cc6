// Commands and options in terms of CLI11; the only file that knows it.
#include "conclave/cli/command.hpp"

#include <algorithm>
#include <span>
#include <sstream>
#include <string_view>
#include <utility>
#include <variant>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/join_parts.hpp"
#include "conclave/base/printable.hpp"
#include "conclave/base/read_text.hpp"
#include "conclave/cli/terminal.hpp"
#include "conclave/experiment/option_values.hpp"

namespace conclave::cli {
namespace {

// The names a wrong word could have been meant for: options of the chosen command, or commands.
std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (!command->get_group().empty()) names.push_back(command->get_name());
  }
  return names;
}

std::string unknown(std::string_view kind, const std::string& given,
                    const std::vector<std::string>& names) {
  return unknown_name(kind, given, std::vector<std::string_view>(names.begin(), names.end()));
}

// `version` means --version.
std::string unknown_command(const CLI::App& app, const std::string& given) {
  std::vector<std::string> names = command_names(app);
  for (std::string& option : option_names(app)) names.push_back(std::move(option));
  return unknown("command", given, names);
}

// No letter is close to another one: -x does not mean -n.
std::string unknown_option(const CLI::App& command, const std::string& given) {
  const std::vector<std::string> names = option_names(command);
  if (given.size() > 2) return unknown("option", given, names);
  return fmt::format("unknown option '{}'; known: {}", excerpt(given), join_parts(names, ", "));
}

// Where a line that is too long goes on: below the second column of a list, such as the meaning of
// an option; at the left in a paragraph. npos where it must stay as it is: a command.
std::size_t continuation_of(std::string_view line) {
  const std::size_t first = line.find_first_not_of(' ');
  if (first == 0) return 0;
  const std::size_t gap = line.find("  ", first);
  if (gap == std::string_view::npos) return first >= 20 ? first : gap;
  return line.find_first_not_of(' ', gap);
}

// The line, broken after `width` columns, with the lines after the first indented.
std::string folded(std::string_view line, std::size_t width, std::size_t indent) {
  const std::string head(line.substr(0, indent));
  return head + wrapped(line.substr(indent), width, indent);
}

// Takes the first line off the text.
std::string_view next_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  return line;
}

// Help has lines of up to 100 columns. For a narrower terminal they are broken elsewhere, together
// with the lines that they go on in.
std::string narrowed(std::string_view text, std::size_t width) {
  std::string result;
  while (!text.empty()) {
    std::string line(next_line(text));
    const std::size_t indent = line.size() > width ? continuation_of(line) : line.npos;
    while (indent != line.npos && text.find_first_not_of(' ') == indent && text[indent] != '\n') {
      line += ' ';
      line += next_line(text).substr(indent);
    }
    result += (indent != line.npos ? folded(line, width, indent) : line) + '\n';
  }
  return result;
}

// The meaning of an option, wrapped beside its name: CLI11 gives names 30 columns and does not
// break lines.
std::string beside_name(const std::string& meaning) { return wrapped(meaning, 70, 0); }

// The option, which then throws Error for an empty value.
CLI::Option* with_value(CLI::Option* option) {
  return option->each([name = option->get_name()](const std::string& value) {
    experiment::check_not_empty(name, value);
  });
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// -n is short for --n and -o for --output, wherever they are.
std::string with_short_name(const std::string& name) {
  if (name == "--output") return "-o,--output";
  return name == "--n" ? "-n,--n" : name;
}

template <class Words>
void add_options(Command& command, std::span<const experiment::Option<Words>> options,
                 experiment::Acceptor acceptor, Words& words, const Command::Meanings& meanings) {
  for (const experiment::Option<Words>& option : options) {
    if (!option.is_accepted_by(acceptor)) continue;
    const auto own = meanings.find(option.name);
    const std::string meaning(own == meanings.end() ? option.meaning : own->second);
    const std::string placeholder(option.placeholder);
    if (const auto* const text = std::get_if<std::string Words::*>(&option.value)) {
      command.option(option.flag(), placeholder, words.**text, meaning);
    } else if (const auto* const flag = std::get_if<bool Words::*>(&option.value)) {
      command.flag(option.flag(), words.**flag, meaning);
    } else {
      const auto list = std::get<std::vector<std::string> Words::*>(option.value);
      command.repeatable_option(option.flag(), placeholder, words.*list, meaning);
    }
  }
}

// "--n: 1 required N missing", as CLI11 says it, in English.
std::string plain(const std::string& sentence) {
  constexpr std::string_view required = " required ";
  constexpr std::string_view missing = " missing";
  const std::size_t colon = sentence.find(':');
  const std::size_t type = sentence.find(required);
  if (colon == std::string::npos || type == std::string::npos || !sentence.ends_with(missing)) {
    return sentence;
  }
  const std::size_t begin = type + required.size();
  const std::string option = sentence.substr(0, colon);
  return fmt::format("{0} needs a value: {0} {1}", option,
                     sentence.substr(begin, sentence.size() - missing.size() - begin));
}

// `help run` is `run --help`. Throws Error if there is no such command.
std::vector<std::string> without_help_word(const CLI::App& app, std::vector<std::string> words) {
  if (words.empty() || words.front() != "help") return words;
  words.erase(words.begin());
  const auto commands = command_names(app);
  if (!words.empty() && std::ranges::find(commands, words[0]) == commands.end()) {
    throw Error(unknown("command", words[0], commands));
  }
  words.emplace_back("--help");
  return words;
}

// The command that the words have chosen, such as `cluster add`, and its full name.
std::pair<const CLI::App*, std::string> innermost(const CLI::App& app) {
  const CLI::App* command = &app;
  std::string name;
  for (auto chosen = app.get_subcommands(); !chosen.empty(); chosen = command->get_subcommands()) {
    command = chosen.front();
    name += command->get_name() + ' ';
  }
  return {command, name};
}

// CLI11 knows what is wrong; we say which word was probably meant.
std::string explain(const CLI::App& app, const CLI::ParseError& error,
                    const std::vector<std::string>& words) {
  if (words.empty()) return "a command is missing; try: conclave --help";
  const auto commands = command_names(app);
  const bool is_option = words[0].starts_with('-');
  if (!is_option && std::ranges::find(commands, words[0]) == commands.end()) {
    return unknown_command(app, words[0]);
  }
  const auto [command, name] = innermost(app);
  if (is_option && command == &app) return unknown_option(app, words[0]);
  if (std::string_view(error.what()).find("At Most 1") != std::string_view::npos) {
    const std::string text = error.what();
    return fmt::format("{} was given more than once", text.substr(0, text.find(':')));
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr) {
    return fmt::format("{}; try: conclave {}--help", plain(first_line(error.what())), name);
  }
  for (const std::string& word : app.remaining(true)) {
    if (word.starts_with('-')) return unknown_option(*command, word.substr(0, word.find('=')));
  }
  const std::string word = app.remaining(true).front();
  const auto below = command_names(*command);
  if (!below.empty()) return unknown("command", word, below);
  return fmt::format("unexpected word '{}'; try: conclave {}--help", excerpt(word), name);
}

std::string in_one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

OptionHelp help_of(const CLI::Option& option) {
  OptionHelp help{.names = {}, .type = {}, .meaning = in_one_line(option.get_description())};
  for (const std::string& name : option.get_snames()) help.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) help.names.push_back("--" + name);
  if (help.names.empty()) {
    help.names.push_back(option.get_name(true));
  } else if (option.get_expected_min() > 0) {
    help.type = option.get_type_name();
  }
  return help;
}

CommandHelp help_of(const CLI::App& app) {
  CommandHelp help{.name = app.get_name(),
                   .meaning = in_one_line(app.get_description()),
                   .footer = app.get_footer()};
  for (const CLI::Option* option : app.get_options()) help.options.push_back(help_of(*option));
  for (const CLI::App* command : app.get_subcommands({})) {
    if (!command->get_group().empty()) help.commands.push_back(help_of(*command));
  }
  return help;
}

}  // namespace

Command Command::subcommand(const std::string& name, const std::string& meaning) {
  return {*app_->add_subcommand(name, meaning)->group(heading_), *chosen_};
}

Command Command::hidden_subcommand(const std::string& name, const std::string& meaning) {
  Command command = subcommand(name, meaning);
  command.app_->group("");
  return command;
}

CommandHelp Command::help() const { return help_of(*app_); }

void Command::word(const std::string& name, std::string& value, const std::string& meaning) {
  with_value(app_->add_option(name, value, beside_name(meaning)))->required()->type_name("");
}

void Command::words(const std::string& name, std::vector<std::string>& values,
                    const std::string& meaning) {
  with_value(app_->add_option(name, values, beside_name(meaning)))->required()->type_name("");
}

void Command::option(const std::string& name, const std::string& type, std::string& value,
                     const std::string& meaning) {
  with_value(app_->add_option(with_short_name(name), value, beside_name(meaning)))->type_name(type);
}

void Command::required_option(const std::string& name, const std::string& type, std::string& value,
                              const std::string& meaning) {
  with_value(app_->add_option(with_short_name(name), value, beside_name(meaning)))
      ->type_name(type)
      ->required();
}

void Command::list_option(const std::string& name, const std::string& type,
                          std::vector<std::string>& values, const std::string& meaning) {
  repeatable_option(name, type, values, meaning);
  app_->get_option(name)->delimiter(',');
}

void Command::repeatable_option(const std::string& name, const std::string& type,
                                std::vector<std::string>& values, const std::string& meaning) {
  with_value(app_->add_option(with_short_name(name), values, beside_name(meaning)))
      ->take_all()
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name(type);
}

void Command::run_options(experiment::Acceptor command, experiment::RunText& words,
                          const Meanings& meanings) {
  add_options(*this, experiment::run_options(), command, words, meanings);
}

void Command::run_options(experiment::Acceptor command, experiment::ExecutionText& execution,
                          const Meanings& meanings) {
  add_options(*this, experiment::execution_options(), command, execution, meanings);
}

void Command::file_size_option() {
  const auto raise = [](const std::string& text) {
    raise_file_limits(experiment::size_option("--max-file-size", text));
  };
  with_value(app_->add_option_function<std::string>(
                 "--max-file-size", raise,
                 beside_name("Read files up to this size, such as 4GiB, instead of the usual "
                             "limit")))
      ->type_name("SIZE");
}

void Command::flag(const std::string& name, bool& value, const std::string& meaning) {
  app_->add_flag(name, value, beside_name(meaning));
}

void Command::footer(const std::string& text) { app_->footer(text); }

void Command::runs(Action action) {
  app_->callback([chosen = chosen_, action = std::move(action)] {
    if (!*chosen) *chosen = action;  // of nested commands the innermost, which comes first
  });
}

Program::Program(const std::string& title, const std::string& version, const std::string& overview)
    : app_(std::make_unique<CLI::App>(title, "conclave")), root_(*app_, chosen_) {
  app_->set_version_flag("--version", version);
  app_->require_subcommand(1);
  app_->footer(overview);
}

Program::~Program() = default;

Exit Program::run(int argc, char** argv) {
  const std::vector<std::string> words = without_help_word(*app_, {argv + 1, argv + argc});
  try {
    app_->parse(
        std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 takes the last first
  } catch (const CLI::Success& success) {                         // --help, --version
    std::ostringstream shown;
    const auto status = static_cast<Exit>(app_->exit(success, shown, shown));
    fmt::print("{}", narrowed(shown.str(), output_width()));
    return status;
  } catch (const CLI::ParseError& error) {
    throw Error(explain(*app_, error, words));
  }
  return chosen_();
}

}  // namespace conclave::cli
