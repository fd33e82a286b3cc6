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

// Small clusters are tried more often than large ones: there a single member decides.
inline Case random_case(std::uint64_t seed) {
  Stream coins({.seed = seed, .trial = 1});
  Case result;
  result.n = 1 + coins.below(coins.chance(1, 4) ? 50 : 8);
  const bool is_stormy = coins.chance(1, 2);
  Trouble& trouble = result.trouble;
  trouble.crashes = coins.below(is_stormy ? 30 : 2 + 2 * result.n);
  trouble.cuts = coins.below(is_stormy ? 12 : 4);
  trouble.panics = coins.below(is_stormy ? 200 : 4);
  trouble.pauses = coins.below(is_stormy ? 30 : 4);
  trouble.coups = coins.below(8);
  trouble.has_slow_edges = coins.chance(1, 4);
  trouble.repeats_messages = coins.chance(1, 4);
  trouble.leaves_minority_dead = coins.chance(1, 2);
  const bool is_far_apart = coins.chance(1, 4);
  trouble.longest_delay = milliseconds(is_far_apart ? 1000 : 1 + coins.below(100));
  // The margin takes its part of the lease, which must outlast the way to and fro.
  if (!is_far_apart && coins.chance(1, 2)) trouble.drift_ppm = 200'000;
  trouble.resignations = coins.below(is_stormy ? 12 : 4);
  trouble.loses_files = coins.chance(1, 4);
  if (coins.chance(1, 4)) trouble.turncoats = 1 + coins.below(2);
  // Not both: it is assumed that who has lost its file does not come back with a shorter lease.
  trouble.changes_leases = !is_far_apart && coins.chance(1, 4) && !trouble.loses_files;
  trouble.is_new = coins.chance(1, 2);
  trouble.spoils_terms = coins.chance(1, 4);
  trouble.changes_lists = coins.chance(1, 4);
  // A member whose term cannot be is no help to one that has lost its file, nor is a dead one.
  if (trouble.spoils_terms) trouble.leaves_minority_dead = trouble.loses_files = false;
  trouble.power_cuts = coins.below(6);
  trouble.full_disks = coins.below(3);
  // Where half of many are dead besides, elections take longer than the simulation waits.
  if (result.n <= 8 && coins.chance(1, 4))
    trouble.slowest_sync = milliseconds(1 + coins.below(400));
  return result;
}

inline std::string replay(std::uint64_t seed, const Case& each) {
  const Trouble& trouble = each.trouble;
  return fmt::format(
      "seed {}, n = {}, crashes {}, cuts {}, panics {}, pauses {}, coups {}, resignations {}, "
      "changes {}, newcomers {}, twins {}, turncoats {}, power cuts {}, full disks {}, slowest "
      "sync "
      "{} ms",
      seed, each.n, trouble.crashes, trouble.cuts, trouble.panics, trouble.pauses, trouble.coups,
      trouble.resignations, trouble.changes, trouble.newcomers, trouble.twins, trouble.turncoats,
      trouble.power_cuts, trouble.full_disks, trouble.slowest_sync.count());
}

// Three members: the leader, a second that sees it and a third that does not. The second is killed
// and started again where it sees the third only.
inline Case turncoat_case(std::uint64_t seed) {
  Case result{.n = 3};
  result.trouble.turncoats = 1;
  result.trouble.is_new = seed % 2 == 0;
  return result;
}

// The same, and its promise is deleted while it is down.
inline Case lost_file_case(std::uint64_t seed) {
  Case result = turncoat_case(seed);
  result.trouble.loses_files = true;
  return result;
}

// The same, but the promise survives, and each start has a lease four times as long or as short.
inline Case changed_lease_case(std::uint64_t seed) {
  Case result = turncoat_case(seed);
  result.trouble.changes_leases = true;
  return result;
}

// Five or more members, of which three are started again as a cluster of three.
inline Case changed_list_case(std::uint64_t seed) {
  Case result{.n = static_cast<MemberIndex>(5 + seed % 3)};
  result.trouble.crashes = 12;
  result.trouble.cuts = 2;
  result.trouble.changes_lists = true;
  return result;
}

// Few members, of which some are added and some removed while leaders fail, files are lost and
// edges cut.
inline Case changing_case(std::uint64_t seed) {
  Stream coins({.seed = seed, .trial = 2});
  Case result{.n = 1 + coins.below(5)};
  Trouble& trouble = result.trouble;
  trouble.newcomers = 1 + coins.below(5);
  trouble.changes = 4 + coins.below(40);
  const bool is_stormy = coins.chance(1, 2);
  trouble.crashes = coins.below(is_stormy ? 25 : 4);
  trouble.cuts = coins.below(is_stormy ? 12 : 4);
  trouble.pauses = coins.below(is_stormy ? 12 : 3);
  trouble.coups = coins.below(8);
  trouble.resignations = coins.below(is_stormy ? 8 : 3);
  trouble.panics = coins.below(is_stormy ? 30 : 2);
  trouble.loses_files = coins.chance(1, 2);
  if (coins.chance(1, 4)) trouble.turncoats = 1 + coins.below(3);
  trouble.has_slow_edges = coins.chance(1, 4);
  trouble.repeats_messages = coins.chance(1, 4);
  trouble.longest_delay = milliseconds(coins.chance(1, 4) ? 1000 : 1 + coins.below(100));
  trouble.is_new = coins.chance(1, 2);
  if (trouble.longest_delay < milliseconds(200) && coins.chance(1, 2)) trouble.drift_ppm = 200'000;
  return result;
}

