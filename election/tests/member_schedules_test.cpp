// All schedules of small clusters, on the very code of `Member`: what is promised by the rule of
// leases (terms, promises, recovery, changes of the list) is checked in every configuration that
// can be reached within bounds of ticks, claims and faults, and not only in those that seeds lead
// to. Notes are never used up: what was sent may arrive at any time, again, in any order, or never.
// Any member may stand at any time, and wins the paper's election at once; more than that algorithm
// allows, so nothing here rests on it. Clocks are counted in ticks, in which each advances by a
// fixed rate. Members are compared field by field, after those fields have been set back that only
// count or set the pace (`MemberState::simplify`).
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "conclave/schedules/search.hpp"
#include "election/member.hpp"
#include "election/mutants.hpp"

namespace conclave::election {

// All fields of a member as bytes. The lists of names are checked by the compiler: a field that is
// added to a member is missing here.
struct MemberState {
  // Fields that are counted for people, and those that only set the pace: how long a member waits
  // for others, whom it suspects, what its coins show. Moments that are only compared with the
  // present are all the same when they are past.
  static void simplify(Member& m, Instant now) {
    static const Stream coins({.seed = 1});
    m.coins_ = coins;
    m.draws_ = {};
    m.sent_ = {};
    m.elections_ = m.replaced_ = m.disbelieved_ = 0;
    m.failures_ = 0;
    m.suspected_ = 0;
    m.sync_ = m.round_trip_ = m.now_ = {};
    const auto drop_past = [now](Instant& time) {
      if (time <= now) time = {};
    };
    for (Member::Peer& peer : m.peers_) {
      peer.heard = peer.asked = {};
      peer.is_suspected = peer.is_probed = false;
      if (!peer.owes()) peer.phase = 0;
      drop_past(peer.supports_until);
    }
    if (m.debtors_ == 0) m.check_at_ = Instant::max();
    if (m.abstains_) m.node_ = m.algorithm_.asleep(m.options_.self + 1);
    if (!m.is_claimant()) m.renewed_at_ = m.step_down_at_ = {};
    if (!m.is_confirmed_) m.lease_until_ = {};
    for (Instant* time : {&m.recover_at_, &m.recall_at_, &m.claims_after_, &m.heard_leader_until_,
                          &m.step_down_at_, &m.lease_until_, &m.kept_until_, &m.resign_at_,
                          &m.promised_until_, &m.patience_until_, &m.election_until_}) {
      drop_past(*time);
    }
  }

  static bool is_candidate(const Member& m) {
    return !m.abstains_ && m.node_.standing == Standing::candidate;
  }

  static std::string bytes_of(const Member& m) {
    const auto& [options, config, table, fingerprint, is_waiting, is_woken, is_outdated, replaced,
                 recover_at, claims_after, algorithm, coins, draws, term, newest, confirmed,
                 disbelieved, node, abstains, peers, silent, suspected, debtors, failures,
                 elections, leader, heard_leader_until, claimed_at, renewed_at, step_down_at,
                 is_confirmed, led, lease_until, kept_until, retired, heir, resign_at, prepared_at,
                 departed, wanted, learner_heard, parting, is_dismissed, nonce, recall_at, rumours,
                 promise, bound_to, bound_incarnation, promised_until, patience_until,
                 election_until, check_at, sync, round_trip, outgoing, sent, now] = m;
    // The algorithm has the same parameters always, and the number of seats. Coins and their draws
    // have been set back, as have counters.
    static_cast<void>(std::tie(algorithm, coins, draws, outgoing, sent));
    std::string bytes;
    put_all(bytes, options, config, table, fingerprint, is_waiting, is_woken, is_outdated, replaced,
            recover_at, claims_after, term, newest, confirmed, disbelieved, node, abstains, peers,
            silent, suspected, debtors, failures, elections, leader, heard_leader_until, claimed_at,
            renewed_at, step_down_at, is_confirmed, led, lease_until, kept_until, retired, heir,
            resign_at, prepared_at, departed, wanted, learner_heard, parting, is_dismissed, nonce,
            recall_at, rumours, promise, bound_to, bound_incarnation, promised_until,
            patience_until, election_until, check_at, sync, round_trip, now);
    return bytes;
  }

  static std::string bytes_of(const Note& note) {
    std::string bytes;
    put(bytes, note);
    return bytes;
  }

