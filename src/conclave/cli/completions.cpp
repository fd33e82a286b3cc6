#include "conclave/cli/completions.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/join_parts.hpp"

namespace conclave::cli {
namespace {

constexpr std::string_view banner =
    "# Written by `conclave generate` from the program's own commands.\n";

bool is_value(const std::string& word) {
  return !word.empty() && std::ranges::all_of(word, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

// Whether files complete the value.
bool takes_path(const OptionHelp& option) {
  constexpr std::array<std::string_view, 4> types{"FILE", "FOLDER", "DIR", "FILM"};
  return std::ranges::find(types, option.type) != types.end();
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// "table, csv or json (default table)": the words before the parenthesis, if they are a list.
std::vector<std::string> values_of(const OptionHelp& option) {
  if (takes_path(option)) return {};
  std::string list = option.meaning.substr(0, option.meaning.find_first_of("(;:"));
  for (const char* end : {", or ", " or "}) list = replaced(list, end, ", ");
  std::vector<std::string> values;
  for (const std::string_view part : split_parts(list, ',')) {
    std::string word(part);
    word.erase(0, word.find_first_not_of(' '));
    word.erase(word.find_last_not_of(' ') + 1);
    if (!is_value(word)) return {};
    values.push_back(word);
  }
  return values.size() > 1 ? values : std::vector<std::string>{};
}

bool is_word(const OptionHelp& option) { return !option.names.front().starts_with('-'); }

bool takes_protocol(const CommandHelp& command) {
  return std::ranges::any_of(
      command.options, [](const OptionHelp& option) { return option.names.front() == "PROTOCOL"; });
}

// Every command with its words, "cluster" and "cluster init", the longer ones first.
struct Named {
  std::string words;
  const CommandHelp* command;
};
std::vector<Named> all_commands(const CommandHelp& program) {
  std::vector<Named> result;
  for (const CommandHelp& command : program.commands) {
    for (const CommandHelp& below : command.commands) {
      result.push_back({command.name + " " + below.name, &below});
    }
    result.push_back({command.name, &command});
  }
  return result;
}

std::vector<std::string> names_of(const std::vector<CommandHelp>& commands) {
  std::vector<std::string> names;
  for (const CommandHelp& command : commands) names.push_back(command.name);
  return names;
}

std::vector<std::string> option_names(const CommandHelp& command) {
  std::vector<std::string> names;
  for (const OptionHelp& option : command.options) {
    if (!is_word(option)) names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

std::vector<std::string> names_of(const Protocols& protocols) {
  std::vector<std::string> names;
  for (const ProtocolValues& each : protocols) names.push_back(each.protocol);
  return names;
}

// The values that any protocol names for the option, each once.
std::vector<std::string> values_of_all(const Protocols& protocols, const std::string& option) {
  std::vector<std::string> all;
  for (const ProtocolValues& each : protocols) {
    const auto found = each.by_option.find(option);
    if (found == each.by_option.end()) continue;
    for (const std::string& value : found->second) {
      if (std::ranges::find(all, value) == all.end()) all.push_back(value);
    }
  }
  return all;
}

// The values of an option wherever it stands: those of its meaning, and where the command takes no
// protocol, those of all protocols.
std::vector<std::string> fixed_values(const CommandHelp& command, const OptionHelp& option,
                                      const Protocols& protocols) {
  std::vector<std::string> values = values_of(option);
  if (!values.empty() || takes_protocol(command)) return values;
  return values_of_all(protocols, option.names.back());
}

// Whether its values are those that the protocol on the line names.
bool depends_on_protocol(const CommandHelp& command, const OptionHelp& option,
                         const Protocols& protocols) {
  return takes_protocol(command) && values_of(option).empty() &&
         !values_of_all(protocols, option.names.back()).empty();
}

// An option for which several protocols name the same values.
struct SharedValues {
  std::string option;
  std::string values;  // with spaces between them
  std::vector<std::string> protocols;
};
std::vector<SharedValues> shared_values(const Protocols& protocols) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> shared;
  for (const ProtocolValues& each : protocols) {
    for (const auto& [option, values] : each.by_option) {
      shared[{option, join_parts(values, " ")}].push_back(each.protocol);
    }
  }
  std::vector<SharedValues> result;
  for (const auto& [key, names] : shared) result.push_back({key.first, key.second, names});
  return result;
}

// The lines of a `case` of "OPTION PROTOCOL", each with a command in which {} is the values.
std::string cases_by_protocol(const Protocols& protocols, const std::string& action) {
  std::string text;
  for (const auto& [option, values, names] : shared_values(protocols)) {
    std::vector<std::string> patterns;
    for (const std::string& name : names) patterns.push_back(fmt::format("'{} {}'", option, name));
    text +=
        fmt::format("    {}) {} ;;\n", join_parts(patterns, "|"), replaced(action, "{}", values));
  }
  return text;
}

// The words that may come first after the command, beside files.
std::vector<std::string> first_words(const CommandHelp& command, const Protocols& protocols) {
  if (takes_protocol(command)) return names_of(protocols);
  const auto word = std::ranges::find_if(command.options, is_word);
  return word == command.options.end() ? names_of(command.commands) : values_of(*word);
}

// Within single quotes of a shell.
std::string shell_quoted(const std::string& text) {
  return "'" + replaced(text, "'", "'\\''") + "'";
}

// The lines of a `case` that complete the value of an option. Files do so only where one is meant.
std::string bash_values(const Named& named, const Protocols& protocols) {
  std::string text;
  for (const OptionHelp& option : named.command->options) {
    if (option.type.empty() || takes_path(option)) continue;
    const std::string values = join_parts(fixed_values(*named.command, option, protocols), " ");
    std::string action = values.empty() ? "is_free=1" : fmt::format("words='{}'", values);
    if (depends_on_protocol(*named.command, option, protocols)) action = "option=$previous";
    for (const std::string& name : option.names) {
      text += fmt::format("    '{} {}') {} ;;\n", named.words, name, action);
    }
  }
  return text;
}

// How zsh completes the value of an option.
std::string zsh_action(const Named& named, const OptionHelp& option, const Protocols& protocols) {
  if (takes_path(option)) return "_files";
  if (depends_on_protocol(*named.command, option, protocols)) {
    return " _conclave_of_protocol " + option.names.back();
  }
  const auto values = fixed_values(*named.command, option, protocols);
  return values.empty() ? " " : fmt::format("({})", join_parts(values, " "));
}

std::string zsh_specification(const Named& named, const OptionHelp& option, const std::string& name,
                              const Protocols& protocols) {
  std::string meaning = option.meaning;
  for (const char* special : {"[", "]", ":"}) {
    meaning = replaced(meaning, special, fmt::format("\\{}", special));
  }
  std::string text = fmt::format("{}[{}]", name, meaning);
  if (!option.type.empty()) {
    text += fmt::format(":{}:{}", replaced(option.type, ":", "\\:"),
                        zsh_action(named, option, protocols));
  }
  return shell_quoted("*" + text);
}

std::string zsh_command(const Named& named, const Protocols& protocols) {
  std::string text = fmt::format("    {})\n      _arguments", shell_quoted(named.words));
  for (const OptionHelp& option : named.command->options) {
    if (is_word(option)) continue;
    for (const std::string& name : option.names)
      text += " \\\n        " + zsh_specification(named, option, name, protocols);
  }
  std::string word = "_files";
  if (takes_protocol(*named.command)) {
    text += fmt::format(" \\\n        '1:protocol:_alternative \"protocols:protocol:({})\" "
                        "\"files:file:_files\"'",
                        join_parts(names_of(protocols), " "));
  } else if (const auto words = first_words(*named.command, protocols); !words.empty()) {
    word = fmt::format("({})", join_parts(words, " "));
  }
  return text + fmt::format(" \\\n        '*:word:{}' ;;\n", word);
}

std::string fish_condition(const Named& named) {
  const std::size_t space = named.words.find(' ');
  const std::string first = named.words.substr(0, space);
  if (space == std::string::npos) return fmt::format("__fish_seen_subcommand_from {}", first);
  return fmt::format("__fish_seen_subcommand_from {}; and __fish_seen_subcommand_from {}", first,
                     named.words.substr(space + 1));
}

std::string fish_option(const Named& named, const OptionHelp& option, const Protocols& protocols) {
  std::string text = fmt::format("complete -c conclave -n {}", shell_quoted(fish_condition(named)));
  for (const std::string& name : option.names) {
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  const auto values = fixed_values(*named.command, option, protocols);
  if (!option.type.empty()) text += takes_path(option) ? " -r" : " -x";
  if (!values.empty()) text += fmt::format(" -f -a '{}'", join_parts(values, " "));
  return text + fmt::format(" -d {}\n", shell_quoted(option.meaning));
}

// The values of options that the protocol on the line names.
std::string fish_of_protocol(const CommandHelp& program, const Protocols& protocols) {
  std::string text;
  for (const auto& [option, values, names] : shared_values(protocols)) {
    std::vector<std::string> commands;
    for (const CommandHelp& command : program.commands) {
      for (const OptionHelp& each : command.options) {
        if (each.names.back() != option || !depends_on_protocol(command, each, protocols)) continue;
        commands.push_back(command.name);
      }
    }
    text +=
        fmt::format("complete -c conclave -n '__fish_seen_subcommand_from {}; and "
                    "__fish_seen_subcommand_from {}' -l {} -x -a '{}'\n",
                    join_parts(commands, " "), join_parts(names, " "), option.substr(2), values);
  }
  return text;
}

}  // namespace

std::string bash_completion(const CommandHelp& program, const Protocols& protocols) {
  std::string values;
  std::string options;
  std::string words;
  std::string nested;
  for (const Named& named : all_commands(program)) {
    values += bash_values(named, protocols);
    options += fmt::format("        '{}') words='{}' ;;\n", named.words,
                           join_parts(option_names(*named.command), " "));
    if (const auto first = first_words(*named.command, protocols); !first.empty()) {
      words += fmt::format("        '{}') words='{}' ;;\n", named.words, join_parts(first, " "));
    }
    if (named.words.find(' ') != std::string::npos) {
      nested += fmt::format("    '{0}') command='{0}' ;;\n", named.words);
    }
  }
  return fmt::format(R"({0}_conclave() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}}
  local command=${{COMP_WORDS[1]}} words='' is_free='' option='' protocol='' word
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{1} help --help --version' -- "$current"))
    return
  fi
  case "$command ${{COMP_WORDS[2]}}" in
{2}  esac
  case "$command $previous" in
{3}  esac
  if [ -n "$option" ]; then
    for word in "${{COMP_WORDS[@]:2}}"; do
      case "$word" in {6}) protocol=$word; break ;; esac
    done
    case "$option $protocol" in
{7}    *) is_free=1 ;;
    esac
  fi
  if [ -n "$is_free" ]; then
    compopt +o default 2> /dev/null
    return
  fi
  if [ -z "$words" ]; then
    case "$current $COMP_CWORD" in
      -*) case "$command" in
{4}        esac ;;
      *\ 2) case "$command" in
        help) words='{1}' ;;
{5}        esac ;;
    esac
  fi
  [ -n "$words" ] && COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _conclave conclave
)",
                     banner, join_parts(names_of(program.commands), " "), nested, values, options,
                     words, join_parts(names_of(protocols), "|"),
                     cases_by_protocol(protocols, "words='{}'"));
}

