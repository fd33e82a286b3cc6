// A cluster of processes in simulated time, from one seed: messages take random times, FIFO per
// edge, on some edges much longer than on others; processes crash and start again, or are stopped
// and continued; machines lose power in the middle of a store, disks are slow or full, lose what
// members have promised, or spoil it; members come back with another lease; leaders resign; edges
// break and cut groups of members off; clocks drift, many as far as they may; old messages come a
// second time, which is more than the transport allows itself. Where the list of members may
// change, leaders are asked to add and to remove members, also such as never start.
// A member may have twins: more processes of it, on a copy of its file, an older version of it, or
// none, while the first one lives on. Notes to a member reach any of its processes.
// After every step it is checked that no term has two leaders, no moment two holders of the lease,
// not even one of which a visitor was told before its holder died, that tokens grow, that no member
// has a seat before it has answered, and that questions and answers of different terms are kept
// apart (`PaperAudit`). The same seed gives the same run. The file is long because it is one
// simulation, read from top to bottom: plan of the trouble, events, checks.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/random.hpp"
#include "election/member.hpp"
#include "election/promise_file.hpp"

#include "election/tests/support/paper_audit.hpp"
#include "election/tests/support/simulated_process.hpp"
#include "election/tests/support/space_time.hpp"

namespace conclave::election::testing {

using namespace std::chrono_literals;

// Surroundings of members that neglect something.
struct Host {
  bool checks_lists = true;         // of members, against each peer's
  std::int64_t more_drift_ppm = 0;  // of clocks, beyond what members are told
  bool has_sleeping_clock = false;  // that stands still while the machine sleeps (CLOCK_MONOTONIC)
  bool has_wall_clock = false;      // which is set by hand
};

struct Trouble {
  unsigned crashes = 0;
  unsigned cuts = 0;             // a random group is cut off for a while
  unsigned panics = 0;           // a member takes many others for dead which are not
  unsigned pauses = 0;           // a process is stopped for a while
  unsigned coups = 0;            // the leader is stopped or silenced for a while
  unsigned resignations = 0;     // the leader hands over
  unsigned changes = 0;          // the leader is asked to add or to remove a member
  MemberIndex newcomers = 0;     // may be added, at most; with any, the list may change
  bool only_adds = false;        // as long as there are newcomers, and each of them starts
  unsigned twins = 0;            // another process of a member starts beside the one there is
  bool has_copies = false;       // twins on copies of files, of now or of an earlier moment
  bool has_blanks = false;       // twins without a file
  bool always_recovers = false;  // no file is trusted, wherever it lies
  unsigned power_cuts = 0;       // in the middle of a store, or soon after it
  unsigned full_disks = 0;       // for a while: the process ends
  unsigned sleeps = 0;       // a machine is suspended: its timers stand still, its clock does not
  unsigned clock_steps = 0;  // a wall clock is set
  unsigned ambushes = 0;     // more trouble of the kinds above, soon after a member has stored
                             // something, begins to lead or ceases to
  unsigned ambush_odds = 1;  // after one in so many such steps
  std::uint32_t slow_kinds = 0;  // of notes, by bit: they take long
  milliseconds slowest_delay{8000};
  bool notices_cuts = false;     // those that are cut off from each other notice it soon
  milliseconds slowest_sync{0};  // of any disk
  milliseconds lease{3000};
  unsigned turncoats = 0;       // a supporter of a half isolated leader restarts on the other side
  bool loses_files = false;     // one crash in three, and each turncoat
  bool changes_lists = false;   // the first three may be started as a cluster of three
  bool spoils_terms = false;    // of a minority: a crash may leave any term in the file, which is
                                // also that of its list
  bool changes_leases = false;  // with each start
  bool is_new = true;           // the cluster, and members are told so at their first start
  bool has_slow_edges = false;  // a quarter of them, each in one direction
  bool repeats_messages = false;      // one in ten, up to 20 s later
  bool leaves_minority_dead = false;  // otherwise all crashed processes are back in the end
  milliseconds longest_delay{50};
  std::int64_t drift_ppm = 10'000;  // of clocks, at most; members are told so

  bool is_none() const {
    return crashes + cuts + panics + pauses + coups + resignations + turncoats + changes + twins +
                   power_cuts + full_disks + sleeps + clock_steps + slow_kinds ==
               0 &&
           !has_slow_edges && !repeats_messages;
  }
};

// Trouble that has come about.
enum class Fault : std::uint8_t {
  crash,
  cut,
  panic,
  pause,
  sleep,
  clock_step,
  coup,
  isolate,
  resign,
  change,
  twin,
  power_cut,
  full_disk,
  lost_file,
  spoiled_file,
  repeat
};
inline constexpr std::array<const char*, 16> fault_names{"crashes",
                                                         "cuts",
                                                         "false suspicions",
                                                         "pauses",
                                                         "sleeps of machines",
                                                         "steps of wall clocks",
                                                         "leaders struck",
                                                         "leaders half cut off",
                                                         "resignations",
                                                         "changes of the list",
                                                         "second processes",
                                                         "losses of power",
                                                         "full disks",
                                                         "lost files",
                                                         "damaged files",
                                                         "messages delivered twice"};
using FaultCounts = std::array<std::uint64_t, fault_names.size()>;

struct Verdict {
  std::string violation;    // empty: none
  bool has_leader = false;  // in the end one leads, and every live member knows it
  Term term = 0;
  std::uint64_t version = 0;  // of the list, in the end
  std::uint64_t steps = 0;
  std::string scene;            // the processes in the end, one per line, for people
  bool needs_operator = false;  // too few members have kept their files, or run
  FaultCounts faults{};
  std::uint64_t leaders = 0;   // terms that have had one
  std::uint64_t admitted = 0;  // processes that have recovered
  std::uint64_t replaced = 0;  // processes that have ended because another took their place
  NoteCounts sent{};
};

class VirtualCluster {
 public:
  VirtualCluster(MemberIndex n, std::uint64_t seed, const Host& host, const Trouble& trouble)
      : n_(n + trouble.newcomers + trouble.twins),
        members_(n + trouble.newcomers),
        founders_(n),
        seed_(seed),
        host_(host),
        trouble_(trouble),
        coins_({.seed = seed}),
        seats_(n + trouble.newcomers + trouble.twins),
        audit_(n + trouble.newcomers + trouble.twins) {
    const std::size_t edges = std::size_t{n_} * n_;
    arrival_.resize(edges);
    blocked_until_.resize(edges);
    epoch_.resize(edges);
    for (std::size_t i = 0; i < edges; ++i) {
      is_slow_.push_back(trouble.has_slow_edges && coins_.chance(1, 4));
    }
    for (Seat& seat : seats_) {
      seat.rate_ppm = random_rate(trouble.drift_ppm + host.more_drift_ppm);
      seat.offset = Instant(between(0, 1'000'000'000'000));
      seat.self = static_cast<MemberIndex>(&seat - seats_.data());
      seat.disk = SimulatedDisk(seat.self + 1u);
      if (trouble.slowest_sync > 0ms) seat.disk.sync_time = random_time(trouble.slowest_sync);
    }
    found();
  }

