// `conclave prove` of a program that was built without Z3.
#include <memory>
#include <string>

#include "conclave/base/error.hpp"
#include "conclave/cli/cli.hpp"

namespace conclave::cli {

void add_prove(Command& conclave) {
  auto protocol = std::make_shared<std::string>();
  Command command = conclave.subcommand("prove", "Not in this build: it needs Z3 (libz3-dev)");
  command.word("PROTOCOL", *protocol, "A protocol file: my.pp");
  command.runs([protocol]() -> Exit {
    throw Error(
        "this program was built without Z3, which proofs need: install libz3-dev and build again");
  });
}

}  // namespace conclave::cli