 private:
  template <class T>
    requires std::is_integral_v<T> || std::is_enum_v<T>
  static void put(std::string& bytes, T value) {
    const auto number = static_cast<std::uint64_t>(value);
    if (number < 0xff) {
      bytes += static_cast<char>(number);
    } else {
      bytes += '\xff';
      bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
    }
  }
  template <class Rep, class Period>
  static void put(std::string& bytes, const std::chrono::duration<Rep, Period>& time) {
    put(bytes, time.count());
  }
  template <class T>
  static void put(std::string& bytes, const std::optional<T>& value) {
    put(bytes, value.has_value());
    if (value) put(bytes, *value);
  }
  template <class T>
  static void put(std::string& bytes, const std::vector<T>& values) {
    put(bytes, values.size());
    for (const T& value : values) put(bytes, value);
  }
  static void put(std::string& bytes, const std::string& text) {
    put(bytes, text.size());
    bytes += text;
  }
  static void put(std::string& bytes, const Incarnation& incarnation) {
    put_all(bytes, incarnation.number, incarnation.bits);
  }
  static void put(std::string& bytes, const IncarnationTable& table) {
    put(bytes, table.entries().size());
    for (const auto& [member, incarnation] : table.entries()) put_all(bytes, member, incarnation);
  }
  static void put(std::string& bytes, const Stamp& stamp) {
    put_all(bytes, stamp.term, stamp.version, stamp.list);
  }
  static void put(std::string& bytes, const Endpoint& endpoint) {
    put_all(bytes, endpoint.host, endpoint.port);
  }
  static void put(std::string& bytes, const Seat& seat) {
    put_all(bytes, seat.member, seat.endpoint);
  }
  static void put(std::string& bytes, const Configuration& config) {
    const auto& [stamp, seats, next_member] = config;
    put_all(bytes, stamp, seats, next_member);
  }
  static void put(std::string& bytes, const Change& change) {
    put_all(bytes, change.kind, change.member, change.endpoint);
  }
  static void put(std::string& bytes, const Promise& promise) {
    put_all(bytes, promise.term, promise.to, promise.lease);
  }
  // Only those with which a member has been started and that it does not keep elsewhere.
  static void put(std::string& bytes, const MemberOptions& options) {
    put_all(bytes, options.self, options.hints, options.timing.lease, options.has_file,
            options.salt);
  }
  static void put(std::string& bytes, const Algorithm::Node& node) {
    std::apply([&](const auto&... field) { put_all(bytes, node.*field.member...); },
               Algorithm::Node::fields);
  }
  static void put(std::string& bytes, const Algorithm::Message& message) {
    put_all(bytes, message.kind, message.phase, message.id, message.rank);
  }
  static void put(std::string& bytes, const Member::Answer& answer) {
    const auto& [own, promised, takes_part, stamp] = answer;
    put_all(bytes, own, promised, takes_part, stamp);
  }
  static void put(std::string& bytes, const Member::Peer& peer) {
    const auto& [asked, heard, supports_until, spoken, stamp, table, told, answer, phase,
                 owes_answer, owes_verdict, is_probed, is_suspected] = peer;
    put_all(bytes, asked, heard, supports_until, spoken, stamp, table, told, answer, phase,
            owes_answer, owes_verdict, is_probed, is_suspected);
  }
  static void put(std::string& bytes, const Note& note) {
    const auto& [kind, term, message, stamp, promise_ms, leader, next, holds, configuration, table,
                 seats, entries] = note;
    put_all(bytes, kind, term, message, stamp, promise_ms, leader, next, holds, configuration,
            table, seats, entries);
  }
  template <class... T>
  static void put_all(std::string& bytes, const T&... values) {
    (put(bytes, values), ...);
  }
};

namespace testing {
namespace {

using namespace std::chrono_literals;
using schedules::Schedule;
using schedules::SearchResult;

inline constexpr std::size_t most_members = 5;
inline constexpr std::size_t most_slots = most_members + 1;  // the last one is for a twin

// The bounds of the schedules that are walked through.
struct Bounds {
  std::string_view name;
  MemberIndex seats = 3;
  unsigned ticks = 1;
  unsigned claims = 2;          // of members that stand and win
  unsigned renewals = 0;        // and other requests that are repeated; the first is always sent
  unsigned life = 0;            // ticks after that of its sending in which a note arrives
  bool has_refusals = false;    // refusals and rumours arrive too
  unsigned restarts = 0;        // in place, with the newest file
  unsigned short_restarts = 0;  // the same, with half the lease from then on
  unsigned copies = 0;          // a second process of a member, on a copy of its file
  unsigned blanks = 0;          // the same, without a file
  unsigned resignations = 0;
  std::vector<Change> changes{};  // each once at most, in this order, asked of any leader
  bool is_elastic = false;
  bool has_newcomer = false;  // the process of the next member may start
  milliseconds lease{2000};
  milliseconds election{1};
  double drift = 0;
  std::array<milliseconds, most_members> rates{1000ms, 1000ms, 1000ms, 1000ms, 1000ms};
  bool is_led = false;  // from the beginning: the first claim has been made
  unsigned steps = 99;  // of a schedule
};

// Numbers byte strings in the order in which they come.
class Numbers {
 public:
  std::pair<std::uint32_t, bool> of(std::string bytes) {
    const auto [place, is_new] =
        numbers_.try_emplace(std::move(bytes), static_cast<std::uint32_t>(numbers_.size()));
    return {place->second, is_new};
  }
  std::size_t size() const { return numbers_.size(); }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

// A TransitionSystem (schedules/search.hpp). Processes, notes and sets of notes are kept once and
// have numbers; what a process does on an event is worked out once.
class Clusters {
 public:
  static constexpr std::array<std::string_view, 3> properties{
      "never two leases at once", "tokens grow", "nobody has a seat without an answer"};
  enum Property : std::uint32_t { two_leases = 1, old_token = 2, ghost_seat = 4 };

