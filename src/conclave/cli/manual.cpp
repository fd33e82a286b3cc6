#include "conclave/cli/manual.hpp"

#include <algorithm>
#include <sstream>
#include <string>

#include <fmt/format.h>

namespace conclave::cli {
namespace {

// Text as roff prints it: no escapes, hyphens that stay hyphens, no requests at the start of lines.
std::string escaped(const std::string& text) {
  std::string result;
  bool begins_line = true;
  for (const char c : text) {
    if (begins_line && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
    begins_line = c == '\n';
  }
  return result;
}

// The program's own title begins with its name, which the page says already.
std::string without_name(const std::string& meaning, const std::string& name) {
  return meaning.starts_with(name + ": ") ? meaning.substr(name.size() + 2) : meaning;
}

std::string spaced(std::string name) {
  std::ranges::replace(name, '-', ' ');
  return name;
}

std::string options_text(const CommandHelp& command) {
  std::string text;
  for (const OptionHelp& option : command.options) {
    text += ".TP\n";
    std::string names;
    for (const std::string& name : option.names) {
      names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", escaped(name));
    }
    text += fmt::format("{}{}\n{}\n", names,
                        option.type.empty() ? "" : fmt::format(" \\fI{}\\fR", escaped(option.type)),
                        escaped(option.meaning));
  }
  return text;
}

// Sentences become paragraphs, as wide as the reader's terminal; lines that are indented, such as
// commands, stay as they are.
std::string details_text(const std::string& footer) {
  std::string text;
  bool is_filled = true;
  std::istringstream lines(footer);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) {
      text += text.empty() ? "" : is_filled ? ".PP\n" : "\n";
      continue;
    }
    if (is_filled == line.starts_with(' ')) {
      text += is_filled ? ".nf\n" : ".fi\n";
      is_filled = !is_filled;
    }
    text += escaped(line) + '\n';
  }
  return is_filled ? text : text + ".fi\n";
}

std::string commands_text(const CommandHelp& command, const std::string& name) {
  if (command.commands.empty()) return {};
  std::string text = ".SH COMMANDS\n";
  for (const CommandHelp& below : command.commands) {
    text += fmt::format(".TP\n\\fB{}\\fR(1)\n{}\n", escaped(fmt::format("{}-{}", name, below.name)),
                        escaped(below.meaning));
  }
  return text;
}

}  // namespace

std::string manual_page(const CommandHelp& command, const std::string& name,
                        const std::string& version) {
  std::string words;
  for (const OptionHelp& option : command.options) {
    if (!option.names.front().starts_with('-')) words += " \\fI" + option.names.front() + "\\fR";
  }
  return fmt::format(".TH \"{}\" 1 \"\" \"conclave {}\" \"conclave\"\n.SH NAME\n{} \\- {}\n"
                     ".SH SYNOPSIS\n\\fB{}\\fR{}{}{}\n.SH OPTIONS\n{}{}.SH DETAILS\n{}"
                     ".SH SEE ALSO\n{}\n",
                     name, version, escaped(name), escaped(without_name(command.meaning, name)),
                     spaced(name), words, command.commands.empty() ? "" : " \\fICOMMAND\\fR",
                     command.options.empty() ? "" : " [\\fIoptions\\fR]", options_text(command),
                     commands_text(command, name), details_text(command.footer),
                     name == "conclave"
                         ? "The pages in the folder doc/conclave."
                         : "\\fBconclave\\fR(1); the pages in the folder doc/conclave.");
}

}  // namespace conclave::cli
