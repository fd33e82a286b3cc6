#include "conclave/base/error.hpp"

#include <array>
#include <stdexcept>
#include <string_view>
#include <type_traits>

#include <gtest/gtest.h>

namespace conclave {
namespace {

using namespace std::string_view_literals;

static_assert(std::is_base_of_v<std::runtime_error, Error>);

constexpr std::array protocols{"fratricide"sv, "lottery"sv, "pll"sv};

TEST(NearestName, ForgivesAFewWrongLetters) {
  EXPECT_EQ(nearest_name("pl", protocols), "pll");
  EXPECT_EQ(nearest_name("plll", protocols), "pll");
  EXPECT_EQ(nearest_name("pl1", protocols), "pll");
  EXPECT_EQ(nearest_name("PLl", protocols), "pll");
  EXPECT_EQ(nearest_name("lotery", protocols), "lottery");
  EXPECT_EQ(nearest_name("fratricde", protocols), "fratricide");
  EXPECT_EQ(nearest_name("fartricide", protocols), "fratricide");
}

TEST(NearestName, IsTheNameItself) {
  for (const std::string_view name : protocols) EXPECT_EQ(nearest_name(name, protocols), name);
}

TEST(NearestName, CompletesABeginning) {
  EXPECT_EQ(nearest_name("frat", protocols), "fratricide");
  EXPECT_EQ(nearest_name("lo", protocols), "lottery");
}

TEST(NearestName, PrefersTheFewestMistakes) {
  constexpr std::array names{"agents"sv, "agent"sv, "urgent"sv};
  EXPECT_EQ(nearest_name("agentt", names), "agents");  // equally near: the first
  EXPECT_EQ(nearest_name("agen", names), "agents");    // a beginning of both: the first
  EXPECT_EQ(nearest_name("urgen", names), "urgent");
  EXPECT_EQ(nearest_name("agent", names), "agent");
}

TEST(NearestName, IsEmptyIfNothingIsClose) {
  EXPECT_EQ(nearest_name("quorum", protocols), "");
  EXPECT_EQ(nearest_name("xyz", protocols), "");
  EXPECT_EQ(nearest_name("", protocols), "");
  EXPECT_EQ(nearest_name("pll", {}), "");
}

TEST(UnknownName, SaysWhatWasGivenAndWhatIsAllowed) {
  EXPECT_EQ(unknown_name("protocol", "pl", protocols),
            "unknown protocol 'pl' (did you mean 'pll'?); known: fratricide, lottery, pll");
  EXPECT_EQ(unknown_name("protocol", "quorum", protocols),
            "unknown protocol 'quorum'; known: fratricide, lottery, pll");
  EXPECT_EQ(unknown_name("engine", "{}", std::array{"agents"sv}),
            "unknown engine '{}'; known: agents");
}

TEST(Error, CarriesItsMessage) {
  try {
    throw Error(unknown_name("engine", "agent", std::array{"agents"sv}));
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "unknown engine 'agent' (did you mean 'agents'?); known: agents");
  }
}

}  // namespace
}  // namespace conclave
