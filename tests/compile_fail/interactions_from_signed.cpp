// A signed integer is no number of interactions: -1 would become the largest one.
#include "conclave/base/interactions.hpp"

namespace conclave {

#ifdef CONCLAVE_MISTAKE
constexpr int count = 5;
#else
constexpr unsigned count = 5;
#endif
constexpr Interactions interactions = count;
static_assert(interactions == 5u);

}  // namespace conclave
