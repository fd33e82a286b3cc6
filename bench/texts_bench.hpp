// Protocol texts with many states beside the same protocols written by hand in C++, on the `agents`
// engine; and what it costs to observe something in a text.
#pragma once

#include <functional>
#include <string>

namespace conclave::bench {

// Checks first that both end in the same configuration (throws std::logic_error otherwise), then
// calls `print` with each line of the table.
void run_texts(unsigned repeats, const std::function<void(const std::string&)>& print);

}  // namespace conclave::bench
