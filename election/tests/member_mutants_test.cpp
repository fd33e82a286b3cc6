// Every planted mistake must be found: those of a member by the tests of single members
// (member_test.cpp), and all that a cluster can show by a cluster in simulated time, which
// mistakes.md names; the others have a reason in break_members.py. Each is tried in a process of
// its own. With `table` the first cluster that shows each is searched, and mistakes.md printed:
//
//   member_mutants_test table > election/tests/mistakes.md
//
// With a kind and a seed of clusters, and the number of a mistake if there is to be one, it tells
// what happens in this cluster.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <span>
#include <stdexcept>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "conclave/base/error.hpp"

#include "election/tests/support/election_cases.hpp"

namespace conclave::election::testing {
namespace {

const std::string failed = "the process fails";

// The words of a process with this mistake.
std::string said_by(std::size_t mutant, const std::function<std::string()>& work) {
  std::array<int, 2> ends{};
  std::fflush(nullptr);
  if (::pipe(ends.data()) != 0) throw std::runtime_error("no pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    chosen_mutant = mutant;
    const std::string text = work();
    const bool is_written = ::write(ends[1], text.data(), text.size()) >= 0;
    ::_exit(is_written ? 0 : 1);
  }
  ::close(ends[1]);
  std::string text(200, ' ');
  const auto length = ::read(ends[0], text.data(), text.size());
  ::close(ends[0]);
  int status = 0;
  const bool has_ended = ::waitpid(child, &status, 0) == child && WIFEXITED(status);
  if (!has_ended || WEXITSTATUS(status) != 0) return failed;
  text.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  return text;
}

// Whether some test of single members fails.
bool is_found_by_tests(std::size_t mutant) {
  const auto fails = [&]() -> std::string {
    GTEST_FLAG_SET(filter, "Member.*");
    GTEST_FLAG_SET(fail_fast, true);
    if (mutant != no_mutant && std::freopen("/dev/null", "w", stdout) == nullptr) ::_exit(2);
    return RUN_ALL_TESTS() == 0 ? "" : "fails";
  };
  return !said_by(mutant, fails).empty();
}

// The cluster of each mistake: a row of the table is `| name | kind seed | what was found |`.
std::map<std::string, std::string> clusters_in(const std::string& path) {
  std::map<std::string, std::string> clusters;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(" | "), second = line.find(" | ", first + 3);
    if (!line.starts_with("| ") || second == std::string::npos) continue;
    clusters[line.substr(2, first - 2)] = line.substr(first + 3, second - first - 3);
  }
  return clusters;
}

struct Place {
  Kind kind = Kind::fixed;
  std::uint64_t seed = 0;
};
Place place_of(const std::string& cluster) {
  const std::size_t space = cluster.find(' ');
  const auto name = std::ranges::find(kind_names, cluster.substr(0, space));
  if (space == std::string::npos || name == kind_names.end())
    throw Error(fmt::format("'{}' names no cluster", cluster));
  return {kinds[static_cast<std::size_t>(name - kind_names.begin())],
          std::stoull(cluster.substr(space))};
}

// Why a mistake and its cluster do not pass; empty: they do.
std::string objection(std::size_t mutant, const std::string& cluster) {
  const Mutant& it = mutants[mutant];
  if (cluster.empty()) return "is not in mistakes.md: make it anew";
  if (it.is_of_member && !is_found_by_tests(mutant)) return "survives the tests of single members";
  if (!std::string(it.reason).empty()) return "";
  const Place place = place_of(cluster);
  if (!said_by(no_mutant, [&] { return wrong_in(place.kind, place.seed); }).empty())
    return "is not needed: this cluster shows something wrong in any case";
  const std::string wrong = said_by(mutant, [&] { return wrong_in(place.kind, place.seed); });
  return wrong.empty() ? "survives its cluster, " + cluster : "";
}

int check_table() {
  std::map<std::string, std::string> clusters = clusters_in(CONCLAVE_MISTAKES);
  int failures = is_found_by_tests(no_mutant) ? 1 : 0;
  for (std::size_t i = 0; i < mutants.size(); ++i) {
    const std::string why = objection(i, clusters[mutants[i].name]);
    if (why.empty()) continue;
    ++failures;
    std::printf("a member that %s: %s\n", mutants[i].name, why.c_str());
  }
  return failures == 0 ? 0 : 1;
}

std::string words_for(Kind kind, std::uint64_t seed, const std::string& wrong) {
  return fmt::format("{} {} | {}", kind_names[static_cast<std::size_t>(kind)], seed, wrong);
}

// The first cluster that shows a mistake and what was found, or nothing.
std::string search(std::size_t mutant, std::uint64_t clusters) {
  const auto look = [&]() -> std::string {
    for (std::uint64_t seed = 1; seed <= clusters; ++seed) {
      for (const Kind kind : kinds) {
        const std::string wrong = wrong_in(kind, seed);
        if (!wrong.empty()) return words_for(kind, seed, wrong);
      }
    }
    return "";
  };
  std::string found = said_by(mutant, look);
  for (std::uint64_t seed = 1; found == failed; ++seed) {  // which one has ended the process?
    for (const Kind kind : kinds) {
      const std::string wrong = said_by(mutant, [&] { return wrong_in(kind, seed); });
      if (!wrong.empty()) return words_for(kind, seed, wrong);
    }
  }
  return found;
}

int print_table(std::uint64_t clusters, std::size_t first, std::size_t end) {
  if (first == 0) std::printf("| a member that | is found in | by |\n|---|---|---|\n");
  for (std::size_t i = first; i < end; ++i) {
    const std::string reason = mutants.at(i).reason;
    std::string found = search(i, clusters);
    if (!found.empty() && !reason.empty()) found += " (against its reason)";
    if (found.empty()) found = "- | " + (reason.empty() ? "NOT FOUND" : reason);
    std::printf("| %s | %s |\n", mutants[i].name, found.c_str());
    std::fflush(stdout);
  }
  return 0;
}

int tell(std::span<char*> words) {
  const Place place = place_of(std::string(words[0]) + " " + words[1]);
  chosen_mutant = words.size() > 2 ? std::stoull(words[2]) : no_mutant;
  const Case each = random_case(place.kind, place.seed);
  const std::string wrong = wrong_in(each, run(place.seed, each));
  std::printf("%s\n",
              wrong.empty() ? "nothing is wrong" : story({place.seed, each, {}, wrong}).c_str());
  return wrong.empty() ? 0 : 1;
}

}  // namespace
}  // namespace conclave::election::testing

int main(int argc, char** argv) try {
  using namespace conclave::election::testing;
  ::testing::InitGoogleTest(&argc, argv);
  const std::span words(argv + 1, static_cast<std::size_t>(argc - 1));
  if (words.empty()) return check_table();
  if (std::string(words[0]) == "table") {
    const std::size_t first = words.size() > 2 ? std::stoull(words[2]) : 0;
    return print_table(words.size() > 1 ? std::stoull(words[1]) : fixed_clusters, first,
                       words.size() > 2 ? first + 1 : mutants.size());
  }
  return words.size() > 1 ? tell(words) : 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
