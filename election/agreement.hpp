// A digest of the settings in which all members of a cluster must agree. Each sends it in its
// hello, and refuses a peer that sends another: members with different lists count different
// majorities, which need not have a member in common, and members with different times wait for
// each other in vain. Fingerprints are the first 64 bits of SHA-256: they find mistakes, not
// attacks, since members are trusted.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "election/configuration.hpp"
#include "election/frame.hpp"
#include "election/member.hpp"

namespace conclave::election {

// Thread-safe; O(members). No members: the list may change, and is not compared.
Agreement agreement_on(std::span<const Endpoint> members, const Timing& timing);

// "3 members, 0f1e2d3c4b5a6978": the list as sentences and promise files name it.
std::string list_name(const Agreement& agreement);

// One sentence that names the difference and whose is which; empty: there is none.
std::string difference(const Agreement& theirs, const Agreement& ours);

std::string sha256_hex(std::string_view text);   // 64 digits
std::uint64_t first_bits(std::string_view hex);  // of at least 16 digits, 64 bits

}  // namespace conclave::election
