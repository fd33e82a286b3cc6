// An engine inside the protocol, not a part of the algorithm: it stands for the literal arrays of
// DenseMessages, gives the same answers, and computes only what may matter. Nothing in this folder
// follows lines of the paper one by one; the algorithm is in the folder above and asks through
// MessageSystem (messages.hpp). tests/property/electleader_messages_test.cpp drives both side by
// side.
//
// The messages of DetectCollision_r for large groups. Given who meets whom and all signatures, the
// messages of different governors do not influence each other (erratum 37). So each room only logs
// what happens in it, and a rank's ledger is brought up to date from the log when it is needed: at
// every meeting for ranks that might raise an error, for the others never, or once at the end.
//
// A rank cannot raise an error while all its messages in the room are different, at most one agent
// governs it, and contents are as observed. That stays so as long as every agent enters with whole
// blocks in the clean state, no block and no rank for the second time since the room was empty.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "conclave/protocols/population/electleader/agent.hpp"
#include "conclave/protocols/population/electleader/engine/ledger.hpp"
#include "conclave/protocols/population/electleader/messages.hpp"

namespace conclave::protocols::electleader {

// Whether the messages of a room satisfy condition (3) of the safe set.
enum class Verdict : std::uint8_t { consistent, inconsistent, unknown };

// A ledger from its first use on. A copy has a ledger of its own.
class LedgerPlace {
 public:
  LedgerPlace() = default;
  LedgerPlace(LedgerPlace&&) noexcept = default;
  LedgerPlace& operator=(LedgerPlace&&) noexcept = default;
  LedgerPlace(const LedgerPlace& other)
      : ledger_(other.ledger_ ? std::make_unique<Ledger>(*other.ledger_) : nullptr) {}
  LedgerPlace& operator=(const LedgerPlace& other) { return *this = LedgerPlace(other); }
  ~LedgerPlace() = default;

  // The ledger, empty if it is used for the first time: then all of the log is new to it.
  Ledger& use(const MessageSpace& space, std::uint32_t governor) {
    if (!ledger_) ledger_ = std::make_unique<Ledger>(space, governor);
    return *ledger_;
  }

 private:
  std::unique_ptr<Ledger> ledger_;
};

// The verifiers of one group and generation, except those in error.
class Room {
 public:
  // Empty. A log of `longest_log` events is carried out for all ranks and begins anew.
  Room(const MessageSpace& space, std::size_t longest_log)
      : space_(space), longest_log_(longest_log) {}

  std::uint32_t enter(AgentIndex agent, std::uint32_t position, const Beginning& beginning) {
    if (agents_.empty()) begin();
    note_risks(position, beginning);
    const bool is_expected = beginning.is_clean() && beginning.block == position;
    if (!is_expected || governors_[position] > 0) verdict_ = Verdict::unknown;
    ++governors_[position];
    ++inside_;
    const std::uint32_t slot = free_slot();
    agents_[slot] = {agent, position};
    add(Event::enter, slot, static_cast<std::uint32_t>(log_.entrances.size()));
    log_.entrances.push_back({position, beginning});
    return slot;
  }

  void leave(std::uint32_t slot) {
    add(Event::leave, slot, 0);
    --governors_[agents_[slot].position];
    agents_[slot].agent = nobody;
    free_.push_back(slot);
    verdict_ = Verdict::unknown;
    if (--inside_ == 0) *this = Room(space_, longest_log_);
  }

  void refresh(std::uint32_t slot, std::uint64_t signature) {
    add(Event::refresh, slot, static_cast<std::uint32_t>(log_.signatures.size()));
    log_.signatures.push_back(signature);
  }

  void meet(std::uint32_t u, std::uint32_t v, Scratch& scratch) {
    add(Event::meet, u, v);
    if (log_.events.size() >= longest_log_) shorten_log(scratch);
  }

  bool share_one(std::uint32_t u, std::uint32_t v, Scratch& scratch) {
    for (const std::uint32_t governor : risky_) {
      if (ledger(governor, scratch).share_one(log_, u, v, scratch)) return true;
    }
    return false;
  }