  struct Configuration {
    std::array<std::uint32_t, most_slots> process{};  // 0: none
    std::uint32_t notes = 0;
    std::uint8_t tick = 0;
    std::uint8_t claims = 0;
    std::uint8_t renewals = 0;
    std::uint8_t restarts = 0;
    std::uint8_t short_restarts = 0;
    std::uint8_t twins = 0;       // copies and blanks
    std::uint8_t twin_of = 0xff;  // the member of the twin
    std::uint8_t resignations = 0;
    std::uint8_t changes = 0;
    std::uint8_t token = 0;         // the newest term of a holder of the lease
    std::uint8_t holder = 0xff;     // the slot of its process, if that is there
    std::uint8_t dead_until = 0;    // the tick at which the lease of a process that ended is over,
    std::uint8_t dead_slot = 0xff;  // of which others may have been told
    std::uint8_t broken = 0;        // properties
    std::uint8_t depth = 0;         // steps from the beginning, at least; not encoded

    friend bool operator==(const Configuration&, const Configuration&) = default;
  };

  explicit Clusters(Bounds bounds) : bounds_(std::move(bounds)) {
    processes_.emplace_back();
    states_.of({});
    sets_.emplace_back();
    set_numbers_.of({});
  }

  Configuration beginning() const {
    Configuration first;
    for (MemberIndex each = 0; each < bounds_.seats; ++each) {
      MemberOptions options = options_of(each);
      options.may_have_promised = false;
      first.process[each] = started(options, first);
    }
    if (!bounds_.is_led) return first;
    // Member 0 leads in term 1 by the promises of a majority.
    act(first, {What::wake, 0});
    for (MemberIndex each = 0; each <= bounds_.seats / 2; ++each) {
      const MemberIndex to = (each + 1) % (bounds_.seats / 2 + 1);
      for (const std::uint32_t note : std::vector(sets_[first.notes])) {
        if (notes_[note].to == to) act(first, {What::receive, to, note});
      }
    }
    first.claims = 1;
    judge(first);
    return first;
  }

  void encode(const Configuration& c, std::string& bytes) const {
    const auto put = [&](const auto& value) {
      bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    };
    for (const std::uint32_t process : c.process) put(process);
    put(c.notes);
    for (const std::uint8_t byte :
         {c.tick, c.claims, c.renewals, c.restarts, c.short_restarts, c.twins, c.twin_of,
          c.resignations, c.changes, c.token, c.holder, c.dead_until, c.dead_slot, c.broken}) {
      put(byte);
    }
  }

  std::uint32_t violated(const Configuration& c) const {
    has_found_ = has_found_ || c.broken != 0;
    largest_token_ = std::max(largest_token_, c.token);
    return c.broken;
  }

  void for_each_step(const Configuration& c,
                     const std::function<void(Configuration&&)>& visit) const {
    for_each_event(c, [&](Configuration&& next, const Event&) { visit(std::move(next)); });
  }