  // Draws what happens, if it is to be looked at.
  void record(SpaceTime& diagram) { diagram_ = &diagram; }

  Verdict run() {
    schedule_trouble();
    schedule_starts();
    while (!events_.empty() && verdict_.violation.empty()) {
      const Event event = events_.top();
      if (event.at > trouble_ends_ + 300s) break;
      events_.pop();
      now_ = event.at;
      if (!survive(event)) continue;
      ++verdict_.steps;
      if (has_no_rest()) verdict_.violation = "no rest";
      if (now_ > trouble_ends_ + 1s && is_settled()) {
        verdict_.has_leader = true;
        break;
      }
    }
    verdict_.needs_operator = !verdict_.has_leader && (has_lost_majority() || is_stuck());
    if (verdict_.needs_operator) verdict_.has_leader = true;  // more than is promised
    verdict_.scene = scene();
    return verdict_;
  }

 private:
  enum class What { start, wake, deliver, lose, timer, trouble, tempt, restart, heal, awake, turn };
  struct Event {
    Instant at{};
    std::uint64_t order = 0;
    What what = What::timer;
    Fault fault = Fault::crash;
    MemberIndex member = 0;
    MemberIndex other = 0;
    std::uint64_t stamp = 0;  // of the timer, the edge, the cut or the process that sleeps
    Instant until{};          // of the trouble; a message is held until then
    std::shared_ptr<const Note> note{};

    bool operator<(const Event& right) const {  // the queue gives the largest
      return at != right.at ? at > right.at : order > right.order;
    }
  };
  struct Seat {
    std::unique_ptr<SimulatedProcess> member;
    MemberIndex self = 0;  // which member this process is
    SimulatedDisk disk{};
    bool is_in_place = false;  // the file is the newest of this process's place, and proves it
    std::vector<std::string> old{};  // earlier versions of the file
    std::string last{};              // the one now
    std::uint64_t stores = 0;
    bool is_admitted = false;  // as last seen
    bool is_gone = false;      // has been told that it has no seat any more, or that it is outdated
    bool has_run = false;
    bool has_led = false;  // as last seen
    bool is_spoiled = false;
    std::uint64_t starts = 0;
    std::uint64_t timer = 0;
    std::int64_t rate_ppm = 0;
    Instant offset{};
    unsigned group = 0;    // who is cut off together
    MemberIndex list = 0;  // members in its configuration, the first so many
    Term reported = 0;     // the newest term of a leader that this process has known
    bool has_told = false;
    Instant told_until{};  // the end of the lease it has told visitors of, in true time
    Instant stopped_until{};
  };

  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low +
           static_cast<std::int64_t>(coins_.below64(static_cast<std::uint64_t>(high - low) + 1));
  }
  std::int64_t random_rate(std::int64_t most_ppm) {
    if (coins_.chance(1, 3)) return between(-most_ppm, most_ppm);
    return coins_.chance(1, 2) ? most_ppm : -most_ppm;
  }
  Instant random_time(Instant longest) { return Instant(between(1, longest.count())); }
  Instant local(const Seat& seat) const {
    return seat.offset + now_ + now_ * seat.rate_ppm / 1'000'000;
  }
  Instant global(const Seat& seat, Instant time) const {
    const auto passed = (time - seat.offset).count();
    return Instant(static_cast<std::int64_t>(static_cast<double>(passed) * 1e6 /
                                             (1e6 + static_cast<double>(seat.rate_ppm))) +
                   2);
  }
  void plan(Event event) {
    event.order = ++order_;
    events_.push(event);
  }

  // One that will be alive in the end is woken in any case: the last, whose file is not damaged.
  void schedule_starts() {
    MemberIndex survivor = founders_ - 1;
    while (dead_.contains(survivor)) --survivor;
    for (MemberIndex each = 0; each < founders_; ++each) {
      const Instant at = random_time(2s);
      plan({.at = at, .what = What::start, .member = each});
      const bool wakes = each == survivor || coins_.chance(1, 2);
      if (wakes) plan({.at = at + random_time(2s), .what = What::wake, .member = each});
    }
  }

  std::array<std::pair<Fault, unsigned>, 13> amounts() const {
    const Trouble& t = trouble_;
    return {{{Fault::crash, t.crashes},
             {Fault::cut, t.cuts},
             {Fault::panic, t.panics},
             {Fault::pause, t.pauses},
             {Fault::sleep, t.sleeps},
             {Fault::clock_step, t.clock_steps},
             {Fault::coup, t.coups},
             {Fault::isolate, t.turncoats},
             {Fault::resign, t.resignations},
             {Fault::change, t.changes},
             {Fault::twin, t.twins},
             {Fault::power_cut, t.power_cuts},
             {Fault::full_disk, t.full_disks}}};
  }

  void schedule_trouble() {
    const Instant span = trouble_.is_none() ? Instant(2s) : Instant(60s);
    if (trouble_.has_slow_edges || trouble_.repeats_messages || trouble_.slow_kinds != 0)
      trouble_ends_ = span;
    for (const auto& [fault, amount] : amounts()) {
      if (amount > 0) kinds_.push_back(fault);
      const Instant earliest = fault == Fault::isolate ? 6s : 0s;  // once somebody leads
      for (unsigned i = 0; i < amount; ++i)
        strike(fault, earliest + random_time(span), static_cast<MemberIndex>(coins_.below(n_)));
    }
    ambushes_end_ = span;
  }