// A list that may change and does not, while a minority's files are damaged.
inline Case spoiled_list_case(std::uint64_t seed) {
  Stream coins({.seed = seed, .trial = 3});
  Case result{.n = 5 + coins.below(3)};
  Trouble& trouble = result.trouble;
  trouble.newcomers = 1;
  trouble.crashes = 4 + coins.below(12);
  trouble.coups = 1 + coins.below(6);
  trouble.resignations = coins.below(4);
  trouble.spoils_terms = true;
  trouble.longest_delay = milliseconds(1 + coins.below(100));
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

// Few members, of which some have a second process: on a copy of the file, as it is or as it was,
// or without a file, while the first one lives on behind cuts, or is killed and started again.
inline Case twin_case(std::uint64_t seed) {
  Stream coins({.seed = seed, .trial = 4});
  constexpr std::array<MemberIndex, 4> sizes{3, 3, 5, 4};
  Case result{.n = sizes[coins.below(4)]};
  Trouble& trouble = result.trouble;
  trouble.twins = 1 + coins.below(3);
  trouble.has_copies = coins.chance(2, 3);
  trouble.has_blanks = !trouble.has_copies || coins.chance(1, 2);
  trouble.always_recovers = coins.chance(1, 4);
  trouble.loses_files = coins.chance(1, 4);
  trouble.crashes = coins.below(8);
  trouble.cuts = coins.below(8);
  trouble.coups = coins.below(6);
  trouble.pauses = coins.below(4);
  trouble.resignations = coins.below(3);
  trouble.turncoats = coins.below(3);
  trouble.has_slow_edges = coins.chance(1, 3);
  trouble.repeats_messages = coins.chance(1, 3);
  trouble.longest_delay = milliseconds(coins.chance(1, 4) ? 1000 : 1 + coins.below(200));
  trouble.power_cuts = coins.below(4);
  if (coins.chance(1, 6)) {
    trouble.newcomers = 1 + coins.below(2);
    trouble.changes = coins.below(10);
  }
  return result;
}

// Small, with much trouble: in every other one so much that no leader lasts, in the rest
// around the leader or its supporters.
inline Case troubled_case(std::uint64_t seed) {
  Case result = random_case(seed);
  result.n = 2 + result.n % 4;
  Trouble& trouble = result.trouble;
  trouble.turncoats = 0;
  trouble.loses_files = trouble.changes_leases = false;
  trouble.spoils_terms = trouble.changes_lists = false;
  if (seed % 2 == 0) {
    trouble.crashes = 40;
    trouble.cuts = 12;
  } else {
    trouble.crashes = trouble.cuts = trouble.panics = trouble.pauses = 3;
    trouble.coups = 8;
    trouble.resignations = 8;
  }
  if (seed % 4 == 1) {
    trouble.resignations = 2;
    trouble.has_slow_edges = trouble.repeats_messages = true;
  }
  if (seed % 4 == 3) {
    trouble.coups = trouble.crashes = trouble.pauses = 1;
    trouble.turncoats = 3;
    trouble.loses_files = seed % 8 == 3;
    trouble.changes_leases = seed % 8 == 7;
  }
  if (seed % 8 == 6) {
    trouble.spoils_terms = true;
    trouble.leaves_minority_dead = false;
  }
  return result;
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

inline Failure shrunk(Failure failure) {
  using Count = unsigned Trouble::*;
  using Flag = bool Trouble::*;
  constexpr std::array<Count, 11> counts{
      &Trouble::crashes,    &Trouble::cuts,         &Trouble::panics,   &Trouble::pauses,
      &Trouble::coups,      &Trouble::resignations, &Trouble::changes,  &Trouble::twins,
      &Trouble::power_cuts, &Trouble::full_disks,   &Trouble::turncoats};
  constexpr std::array<Flag, 7> flags{&Trouble::loses_files,         &Trouble::changes_lists,
                                      &Trouble::spoils_terms,        &Trouble::changes_leases,
                                      &Trouble::has_slow_edges,      &Trouble::repeats_messages,
                                      &Trouble::leaves_minority_dead};
  const auto replace_if_same = [&](const Case& smaller) {
    for (std::uint64_t seed = failure.seed; seed < failure.seed + 20; ++seed) {
      if (run(seed, smaller, failure.host).violation != failure.violation) continue;
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
         verdict.scene + "\n" + diagram.text() + verdict.violation;
}

// The first of so many troubled clusters in which the checks find something wrong with this host
// (or with the members, where they are broken); 0: none.
inline std::uint64_t found_out(const Host& host, std::uint64_t clusters) {
  for (std::uint64_t seed = 1; seed <= clusters; ++seed) {
    const Case each = troubled_case(seed);
    const Verdict verdict = VirtualCluster(each.n, seed, host, each.trouble).run();
    if (!verdict.violation.empty() || !verdict.has_leader) return seed;
  }
  return 0;
}

// The same among clusters whose list changes.
inline std::uint64_t found_out_by_changes(const Host& host, std::uint64_t clusters) {
  for (std::uint64_t seed = 1; seed <= clusters; ++seed) {
    const Case each = changing_case(seed);
    const Verdict verdict = VirtualCluster(each.n, seed, host, each.trouble).run();
    if (!verdict.violation.empty() || !verdict.has_leader) return seed;
  }
  return 0;
}

// The same among clusters whose members have twins.
inline std::uint64_t found_out_by_twins(const Host& host, std::uint64_t clusters) {
  for (std::uint64_t seed = 1; seed <= clusters; ++seed) {
    const Case each = twin_case(seed);
    const Verdict verdict = VirtualCluster(each.n, seed, host, each.trouble).run();
    if (!verdict.violation.empty() || !verdict.has_leader) return seed;
  }
  return 0;
}

}  // namespace conclave::election::testing
