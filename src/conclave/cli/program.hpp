// The program.
#pragma once

namespace conclave::cli {

// Runs the command that the arguments of `main` name; returns the status of the process.
int run_program(int argc, char** argv);

}  // namespace conclave::cli
