#include "election/agreement.hpp"

#include <array>
#include <charconv>

#include <fmt/format.h>
#include <openssl/evp.h>

#include "conclave/base/check.hpp"

namespace conclave::election {
namespace {

std::uint64_t fingerprint(std::string_view text) { return first_bits(sha256_hex(text)); }

std::uint32_t milliseconds_of(milliseconds time) {
  return static_cast<std::uint32_t>(time.count());
}

std::uint32_t parts_per_million(double share) {
  return static_cast<std::uint32_t>(share * 1e6 + 0.5);
}

}  // namespace

std::string sha256_hex(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  CONCLAVE_CHECK(
      EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr) == 1);
  constexpr std::string_view digits = "0123456789abcdef";
  std::string hex;
  for (unsigned i = 0; i < size; ++i) {
    hex += digits[digest[i] >> 4];
    hex += digits[digest[i] & 15];
  }
  return hex;
}

std::uint64_t first_bits(std::string_view hex) {
  std::uint64_t value = 0;
  std::from_chars(hex.data(), hex.data() + 16, value, 16);
  return value;
}

Agreement agreement_on(std::span<const Endpoint> members, const Timing& timing) {
  std::string list;
  for (const Endpoint& member : members) list += to_string(member) + "\n";
  const std::string times = fmt::format(
      "{} {} {} {} {} {}", timing.lease.count(), timing.renewal.count(), timing.patience.count(),
      timing.answer.count(), timing.election.count(), parts_per_million(timing.clock_drift));
  return {.members = static_cast<std::uint32_t>(members.size()),
          .list = fingerprint(list),
          .lease_ms = milliseconds_of(timing.lease),
          .drift_ppm = parts_per_million(timing.clock_drift),
          .timing = fingerprint(times)};
}

std::string list_name(const Agreement& agreement) {
  return fmt::format("{} members, {:016x}", agreement.members, agreement.list);
}

std::string difference(const Agreement& theirs, const Agreement& ours) {
  if (theirs.identity != ours.identity)
    return fmt::format("the cluster's identity is {:016x} there and {:016x} here: one of the two "
                       "is of before a restore",
                       theirs.identity, ours.identity);
  if ((theirs.members == 0) != (ours.members == 0))
    return fmt::format("its configuration says elastic = {}, ours {}", theirs.members == 0,
                       ours.members == 0);
  if (theirs.members != ours.members)
    return fmt::format("its list has {} members, ours {}", theirs.members, ours.members);
  if (theirs.list != ours.list)
    return fmt::format("its list of {} members is not ours: another address, or another order",
                       theirs.members);
  if (theirs.lease_ms != ours.lease_ms)
    return fmt::format("its lease_ms is {}, ours {}", theirs.lease_ms, ours.lease_ms);
  if (theirs.drift_ppm != ours.drift_ppm)
    return fmt::format("its clock_drift is {} millionths, ours {}", theirs.drift_ppm,
                       ours.drift_ppm);
  if (theirs.timing != ours.timing)
    return "one of its renewal_ms, patience_ms, answer_ms and election_ms is not ours";
  return {};
}

}  // namespace conclave::election
