// Two commands that are not listed. `conclave generate` writes what a package holds beside the
// program, made from the commands themselves: manual pages, and completions for bash, zsh and fish.
// `conclave options` prints the table of the options of `run` for docs/reference/command-line.md.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/output.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/cli/completions.hpp"
#include "conclave/cli/manual.hpp"
#include "conclave/cli/version.hpp"
#include "conclave/experiment/run_options.hpp"

namespace conclave::cli {
namespace {

void write_below(const std::filesystem::path& folder, const std::string& name,
                 const std::string& text) {
  const std::filesystem::path path = folder / name;
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  if (error) throw Error(fmt::format("cannot make the folder '{}'", path.parent_path().string()));
  write_file(path.string(), text);
}

void write_manual(const std::filesystem::path& folder, const CommandHelp& command,
                  const std::string& name) {
  write_below(folder, fmt::format("man/man1/{}.1", name), manual_page(command, name, version()));
  for (const CommandHelp& below : command.commands) {
    write_manual(folder, below, fmt::format("{}-{}", name, below.name));
  }
}

// The values of options that `describe` lists for the protocol.
ProtocolValues named_values(const catalog::Entry& entry) {
  ProtocolValues result{std::string(entry.info.name), {{"--engine", {"auto"}}}};
  const auto offer = [&result](const char* option, const auto& values) {
    for (const auto& each : values) result.by_option[option].emplace_back(each.name);
  };
  offer("--engine", entry.engines);
  offer("--init", entry.starts);
  offer("--way", entry.rare_ways);
  offer("--importance", entry.rare_functions);
  if (!entry.network) return result;
  offer("--ids", entry.network->ids);
  offer("--delay", entry.network->delays);
  offer("--wakeup", entry.network->wakeups);
  return result;
}

Exit generate(const CommandHelp& program, const std::string& folder) {
  Protocols protocols;
  for (const catalog::Entry& entry : catalog::entries()) protocols.push_back(named_values(entry));
  write_manual(folder, program, program.name);
  write_below(folder, "bash-completion/completions/conclave", bash_completion(program, protocols));
  write_below(folder, "zsh/site-functions/_conclave", zsh_completion(program, protocols));
  write_below(folder, "fish/vendor_completions.d/conclave.fish",
              fish_completion(program, protocols));
  return Exit::done;
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
      "generate", "Write manual pages and completions, as the installation has them below share");
  command.word("FOLDER", *folder, "Where to write them");
  command.footer("\nExamples:\n  conclave generate share");
  command.runs([folder, conclave] { return generate(conclave.help(), *folder); });
}

}  // namespace conclave::cli