  std::vector<std::string> words(const Schedule& schedule) const {
    std::vector<std::string> lines;
    Configuration now = beginning();
    for (const std::uint32_t step : schedule) {
      std::uint32_t number = 0;
      std::optional<Configuration> after;
      for_each_event(now, [&](Configuration&& next, const Event& event) {
        if (number++ != step) return;
        lines.push_back(fmt::format("tick {}: {}", now.tick, describe(event)));
        for (std::size_t slot = 0; slot < most_slots; ++slot) {
          if (next.process[slot] == now.process[slot] || next.process[slot] == 0) continue;
          const Member& m = *processes_[next.process[slot]];
          const MemberView view = m.view();
          lines.back() += fmt::format("; {} has term {}, promised {} to {}{}{}{}",
                                      name_of(slot, next), view.term, m.promise().term,
                                      static_cast<int>(m.promise().to), view.leads ? ", leads" : "",
                                      m.holds_lease(time(next, slot)) ? ", holds the lease" : "",
                                      view.is_waiting ? ", waits" : "");
        }
        after = next;
      });
      now = *after;
    }
    return lines;
  }

  bool has_found() const { return has_found_; }
  unsigned largest_token() const { return largest_token_; }

 private:
  enum class What : std::uint8_t {
    tick,
    pass,
    wake,
    receive,
    resign,
    request,
    restart,
    short_restart,
    copy,
    blank,
    join
  };
  struct Event {
    What what = What::tick;
    std::size_t slot = 0;
    std::uint32_t note = 0;
  };
  struct Letter {
    MemberIndex from = 0;
    MemberIndex to = 0;
    Note note{};
    std::uint8_t tick = 0;  // when it was sent
  };
  struct Outcome {
    std::uint32_t process = 0;
    std::uint32_t sent = 0;  // a set
    bool claims = false;
    bool renews = false;
  };
  using Visit = std::function<void(Configuration&&, const Event&)>;

  static Instant beginning_of_time() { return Instant(std::chrono::hours(1)); }
  MemberIndex member_at(const Configuration& c, std::size_t slot) const {
    return slot + 1 == most_slots ? c.twin_of : static_cast<MemberIndex>(slot);
  }
  Instant time(const Configuration& c, std::size_t slot) const {
    return beginning_of_time() + c.tick * bounds_.rates[member_at(c, slot)];
  }

  MemberOptions options_of(MemberIndex self) const {
    MemberOptions options{.self = self, .n = bounds_.seats};
    if (bounds_.is_elastic) {
      std::vector<Endpoint> founders;
      for (MemberIndex each = 0; each < bounds_.seats; ++each) founders.push_back(address(each));
      options.configuration = founded_by(founders);
      for (MemberIndex each = 0; each < bounds_.seats; ++each) options.hints.push_back(each);
    }
    options.timing = {.lease = bounds_.lease,
                      .renewal = 1ms,
                      .patience = 1ms,
                      .answer = 1ms,
                      .election = bounds_.election,
                      .clock_drift = bounds_.drift};
    options.salt = self + 1;
    return options;
  }
  static Endpoint address(MemberIndex member) {
    return {"m", static_cast<std::uint16_t>(member + 1)};
  }

  std::uint32_t number_of(Member&& member, Instant now) const {
    MemberState::simplify(member, now);
    const auto [number, is_new] = states_.of(MemberState::bytes_of(member));
    if (is_new) processes_.emplace_back(std::move(member));
    return number;
  }

  std::uint32_t started(const MemberOptions& options, const Configuration& c) const {
    const Instant now = beginning_of_time() + c.tick * bounds_.rates[options.self];
    return number_of(Member(options, now), now);
  }

  // The rule does not need the paper's messages before LEADER, whose outcome is taken as any, nor
  // signs of life.
  bool matters(const Note& note) const {
    if (note.kind == NoteKind::algorithm) return note.message.kind == Algorithm::Kind::leader;
    if (note.kind == NoteKind::probe) return false;
    if (!bounds_.has_refusals &&
        (note.kind == NoteKind::refused || note.kind == NoteKind::standing))
      return false;
    return note.kind != NoteKind::alive || bounds_.is_elastic;
  }

  std::uint32_t number_of(const Letter& letter) const {
    std::string bytes = MemberState::bytes_of(letter.note);
    bytes += static_cast<char>(letter.from);
    bytes += static_cast<char>(letter.to);
    bytes += static_cast<char>(letter.tick);
    const auto [number, is_new] = note_numbers_.of(std::move(bytes));
    if (is_new) notes_.push_back(letter);
    return number;
  }