  // Trouble of this kind, with its end.
  void strike(Fault fault, Instant at, MemberIndex who) {
    Event event{.at = at, .what = What::trouble, .fault = fault, .member = who, .until = at};
    if (fault == Fault::crash) {
      // Mostly back before promises are over; sometimes at once, sometimes much later.
      event.until = at + random_time(coins_.chance(1, 3) ? Instant(20s) : Instant(3s));
      const bool stays_dead =
          trouble_.leaves_minority_dead && now_ == Instant{} && dead_.size() < (n_ - 1) / 2;
      if (stays_dead) dead_.insert(who);
      if (!dead_.contains(who)) plan({.at = event.until, .what = What::start, .member = who});
    } else if (fault == Fault::cut) {
      event.stamp = ++cuts_;
      event.until = at + random_time(15s);
      plan({.at = event.until, .what = What::heal, .stamp = event.stamp});
    } else if (fault == Fault::pause || fault == Fault::sleep) {
      event.until = at + random_time(10s);
    } else if (fault == Fault::coup) {
      event.until = at + random_time(15s);
    } else if (fault == Fault::isolate) {
      event.until = at + 10s + random_time(15s);
    } else if (fault == Fault::twin) {
      event.member = members_ + twins_++ % trouble_.twins;
      event.until = at + 20s;
    } else if (fault == Fault::change || fault == Fault::power_cut || fault == Fault::full_disk) {
      event.until = at + 5s;
    }
    plan(event);
    trouble_ends_ = std::max(trouble_ends_, event.until);
  }

  // Much that can go wrong goes wrong soon after a member has stored something, has begun to lead
  // or ceased to, or got a message a second time.
  void ambush(MemberIndex who) {
    if (strikes_ == trouble_.ambushes || now_ > ambushes_end_ || kinds_.empty()) return;
    if (!coins_.chance(1, trouble_.ambush_odds)) return;
    ++strikes_;
    const std::array<Instant, 4> times{1ms, 2 * trouble_.longest_delay, trouble_.lease / 4,
                                       trouble_.lease};
    const Instant at = now_ + random_time(times[coins_.below(4)]);
    const MemberIndex victim =
        coins_.chance(1, 2) ? who : static_cast<MemberIndex>(coins_.below(n_));
    strike(kinds_[coins_.below(static_cast<std::uint32_t>(kinds_.size()))], at, victim);
  }

  bool has_no_rest() {
    if (now_ > rested_ + 1ms) rested_ = now_, rested_at_step_ = verdict_.steps;
    return verdict_.steps > rested_at_step_ + most_steps;
  }

  // The power of a machine may go in any step.
  bool survive(const Event& event) {
    acting_ = event.member;
    try {
      return carry_out(event);
    } catch (const PowerLoss&) {
      count(Fault::power_cut);
      lose_power(acting_);
      plan({.at = now_ + random_time(3s), .what = What::start, .member = acting_});
      return true;
    }
  }
  void lose_power(MemberIndex who) {
    Seat& seat = seats_[who];
    note(who, "power lost");
    if (seat.member) crash(who);
    seat.disk.keeps_what_was_not_synced = coins_.chance(1, 2);
    seat.disk.lose_power();
    keep_file(seat);
  }

  void count(Fault fault) { ++verdict_.faults[static_cast<std::size_t>(fault)]; }

  // Whether there was something to trouble.
  bool make_trouble(const Event& event) {
    Seat& seat = seats_[event.member];
    switch (event.fault) {
      case Fault::crash:
        return crash(event.member);
      case Fault::cut:
        return cut(event.stamp);
      case Fault::panic:
        return seat.member && now_ >= seat.stopped_until && panic(event.member);
      case Fault::pause:
        seat.stopped_until = std::max(seat.stopped_until, event.until);
        return seat.member != nullptr;
      case Fault::sleep:
        return sleep(event.member, event.until);
      case Fault::clock_step:
        return step_clock(seat);
      case Fault::coup:
        return strike_leader(event);
      case Fault::isolate:
        return isolate_leader(event);
      case Fault::resign:
        return hand_over();
      case Fault::change:
        return change_list();
      case Fault::twin:
        return start_twin(event.member);
      case Fault::power_cut:
        seat.disk.loses_at = coins_.below(12);
        return false;  // counted when it comes about, as is the next
      case Fault::full_disk:
        seat.disk.is_full = true;
        return false;
      default:
        return false;
    }
  }

  bool carry_out(const Event& event) {
    Seat& seat = seats_[event.member];
    switch (event.what) {
      case What::start:
        return start(event.member);
      case What::trouble:
        if (!make_trouble(event)) return false;
        count(event.fault);
        note(event.member, fault_names[static_cast<std::size_t>(event.fault)]);
        return true;
      case What::tempt:
        ambush(event.member);
        return false;
      case What::restart:
        return crash(event.member);
      case What::heal:
        if (cut_ != event.stamp) return false;
        cut_ = 0;
        return true;
      case What::awake:
        return wake_up(event);
      case What::turn:
        return turn(event);
      default:
        break;
    }
    if (!seat.member && event.what == What::wake) return put_off(event, now_ + 1s);
    if (!seat.member) return event.what == What::deliver && hold(event);
    if (now_ < seat.stopped_until) return put_off(event, seat.stopped_until);
    const Instant time = local(seat);
    if (event.what == What::wake) seat.member->wake(time);
    if (event.what == What::lose) {
      audit_.excuse(event.member);
      seat.member->lose(time, seats_[event.other].self);
    }
    if (event.what == What::timer) {
      if (event.stamp != seat.timer) return false;
      seat.member->pass(time);
    }
    if (event.what == What::deliver) {
      if (!is_current(event)) return false;
      if (is_cut(event.other, event.member)) return hold(event);
      const MemberIndex from = seats_[event.other].self;
      if (host_.checks_lists && seats_[event.other].list != seat.list) return false;
      audit_.delivered(event.other, event.member, *event.note);
      note(event.other, event.member, *event.note);
      seat.member->receive(time, from, *event.note);
    }
    after_step(event.member);
    return true;
  }

