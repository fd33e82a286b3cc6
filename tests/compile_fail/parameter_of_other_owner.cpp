// The fields of a protocol's Parameters point to its own members, not to those of another protocol
// from which the lines were copied.
#include <cstdint>
#include <optional>
#include <tuple>

#include "conclave/model/protocol_info.hpp"

namespace conclave {

using Whole = std::optional<std::uint64_t>;

struct Other {
  Whole level;
};

struct Parameters {
  Whole level;
#ifdef CONCLAVE_MISTAKE
  static constexpr std::tuple fields{
      Parameter{"level", &Other::level, "the highest level", "derived from n", 1, 100}};
#else
  static constexpr std::tuple fields{
      Parameter{"level", &Parameters::level, "the highest level", "derived from n", 1, 100}};
#endif
};

// All code that reads parameters does this.
inline Whole level_of(const Parameters& parameters) {
  return parameters.*std::get<0>(Parameters::fields).member;
}

}  // namespace conclave
