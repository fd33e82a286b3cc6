#include "conclave/cli/manual.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

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
std::string paragraphs(const std::vector<std::string>& lines) {
  std::string text;
  bool is_filled = true;
  for (const std::string& line : lines) {
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

// The parts of the text below a command's options. "Examples:" and "Exit status: ..." begin
// sections of their own; all else is the description.
struct Footer {
  std::vector<std::string> description{};
  std::vector<std::string> examples{};
  std::vector<std::string> exit_status{};
};

Footer parts_of(const std::string& text) {
  constexpr std::string_view status = "Exit status: ";
  Footer footer;
  std::vector<std::string>* part = &footer.description;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find(status);
    if (line == "Examples:") {
      part = &footer.examples;
    } else if (begin != line.npos) {
      if (begin > 0) footer.description.push_back(line.substr(0, begin));
      part = &footer.exit_status;
      part->push_back(line.substr(begin + status.size()));
    } else {
      if (part == &footer.examples && !line.empty() && !line.starts_with(' ')) {
        part = &footer.description;
      }
      part->push_back(line);
      if (line.empty() && part == &footer.exit_status) part = &footer.description;
    }
  }
  return footer;
}

std::string section(std::string_view title, const std::vector<std::string>& lines) {
  const std::string text = paragraphs(lines);
  return text.empty() ? text : fmt::format(".SH {}\n{}", title, text);
}

// The statuses of a command whose help text does not name its own (docs/reference/command-line.md).
constexpr const char* usual_exit_status =
    "0 done, 1 failed (input or output, internal), 2 misused (bad option, parameter or file), "
    "130 interrupted.";

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
  const Footer footer = parts_of(command.footer);
  std::vector<std::string> description{command.meaning + '.'};
  description.insert(description.end(), footer.description.begin(), footer.description.end());
  const bool has_own_status = !footer.exit_status.empty();
  return fmt::format(
      ".TH \"{}\" 1 \"\" \"conclave {}\" \"conclave\"\n.SH NAME\n{} \\- {}\n"
      ".SH SYNOPSIS\n\\fB{}\\fR{}{}{}\n{}.SH OPTIONS\n{}{}{}{}.SH SEE ALSO\n{}\n",
      name, version, escaped(name), escaped(without_name(command.meaning, name)), spaced(name),
      words, command.commands.empty() ? "" : " \\fICOMMAND\\fR",
      command.options.empty() ? "" : " [\\fIoptions\\fR]", section("DESCRIPTION", description),
      options_text(command), commands_text(command, name), section("EXAMPLES", footer.examples),
      section("EXIT STATUS",
              has_own_status ? footer.exit_status : std::vector<std::string>{usual_exit_status}),
      name == "conclave" ? "The pages in the folder doc/conclave."
                         : "\\fBconclave\\fR(1); the pages in the folder doc/conclave.");
}

}  // namespace conclave::cli