  bool is_current(const Event& event) const {
    return event.stamp == patient || event.stamp == epoch_[edge(event.other, event.member)];
  }

  // Nothing crosses a cut or arrives at a member that is down; it goes again later, in order.
  bool hold(const Event& event) {
    const Seat& seat = seats_[event.member];
    const bool is_given_up = now_ > event.until && seat.has_run;
    if (!is_current(event) || is_given_up || seat.is_gone) return false;
    Event later = event;
    Instant& last = arrival_[edge(event.other, event.member)];
    later.at = last = std::max(last, now_ + 200ms) + 1ns;
    plan(later);
    return false;
  }

  // A process that is stopped finds everything when it goes on, in the order of arrival.
  bool put_off(Event event, Instant until) {
    event.at = until;
    plan(event);
    return false;
  }

  std::size_t edge(MemberIndex from, MemberIndex to) const { return std::size_t{from} * n_ + to; }
  bool is_cut(MemberIndex from, MemberIndex to) const {
    if (now_ < blocked_until_[edge(from, to)]) return true;
    return cut_ != 0 && seats_[from].group != seats_[to].group;
  }

  bool start(MemberIndex who) {
    Seat& seat = seats_[who];
    if (seat.member || seat.is_gone || seat.self >= members_) return false;
    if (comes_into_doubt(seat) && is_other_waiting(seat)) {
      plan({.at = now_ + random_time(2s), .what = What::start, .member = who});
      return false;
    }
    const Timing timing = timing_of_start();
    seat.list = list_of_start(who);
    ServiceOptions options = options_of(seat.self, seat.list);
    options.timing = timing;
    options.always_recovers = trouble_.always_recovers && seat.has_run;
    options.is_first_start = who < members_ && !seat.has_run && trouble_.is_new && has_file(seat);
    options.seed = (seed_ * 1000003 + who) * 1009 + ++seat.starts;
    acting_ = who;
    if (coins_.chance(1, 2)) seat.disk.is_full = false;
    try {
      const std::uint64_t number = Stream({.seed = seed_, .trial = ++salts_}).below64(UINT64_MAX);
      seat.member = std::make_unique<SimulatedProcess>(options, seat.disk, local(seat), number);
    } catch (const Error&) {  // a full disk, or a file with another list
      plan({.at = now_ + random_time(2s), .what = What::start, .member = who});
      return false;
    }
    note(who, "starts");
    if (seat.has_run && coins_.chance(1, 2)) {
      plan({.at = now_ + random_time(1s), .what = What::wake, .member = who});
    }
    if (seat.has_run) break_edges(who, 1, 1, 100ms);
    seat.has_run = true;
    seat.is_admitted = !seat.member->view().is_waiting;
    after_step(who);
    return true;
  }

  MemberIndex list_of_start(MemberIndex who) {
    if (is_elastic()) return founders_;
    const bool is_tempted = trouble_.changes_lists && seats_[who].has_run &&
                            has_file(seats_[who]) && now_ < trouble_ends_;
    return is_tempted && n_ >= 5 && who < 3 && coins_.chance(2, 3) ? 3 : founders_;
  }
  Timing timing_of_start() {
    Timing timing = timing_for(trouble_.lease);
    if (trouble_.changes_leases)
      timing = timing_for(milliseconds(coins_.chance(1, 2) ? 1500 : 6000));
    timing.clock_drift = static_cast<double>(trouble_.drift_ppm) * 1e-6;
    return timing;
  }
  ServiceOptions options_of(MemberIndex self, MemberIndex list) const {
    ServiceOptions options;
    options.transport.cluster = "virtual";
    options.transport.self = self;
    for (MemberIndex each = 0; each < list; ++each)
      options.transport.members.push_back(address_of(each));
    options.state_file = SimulatedDisk::state_path;
    options.is_elastic = is_elastic();
    return options;
  }
  static bool has_file(const Seat& seat) { return seat.disk.state().has_value(); }
  // The contents of its file, whatever they are worth.
  PromiseRecord remembered(const Seat& seat) const {
    return parse_promise(seat.disk.state().value_or(""),
                         promise_owner(options_of(seat.self, founders_)), "its file");
  }

  // Another process of a member that has run: on a copy of its file, on an earlier version of it,
  // or without one. One member at a time is in doubt, as docs/how-to/elections.md assumes: whoever
  // would be the next starts when no process of another member waits any more.
  bool start_twin(MemberIndex which) {
    Seat& seat = seats_[which];
    const auto original = static_cast<MemberIndex>(coins_.below(members_));
    const Seat& source = seats_[original];
    if (seat.member || !source.has_run || source.is_gone) return false;
    const bool is_copy = trouble_.has_copies && (!trouble_.has_blanks || coins_.chance(1, 2));
    seat.starts = 1000;  // names the process, and so the coins that it draws
    seat.self = source.self;
    if (is_copy && has_file(source)) {
      const bool is_old = !source.old.empty() && coins_.chance(1, 2);
      const auto many = static_cast<std::uint32_t>(source.old.size());
      seat.disk.put_state(is_old ? source.old[coins_.below(many)] : *source.disk.state());
    }
    seat.is_in_place = false;
    return start(which);
  }
  bool comes_into_doubt(const Seat& seat) const {
    const bool has_rival = std::ranges::any_of(
        seats_, [&](const Seat& other) { return other.member && other.self == seat.self; });
    return trouble_.twins > 0 && has_file(seat) && (!seat.is_in_place || has_rival);
  }
  bool is_other_waiting(const Seat& seat) const {
    return std::ranges::any_of(seats_, [&](const Seat& other) {
      return other.member && other.self != seat.self && other.member->view().is_waiting;
    });
  }