std::string zsh_completion(const CommandHelp& program, const Protocols& protocols) {
  std::string names;
  std::string cases;
  for (const CommandHelp& command : program.commands) {
    names += fmt::format("      {}\n",
                         shell_quoted(command.name + ":" + replaced(command.meaning, ":", "\\:")));
  }
  std::string nested;
  for (const Named& named : all_commands(program)) {
    cases += zsh_command(named, protocols);
    if (named.words.find(' ') == std::string::npos) continue;
    nested +=
        fmt::format("    '{0}') command='{0}'; shift words; (( CURRENT-- )) ;;\n", named.words);
  }
  return fmt::format(R"(#compdef conclave
{}_conclave_of_protocol() {{
  case "$1 ${{words[(r)({})]}}" in
{}  esac
}}
_conclave() {{
  local -a commands
  if (( CURRENT == 2 )); then
    commands=(
{}      'help:Print the help of a command'
    )
    _describe command commands
    return
  fi
  local command=$words[2]
  case "$words[2] $words[3]" in
{}  esac
  shift words
  (( CURRENT-- ))
  case $command in
    help) _arguments '1:command:({})' ;;
{}  esac
}}
_conclave "$@"
)",
                     banner, join_parts(names_of(protocols), "|"),
                     cases_by_protocol(protocols, "compadd -- {}"), names, nested,
                     join_parts(names_of(program.commands), " "), cases);
}

std::string fish_completion(const CommandHelp& program, const Protocols& protocols) {
  std::string text(banner);
  for (const CommandHelp& command : program.commands) {
    text += fmt::format("complete -c conclave -n __fish_use_subcommand -f -a {} -d {}\n",
                        command.name, shell_quoted(command.meaning));
  }
  text += fmt::format("complete -c conclave -n __fish_use_subcommand -f -a help\n"
                      "complete -c conclave -n '__fish_seen_subcommand_from help' -f -a '{}'\n",
                      join_parts(names_of(program.commands), " "));
  for (const Named& named : all_commands(program)) {
    for (const OptionHelp& option : named.command->options) {
      if (!is_word(option)) text += fish_option(named, option, protocols);
    }
    const auto words = first_words(*named.command, protocols);
    if (words.empty()) continue;
    text +=
        fmt::format("complete -c conclave -n {}{} -a '{}'\n", shell_quoted(fish_condition(named)),
                    takes_protocol(*named.command) ? "" : " -f", join_parts(words, " "));
  }
  return text + fish_of_protocol(program, protocols);
}

}  // namespace conclave::cli
