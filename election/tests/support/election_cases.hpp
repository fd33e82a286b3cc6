// Random clusters with random trouble, and the search for one that shows a mistake.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/random.hpp"

#include "election/tests/support/virtual_cluster.hpp"

namespace conclave::election::testing {

struct Case {
  MemberIndex n = 1;
  Trouble trouble{};
};

enum class Kind : std::uint8_t {
  fixed,     // the list of members is
  changing,  // it is not
  twins      // members have more processes than one
};
inline constexpr std::array kinds{Kind::fixed, Kind::changing, Kind::twins};
inline constexpr std::array<const char*, kinds.size()> kind_names{"fixed", "changing", "twins"};

// `./test` tries so many of each kind.
inline constexpr std::uint64_t fixed_clusters = 6000;

// Draws of trouble, as in swarm testing: each kind is left out of half of the clusters, so that the
// others show what they can do, and is weak or strong in the rest.
class Dice {
 public:
  explicit Dice(const StreamName& name) : coins_(name) {}

  unsigned some(unsigned most) {
    if (coins_.chance(1, 2)) return 0;
    return 1 + coins_.below(coins_.chance(1, 2) ? most : std::min(most, 3u));
  }
  bool one_in(std::uint32_t q) { return coins_.chance(1, q); }
  std::uint32_t below(std::uint32_t bound) { return coins_.below(bound); }

