#include "conclave/base/interactions.hpp"

#include <algorithm>

namespace conclave {

std::string to_string(Interactions count) {
  std::string digits;
  do {
    digits.push_back(static_cast<char>('0' + *(count % 10u).as_uint64()));
    count = count / 10u;
  } while (count != 0u);
  std::ranges::reverse(digits);
  return digits;
}

}  // namespace conclave
