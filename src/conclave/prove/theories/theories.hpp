// All that is proved about the protocols of the catalog (theory.hpp has the format).
#pragma once

namespace conclave::prove {

extern const char* const ag_minions_theory;
extern const char* const pll_theory;
extern const char* const ppl_theory;
extern const char* const prl_theory;
extern const char* const timers_theory;

}  // namespace conclave::prove
