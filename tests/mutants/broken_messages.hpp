// Message systems with mistakes that are easily made, to be rejected by the tests of electleader.
#pragma once

#include <cstdint>

#include "conclave/protocols/population/electleader/dense_messages.hpp"
#include "conclave/protocols/population/electleader/engine/lazy_messages.hpp"

namespace conclave::tests {

namespace el_mutants = protocols::electleader;

// Never notices that a message is held twice.
class OverlooksDoubles : public el_mutants::LazyMessages {
 public:
  using LazyMessages::LazyMessages;
  bool share_one(std::uint32_t, std::uint32_t) { return false; }
};

// Gives the larger IDs to the responder.
class BalancesTheOtherWay : public el_mutants::LazyMessages {
 public:
  using LazyMessages::LazyMessages;
  void balance(std::uint32_t u, std::uint32_t v) { LazyMessages::balance(v, u); }
};

// A new signature does not reach the messages that its agent holds itself.
class NeverRefreshes : public el_mutants::DenseMessages {
 public:
  using DenseMessages::DenseMessages;
  void refresh(std::uint32_t, std::uint64_t) {}
};

}  // namespace conclave::tests