  std::uint32_t set_of(std::vector<std::uint32_t> notes) const {
    std::ranges::sort(notes);
    notes.erase(std::unique(notes.begin(), notes.end()), notes.end());
    std::string bytes(reinterpret_cast<const char*>(notes.data()),
                      notes.size() * sizeof(std::uint32_t));
    const auto [number, is_new] = set_numbers_.of(std::move(bytes));
    if (is_new) sets_.push_back(std::move(notes));
    return number;
  }

  std::uint32_t united(std::uint32_t left, std::uint32_t right) const {
    if (right == 0 || left == right) return left;
    const std::uint64_t key = std::uint64_t{left} << 32 | right;
    const auto [place, is_new] = unions_.try_emplace(key);
    if (is_new) {
      std::vector<std::uint32_t> notes = sets_[left];
      notes.insert(notes.end(), sets_[right].begin(), sets_[right].end());
      place->second = set_of(std::move(notes));
    }
    return place->second;
  }

  std::uint32_t without_old(std::uint32_t set, unsigned tick) const {
    std::vector<std::uint32_t> left;
    for (const std::uint32_t note : sets_[set]) {
      if (notes_[note].tick + bounds_.life >= tick) left.push_back(note);
    }
    return set_of(std::move(left));
  }

  // The process at the slot takes the event, at this tick.
  Outcome outcome(const Configuration& c, const Event& event) const {
    const std::uint32_t before = c.process[event.slot];
    const std::uint64_t key = std::uint64_t{before} << 36 | std::uint64_t{c.tick} << 30 |
                              std::uint64_t{static_cast<std::uint8_t>(event.what)} << 25 |
                              event.note;
    const auto [place, is_new] = outcomes_.try_emplace(key);
    if (!is_new) return place->second;
    Member member = *processes_[before];
    const Term claimed = member.is_claimant() ? member.view().term : 0;
    const Instant now = time(c, event.slot);
    if (event.what == What::pass) member.pass(now);
    if (event.what == What::wake) member.wake(now);
    if (event.what == What::resign) member.resign(now);
    if (event.what == What::request) member.request(now, bounds_.changes[event.note]);
    if (event.what == What::receive) {
      const Letter& letter = notes_[event.note];
      member.receive(now, letter.from, letter.note);
    }
    if (MemberState::is_candidate(member)) {  // wins at once
      for (const Seat& seat : member.configuration().seats) member.lose(now, seat.member);
    }
    Outcome result;
    result.claims = member.is_claimant() && member.view().term != claimed;
    const MemberIndex self = member_at(c, event.slot);
    std::vector<std::uint32_t> sent;
    for (OutgoingNote& each : member.take_outgoing()) {
      const NoteKind kind = each.note.kind;
      result.renews = result.renews || kind == NoteKind::renewal || kind == NoteKind::recover ||
                      kind == NoteKind::recall;
      if (matters(each.note) && each.to < most_members)
        sent.push_back(number_of({self, each.to, each.note, c.tick}));
    }
    result.sent = set_of(std::move(sent));
    result.process = number_of(std::move(member), now);
    outcomes_[key] = result;
    return result;
  }

  void for_each_event(const Configuration& c, const Visit& visit) const {
    if (c.broken != 0) return;
    if (c.depth == bounds_.steps) return;
    for_each_way(c, [&](Configuration&& next, const Event& event) {
      next.depth = static_cast<std::uint8_t>(c.depth + 1);
      visit(std::move(next), event);
    });
  }

  void for_each_way(const Configuration& c, const Visit& visit) const {
    if (c.tick < bounds_.ticks) tick(c, visit);
    for (std::size_t slot = 0; slot < most_slots; ++slot) {
      if (c.process[slot] == 0) continue;
      step(c, {What::pass, slot}, visit);
      step(c, {What::wake, slot}, visit);
    }
    for (const std::uint32_t note : sets_[c.notes]) {
      const MemberIndex to = notes_[note].to;
      if (c.process[to] != 0) step(c, {What::receive, to, note}, visit);
      if (c.twin_of == to) step(c, {What::receive, most_slots - 1, note}, visit);
    }
    for_each_fault(c, visit);
  }

