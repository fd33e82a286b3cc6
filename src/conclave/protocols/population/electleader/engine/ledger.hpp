// A part of LazyMessages: the messages of one governor rank in one room: who holds which, and what
// the governors have observed. It is brought up to date from the room's log, event by event; a
// block of messages that has not been broken up costs O(1).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "conclave/protocols/population/electleader/messages.hpp"

namespace conclave::protocols::electleader {

// An event in a room. Agents are named by the places (slots) they have in it.
struct Event {
  enum Kind : std::uint32_t { enter, leave, refresh, meet };
  std::uint32_t kind : 2;
  std::uint32_t slot : 30;  // who; of two that meet, the initiator
  std::uint32_t other;      // enter, refresh: index in the log; meet: slot of the responder
};
static_assert(sizeof(Event) == 8);

struct Entrance {
  std::uint32_t position;  // of the agent's rank
  Beginning beginning;
};

// The events of a room since the log began, with what they refer to.
struct Log {
  std::vector<Event> events;
  std::vector<Entrance> entrances;
  std::vector<std::uint64_t> signatures;
};

// Messages of one governor held by one agent.
struct Pile {
  enum class Shape : std::uint8_t {
    empty,     // of a slot without agent
    promised,  // as the beginning of an entrance says, not yet written out
    whole,     // a block, all with the same content
    loose,     // runs of equal content, contents ascending, IDs ascending in each run
  };
  struct Run {
    std::uint64_t content;
    std::uint32_t end;  // in `ids`; it begins where the run before it ends
  };

  Shape shape = Shape::empty;
  std::uint32_t number = 0;   // promised: of the entrance; whole: of the block
  std::uint64_t content = 1;  // whole
  std::vector<Run> runs{};
  std::vector<std::uint32_t> ids{};
};

// Memory that all ledgers share while they work.
struct Scratch {
  std::vector<bool> marked;
  Pile initiator;
  Pile responder;
};

// The observations of one governor: at first as its beginning says, later its own signatures.
class Observations {
 public:
  // `space` is that of the governor's group.
  Observations(const Beginning& beginning, const MessageSpace& space) : ids_(space.ids()) {
    if (beginning.kind != Beginning::Kind::clean) first_ = beginning.observations(space);
  }

  // The content that the message of this ID must have.
  std::uint64_t at(std::uint32_t id) const {
    if (written_.empty() || written_[id] == 0) return first_.empty() ? 1 : first_[id];
    return signatures_[written_[id] - 1];
  }

  // `write` refers to this signature from now on.
  void begin_signature(std::uint64_t signature) { signatures_.push_back(signature); }

  // The last signature begun is seen in all these messages.
  void write(std::span<const std::uint32_t> ids) {
    if (written_.empty()) written_.resize(ids_);
    for (const std::uint32_t id : ids)
      written_[id] = static_cast<std::uint32_t>(signatures_.size());
  }

 private:
  std::uint32_t ids_;
  std::vector<std::uint64_t> first_;  // empty: all 1
  std::vector<std::uint64_t> signatures_;
  std::vector<std::uint32_t> written_;  // by ID: number of the signature, from 1; empty: none
};

class Ledger {
 public:
  // The messages of one governor rank, at this position of the group; an empty room.
  Ledger(const MessageSpace& space, std::uint32_t governor) : space_(space), position_(governor) {}

  // Carries out all events of the log that are new.
  void catch_up(const Log& log, Scratch& scratch) {
    for (; done_ < log.events.size(); ++done_) apply(log, log.events[done_], scratch);
  }

  // The log begins anew after this.
  void restart_log() { done_ = 0; }

  bool share_one(const Log& log, std::uint32_t u, std::uint32_t v, Scratch& scratch) {
    Pile& a = piles_[u];
    Pile& b = piles_[v];
    const std::uint32_t block_a = whole_block(log, a);
    const std::uint32_t block_b = whole_block(log, b);
    if (block_a != Beginning::none && block_b != Beginning::none) return block_a == block_b;
    loosen(log, a);
    loosen(log, b);
    return have_common_id(a.ids, b.ids, scratch.marked);
  }

  // A message that `holder` has is not as the governor in this slot has observed it.
  bool contradict(const Log& log, std::uint32_t slot, std::uint32_t holder) {
    const Observations& observed = find_governor(slot)->observations;
    bool found = false;
    visit(log, piles_[holder],
          [&](std::uint32_t id, std::uint64_t content) { found |= observed.at(id) != content; });
    return found;
  }

  std::vector<Message> held(const Log& log, std::uint32_t slot) {
    std::vector<Message> all;
    visit(log, piles_[slot], [&](std::uint32_t id, std::uint64_t content) {
      all.push_back({id, content});
    });
    std::ranges::sort(all, {}, &Message::id);
    return all;
  }