  // The clock of a machine goes on while it sleeps, its timers do not.
  bool sleep(MemberIndex who, Instant until) {
    Seat& seat = seats_[who];
    if (!seat.member || now_ < seat.stopped_until) return false;
    note(who, "sleeps");
    seat.stopped_until = until;
    if (!host_.has_sleeping_clock) seat.member->sleep(until - now_);
    plan({.at = until,
          .what = What::awake,
          .member = who,
          .stamp = seat.starts,
          .until = until - now_});
    return true;
  }
  bool wake_up(const Event& event) {
    Seat& seat = seats_[event.member];
    if (!seat.member || seat.starts != event.stamp) return false;
    if (host_.has_sleeping_clock) seat.offset -= event.until;
    after_step(event.member);
    return true;
  }
  bool step_clock(Seat& seat) {
    const Instant step(between(-Instant(10s).count(), Instant(10s).count()));
    if (host_.has_wall_clock) seat.offset += step;
    return true;
  }

  bool crash(MemberIndex who) {
    Seat& seat = seats_[who];
    if (!seat.member) return false;
    if (trouble_.power_cuts > 0 && coins_.chance(1, 4)) {
      seat.disk.keeps_what_was_not_synced = coins_.chance(1, 2);
      seat.disk.lose_power();
    }
    if (trouble_.loses_files && coins_.chance(1, 2)) lose_file(seat);
    if (trouble_.spoils_terms && who < (founders_ - 1) / 2 && coins_.chance(1, 2)) spoil_term(seat);
    add_counts(seat);
    note(who, "ends");
    seat.member.reset();
    seat.disk.take_busy();
    seat.reported = 0;
    seat.has_led = seat.has_told = false;
    seat.stopped_until = {};
    audit_.restart(who);
    ++seat.timer;
    break_edges(who, 1, 2, 5s);
    return true;
  }

  // Messages on their way are lost; the others learn it, each with probability p/q.
  void break_edges(MemberIndex who, std::uint32_t p, std::uint32_t q, Instant longest) {
    for (MemberIndex other = 0; other < n_; ++other) {
      if (other == who) continue;
      ++epoch_[edge(who, other)];
      ++epoch_[edge(other, who)];
      if (!coins_.chance(p, q)) continue;
      plan({.at = now_ + random_time(longest), .what = What::lose, .member = other, .other = who});
    }
  }

  bool cut(std::uint64_t stamp) {
    cut_ = stamp;
    const bool isolates_leader = coins_.chance(1, 2);
    for (Seat& seat : seats_) {
      const bool leads = seat.member && seat.member->view().leads;
      seat.group = isolates_leader ? (leads ? 1 : 0) : coins_.below(2);
    }
    for (MemberIndex a = 0; a < n_; ++a) {
      for (MemberIndex b = 0; b < n_; ++b) {
        const bool is_noticed = coins_.chance(trouble_.notices_cuts ? 2 : 1, 3);
        if (!is_cut(a, b) || !is_noticed) continue;
        ++epoch_[edge(b, a)];  // given up: what was on its way to a is lost
        const Instant soon = trouble_.notices_cuts ? 1s : 10s;
        plan({.at = now_ + random_time(soon), .what = What::lose, .member = b, .other = a});
      }
    }
    return true;
  }

  // The leader is stopped, or some or all of the others hear no more of it. Most of them learn at
  // once that it is lost and elect as soon as promises allow, while it may still go by its lease.
  // One of them restarts meanwhile, and must keep the promise it does not remember the end of.
  bool strike_leader(const Event& event) {
    const MemberIndex leader = holder();
    if (leader == nobody) return false;
    const std::uint32_t how = coins_.below(3);
    if (how == 0) seats_[leader].stopped_until = event.until;
    for (MemberIndex each = 0; each < n_; ++each) {
      if (each == leader) continue;
      const bool is_blocked = how == 1 || (how == 2 && coins_.chance(1, 2));
      if (is_blocked) blocked_until_[edge(leader, each)] = event.until;
      if (coins_.chance(1, 4)) continue;
      plan({.at = now_ + random_time(1s), .what = What::lose, .member = each, .other = leader});
    }
    restart_one_beside(leader);
    return true;
  }

  bool hand_over() {
    const MemberIndex leader = holder();
    if (leader == nobody || now_ < seats_[leader].stopped_until) return false;
    acting_ = leader;
    seats_[leader].member->resign(local(seats_[leader]));
    after_step(leader);
    return true;
  }

  // Where a forgotten promise does most harm: the leader sees just enough others for a majority,
  // and one of these dies and comes back where it sees all but the leader.
  bool isolate_leader(const Event& event) {
    const MemberIndex leader = holder();
    if (leader == nobody || n_ < 2) return false;
    const MemberIndex witness = (leader + 1 + coins_.below(n_ - 1)) % n_;
    MemberIndex isolated = 0;
    for (MemberIndex each = 0; each < n_ && isolated < (n_ - 1) / 2; ++each) {
      if (each == leader || each == witness) continue;
      separate(leader, each, event.until);
      ++isolated;
    }
    const Instant turns_at = now_ + 3s + random_time(6s);
    for (MemberIndex each = 0; each < n_; ++each) {
      const bool is_beside = each == witness || (!is_cut(leader, each) && coins_.chance(1, 2));
      if (each == leader || dead_.contains(each) || !is_beside) continue;
      plan({.at = turns_at + random_time(100ms),
            .what = What::turn,
            .member = each,
            .other = leader,
            .until = event.until});
    }
    return true;
  }

  void separate(MemberIndex leader, MemberIndex other, Instant until) {
    blocked_until_[edge(leader, other)] = blocked_until_[edge(other, leader)] = until;
    plan({.at = now_ + random_time(1s), .what = What::lose, .member = other, .other = leader});
  }

  bool turn(const Event& event) {
    if (!crash(event.member)) return false;
    if (trouble_.loses_files) lose_file(seats_[event.member]);
    const Instant back = now_ + random_time(500ms);
    const Instant soon = back + random_time(200ms);
    separate(event.other, event.member, event.until);
    plan({.at = back, .what = What::start, .member = event.member});
    for (MemberIndex each = 0; each < n_; ++each) {
      if (each == event.other || !is_cut(event.other, each)) continue;
      plan({.at = soon, .what = What::lose, .member = each, .other = event.other});
    }
    return true;
  }

