// Randomness and the time of day, from the operating system. From any thread.
#pragma once

#include <cstdint>
#include <string>

namespace conclave::election {

// An unpredictable number: for nonces, incarnations, default seeds.
std::uint64_t unforeseeable_number();

// The moment for people and their tools, in UTC, as 2026-01-31T12:00:00.000Z. Nothing is decided by
// it.
std::string wall_clock_text();

}  // namespace conclave::election
