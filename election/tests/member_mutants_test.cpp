// Every mutant of a member must fail the tests of single members (election/tests), and those
// that a whole cluster can notice must also be found out in simulated time; mutants of the service
// and its file by clusters alone. Each is tried in a process of its own, which runs this program's
// tests with the mutant chosen. Without an argument only the tests of single members are run, in a
// second; with `clusters` also simulated clusters, for hours; with `table` each kind of clusters is
// searched for each mutant, and the first seed that shows it is printed.
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "election/tests/support/election_cases.hpp"

namespace conclave::election::testing {
namespace {

TEST(Clusters, ShowNothingWrong) { EXPECT_EQ(found_out({}, 20000), 0u); }
TEST(Changes, ShowNothingWrong) { EXPECT_EQ(found_out_by_changes({}, 6000), 0u); }
TEST(Twins, ShowNothingWrong) { EXPECT_EQ(found_out_by_twins({}, 2000), 0u); }

// Whether some of the tests named by the filter fails.
bool is_found_out(std::size_t mutant, const std::string& filter) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    chosen_mutant = mutant;
    GTEST_FLAG_SET(filter, filter);
    GTEST_FLAG_SET(fail_fast, true);
    if (mutant != no_mutant && std::freopen("/dev/null", "w", stdout) == nullptr) ::_exit(2);
    ::_exit(RUN_ALL_TESTS() == 0 ? 0 : 1);
  }
  int status = 0;
  const bool has_ended = ::waitpid(child, &status, 0) == child && WIFEXITED(status);
  if (!has_ended || WEXITSTATUS(status) > 1) throw std::runtime_error("a trial did not end well");
  return WEXITSTATUS(status) == 1;
}

int survivors(bool tries_clusters) {
  int count = is_found_out(no_mutant, "Member.*") ? 1 : 0;
  for (std::size_t i = 0; i < mutants.size(); ++i) {
    const bool survives_tests = mutants[i].is_of_member && !is_found_out(i, "Member.*");
    const bool survives_clusters =
        tries_clusters && ((mutants[i].shows_in_clusters && !is_found_out(i, "Clusters.*")) ||
                           (mutants[i].shows_in_changes && !is_found_out(i, "Changes.*")) ||
                           (mutants[i].shows_in_twins && !is_found_out(i, "Twins.*")));
    if (!survives_tests && !survives_clusters) continue;
    ++count;
    std::printf("a member that %s survives %s\n", mutants[i].name,
                survives_tests ? "the tests of single members" : "the clusters");
  }
  return count;
}

// The first seed of each kind of clusters that shows a mutant, 0 where none does.
int print_table() {
  std::printf("%-62s %9s %9s %9s\n", "planted mistake", "clusters", "changes", "twins");
  for (std::size_t i = 0; i < mutants.size(); ++i) {
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
      chosen_mutant = i;
      std::printf("%-62s %9llu %9llu %9llu\n", mutants[i].name,
                  static_cast<unsigned long long>(found_out({}, 300)),
                  static_cast<unsigned long long>(found_out_by_changes({}, 300)),
                  static_cast<unsigned long long>(found_out_by_twins({}, 300)));
      std::fflush(nullptr);
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
  }
  return 0;
}

}  // namespace
}  // namespace conclave::election::testing

int main(int argc, char** argv) try {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc > 1 && std::string(argv[1]) == "table")
    return conclave::election::testing::print_table();
  const bool clusters = argc > 1 && std::string(argv[1]) == "clusters";
  return conclave::election::testing::survivors(clusters) == 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
