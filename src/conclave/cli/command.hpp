// How a command describes itself: its words and options, and what it does when chosen. CLI11 stays
// behind it, since its templates cost ten seconds in each file that sees them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/experiment/run_options.hpp"

namespace CLI {
class App;
}

namespace conclave::cli {

// Exit statuses are part of the contract with scripts.
enum class Exit : int {
  done = 0,
  failed = 1,
  misused = 2,
  not_converged = 3,
  does_not_hold = 4,
  interrupted = 130,
  reader_gone = 141,  // of standard output, as a shell sees any program that SIGPIPE ends
};

using Action = std::function<Exit()>;

// The help of a command as data, for manual pages and for shells that complete words.
struct OptionHelp {
  std::vector<std::string> names;  // "-o", "--output"; or one word without dashes, "PROTOCOL"
  std::string type;                // what stands for its value; empty: a flag or a word
  std::string meaning;             // in one line
};
struct CommandHelp {
  std::string name;  // "run"; of the program itself "conclave"
  std::string meaning;
  std::string footer;  // examples and exit statuses, many lines
  std::vector<OptionHelp> options{};
  std::vector<CommandHelp> commands{};
};

// The values named here are filled in before the action runs; they must live until then.
class Command {
 public:
  Command(CLI::App& app, Action& chosen) : app_(&app), chosen_(&chosen) {}

  // A command below this one; `meaning` is its line in the help text.
  Command subcommand(const std::string& name, const std::string& meaning);
  // Commands that are added from now on are listed under this heading of the help text.
  void heading(const std::string& text) { heading_ = text; }
  // One that is not listed: for builds, not for people.
  Command hidden_subcommand(const std::string& name, const std::string& meaning);
  // This command and those below it that are listed, with all that has been added so far.
  CommandHelp help() const;

  // A word without a name, such as the protocol in `conclave run pll`.
  void word(const std::string& name, std::string& value, const std::string& meaning);

  // The same, one or more of them.
  void words(const std::string& name, std::vector<std::string>& values, const std::string& meaning);

  // A named value; `type` stands for it in the help text.
  void option(const std::string& name, const std::string& type, std::string& value,
              const std::string& meaning);
  // The same; parsing fails with status 2 where it is not given.
  void required_option(const std::string& name, const std::string& type, std::string& value,
                       const std::string& meaning);
  // Several values with commas between them.
  void list_option(const std::string& name, const std::string& type,
                   std::vector<std::string>& values, const std::string& meaning);
  // One value each time it is given.
  void repeatable_option(const std::string& name, const std::string& type,
                         std::vector<std::string>& values, const std::string& meaning);
  // The options of a run that this command accepts, from the table in experiment/run_options.hpp.
  // `meanings` replaces those of the table where the command has its own, by name.
  using Meanings = std::map<std::string_view, std::string_view>;
  void run_options(experiment::Acceptor command, experiment::RunText& words,
                   const Meanings& meanings = {});
  void run_options(experiment::Acceptor command, experiment::ExecutionText& execution,
                   const Meanings& meanings = {});
  // --max-file-size, for commands that read files of unknown origin.
  void file_size_option();
  // True where it is given; takes no value.
  void flag(const std::string& name, bool& value, const std::string& meaning);

  // The end of the help text: examples, files, exit statuses.
  void footer(const std::string& text);
  // Called once, after all values have been filled in, if the user chose this command.
  void runs(Action action);

 private:
  CLI::App* app_;
  Action* chosen_;
  std::string heading_ = "Subcommands";
};

// The whole program: commands are added to `root()`, then it parses and runs the chosen one.
class Program {
 public:
  // `overview` is the footer of `conclave --help`, `version` what `--version` prints.
  Program(const std::string& title, const std::string& version, const std::string& overview);
  ~Program();

  Command& root() { return root_; }
  // Throws an Error, one sentence, where the words make no sense.
  Exit run(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> app_;
  Action chosen_;
  Command root_;
};

}  // namespace conclave::cli
