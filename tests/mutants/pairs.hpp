// Broken schedulers of the complete graph. Each gives `count` meetings in the words of
// PairPipeline, initiator + responder * 2^32, and each must be rejected by the test that accepts
// PairPipeline.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "conclave/base/random.hpp"

namespace conclave::tests::mutants {

using Meetings = std::vector<std::uint64_t>;

inline std::uint64_t meeting(std::uint64_t initiator, std::uint64_t responder) {
  return initiator | responder << 32;
}

// The agent that has this number when all but `left_out` are numbered from 0.
inline std::uint64_t among_others(std::uint64_t number, std::uint64_t left_out) {
  return number < left_out ? number : number + 1;
}

// Two agents, which may be the same.
inline Meetings with_replacement(const StreamName& name, std::uint64_t n, std::size_t count) {
  Stream stream(name);
  Meetings meetings(count);
  for (std::uint64_t& word : meetings) word = meeting(stream.below64(n), stream.below64(n));
  return meetings;
}

// As above, with equal agents moved apart: the pairs (i, i + 1) come twice as often.
inline Meetings moved_apart(const StreamName& name, std::uint64_t n, std::size_t count) {
  Meetings meetings = with_replacement(name, n, count);
  for (std::uint64_t& word : meetings) {
    const std::uint64_t initiator = word & 0xffffffffu;
    if (word >> 32 == initiator) word = meeting(initiator, (initiator + 1) % n);
  }
  return meetings;
}

// Half a word modulo n: the first 2^32 mod n agents meet more often than the others.
inline Meetings by_modulo(const StreamName& name, std::uint64_t n, std::size_t count) {
  Stream stream(name);
  Meetings meetings(count);
  for (std::uint64_t& word : meetings) {
    const std::uint64_t random = stream.word();
    const std::uint64_t initiator = (random >> 32) % n;
    word = meeting(initiator, among_others((random & 0xffffffffu) % (n - 1), initiator));
  }
  return meetings;
}

// Any two agents, but the smaller one always initiates.
inline Meetings unordered(const StreamName& name, std::uint64_t n, std::size_t count) {
  Stream stream(name);
  Meetings meetings(count);
  for (std::uint64_t& word : meetings) {
    const std::uint64_t one = stream.below64(n);
    const std::uint64_t other = among_others(stream.below64(n - 1), one);
    word = meeting(std::min(one, other), std::max(one, other));
  }
  return meetings;
}

// Initiators and responders from two streams that have the same name.
inline Meetings shared_stream(const StreamName& name, std::uint64_t n, std::size_t count) {
  Stream initiators(name);
  Stream responders(name);
  Meetings meetings(count);
  for (std::uint64_t& word : meetings) {
    const std::uint64_t initiator = initiators.below64(n);
    word = meeting(initiator, among_others(responders.below64(n - 1), initiator));
  }
  return meetings;
}

// Every pair alone is uniform, but each responder initiates the next meeting.
inline Meetings walking(const StreamName& name, std::uint64_t n, std::size_t count) {
  Stream stream(name);
  Meetings meetings(count);
  std::uint64_t initiator = stream.below64(n);
  for (std::uint64_t& word : meetings) {
    const std::uint64_t responder = among_others(stream.below64(n - 1), initiator);
    word = meeting(initiator, responder);
    initiator = responder;
  }
  return meetings;
}

}  // namespace conclave::tests::mutants
