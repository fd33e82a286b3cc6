// Options that several commands have.
#include <string>
#include <vector>

#include "conclave/cli/cli.hpp"

namespace conclave::cli {

CLI::Option* add_repeatable_option(CLI::App& command, const std::string& name,
                                   std::vector<std::string>& values, const std::string& meaning) {
  return command.add_option(name, values, meaning)
      ->take_all()
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_param_option(CLI::App& command, std::vector<std::string>& params) {
  add_repeatable_option(command, "--param", params,
                        "A parameter of the protocol, NAME=VALUE; repeatable (see `describe`)")
      ->type_name("K=V");
}

}  // namespace conclave::cli