  void spoil_term(Seat& seat) {
    PromiseRecord record = remembered(seat);
    if (!record.is_intact) return;
    Promise& stored = record.state.promise;
    stored.term = static_cast<Term>(between(std::int64_t{1} << 40, std::int64_t{1} << 61));
    stored.lease = std::max(stored.lease, milliseconds(1));
    if (!record.state.configuration.seats.empty())
      record.state.configuration.stamp.term = stored.term;
    count(Fault::spoiled_file);
    seat.is_spoiled = true;
    const PromiseOwner owner = promise_owner(options_of(seat.self, founders_));
    seat.disk.spoil_state(promise_text(record.state, owner, record.place, record.count));
  }

  // A lost file counts as a failure until the member has recovered; so enough of each list must
  // have kept theirs to let it recover.
  void lose_file(Seat& seat) {
    if (!may_lose(seat)) return;
    note(seat.self, "file lost");
    count(Fault::lost_file);
    seat.disk.lose_state();
    seat.is_in_place = false;
    seat.old.clear();
  }
  bool may_lose(const Seat& loser) const {
    return std::ranges::all_of(seats_, [&](const Seat& seat) {
      const std::vector<election::Seat> list = list_of(seat);
      const auto keeps = [&](const auto& each) {
        const Seat& other = seats_[each.member];
        return &other != &loser && has_file(other);
      };
      return list.empty() ||
             std::ranges::count_if(list, keeps) >= static_cast<std::ptrdiff_t>(list.size() / 2 + 1);
    });
  }
  std::vector<election::Seat> list_of(const Seat& seat) const {
    if (is_elastic())
      return has_file(seat) ? remembered(seat).state.configuration.seats
                            : std::vector<election::Seat>{};
    std::vector<election::Seat> all;
    for (MemberIndex each = 0; each < founders_; ++each) all.push_back({each, {}});
    return all;
  }

  // A list may have become so short, since a file was lost, that too few have kept theirs: a leader
  // that does not know of the loss yet has counted on a promise that was still running.
  bool has_lost_majority() const { return !may_lose({}); }

  bool is_elastic() const { return trouble_.newcomers > 0; }
  void found() {
    for (MemberIndex each = 0; each < founders_; ++each) {
      write_founding_file(options_of(each, founders_), seats_[each].disk);
      seats_[each].is_in_place = true;
      keep_file(seats_[each]);
    }
  }
  static Endpoint address_of(MemberIndex member) {
    return {"member", static_cast<std::uint16_t>(member)};
  }

  // Whoever leads, or believes so, is asked; a member that is to be added starts soon.
  bool change_list() {
    const MemberIndex leader = holder();
    if (leader == nobody || now_ < seats_[leader].stopped_until) return false;
    Seat& seat = seats_[leader];
    const Configuration& list = seat.member->configuration();
    const MemberIndex next = list.next_member;
    Change change{.kind = Change::Kind::add, .member = next, .endpoint = address_of(next)};
    if (next >= members_ || (!trouble_.only_adds && coins_.chance(1, 2))) {
      if (trouble_.only_adds) return false;
      const auto place = coins_.below(static_cast<std::uint32_t>(list.seats.size()));
      change = {.kind = Change::Kind::remove, .member = list.seats[place].member, .endpoint = {}};
    }
    acting_ = leader;
    const bool is_accepted = seat.member->request(local(seat), change).empty();
    // It never starts, unless it is asked for again.
    const bool is_ghost = !trouble_.only_adds && coins_.chance(1, 4);
    if (is_accepted && change.kind == Change::Kind::add && !is_ghost)
      plan({.at = now_ + random_time(4s), .what = What::start, .member = next});
    after_step(leader);
    // Where a change is half done, much can go wrong.
    if (is_accepted && coins_.chance(1, 3)) {
      plan({.at = now_ + random_time(2 * trouble_.longest_delay),
            .what = What::trouble,
            .fault = Fault::coup,
            .until = std::min(now_ + random_time(15s), trouble_ends_)});
    }
    return true;
  }

  void restart_one_beside(MemberIndex leader) {
    const auto who = static_cast<MemberIndex>(coins_.below(n_));
    if (who == leader || dead_.contains(who)) return;
    const Instant at = now_ + random_time(4s);
    plan({.at = at, .what = What::restart, .member = who});
    plan({.at = at + random_time(1s), .what = What::start, .member = who});
  }

  MemberIndex holder() const {
    for (MemberIndex each = 0; each < n_; ++each) {
      const Seat& seat = seats_[each];
      if (seat.member && seat.member->holds_lease(local(seat))) return each;
    }
    return nobody;
  }

  bool panic(MemberIndex who) {
    audit_.excuse(who);
    for (MemberIndex other = 0; other < n_; ++other) {
      if (other == who || coins_.chance(1, 4)) continue;
      seats_[who].member->lose(local(seats_[who]), seats_[other].self);
    }
    after_step(who);
    return true;
  }

  void after_step(MemberIndex who) {
    Seat& seat = seats_[who];
    const Instant busy = seat.disk.take_busy();
    seat.stopped_until = std::max(seat.stopped_until, now_ + busy);
    const bool is_notable = keep_file(seat);
    audit_.stepped(who, seat.member->view());
    const bool has_turned = keep_view(who);
    if (is_notable || has_turned) ambush(who);
    if (is_elastic()) keep_configuration(who);
    const bool holds = seat.member->holds_lease(local(seat));
    const Instant end = holds ? global(seat, seat.member->lease_until()) : now_;
    if (holds && std::exchange(seat.has_told, holds) && end + 1us < seat.told_until)
      verdict_.violation = "a lease that was told of gets shorter";
    seat.has_told = holds;
    seat.told_until = holds ? end : std::min(seat.told_until, now_);
    for (const OutgoingNote& outgoing : seat.member->take_outgoing()) {
      audit_.sent(who, outgoing);
      post(who, outgoing, busy);
    }
    if (seat.member->has_failed()) {
      count(Fault::full_disk);
      plan({.at = now_ + 1ns, .what = What::restart, .member = who});
      plan({.at = now_ + random_time(3s), .what = What::start, .member = who});
    }
    const bool is_audited = trouble_.twins == 0;  // questions of one may be answered to the other
    if (verdict_.violation.empty() && is_audited) verdict_.violation = audit_.violation();
    const Instant deadline = seat.member->deadline();
    ++seat.timer;
    if (deadline != Instant::max()) {
      plan({.at = std::max(now_, global(seat, deadline)) + 1ns,
            .what = What::timer,
            .member = who,
            .stamp = seat.timer});
    }
    check(who);
  }