  void for_each_fault(const Configuration& c, const Visit& visit) const {
    for (std::size_t slot = 0; slot < most_slots; ++slot) {
      if (c.process[slot] == 0) continue;
      const Member& member = *processes_[c.process[slot]];
      if (c.restarts < bounds_.restarts) restart(c, slot, false, visit);
      if (c.short_restarts < bounds_.short_restarts) restart(c, slot, true, visit);
      const bool holds = member.holds_lease(time(c, slot));
      if (holds && c.resignations < bounds_.resignations) step(c, {What::resign, slot}, visit);
      if (holds && c.changes < bounds_.changes.size())
        step(c, {What::request, slot, c.changes}, visit);
      const bool may_double = slot + 1 < most_slots && c.twin_of == 0xff;
      if (may_double && c.twins < bounds_.copies) start_twin(c, slot, true, visit);
      if (may_double && c.twins < bounds_.blanks) start_twin(c, slot, false, visit);
    }
    if (bounds_.has_newcomer && c.process[bounds_.seats] == 0) {
      Configuration next = c;
      MemberOptions options = options_of(bounds_.seats);
      options.configuration = {};
      options.is_blank = true;
      next.process[bounds_.seats] = started(options, next);
      ask(next, bounds_.seats);
      visit(std::move(next), {What::join, bounds_.seats});
    }
  }

  void tick(const Configuration& c, const Visit& visit) const {
    Configuration next = c;
    ++next.tick;
    if (next.dead_until <= next.tick) next.dead_until = 0, next.dead_slot = 0xff;
    next.notes = without_old(c.notes, next.tick);
    for (std::size_t slot = 0; slot < most_slots; ++slot) {
      if (c.process[slot] != 0) next.process[slot] = outcome(next, {What::tick, slot}).process;
    }
    judge(next);
    visit(std::move(next), {});
  }

  void step(const Configuration& c, const Event& event, const Visit& visit) const {
    const Outcome result = outcome(c, event);
    Configuration next = c;
    next.process[event.slot] = result.process;
    next.notes = united(c.notes, result.sent);
    if (next == c) return;
    const bool stands = event.what == What::wake || event.what == What::pass;
    if (stands && result.claims) {
      // All members are alike: the first to stand, or to have a twin, is member 0.
      const bool is_first = c.claims == 0 && c.twins == 0;
      if (c.claims == bounds_.claims || (is_first && event.slot != 0)) return;
      ++next.claims;
    }
    if (event.what == What::pass && result.renews && !result.claims) {
      if (c.renewals == bounds_.renewals) return;
      ++next.renewals;
    }
    if (event.what == What::resign) ++next.resignations;
    if (event.what == What::request) ++next.changes;
    judge(next);
    visit(std::move(next), event);
  }

  // A process that waits asks the others when it starts.
  void ask(Configuration& next, std::size_t slot) const { act(next, {What::pass, slot}); }

  void act(Configuration& next, const Event& event) const {
    const Outcome result = outcome(next, event);
    next.process[event.slot] = result.process;
    next.notes = united(next.notes, result.sent);
  }

  // The process ends, and another one starts with the newest file, which lies in its place.
  void restart(const Configuration& c, std::size_t slot, bool is_short, const Visit& visit) const {
    const Member& before = *processes_[c.process[slot]];
    if (!before.has_file()) return;
    Configuration next = c;
    end(next, slot, *this);
    MemberOptions options = options_from(before, member_at(c, slot));
    if (is_short) {
      options.timing.lease /= 2;
      ++next.short_restarts;
    } else {
      ++next.restarts;
    }
    next.process[slot] = started(options, next);
    if (next.holder == slot) next.holder = 0xff;
    visit(std::move(next), {is_short ? What::short_restart : What::restart, slot});
  }

  // Others may have been told of its lease, which counts until it is over.
  static void end(Configuration& next, std::size_t slot, const Clusters& system) {
    const Member& member = *system.processes_[next.process[slot]];
    Configuration later = next;
    while (later.tick <= system.bounds_.ticks && member.holds_lease(system.time(later, slot)))
      ++later.tick;
    if (later.tick <= std::max(next.tick, next.dead_until)) return;
    next.dead_until = later.tick;
    next.dead_slot = static_cast<std::uint8_t>(slot);
  }

  MemberOptions options_from(const Member& before, MemberIndex self) const {
    MemberOptions options = options_of(self);
    if (bounds_.is_elastic) options.configuration = before.configuration();
    options.table = before.table();
    options.remembered = before.promise();
    return options;
  }

  void start_twin(const Configuration& c, std::size_t slot, bool is_copy,
                  const Visit& visit) const {
    const Member& before = *processes_[c.process[slot]];
    if (is_copy && !before.has_file()) return;
    if (c.claims == 0 && slot != 0) return;
    Configuration next = c;
    const auto self = static_cast<MemberIndex>(slot);
    MemberOptions options = is_copy ? options_from(before, self) : options_of(self);
    options.recovers = true;
    options.has_file = is_copy;
    options.salt = most_members + 1;
    if (!is_copy && bounds_.is_elastic) {
      options.configuration = {};
      options.is_blank = true;
    }
    ++next.twins;
    next.twin_of = static_cast<std::uint8_t>(self);
    next.process[most_slots - 1] = started(options, next);
    ask(next, most_slots - 1);
    visit(std::move(next), {is_copy ? What::copy : What::blank, slot});
  }