  std::vector<std::uint64_t> observations(std::uint32_t slot) {
    std::vector<std::uint64_t> all(space_.ids());
    const Governor& governor = *find_governor(slot);
    for (std::uint32_t id = 0; id < all.size(); ++id) all[id] = governor.observations.at(id);
    return all;
  }

 private:
  struct Governor {
    std::uint32_t slot;
    std::uint64_t signature;
    Observations observations;
  };

  void apply(const Log& log, const Event& event, Scratch& scratch) {
    switch (event.kind) {
      case Event::enter:
        return enter(log, event.slot, event.other);
      case Event::leave:
        piles_[event.slot] = {};
        std::erase_if(governors_, [&](const Governor& g) { return g.slot == event.slot; });
        return;
      case Event::refresh:
        return refresh(log, event.slot, log.signatures[event.other]);
      default:
        update(log, event.slot, event.other);
        update(log, event.other, event.slot);
        balance(log, event.slot, event.other, scratch);
    }
  }

  void enter(const Log& log, std::uint32_t slot, std::uint32_t number) {
    const auto& [position, beginning] = log.entrances[number];
    if (slot >= piles_.size()) piles_.resize(slot + 1);
    if (beginning.kind == Beginning::Kind::clean && beginning.wrong != position_) {
      piles_[slot] = {.shape = Pile::Shape::whole, .number = beginning.block};
    } else {
      piles_[slot] = {.shape = Pile::Shape::promised, .number = number};
    }
    if (position != position_) return;
    governors_.push_back({slot, beginning.signature, Observations(beginning, space_)});
    governors_.back().observations.begin_signature(beginning.signature);
  }

  // Protocol 13, lines 5-8.
  void refresh(const Log& log, std::uint32_t slot, std::uint64_t signature) {
    Governor* const governor = find_governor(slot);
    if (governor == nullptr) return;
    governor->signature = signature;
    governor->observations.begin_signature(signature);
    rewrite(log, *governor, slot);
  }

  // Protocol 13, lines 9-12, if the agent in `slot` governs.
  void update(const Log& log, std::uint32_t slot, std::uint32_t holder) {
    Governor* const governor = find_governor(slot);
    if (governor != nullptr) rewrite(log, *governor, holder);
  }

  // Gives what `holder` has the governor's signature.
  void rewrite(const Log& log, Governor& governor, std::uint32_t holder) {
    Pile& pile = piles_[holder];
    const std::uint32_t block = whole_block(log, pile);
    if (block != Beginning::none) {
      pile = {.shape = Pile::Shape::whole, .number = block, .content = governor.signature};
      governor.observations.write(ids_of_block(block));
      return;
    }
    loosen(log, pile);
    std::ranges::sort(pile.ids);
    pile.runs.assign(1, {governor.signature, static_cast<std::uint32_t>(pile.ids.size())});
    governor.observations.write(pile.ids);
  }

  // Protocol 14 for this rank: u and v have equally many messages, so that neither has more cells
  // than the other when the rank begins (erratum 37).
  void balance(const Log& log, std::uint32_t u, std::uint32_t v, Scratch& scratch) {
    Pile& a = piles_[u];
    Pile& b = piles_[v];
    if (a.shape == Pile::Shape::whole && b.shape == Pile::Shape::whole && a.content == b.content) {
      if (a.number < b.number) std::swap(a.number, b.number);  // the smaller IDs go to v
      return;
    }
    loosen(log, a);
    loosen(log, b);
    split_runs(a, b, scratch.initiator, scratch.responder);
    std::swap(a, scratch.initiator);
    std::swap(b, scratch.responder);
  }

  static void split_runs(const Pile& a, const Pile& b, Pile& to_a, Pile& to_b) {
    for (Pile* pile : {&to_a, &to_b}) {
      pile->shape = Pile::Shape::loose;
      pile->runs.clear();
      pile->ids.clear();
      pile->ids.reserve(a.ids.size());
    }
    std::size_t run_a = 0;
    std::size_t run_b = 0;
    while (run_a < a.runs.size() || run_b < b.runs.size()) {
      const bool in_a = run_b == b.runs.size() ||
                        (run_a < a.runs.size() && a.runs[run_a].content <= b.runs[run_b].content);
      const std::uint64_t content = in_a ? a.runs[run_a].content : b.runs[run_b].content;
      const auto from_a = ids_with(a, run_a, content);
      const auto from_b = ids_with(b, run_b, content);
      const bool a_gets_floor = to_a.ids.size() > to_b.ids.size();
      Pile& lower = a_gets_floor ? to_a : to_b;
      Pile& upper = a_gets_floor ? to_b : to_a;
      split(from_a, from_b, lower.ids, upper.ids);
      close_run(lower, content);
      close_run(upper, content);
    }
  }

