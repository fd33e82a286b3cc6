// Measures how much drawing by classes saves: the fresh pairs of one batch, drawn as the `counts`
// engine does it and drawn the plain way, state pair by state pair.
#pragma once

#include <functional>
#include <string>

namespace conclave::bench {

// Calls `print` with each line of the table.
void run_pairing(const std::function<void(const std::string&)>& print);

}  // namespace conclave::bench