  void judge(Configuration& c) const {
    unsigned holders = 0;
    bool is_succeeded = false;  // by a process of the same member
    for (std::size_t slot = 0; slot < most_slots; ++slot) {
      if (c.process[slot] == 0) continue;
      const Member& member = *processes_[c.process[slot]];
      const bool has_ghost =
          c.process[bounds_.seats] == 0 && member.configuration().has(bounds_.seats);
      if (has_ghost) c.broken |= ghost_seat;
      if (!member.holds_lease(time(c, slot))) continue;
      ++holders;
      is_succeeded = is_succeeded || c.dead_slot == slot;
      const auto term = static_cast<std::uint8_t>(member.view().term);
      if (term < c.token || (term == c.token && c.holder != slot)) c.broken |= old_token;
      if (term > c.token) c.holder = static_cast<std::uint8_t>(slot);
      c.token = std::max(c.token, term);
    }
    if (c.dead_until > c.tick && !is_succeeded) ++holders;
    if (holders > 1) c.broken |= two_leases;
  }

  std::string name_of(std::size_t slot, const Configuration& c) const {
    if (slot + 1 == most_slots) return fmt::format("the twin of member {}", c.twin_of);
    return fmt::format("member {}", slot);
  }

  std::string describe(const Event& event) const {
    const std::string who =
        event.slot + 1 == most_slots ? "the twin" : fmt::format("member {}", event.slot);
    switch (event.what) {
      case What::tick:
        return "a tick";
      case What::pass:
        return who + " looks at its clock";
      case What::wake:
        return who + " stands";
      case What::receive: {
        const Letter& letter = notes_[event.note];
        return fmt::format("{} gets {} of term {} from {}", who,
                           count_name(count_index(letter.note)), letter.note.term, letter.from);
      }
      case What::resign:
        return who + " resigns";
      case What::request:
        return fmt::format("{} is asked for change {}", who, event.note);
      case What::restart:
        return who + " is killed and starts";
      case What::short_restart:
        return who + " is killed and starts with half a lease";
      case What::copy:
        return "a second process starts on a copy of the file of " + who;
      case What::blank:
        return "a second process starts without the file of " + who;
      case What::join:
        return "the process of the new " + who + " starts";
    }
    return {};
  }

