// Two commands that are not listed, made from the commands themselves. `conclave generate` writes
// the manual pages that a package holds beside the program; `conclave options` prints the table of
// the options of `run` for docs/reference/command-line.md.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/output.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/cli/command.hpp"
#include "conclave/cli/version.hpp"
#include "conclave/experiment/run_options.hpp"

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

// A page in roff, section 1. `name` is that of the page: conclave, conclave-run,
// conclave-cluster-init. The same bytes for the same version of the program.
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

void write_manual(const std::filesystem::path& folder, const CommandHelp& command,
                  const std::string& name) {
  const std::filesystem::path pages = folder / "man/man1";
  std::error_code error;
  std::filesystem::create_directories(pages, error);
  if (error) throw Error(fmt::format("cannot make the folder '{}'", pages.string()));
  write_file((pages / (name + ".1")).string(), manual_page(command, name, version()));
  for (const CommandHelp& below : command.commands) {
    write_manual(folder, below, fmt::format("{}-{}", name, below.name));
  }
}

// The docs page about an option of the table; empty: none.
std::string_view page_about(const std::string& flag) {
  const auto page_in = [&](const auto& options) {
    const auto found =
        std::ranges::find(options, flag, [](const auto& option) { return option.flag(); });
    return found == options.end() ? std::string_view() : found->page;
  };
  const std::string_view page = page_in(experiment::run_options());
  return page.empty() ? page_in(experiment::execution_options()) : page;
}

std::string table_row(const OptionHelp& option) {
  std::string text = "| ";
  for (const std::string& name : option.names) {
    const bool is_last = name == option.names.back();
    text += fmt::format("`{}{}`{}", name, is_last && !option.type.empty() ? " " + option.type : "",
                        is_last ? " | " : ", ");
  }
  const std::string_view page = page_about(option.names.back());
  text += option.meaning;
  if (!page.empty()) text += fmt::format(" ([docs]({}))", page);
  return text + " |\n";
}

Exit print_options(const CommandHelp& program) {
  const auto run = std::ranges::find(program.commands, "run", &CommandHelp::name);
  fmt::print("| option | meaning |\n|---|---|\n");
  for (const OptionHelp& option : run->options) {
    const bool is_word = !option.names.front().starts_with('-');
    if (!is_word && option.names.back() != "--help") fmt::print("{}", table_row(option));
  }
  return Exit::done;
}

}  // namespace

void add_generate(Command& conclave) {
  Command options = conclave.hidden_subcommand(
      "options", "Print the options of `conclave run` as a table in Markdown");
  options.footer("\nExamples:\n  conclave options");
  options.runs([conclave] { return print_options(conclave.help()); });

  auto folder = std::make_shared<std::string>();
  Command command = conclave.hidden_subcommand(
      "generate", "Write manual pages, as the installation has them below share");
  command.word("FOLDER", *folder, "Where to write them");
  command.footer("\nExamples:\n  conclave generate share");
  command.runs([folder, conclave] {
    const CommandHelp program = conclave.help();
    write_manual(*folder, program, program.name);
    return Exit::done;
  });
}

}  // namespace conclave::cli
