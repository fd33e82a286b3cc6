// Who the members of a cluster are, where that may change while it runs. A configuration is a list
// of seats with a stamp that orders it: first by the term of the leader that has proposed it, or
// confirmed it in its own term, then by its version, which grows by one with each change. Members
// keep theirs beside their promise and promise nothing to a claimant with an older one.
// docs/how-to/elections.md argues why that keeps leaders apart.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "election/frame.hpp"

namespace conclave::election {

// Where a member listens: a host name or an address, and a port.
struct Endpoint {
  std::string host;
  std::uint16_t port = 0;

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

// "10.0.0.7:7000", "node3.example:7000", "[::1]:7000"; throws Error.
Endpoint parse_endpoint(std::string_view text);
std::string to_string(const Endpoint& endpoint);
// Whether a host has only characters that names and addresses have: 1 to 255 letters, digits and
// . - _ : % [ ].
bool is_plain_host(std::string_view host);

using Term = std::uint64_t;  // elections are numbered from 1 on

inline constexpr MemberIndex nobody = 0xffffffff;
// Numbers of members that have been removed are not used again, so they run out, in the end.
inline constexpr MemberIndex most_member_numbers = 4096;

// Which version of the list a configuration is, and in which term it has been confirmed.
struct Stamp {
  Term term = 0;
  std::uint64_t version = 0;
  std::uint64_t list = 0;  // fingerprint of the seats; 0 in a cluster whose list is fixed

  // Whether a claimant with this stamp may be supported by a member with that one.
  bool is_at_least(const Stamp& other) const {
    if (term != other.term) return term > other.term;
    return version > other.version || (version == other.version && list == other.list);
  }
  // Whether both are of the same seats, whatever their terms.
  bool has_list_of(const Stamp& other) const {
    return version == other.version && list == other.list;
  }
  friend bool operator==(const Stamp&, const Stamp&) = default;
};

// A member's place in the cluster.
struct Seat {
  MemberIndex member = 0;
  Endpoint endpoint{};

  friend bool operator==(const Seat&, const Seat&) = default;
};

struct Configuration {
  Stamp stamp{};
  std::vector<Seat> seats{};    // by number; none: this member has no list of the cluster yet
  MemberIndex next_member = 0;  // the smallest number that has never been used

  bool has(MemberIndex member) const { return find(member) != nullptr; }
  const Seat* find(MemberIndex member) const;  // null: it has no seat
  // So many members decide: more than half of the seats.
  std::size_t majority() const { return seats.size() / 2 + 1; }

  friend bool operator==(const Configuration&, const Configuration&) = default;
};

// A change that an operator may request from a leader: one seat more or one less.
struct Change {
  enum class Kind : std::uint8_t { add, remove };
  Kind kind = Kind::add;
  MemberIndex member = 0;
  Endpoint endpoint{};  // add
};

// The first configuration of a cluster whose list may change.
Configuration founded_by(const std::vector<Endpoint>& members);
// The next version, not yet stamped with a term of its own.
Configuration changed(const Configuration& before, const Change& change);
// Why this change makes no sense for this configuration; empty: it does.
std::string objection_to(const Change& change, const Configuration& before);

// FNV-1a over numbers and addresses, never 0: finds mistakes, not attacks, since members are
// trusted.
std::uint64_t fingerprint_of(const std::vector<Seat>& seats);
// Whether a note with these seats fits into a message.
bool fits_message(const std::vector<Seat>& seats);

}  // namespace conclave::election
