// Plans for those who write none: the words of a command as the text of a plan, which is kept with
// the results like any other.
#pragma once

#include <string>
#include <vector>

#include "conclave/experiment/run_text.hpp"
#include "conclave/sweep/plan.hpp"

namespace conclave::sweep {

// A plan for one protocol. In `words`, n is a list of sizes and ranges with commas between, 1e3 or
// 100..1e6 (two sizes per power of ten) or 100..1e6:2 (doubling) or 100..900:+100, and the value of
// a parameter an expression or several: T=4*ceil(lg(n)),20. Errors in this plan name options, not
// lines. Throws Error if a list or range cannot be read.
Plan plan_of(const experiment::RunText& words, const std::string& trials);

// The parameters of a run, NAME=VALUE, with the values of those that are expressions of its n.
std::vector<std::string> params_at(const experiment::RunText& words);

// The sizes that such a list names, in its order. Throws Error as above, and for more than 10 000.
std::vector<std::string> sizes_of(const std::string& list);

}  // namespace conclave::sweep
