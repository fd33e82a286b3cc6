// The commands. Each one is a file: it parses, calls and prints.
#pragma once

#include "conclave/cli/command.hpp"

namespace conclave::cli {

// Each adds its command to the program.
void add_bench(Command& conclave);
void add_cluster(Command& conclave);
void add_compare(Command& conclave);
void add_demo(Command& conclave);
void add_describe(Command& conclave);
void add_explore(Command& conclave);
void add_explorer(Command& conclave);
void add_generate(Command& conclave);
void add_list(Command& conclave);
void add_merge(Command& conclave);
void add_node(Command& conclave);
void add_plot(Command& conclave);
void add_rare(Command& conclave);
void add_replay(Command& conclave);
void add_report(Command& conclave);
void add_reproduce(Command& conclave);
void add_results(Command& conclave);
void add_run(Command& conclave);
void add_search(Command& conclave);
void add_solve(Command& conclave);
void add_sweep(Command& conclave);
void add_verify(Command& conclave);

}  // namespace conclave::cli
