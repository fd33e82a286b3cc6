#include "election/incarnation.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "conclave/base/mixed.hpp"

namespace conclave::election {
std::string to_string(const Incarnation& incarnation) {
  return fmt::format("{} {:016x}", incarnation.number, incarnation.bits);
}

Incarnation IncarnationTable::of(MemberIndex member) const {
  const auto place = entries_.find(member);
  return place == entries_.end() ? Incarnation{} : place->second;
}

bool IncarnationTable::raise(MemberIndex member, const Incarnation& incarnation) {
  if (incarnation <= of(member)) return false;
  entries_[member] = incarnation;
  return true;
}

bool IncarnationTable::merge(const IncarnationTable& other) {
  bool has_grown = false;
  for (const auto& [member, incarnation] : other.entries_)
    has_grown = raise(member, incarnation) || has_grown;
  return has_grown;
}

bool IncarnationTable::has_larger_than(const IncarnationTable& other) const {
  return std::ranges::any_of(
      entries_, [&](const auto& entry) { return entry.second > other.of(entry.first); });
}

std::uint64_t IncarnationTable::fingerprint() const {
  if (entries_.empty()) return 0;
  std::uint64_t hash = 0x9e3779b97f4a7c15;
  for (const auto& [member, incarnation] : entries_) {
    hash = mixed(hash + member + 1) + incarnation.number;
    hash = mixed(hash + 0x9e3779b97f4a7c15) + incarnation.bits;
  }
  hash = mixed(hash);
  return hash == 0 ? 1 : hash;
}

}  // namespace conclave::election
