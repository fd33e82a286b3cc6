#include "conclave/exact/verify_report.hpp"

#include <array>

namespace conclave::exact {

std::string_view name_of(Verdict verdict) {
  constexpr std::array<std::string_view, 3> names{"holds", "fails", "vacuous"};
  return names[static_cast<std::size_t>(verdict)];
}

}  // namespace conclave::exact
