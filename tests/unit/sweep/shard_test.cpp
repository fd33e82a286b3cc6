#include <gtest/gtest.h>

#include "conclave/base/error.hpp"
#include "conclave/sweep/schedule.hpp"
#include "conclave/sweep/sweep.hpp"

namespace conclave::sweep {
namespace {

TEST(Shard, IsReadAndWritten) {
  EXPECT_EQ(to_string(parse_shard("2/5")), "2/5");
  EXPECT_EQ(to_string(parse_shard("0/5")), "5/5");
  EXPECT_EQ(to_string(parse_shard("1/1")), "");
  EXPECT_EQ(to_string(Shard{}), "");
  for (const char* text : {"", "3", "/", "1/", "/3", "6/5", "1/0", "-1/3", "a/b", "1/1e7"}) {
    EXPECT_THROW(parse_shard(text), Error) << text;
  }
}

TEST(Shard, EveryTrialBelongsToExactlyOne) {
  for (const Sampling& sampling :
       {Sampling{.trials = 10}, Sampling{.trials = 10, .precision = 0.1}}) {
    for (std::size_t cell = 0; cell < 7; ++cell) {
      for (std::uint64_t trial = 0; trial < 10; ++trial) {
        int owners = 0;
        for (std::uint64_t i = 0; i < 3; ++i) owners += Shard{i, 3}.has(cell, sampling, trial);
        EXPECT_EQ(owners, 1);
      }
    }
  }
}

TEST(Shard, CountsItsTrialsAsIfOneByOne) {
  for (std::uint64_t trials = 1; trials < 12; ++trials) {
    for (std::uint64_t count = 1; count < 6; ++count) {
      for (std::uint64_t index = 0; index < count; ++index) {
        for (std::size_t cell = 0; cell < 7; ++cell) {
          for (const double precision : {0.0, 0.1}) {
            const Sampling sampling{.trials = trials, .precision = precision};
            std::uint64_t expected = 0;
            for (std::uint64_t t = 0; t < trials; ++t) {
              expected += Shard{index, count}.has(cell, sampling, t) ? 1 : 0;
            }
            EXPECT_EQ(trials_in({index, count}, cell, sampling), expected);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace conclave::sweep
