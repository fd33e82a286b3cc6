// The adversary that somebody plays by hand: the order in which the first messages arrive is
// written down, one edge after the other. `--delay order:3-5/2-0/3-5` lets the first message from
// node 3 to node 5 arrive, then the first from 2 to 0, then the second from 3 to 5; all other
// messages take a whole unit, and so arrive later. On an edge no message overtakes another, so the
// q-th mention of an edge means the q-th message on it, and each delay can be decided when the
// message is sent.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "conclave/base/error.hpp"
#include "conclave/network/adversary.hpp"

namespace conclave::network {

class ChosenOrder final : public DelayAdversary {
 public:
  static constexpr std::string_view prefix = "order:";
  // All choices lie within one unit, so that messages that were not chosen can wait for them.
  static constexpr std::size_t most_choices = 1000;
  static_assert(most_choices * soon < unit);

  // From the words after the prefix; empty: no message is chosen. Throws Error for words that are
  // no edges between nodes 0 ... n - 1, and for too many.
  ChosenOrder(std::string_view words, NodeCount n) {
    Ticks turn = 0;
    while (!words.empty()) {
      const std::string_view word = words.substr(0, words.find('/'));
      words.remove_prefix(std::min(words.size(), word.size() + 1));
      turns_[edge_of(word, n)].push_back(turn += soon);
    }
    if (turn > most_choices * soon) {
      throw Error("--delay order: at most " + std::to_string(most_choices) +
                  " messages can be chosen");
    }
  }

  // A chosen message arrives at its turn; one that is sent after its turn arrives at once.
  Ticks delay(const Parcel& parcel, const NetworkView& view) override {
    const auto turns = turns_.find({parcel.from, parcel.to});
    if (turns == turns_.end() || turns->second.empty()) return unit;
    const Ticks turn = turns->second.front();
    turns->second.erase(turns->second.begin());
    return turn > view.now() ? std::min(turn - view.now(), unit) : 1;
  }

 private:
  using Edge = std::pair<NodeIndex, NodeIndex>;

  static Edge edge_of(std::string_view word, NodeCount n) {
    const std::size_t dash = std::min(word.find('-'), word.size());
    const auto from = node_of(word.substr(0, dash), n);
    const auto to = node_of(word.substr(std::min(dash + 1, word.size())), n);
    if (from && to && from != to) return {*from, *to};
    throw Error("--delay order: '" + std::string(word) +
                "' is no edge; write FROM-TO/FROM-TO/... with nodes 0 ... " +
                std::to_string(n - 1));
  }

  static std::optional<NodeIndex> node_of(std::string_view digits, NodeCount n) {
    NodeIndex node = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, problem] = std::from_chars(digits.data(), end, node);
    if (problem != std::errc() || stop != end || node >= n) return std::nullopt;
    return node;
  }

  std::map<Edge, std::vector<Ticks>> turns_;  // of the messages still to be sent on each edge
};

}  // namespace conclave::network
