// The words that a shell may offer next on a command line.
//
// `conclave run pll --engine <Tab>` asks with the words run, pll, --engine and an empty one. The
// innermost command that the words name decides; then the word before decides whether a value of an
// option is meant, one of its options, or a word of its own.
#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/join_parts.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/cli/cli.hpp"

namespace conclave::cli {
namespace {

// The lines that may stand for the word that is being typed.
class Offer {
 public:
  explicit Offer(std::string_view begun) : begun_(begun) {}

  void add(std::string_view word, std::string_view meaning = {}) {
    if (!word.starts_with(begun_)) return;
    if (std::ranges::find(words_, word) != words_.end()) return;
    words_.emplace_back(word);
    text_ += fmt::format("{}\t{}\n", word, meaning);
  }
  void add_files() { text_ += ":files\n"; }
  template <class Items>
  void add_named(const Items& items) {
    for (const auto& each : items) add(each.name, each.meaning);
  }

  const std::string& text() const { return text_; }

 private:
  std::string begun_;
  std::vector<std::string> words_;
  std::string text_;
};

bool is_word(const OptionHelp& option) { return !option.names.front().starts_with('-'); }

bool takes_protocol(const CommandHelp& command) {
  return std::ranges::any_of(
      command.options, [](const OptionHelp& option) { return option.names.front() == "PROTOCOL"; });
}

// Whether files complete the value.
bool takes_path(const OptionHelp& option) {
  constexpr std::array<std::string_view, 4> types{"FILE", "FOLDER", "DIR", "FILM"};
  return std::ranges::find(types, option.type) != types.end();
}

bool is_value(std::string_view word) {
  return !word.empty() &&
         word.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
}

// "table, csv or json (default table)": the words before the parenthesis, if they are a list.
std::vector<std::string> values_of(const OptionHelp& option) {
  if (takes_path(option)) return {};
  std::string list = option.meaning.substr(0, option.meaning.find_first_of("(;:"));
  if (const std::size_t last = list.rfind(" or "); last != list.npos) list.replace(last, 4, ", ");
  std::vector<std::string> values;
  for (std::string_view part : split_parts(list, ',')) {
    part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
    part.remove_suffix(part.size() - (part.find_last_not_of(' ') + 1));
    if (part.empty()) continue;  // "a, b, or c"
    if (!is_value(part)) return {};
    values.emplace_back(part);
  }
  return values.size() > 1 ? values : std::vector<std::string>{};
}

// The values that `describe` lists for the option.
void add_values(const catalog::Entry& entry, std::string_view option, Offer& offer) {
  if (option == "--engine") {
    offer.add("auto");
    offer.add_named(entry.engines);
  }
  if (option == "--init") offer.add_named(entry.starts);
  if (option == "--way") offer.add_named(entry.rare_ways);
  if (option == "--importance") offer.add_named(entry.rare_functions);
  if (!entry.network) return;
  if (option == "--ids") offer.add_named(entry.network->ids);
  if (option == "--delay") offer.add_named(entry.network->delays);
  if (option == "--wakeup") offer.add_named(entry.network->wakeups);
}

// The value of an option: a file, one of those that its meaning lists, one that the protocol among
// the words names, or, in a command without such a word, one that any protocol names.
void add_value(const CommandHelp& command, const OptionHelp& option,
               std::span<const std::string> words, Offer& offer) {
  if (takes_path(option)) return offer.add_files();
  const std::vector<std::string> values = values_of(option);
  for (const std::string& value : values) offer.add(value);
  if (!values.empty()) return;
  for (const catalog::Entry& entry : catalog::entries()) {
    const bool is_meant =
        !takes_protocol(command) || std::ranges::find(words, entry.info.name) != words.end();
    if (is_meant) add_values(entry, option.names.back(), offer);
  }
}

void add_commands(const CommandHelp& command, Offer& offer) {
  for (const CommandHelp& below : command.commands) offer.add(below.name, below.meaning);
}

// The first word after a command, and all that follow it.
void add_word(const CommandHelp& command, bool is_first, Offer& offer) {
  if (!is_first) return offer.add_files();
  if (!command.commands.empty()) return add_commands(command, offer);
  const auto word = std::ranges::find_if(command.options, is_word);
  const auto values = word == command.options.end() ? std::vector<std::string>{} : values_of(*word);
  for (const std::string& value : values) offer.add(value);
  if (!values.empty()) return;
  if (takes_protocol(command)) {
    for (const catalog::Entry& entry : catalog::entries()) {
      offer.add(entry.info.name, entry.info.title);
    }
  }
  offer.add_files();
}

// `words` are those after the command.
void complete(const CommandHelp& command, std::span<const std::string> words, Offer& offer) {
  if (words.size() > 1) {
    for (const CommandHelp& below : command.commands) {
      if (below.name == words.front()) return complete(below, words.subspan(1), offer);
    }
    const std::string& previous = words[words.size() - 2];
    for (const OptionHelp& option : command.options) {
      const bool is_meant =
          !option.type.empty() && std::ranges::find(option.names, previous) != option.names.end();
      if (is_meant) return add_value(command, option, words, offer);
    }
  }
  if (!words.back().starts_with('-')) return add_word(command, words.size() == 1, offer);
  for (const OptionHelp& option : command.options) {
    if (is_word(option)) continue;
    for (const std::string& name : option.names) offer.add(name, option.meaning);
  }
}

}  // namespace

std::string completions(const CommandHelp& program, std::span<const std::string> words) {
  if (words.empty()) return {};
  Offer offer(words.back());
  const bool is_help = words.front() == "help" && words.size() == 2;
  if (words.size() == 1 || is_help) {
    add_commands(program, offer);
    if (!is_help) offer.add("help", "Print the help of a command");
    if (!is_help) complete(program, words, offer);
    return offer.text();
  }
  const auto command = std::ranges::find(program.commands, words.front(), &CommandHelp::name);
  if (command != program.commands.end()) complete(*command, words.subspan(1), offer);
  return offer.text();
}

}  // namespace conclave::cli