  // Whether it has been written.
  bool keep_file(Seat& seat) {
    if (seat.stores == seat.disk.renames) return false;
    seat.stores = seat.disk.renames;
    if (!seat.last.empty()) seat.old.push_back(seat.last);
    seat.last = seat.disk.state().value_or("");
    seat.is_in_place = !seat.member || !seat.member->view().is_waiting;
    return true;
  }

  // A process whose place another one has taken ends, and its file proves nothing any more.
  // Whether it has begun to lead, or ceased to.
  bool keep_view(MemberIndex who) {
    Seat& seat = seats_[who];
    const MemberView view = seat.member->view();
    const bool has_turned = std::exchange(seat.has_led, view.leads) != view.leads;
    if (!std::exchange(seat.is_admitted, !view.is_waiting) && seat.is_admitted) ++verdict_.admitted;
    if (!view.is_outdated) return has_turned;
    ++verdict_.replaced;
    seat.is_in_place = false;
    seat.is_gone = true;
    plan({.at = now_ + 1ns, .what = What::restart, .member = who});
    return has_turned;
  }

  // A member that has been removed ends.
  void keep_configuration(MemberIndex who) {
    Seat& seat = seats_[who];
    audit_.excuse(who);  // elections in which lists differ may end with two winners
    if (seat.member->view().is_dismissed && !std::exchange(seat.is_gone, true))
      plan({.at = now_ + 1ns, .what = What::restart, .member = who});
    const Configuration& list = seat.member->configuration();
    if (list.seats.empty()) return;
    const Stamp& stamp = list.stamp;
    const auto known = lists_.try_emplace({stamp.term, stamp.version}, stamp.list).first;
    if (known->second != stamp.list) verdict_.violation = "two lists with one stamp";
    for (const election::Seat& each : list.seats) {
      if (each.member >= founders_ && !seats_[each.member].has_run)
        verdict_.violation = "a seat for a member that has not answered";
    }
  }

  // To every process of the member, and to the first one also where none runs; where there are
  // several, some get it and others do not.
  void post(MemberIndex from, const OutgoingNote& outgoing, Instant busy) {
    if (trouble_.twins == 0) return post_to(from, outgoing, busy);
    const bool has_twins = has_twin(outgoing.to);
    for (MemberIndex to = 0; to < n_; ++to) {
      const Seat& seat = seats_[to];
      if (seat.self != outgoing.to || to == from) continue;
      if (to >= members_ && !seat.member) continue;
      if (has_twins && now_ < trouble_ends_ && coins_.chance(1, 4)) continue;
      post_to(from, {to, outgoing.note}, busy);
    }
  }
  bool has_twin(MemberIndex member) const {
    return std::ranges::any_of(seats_, [&](const Seat& seat) {
      return &seat >= seats_.data() + members_ && seat.self == member && seat.member;
    });
  }
  static std::uint32_t kind_of(const Note& note) { return static_cast<std::uint32_t>(note.kind); }
  void post_to(MemberIndex from, const OutgoingNote& outgoing, Instant busy) {
    const bool waits = !seats_[outgoing.to].member;  // until the process starts
    if (waits && seats_[outgoing.to].has_run && coins_.chance(1, 2)) return;
    const std::size_t on = edge(from, outgoing.to);
    const bool is_slow_kind = (trouble_.slow_kinds >> kind_of(outgoing.note) & 1) != 0;
    const bool is_slow = (is_slow_[on] || is_slow_kind) && now_ < trouble_ends_;
    arrival_[on] = std::max(
        arrival_[on] + 1ns,
        now_ + busy + random_time(is_slow ? trouble_.slowest_delay : trouble_.longest_delay));
    const Event delivery{.at = arrival_[on],
                         .what = What::deliver,
                         .member = outgoing.to,
                         .other = from,
                         .stamp = waits ? patient : epoch_[on],
                         .until = arrival_[on] + 20s,  // the transport's patience
                         .note = std::make_shared<const Note>(outgoing.note)};
    plan(delivery);
    const bool comes_again =
        trouble_.repeats_messages && now_ < trouble_ends_ && coins_.chance(1, 10);
    if (!comes_again) return;
    count(Fault::repeat);
    const Instant again = delivery.at + random_time(20s);
    put_off(delivery, again);
    plan({.at = again, .what = What::tempt, .member = outgoing.to});
  }

  void check(MemberIndex who) {
    const SimulatedProcess& member = *seats_[who].member;
    if (member.has_failed()) return;  // nobody hears of what it could not store
    const MemberView view = member.view();
    if (view.leader != nobody && view.term < std::exchange(seats_[who].reported, view.term)) {
      verdict_.violation = "a member has gone back to an older leader";
    }
    if (view.term > term_leap && !seats_[who].is_spoiled)
      verdict_.violation = "a term that cannot be is believed";
    if (!view.leads) return;
    const std::pair process(who, seats_[who].starts);
    const auto [first, is_new] = leaders_.try_emplace(view.term, process);
    if (is_new) {
      ++verdict_.leaders;
      note(who, fmt::format("LEADS {}", view.term));
    }
    if (first->second != process) {
      verdict_.violation = "two leaders in one term";
    }
    if (!member.holds_lease(local(seats_[who]))) return;
    if (view.term < std::exchange(token_, std::max(token_, view.term)))
      verdict_.violation = "a token that is older than one before it";
    for (MemberIndex other = 0; other < n_; ++other) {
      Seat& seat = seats_[other];
      if (other != who && seat.member && seat.member->holds_lease(local(seat))) {
        verdict_.violation = "two leases at once";
      } else if (other != who && now_ < seat.told_until) {
        verdict_.violation = "a lease that was told of belongs to another";
      }
    }
  }