  Bounds bounds_;
  mutable Numbers states_;
  mutable std::deque<std::optional<Member>> processes_;
  mutable Numbers note_numbers_;
  mutable std::deque<Letter> notes_;
  mutable Numbers set_numbers_;
  mutable std::deque<std::vector<std::uint32_t>> sets_;
  mutable std::unordered_map<std::uint64_t, std::uint32_t> unions_;
  mutable std::unordered_map<std::uint64_t, Outcome> outcomes_;
  mutable bool has_found_ = false;
  mutable std::uint8_t largest_token_ = 0;
};
static_assert(schedules::TransitionSystem<Clusters>);

struct Trial {
  SearchResult result{};
  std::string story{};  // a shortest schedule that breaks a property
  unsigned largest_token = 0;
};

// With a mutant, ends soon after the first property is broken.
Trial explore(const Bounds& bounds, std::size_t mutant) {
  chosen_mutant = mutant;
  const Clusters system(bounds);
  const auto goes_on = [&](std::string_view, std::uint64_t, std::uint64_t) {
    return !system.has_found();
  };
  Trial trial{schedules::search(system, {.configurations = 4'000'000, .progress = goes_on})};
  trial.largest_token = system.largest_token();
  for (std::size_t i = 0; i < Clusters::properties.size() && trial.story.empty(); ++i) {
    const schedules::Verdict& verdict = trial.result.verdicts[i];
    if (verdict.holds) continue;
    trial.story = fmt::format("{}: not after\n", Clusters::properties[i]);
    for (const std::string& line : system.words(verdict.counterexample))
      trial.story += "  " + line + "\n";
  }
  chosen_mutant = no_mutant;
  return trial;
}

std::size_t mutant_that(std::string_view name) {
  for (std::size_t i = 0; i < mutants.size(); ++i) {
    if (mutants[i].name == name) return i;
  }
  return no_mutant;
}

struct Scene {
  Bounds bounds{};
  std::vector<std::string_view> mistakes{};  // that are found within these bounds
};

constexpr std::array slow_and_fast{2000ms, 4000ms, 4000ms, 3000ms, 3000ms};
const Change remove_1{Change::Kind::remove, 1, {}};
const Change remove_2{Change::Kind::remove, 2, {}};
const Change add_3{Change::Kind::add, 3, {"m", 4}};

const std::vector<Scene> scenes{
    {{.name = "two claims and a renewal", .ticks = 3, .claims = 2, .renewals = 1, .life = 1},
     {"counts a renewed lease from the answer", "counts the first lease from the answer",
      "promises twice in a term", "breaks a running promise", "ends a promise early",
      "leads beyond its lease"}},
    {{.name = "three claims", .ticks = 3, .claims = 3, .life = 1}, {}},
    {{.name = "the same with refusals, two claims",
      .ticks = 2,
      .claims = 2,
      .renewals = 1,
      .has_refusals = true},
     {}},
    {{.name = "clocks at two thirds and four thirds",
      .ticks = 3,
      .claims = 2,
      .life = 1,
      .lease = 8000ms,
      .drift = 1.0 / 3,
      .rates = slow_and_fast},
     {"leaves no margin for drift"}},
    {{.name = "two restarts", .ticks = 1, .claims = 2, .restarts = 2},
     {"forgets its promise in a restart", "promises at once after a restart",
      "claims without a promise of its own"}},
    {{.name = "a restart and a renewal",
      .ticks = 2,
      .claims = 2,
      .renewals = 1,
      .restarts = 1,
      .election = 20000ms},
     {"promises at once after a restart"}},
    {{.name = "a restart with half the lease", .ticks = 2, .claims = 2, .short_restarts = 1},
     {"waits by its own lease after a restart, not by that of its promise"}},
    {{.name = "a handover", .ticks = 2, .claims = 2, .resignations = 1, .lease = 1000ms},
     {"leads on in the next term"}},
    {{.name = "a handover while the lease is young",
      .ticks = 1,
      .claims = 2,
      .resignations = 1,
      .is_led = true},
     {"goes on acting when it has resigned"}},
    {{.name = "a lost file, 11 steps",
      .ticks = 2,
      .claims = 2,
      .blanks = 1,
      .lease = 1000ms,
      .is_led = true,
      .steps = 11},
     {"promises while it waits", "recovers from one other member less"}},
    {{.name = "a copied file, 10 steps",
      .ticks = 2,
      .claims = 3,
      .copies = 1,
      .lease = 1000ms,
      .is_led = true,
      .steps = 10},
     {"promises while it waits"}},
    {{.name = "two removals",
      .ticks = 1,
      .claims = 2,
      .renewals = 1,
      .changes = {remove_2, remove_1},
      .is_elastic = true,
      .lease = 1000ms,
      .is_led = true},
     {"takes half for a majority, which is that of the list before it grew",
      "changes the list while the last change is not settled",
      "settles a change with less than a majority"}},
    {{.name = "an addition, 10 steps",
      .ticks = 1,
      .claims = 2,
      .changes = {add_3},
      .is_elastic = true,
      .has_newcomer = true,
      .lease = 1000ms,
      .is_led = true,
      .steps = 10},
     {"seats a member that has not answered"}}};

TEST(MemberSchedules, KeepTheRuleOfLeases) {
  for (const auto& [bounds, mistakes] : scenes) {
    const Trial trial = explore(bounds, no_mutant);
    EXPECT_EQ(trial.story, "") << bounds.name;
    EXPECT_TRUE(trial.result.is_complete) << bounds.name;
    EXPECT_GE(trial.largest_token, 2u) << bounds.name;  // leaders in turn are reached
    fmt::print("{:40} {:8} configurations, {:8} steps between them\n", bounds.name,
               trial.result.configurations, trial.result.transitions);
  }
}

TEST(MemberSchedules, ShowPlantedMistakes) {
  for (const auto& [bounds, mistakes] : scenes) {
    for (const std::string_view mistake : mistakes) {
      const std::size_t mutant = mutant_that(mistake);
      ASSERT_NE(mutant, no_mutant) << mistake;
      const Trial trial = explore(bounds, mutant);
      EXPECT_NE(trial.story, "") << bounds.name << ": " << mistake;
      fmt::print("{:66} {:2} steps\n", mistake, std::ranges::count(trial.story, '\n') - 1);
    }
  }
}

}  // namespace
}  // namespace testing
}  // namespace conclave::election