  bool contradict(std::uint32_t u, std::uint32_t v, Scratch& scratch) {
    const std::uint32_t governor = agents_[u].position;
    return is_risky_[governor] && ledger(governor, scratch).contradict(log_, u, v);
  }

  Verdict verdict() const { return verdict_; }

  // An inconsistency disappears only when agents leave, and an agent that enters as expected makes
  // no difference, since the absent count as being in that state; so one look is enough.
  template <class M>
  void judge(M& messages) {
    std::vector<AgentIndex> occupant(space_.m, nobody);
    for (const Inside& each : agents_) {
      if (each.agent != nobody) occupant[each.position] = each.agent;
    }
    verdict_ = messages_are_consistent(messages, space_, occupant) ? Verdict::consistent
                                                                   : Verdict::inconsistent;
  }

  std::vector<Message> held(std::uint32_t slot, std::uint32_t governor, Scratch& scratch) {
    return ledger(governor, scratch).held(log_, slot);
  }
  std::vector<std::uint64_t> observations(std::uint32_t slot, Scratch& scratch) {
    return ledger(agents_[slot].position, scratch).observations(slot);
  }

 private:
  struct Inside {
    AgentIndex agent;
    std::uint32_t position;
  };

  void begin() {
    governors_.assign(space_.m, 0);
    has_come_.assign(space_.m, false);
    block_has_come_.assign(space_.m, false);
    is_risky_.assign(space_.m, false);
    ledgers_.resize(space_.m);
  }

  // Which ranks may raise an error from now on.
  void note_risks(std::uint32_t position, const Beginning& beginning) {
    const bool is_whole = beginning.kind == Beginning::Kind::clean;
    if (!is_whole || block_has_come_[beginning.block]) {
      for (std::uint32_t governor = 0; governor < space_.m; ++governor) note_risk(governor);
    }
    if (has_come_[position]) note_risk(position);
    if (beginning.wrong != Beginning::none) note_risk(beginning.wrong);
    block_has_come_[beginning.block] = true;
    has_come_[position] = true;
  }

  void note_risk(std::uint32_t governor) {
    if (is_risky_[governor]) return;
    is_risky_[governor] = true;
    risky_.push_back(governor);
  }

  std::uint32_t free_slot() {
    if (free_.empty()) {
      agents_.push_back({});
      return static_cast<std::uint32_t>(agents_.size() - 1);
    }
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    return slot;
  }

  void add(Event::Kind kind, std::uint32_t slot, std::uint32_t other) {
    log_.events.push_back({.kind = kind & 3u, .slot = slot & 0x3fffffffu, .other = other});
  }

  Ledger& ledger(std::uint32_t governor, Scratch& scratch) {
    Ledger& ledger = ledgers_[governor].use(space_, governor);
    ledger.catch_up(log_, scratch);
    return ledger;
  }

  void shorten_log(Scratch& scratch) {
    for (std::uint32_t governor = 0; governor < space_.m; ++governor) {
      ledger(governor, scratch).restart_log();
    }
    log_.events.clear();
    log_.signatures.clear();
  }

  MessageSpace space_;
  std::size_t longest_log_;
  std::uint32_t inside_ = 0;
  Verdict verdict_ = Verdict::consistent;
  std::vector<Inside> agents_;  // by slot
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> governors_;  // agents inside, by position
  std::vector<bool> has_come_;            // by position, since the room was empty
  std::vector<bool> block_has_come_;
  std::vector<bool> is_risky_;  // by position
  std::vector<std::uint32_t> risky_;
  Log log_;
  std::vector<LedgerPlace> ledgers_;  // by position
};

class LazyMessages {
 public:
  static constexpr bool is_literal = false;
  // A log that has got this long is carried out for all ranks, which takes O(m^2) time per event;
  // reached only in very long runs.
  static constexpr std::size_t usual_log = std::size_t{1} << 20;

