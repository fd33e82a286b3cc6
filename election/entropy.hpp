// Unpredictable numbers from the operating system: nonces, incarnations, default seeds.
#pragma once

#include <cstdint>

namespace conclave::election {

std::uint64_t unforeseeable_number();

}  // namespace conclave::election