  // The IDs of the next run if it has this content, which is then behind us.
  static std::span<const std::uint32_t> ids_with(const Pile& pile, std::size_t& run,
                                                 std::uint64_t content) {
    if (run == pile.runs.size() || pile.runs[run].content != content) return {};
    const std::uint32_t begin = run == 0 ? 0 : pile.runs[run - 1].end;
    return std::span(pile.ids).subspan(begin, pile.runs[run++].end - begin);
  }

  // The smaller half of both, rounded down, goes to `lower`, the rest to `upper`, in order.
  static void split(std::span<const std::uint32_t> x, std::span<const std::uint32_t> y,
                    std::vector<std::uint32_t>& lower, std::vector<std::uint32_t>& upper) {
    const std::size_t floor = (x.size() + y.size()) / 2;
    std::size_t i = 0;
    std::size_t j = 0;
    while (i + j < x.size() + y.size()) {
      std::vector<std::uint32_t>& target = i + j < floor ? lower : upper;
      const bool from_x = j == y.size() || (i < x.size() && x[i] < y[j]);
      target.push_back(from_x ? x[i++] : y[j++]);
    }
  }

  static void close_run(Pile& pile, std::uint64_t content) {
    const auto end = static_cast<std::uint32_t>(pile.ids.size());
    if (end > (pile.runs.empty() ? 0 : pile.runs.back().end)) pile.runs.push_back({content, end});
  }

  Governor* find_governor(std::uint32_t slot) {
    for (Governor& governor : governors_) {
      if (governor.slot == slot) return &governor;
    }
    return nullptr;
  }

  // The block whose messages the pile consists of, where that is known without looking at each.
  static std::uint32_t whole_block(const Log& log, const Pile& pile) {
    if (pile.shape == Pile::Shape::whole) return pile.number;
    if (pile.shape != Pile::Shape::promised) return Beginning::none;
    const Beginning& beginning = log.entrances[pile.number].beginning;
    return beginning.kind == Beginning::Kind::random ? Beginning::none : beginning.block;
  }

  std::vector<std::uint32_t> ids_of_block(std::uint32_t block) const {
    std::vector<std::uint32_t> ids(space_.block);
    for (std::uint32_t k = 0; k < ids.size(); ++k) ids[k] = block * space_.block + k;
    return ids;
  }

  // Writes the messages of a pile out one by one.
  void loosen(const Log& log, Pile& pile) const {
    if (pile.shape == Pile::Shape::whole) {
      const std::uint64_t content = pile.content;
      pile.ids = ids_of_block(pile.number);
      pile.runs.assign(1, {content, space_.block});
    } else if (pile.shape == Pile::Shape::promised) {
      const auto& [position, beginning] = log.entrances[pile.number];
      std::vector<Message> all = beginning.messages(space_, position_, position);
      std::ranges::stable_sort(all, {}, &Message::content);
      pile.ids.clear();
      pile.runs.clear();
      for (const auto& [id, content] : all) {
        if (pile.runs.empty() || pile.runs.back().content != content) {
          pile.runs.push_back({content, 0});
        }
        pile.ids.push_back(id);
        pile.runs.back().end = static_cast<std::uint32_t>(pile.ids.size());
      }
    }
    pile.shape = Pile::Shape::loose;
  }

  // Calls f with the ID and the content of each message.
  template <class F>
  void visit(const Log& log, Pile& pile, F&& f) const {
    if (pile.shape == Pile::Shape::whole) {
      const std::uint32_t begin = pile.number * space_.block;
      for (std::uint32_t k = 0; k < space_.block; ++k) f(begin + k, pile.content);
      return;
    }
    loosen(log, pile);
    std::uint32_t at = 0;
    for (const Pile::Run& run : pile.runs) {
      for (; at < run.end; ++at) f(pile.ids[at], run.content);
    }
  }

  static bool have_common_id(const std::vector<std::uint32_t>& x,
                             const std::vector<std::uint32_t>& y, std::vector<bool>& marked) {
    bool found = false;
    for (const std::uint32_t id : x) marked[id] = true;
    for (const std::uint32_t id : y) found |= marked[id];
    for (const std::uint32_t id : x) marked[id] = false;
    return found;
  }

  MessageSpace space_;
  std::uint32_t position_;  // of the rank that governs
  std::size_t done_ = 0;    // events of the log carried out
  std::vector<Pile> piles_;
  std::vector<Governor> governors_;
};

}  // namespace conclave::protocols::electleader