  void note(MemberIndex who, std::string_view what) {
    if (diagram_ != nullptr) diagram_->add(now_, who, what);
  }
  void note(MemberIndex from, MemberIndex to, const Note& note) {
    if (diagram_ == nullptr) return;
    diagram_->add(now_, from, to, fmt::format("{} {}", count_name(count_index(note)), note.term));
  }

  std::string scene() const {
    std::string text;
    for (const Seat& seat : seats_) {
      text += fmt::format("\nmember {}: ", seat.self);
      if (!seat.member) {
        text += seat.is_gone ? "gone" : "down";
        continue;
      }
      const MemberView view = seat.member->view();
      text += fmt::format("term {}, leader {}, promised {} to {}, incarnation {}, table {:016x}",
                          view.term, static_cast<std::int32_t>(view.leader), view.promised,
                          static_cast<std::int32_t>(seat.member->member().promise().to),
                          to_string(view.incarnation), seat.member->member().table().fingerprint());
      text += fmt::format(", list {} {} of {}", seat.member->configuration().stamp.term,
                          seat.member->configuration().stamp.version,
                          seat.member->configuration().seats.size());
      if (view.is_waiting)
        text += fmt::format(", waits {} file, has {} of {} answers",
                            seat.member->member().has_file() ? "with" : "without",
                            seat.member->member().recorded_by().size(), view.needed);
    }
    return text;
  }

  // How many others in this list have a process that could answer one that waits.
  MemberIndex possible_answers(const Seat& asker, const std::vector<election::Seat>& list) const {
    MemberIndex count = 0;
    for (const election::Seat& each : list) {
      const bool answers = std::ranges::any_of(seats_, [&](const Seat& seat) {
        const bool is_other = seat.self == each.member && each.member != asker.self;
        return is_other && seat.member &&
               (can_take_part(seat) || asker.member->member().has_file());
      });
      count += answers ? 1 : 0;
    }
    return count;
  }
  bool can_take_part(const Seat& seat) const { return !seat.member->view().is_waiting; }
  // Whether a process waits in vain: too few others run that could answer it.
  bool waits_in_vain(const Seat& seat) const {
    if (!seat.member || can_take_part(seat)) return false;
    const auto& list = seat.member->configuration().seats;
    return list.empty() ? holder() == nobody
                        : possible_answers(seat, list) < seat.member->view().needed;
  }
  // Whether so many wait in vain that the others are no majority.
  bool is_stuck() const {
    const bool waits = std::ranges::any_of(seats_, [&](const Seat& s) { return waits_in_vain(s); });
    const auto takes_part = [&](const Seat& seat) { return seat.member && can_take_part(seat); };
    std::size_t largest = 0;
    for (const Seat& seat : seats_)
      if (seat.member) largest = std::max(largest, seat.member->configuration().majority());
    return waits && static_cast<std::size_t>(std::ranges::count_if(seats_, takes_part)) < largest;
  }

  bool is_settled() {
    MemberIndex leader = nobody;
    for (MemberIndex each = 0; each < n_; ++each) {
      const Seat& seat = seats_[each];
      if (!seat.member || !has_seat(seat.self) || waits_in_vain(seat)) continue;
      const MemberView view = seat.member->view();
      if (view.leader == nobody || (leader != nobody && view.leader != leader)) return false;
      leader = view.leader;
    }
    leader = holder();
    if (leader == nobody) return false;
    const Seat& seat = seats_[leader];
    if (!seat.member || !seat.member->holds_lease(local(seat))) return false;
    const MemberView view = seat.member->view();
    if (is_elastic() && seat.member->configuration().stamp.term != view.term) return false;
    verdict_.version = seat.member->configuration().stamp.version;
    verdict_.term = view.term;
    for (const Seat& each : seats_) add_counts(each);
    return true;
  }

  // Where the list may change: by what the holder of the lease says.
  bool has_seat(MemberIndex who) const {
    if (!is_elastic()) return true;
    const MemberIndex leader = holder();
    return leader == nobody || seats_[leader].member->configuration().has(who);
  }

  void add_counts(const Seat& seat) {
    if (!seat.member) return;
    for (std::size_t i = 0; i < verdict_.sent.size(); ++i) {
      verdict_.sent[i] += seat.member->sent()[i];
    }
  }

  static constexpr std::uint64_t most_steps = 5000;  // in a millisecond: five times what any takes
  static constexpr std::uint64_t patient = UINT64_MAX;  // arrives at whichever process comes next

  MemberIndex n_;        // processes at most: twins come after the members
  MemberIndex members_;  // with those that may be added
  MemberIndex founders_;
  std::uint64_t seed_;
  Host host_;
  Trouble trouble_;
  Stream coins_;
  std::vector<Seat> seats_;
  std::vector<Instant> arrival_;  // of the last message on each edge
  std::vector<Instant> blocked_until_;
  std::vector<bool> is_slow_;         // by edge
  std::vector<std::uint64_t> epoch_;  // of each edge: messages of an earlier one are lost
  std::priority_queue<Event> events_;
  std::set<MemberIndex> dead_;
  std::map<Term, std::pair<MemberIndex, std::uint64_t>> leaders_;  // and which start of it
  std::map<std::pair<Term, std::uint64_t>, std::uint64_t> lists_;  // by term and version
  std::uint64_t order_ = 0;
  std::vector<Fault> kinds_;  // of trouble that are planned
  std::uint64_t cut_ = 0;     // 0: none now
  std::uint64_t cuts_ = 0;
  unsigned twins_ = 0;
  unsigned strikes_ = 0;  // out of ambush
  Instant ambushes_end_{};
  Instant rested_{};
  std::uint64_t rested_at_step_ = 0;
  std::uint64_t salts_ = 0;
  Instant now_{};
  Instant trouble_ends_ = 4s;
  Term token_ = 0;          // the largest of a leader that may act
  MemberIndex acting_ = 0;  // the process that takes the step
  SpaceTime* diagram_ = nullptr;
  PaperAudit audit_;
  Verdict verdict_;
};

}  // namespace conclave::election::testing
