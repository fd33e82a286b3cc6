// Notes between members of a cluster: the messages of the paper's algorithm, each marked with its
// term, and the few kinds that terms, leases and failures need beyond the paper. A note is at most
// 29 bytes on the wire, 24 more where the list of members may change and 8 more where a member has
// recovered; one that carries a list has as many as a message may have. Pure; what is decoded may
// come from an enemy.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "conclave/protocols/message/kmpp_async.hpp"
#include "election/configuration.hpp"
#include "election/frame.hpp"
#include "election/incarnation.hpp"

namespace conclave::election {

using Algorithm = protocols::KmppAsync;

enum class NoteKind : std::uint8_t {
  algorithm,  // a message of the paper
  renewal,    // a claimant asks for its lease, or to prolong it; `holds`: it has one
  seconded,   // answer to the paper's LEADER: a promise, `stamp` is the leader's rank
  granted,    // answer to a renewal: a promise, `stamp` is that of the renewal
  refused,  // answer to either: `term` is the newest in which the sender has made a promise, `next`
            // the newest in which it has known a leader
  standing,  // what the sender knows: its term and, if it hears from one, the leader
  probe,     // are you there?
  alive,     // yes
  prepare,   // the leader wants to resign: is the receiver ready to lead after it?
  prepared,  // yes; `stamp` is the moment of this answer, by the sender's clock
  resigned,  // the sender has led in `term` and never acts in it again; `leader` is to lead in the
             // term `next`, and gets a promise for its `stamp`; nobody: elect one
  recall,    // the sender has no configuration: `stamp` is a number that it has drawn
  configuration,  // the sender's, with its seats; `next` is its next number. Answer to a recall of
                  // this `stamp`; or 0
  recover,        // the sender waits, and asks for `recorded`; `entries` is its table
  recorded,       // the sender has stored `entries`, which is its table or a part of it; `next` is
                  // the term of its newest promise, `holds`: it takes part itself
};
inline constexpr std::size_t note_kinds = 15;
// A larger table goes in several notes; whoever has all of them has its fingerprint.
inline constexpr std::size_t most_entries = 48;

struct Note {
  NoteKind kind = NoteKind::probe;
  Term term = 0;
  Algorithm::Message message{};  // algorithm
  std::uint64_t stamp = 0;       // renewal: when it was sent, by the sender's clock; see above
  std::uint32_t promise_ms = 0;  // seconded, granted: how long the promise is kept
  MemberIndex leader = nobody;   // standing, resigned
  Term next = 0;                 // resigned, refused, configuration, recorded
  bool holds = false;            // renewal, recorded; configuration: the sender leads
  Stamp configuration{};         // of the sender; none where the list is fixed
  std::uint64_t table = 0;       // fingerprint of the sender's table of incarnations
  std::vector<Seat> seats{};     // configuration
  IncarnationTable entries{};    // recover, recorded

  friend bool operator==(const Note&, const Note&) = default;
};

// All notes sent by kind: those of the paper by their own names, then the others.
inline constexpr std::size_t paper_kinds = Algorithm::kinds.size();
using NoteCounts = std::array<std::uint64_t, paper_kinds + note_kinds>;
std::size_t count_index(const Note& note);               // its place in NoteCounts
std::string_view count_name(std::size_t index);          // "REQUEST", "renewal", ...
std::uint64_t paper_messages(const NoteCounts& counts);  // the sum of those of the paper
std::uint64_t other_messages(const NoteCounts& counts);  // the sum of all others

// Inverse to each other, except that fields which a kind does not have are not sent. Nothing where
// the bytes are cut short, too many, or no note.
std::vector<std::byte> encode(const Note& note);
std::optional<Note> decode_note(std::span<const std::byte> bytes);

}  // namespace conclave::election