 private:
  Stream coins_;
};

inline void draw_network(Dice& dice, Trouble& trouble) {
  trouble.has_slow_edges = dice.one_in(4);
  trouble.repeats_messages = dice.one_in(3);
  if (dice.one_in(2)) trouble.slow_kinds = 1u << (1 + dice.below(note_kinds - 1));
  if (dice.one_in(4)) trouble.slow_kinds |= 1u << dice.below(note_kinds);
  trouble.slowest_delay = milliseconds(1000u << dice.below(4));
  trouble.notices_cuts = dice.one_in(2);
  const bool is_far_apart = dice.one_in(6);
  trouble.longest_delay = milliseconds(is_far_apart ? 1000 : 1 + dice.below(100));
  // The margin takes its part of the lease, which must outlast the way to and fro.
  if (!is_far_apart && dice.one_in(2)) trouble.drift_ppm = 200'000;
}

inline void draw_processes(Dice& dice, Trouble& trouble) {
  trouble.is_new = dice.one_in(2);
  trouble.crashes = dice.some(30);
  trouble.cuts = dice.some(30);
  trouble.panics = dice.some(30);
  trouble.pauses = dice.some(20);
  trouble.sleeps = dice.some(8);
  trouble.coups = dice.some(8);
  trouble.resignations = dice.some(12);
  trouble.turncoats = dice.one_in(2) ? dice.some(3) : 0;
  trouble.power_cuts = dice.some(6);
  trouble.full_disks = dice.one_in(2) ? dice.some(3) : 0;
  trouble.clock_steps = dice.some(4);
  trouble.ambushes = dice.some(60);
  trouble.ambush_odds = std::uint32_t{1} << dice.below(5);
  trouble.loses_files = dice.one_in(2);
}

inline void draw_fixed(Dice& dice, Case& result) {
  constexpr std::array<MemberIndex, 8> sizes{1, 2, 3, 3, 3, 4, 5, 7};
  result.n = dice.one_in(40) ? 1 + dice.below(50) : sizes[dice.below(8)];
  Trouble& trouble = result.trouble;
  trouble.leaves_minority_dead = dice.one_in(3);
  // Not both: it is assumed that who has lost its file does not come back with a shorter lease.
  const bool is_far_apart = trouble.longest_delay > milliseconds(100);
  trouble.changes_leases = !is_far_apart && dice.one_in(2) && !trouble.loses_files;
  trouble.changes_lists = dice.one_in(6);
  trouble.spoils_terms = dice.one_in(6);
  // A member whose term cannot be is no help to one that has lost its file, nor is a dead one.
  if (trouble.spoils_terms) trouble.leaves_minority_dead = trouble.loses_files = false;
  // Where half of many are dead besides, elections take longer than the simulation waits.
  if (result.n <= 8 && dice.one_in(6)) trouble.slowest_sync = milliseconds(1 + dice.below(400));
}

inline void draw_changing(Dice& dice, Case& result) {
  result.n = 1 + dice.below(5);
  result.trouble.newcomers = 1 + dice.below(5);
  result.trouble.changes = 1 + dice.below(dice.one_in(2) ? 40 : 4);
  result.trouble.only_adds = dice.one_in(3);
  if (!dice.one_in(8)) return;
  // A list that may change and does not, while a minority's files are damaged.
  result.n = 5 + dice.below(3);
  result.trouble.newcomers = 1;
  result.trouble.changes = result.trouble.turncoats = 0;
  result.trouble.spoils_terms = true;
  result.trouble.loses_files = false;
}

inline void draw_twins(Dice& dice, Case& result) {
  constexpr std::array<MemberIndex, 4> sizes{3, 3, 5, 4};
  result.n = sizes[dice.below(4)];
  Trouble& trouble = result.trouble;
  trouble.twins = 1 + dice.below(3);
  trouble.has_copies = !dice.one_in(3);
  trouble.has_blanks = !trouble.has_copies || dice.one_in(2);
  trouble.always_recovers = dice.one_in(4);
  const bool is_recovery_slow = dice.one_in(3);
  const auto kind = dice.one_in(2) ? NoteKind::recover : NoteKind::recorded;
  if (is_recovery_slow) trouble.slow_kinds |= 1u << static_cast<std::uint32_t>(kind);
  if (!dice.one_in(6)) return;
  trouble.newcomers = 1 + dice.below(2);
  trouble.changes = dice.some(10);
}

// Small clusters are tried more often than large ones: there a single member decides.
inline Case random_case(Kind kind, std::uint64_t seed) {
  Dice dice({.seed = seed, .trial = 1 + static_cast<std::uint64_t>(kind)});
  Case result;
  draw_network(dice, result.trouble);
  draw_processes(dice, result.trouble);
  if (kind == Kind::fixed) draw_fixed(dice, result);
  if (kind == Kind::changing) draw_changing(dice, result);
  if (kind == Kind::twins) draw_twins(dice, result);
  return result;
}

// Three members: the leader, a second that sees it and a third that does not. The second is killed
// and started again where it sees the third only; its promise is deleted while it is down.
inline Case lost_file_case(std::uint64_t seed) {
  Case result{.n = 3};
  result.trouble.turncoats = 1;
  result.trouble.is_new = seed % 2 == 0;
  result.trouble.loses_files = true;
  return result;
}

// Three members whose disks take up to three leases for each promise.
inline Case slow_disk_case(std::uint64_t seed) {
  Case result{.n = 3};
  result.trouble.lease = milliseconds(1000);
  result.trouble.slowest_sync = milliseconds(3000);
  result.trouble.coups = seed % 2 == 0 ? 0 : 2;
  return result;
}

inline std::string replay(std::uint64_t seed, const Case& each) {
  const Trouble& trouble = each.trouble;
  std::string text = fmt::format("seed {}, n = {}", seed, each.n);
  const auto add = [&](const char* name, auto amount) {
    if (amount > 0) text += fmt::format(", {} {}", name, amount);
  };
  add("newcomers", trouble.newcomers);
  add("crashes", trouble.crashes);
  add("cuts", trouble.cuts);
  add("panics", trouble.panics);
  add("pauses", trouble.pauses);
  add("sleeps", trouble.sleeps);
  add("clock steps", trouble.clock_steps);
  add("coups", trouble.coups);
  add("resignations", trouble.resignations);
  add("changes", trouble.changes);
  add("twins", trouble.twins);
  add("turncoats", trouble.turncoats);
  add("power cuts", trouble.power_cuts);
  add("full disks", trouble.full_disks);
  add("ambushes", trouble.ambushes);
  add("slow kinds", trouble.slow_kinds);
  add("slowest sync", trouble.slowest_sync.count());
  return text;
}

// A case in which the checks find the same, with less trouble: each kind is tried without, then by
// half, with a few seeds each, since the seed decides when what happens.
struct Failure {
  std::uint64_t seed = 0;
  Case each{};
  Host host{};
  std::string violation{};
};

inline Verdict run(std::uint64_t seed, const Case& each, const Host& host = {}) {
  return VirtualCluster(each.n, seed, host, each.trouble).run();
}

// Empty: nothing is wrong. A leader in the end is demanded where the list is fixed or members have
// no twins: otherwise a process may wait for members that have been removed meanwhile.
inline std::string wrong_in(const Case& each, const Verdict& verdict) {
  const bool is_promised = each.trouble.twins == 0 || each.trouble.newcomers == 0;
  const bool lacks_leader = verdict.violation.empty() && !verdict.has_leader && is_promised;
  return lacks_leader ? "no leader in the end" : verdict.violation;
}

inline Failure shrunk(Failure failure) {
  using Count = unsigned Trouble::*;
  using Flag = bool Trouble::*;
  constexpr std::array<Count, 14> counts{
      &Trouble::crashes,    &Trouble::cuts,         &Trouble::panics,    &Trouble::pauses,
      &Trouble::coups,      &Trouble::resignations, &Trouble::changes,   &Trouble::sleeps,
      &Trouble::power_cuts, &Trouble::full_disks,   &Trouble::turncoats, &Trouble::clock_steps,
      &Trouble::ambushes,   &Trouble::slow_kinds};
  constexpr std::array<Flag, 7> flags{&Trouble::loses_files,         &Trouble::changes_lists,
                                      &Trouble::spoils_terms,        &Trouble::changes_leases,
                                      &Trouble::has_slow_edges,      &Trouble::repeats_messages,
                                      &Trouble::leaves_minority_dead};
  const auto replace_if_same = [&](const Case& smaller) {
    for (std::uint64_t seed = failure.seed; seed < failure.seed + 20; ++seed) {
      if (wrong_in(smaller, run(seed, smaller, failure.host)) != failure.violation) continue;
      failure.seed = seed;
      failure.each = smaller;
      return true;
    }
    return false;
  };
  for (const Flag flag : flags) {
    Case smaller = failure.each;
    if (std::exchange(smaller.trouble.*flag, false)) replace_if_same(smaller);
  }
  for (const Count count : counts) {
    Case smaller = failure.each;
    if (std::exchange(smaller.trouble.*count, 0) == 0 || replace_if_same(smaller)) continue;
    while (failure.each.trouble.*count > 1) {
      smaller = failure.each;
      smaller.trouble.*count /= 2;
      if (!replace_if_same(smaller)) break;
    }
  }
  return failure;
}

// The failure for people: the smallest case found, and what happened before in it.
inline std::string story(const Failure& failure) {
  const Failure least = shrunk(failure);
  SpaceTime diagram;
  VirtualCluster cluster(least.each.n, least.seed, least.host, least.each.trouble);
  cluster.record(diagram);
  const Verdict verdict = cluster.run();
  return replay(failure.seed, failure.each) + "\nless trouble: " + replay(least.seed, least.each) +
         verdict.scene + "\n" + diagram.text() + failure.violation;
}

// The same of the cluster of this seed.
inline std::string wrong_in(Kind kind, std::uint64_t seed, const Host& host = {}) {
  const Case each = random_case(kind, seed);
  return wrong_in(each, run(seed, each, host));
}

// The first of so many clusters in which the checks find something wrong with this host (or with
// the members, where they are broken); 0: none.
inline std::uint64_t found_out(Kind kind, std::uint64_t clusters, const Host& host = {}) {
  for (std::uint64_t seed = 1; seed <= clusters; ++seed) {
    if (!wrong_in(kind, seed, host).empty()) return seed;
  }
  return 0;
}

}  // namespace conclave::election::testing
