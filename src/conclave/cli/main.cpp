// The program conclave.
#include "conclave/cli/program.hpp"

int main(int argc, char** argv) { return conclave::cli::run_program(argc, argv); }
