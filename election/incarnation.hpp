// Incarnations: which process speaks for a member. A process whose state file is not provably the
// one that the last process of its member left draws a new incarnation, larger than all that it
// has heard of, and takes part only after enough other members have stored it. Each member keeps
// the largest incarnation of every other one in its table, on the disk. Promises count only
// between members with equal tables, so an older process of a member, or one that works from an
// older file, finds no majority any more. docs/how-to/elections.md has the rules and the argument.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "election/frame.hpp"

namespace conclave::election {

// Ordered by number, then by bits. 0 0: that of a member whose first file is in use.
struct Incarnation {
  std::uint32_t number = 0;
  std::uint64_t bits = 0;  // random

  friend auto operator<=>(const Incarnation&, const Incarnation&) = default;
};
std::string to_string(const Incarnation& incarnation);  // "4 8f1e2d3c4b5a6978"

// The largest known incarnation of each member; one that is not in it has 0 0.
class IncarnationTable {
 public:
  // The largest known of this member; 0 0 where none is.
  Incarnation of(MemberIndex member) const;
  // Stores the incarnation if it is larger than the known one; whether it was.
  bool raise(MemberIndex member, const Incarnation& incarnation);
  bool merge(const IncarnationTable& other);  // the larger of each; whether this one has grown
  bool has_larger_than(const IncarnationTable& other) const;  // for some member
  // Equal for equal tables, 0 for the empty one, and different otherwise but for one chance in 2^64
  // or so: detects accidents, not attacks, since members are trusted.
  std::uint64_t fingerprint() const;

  const std::map<MemberIndex, Incarnation>& entries() const { return entries_; }
  friend bool operator==(const IncarnationTable&, const IncarnationTable&) = default;

 private:
  std::map<MemberIndex, Incarnation> entries_;
};

}  // namespace conclave::election