  // The groups must outlive it. No agent is in a room.
  LazyMessages(const Groups& groups, AgentIndex n, std::size_t longest_log = usual_log)
      : agents_(n) {
    std::uint32_t most_ids = 0;
    for (std::uint32_t group = 0; group < groups.count(); ++group) {
      const MessageSpace& space = groups.space_of(group);
      for (std::uint32_t g = 0; g < generations; ++g) rooms_.emplace_back(space, longest_log);
      most_ids = std::max(most_ids, space.ids());
    }
    scratch_.marked.resize(most_ids);
    verdicts_[static_cast<std::size_t>(Verdict::consistent)].fill(groups.count());
  }

  // Memory of n agents in groups of size m: the rooms, empty and inhabited; and if some messages
  // matter, one room in which all do, with IDs, contents and observations.
  static std::uint64_t bytes(std::uint64_t n, std::uint64_t m, bool uses_messages) {
    const std::uint64_t groups = n / m + 1;
    return groups * (generations * sizeof(Room) + 512) + 128 * n +
           (uses_messages ? 24 * m * m * m : 0);
  }

  void enter(AgentIndex u, Standing standing, std::uint8_t generation, const Beginning& beginning) {
    const std::uint32_t room = standing.group * generations + generation;
    change(room, [&](Room& entered) {
      agents_[u] = {room, entered.enter(u, standing.position, beginning)};
    });
  }

  void leave(AgentIndex u) {
    change(agents_[u].room, [&](Room& left) { left.leave(slot(u)); });
  }

  bool share_one(AgentIndex u, AgentIndex v) {
    return room(u).share_one(slot(u), slot(v), scratch_);
  }
  bool contradict(AgentIndex u, AgentIndex v) {
    return room(u).contradict(slot(u), slot(v), scratch_);
  }
  void refresh(AgentIndex u, std::uint64_t signature) { room(u).refresh(slot(u), signature); }
  void update(AgentIndex, AgentIndex, std::uint64_t) {}  // part of `balance`
  void balance(AgentIndex u, AgentIndex v) { room(u).meet(slot(u), slot(v), scratch_); }

  bool are_consistent(std::uint8_t generation) {
    for (std::uint32_t room = generation; verdicts(Verdict::unknown, generation) > 0;) {
      if (verdicts(Verdict::inconsistent, generation) > 0) return false;
      if (rooms_[room].verdict() == Verdict::unknown) {
        change(room, [this](Room& judged) { judged.judge(*this); });
      }
      room += generations;
    }
    return verdicts(Verdict::inconsistent, generation) == 0;
  }

  std::vector<Message> held(AgentIndex u, std::uint32_t governor) {
    return room(u).held(slot(u), governor, scratch_);
  }
  std::vector<std::uint64_t> observations(AgentIndex u) {
    return room(u).observations(slot(u), scratch_);
  }

 private:
  struct Place {
    std::uint32_t room = 0;
    std::uint32_t slot = 0;
  };

  // Lets `action` change a room, and keeps the number of rooms by verdict.
  template <class Action>
  void change(std::uint32_t room, Action&& action) {
    --verdicts(rooms_[room].verdict(), room % generations);
    action(rooms_[room]);
    ++verdicts(rooms_[room].verdict(), room % generations);
  }

  std::uint32_t& verdicts(Verdict verdict, std::uint32_t generation) {
    return verdicts_[static_cast<std::size_t>(verdict)][generation];
  }

  Room& room(AgentIndex u) { return rooms_[agents_[u].room]; }
  std::uint32_t slot(AgentIndex u) const { return agents_[u].slot; }

  std::vector<Place> agents_;
  std::vector<Room> rooms_;                                           // by group and generation
  std::array<std::array<std::uint32_t, generations>, 3> verdicts_{};  // rooms by verdict
  Scratch scratch_;
};

static_assert(MessageSystem<LazyMessages>);

}  // namespace conclave::protocols::electleader
