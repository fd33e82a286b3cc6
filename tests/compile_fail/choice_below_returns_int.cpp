// A Choice must draw unsigned numbers: with int, half of the bounds would not fit.
#include <cstdint>

#include "conclave/base/choice.hpp"

namespace conclave {

struct Coin {
#ifdef CONCLAVE_MISTAKE
  int below(std::uint32_t bound);
#else
  std::uint32_t below(std::uint32_t bound);
#endif
  bool chance(std::uint32_t p, std::uint32_t q);
};
static_assert(Choice<Coin>);

}  // namespace conclave
