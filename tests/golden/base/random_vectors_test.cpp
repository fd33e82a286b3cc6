// The generator's bits, held to known answers (tests/golden/random_vectors.txt), to plain scalar
// code that follows the published algorithms, and to each other on every instruction set.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <Random123/philox.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include "conclave/base/lanes.hpp"
#include "conclave/base/random.hpp"

namespace conclave {

// For the messages of failed tests.
std::ostream& operator<<(std::ostream& out, const StreamName& name) {
  return out << fmt::format("seed {} trial {} purpose {}", name.seed, name.trial,
                            static_cast<std::uint64_t>(name.purpose));
}

namespace {

__extension__ using Wide = unsigned __int128;
using Words = std::vector<std::uint64_t>;

constexpr std::uint64_t max64 = ~std::uint64_t{0};
constexpr std::uint64_t two_to_24 = std::uint64_t{1} << 24;
constexpr std::uint64_t two_to_32 = std::uint64_t{1} << 32;

const std::array<StreamName, 8> names{{
    {.seed = 1, .trial = 0, .purpose = Purpose::schedule},
    {.seed = 1, .trial = 0, .purpose = Purpose::transition},
    {.seed = 1, .trial = 0, .purpose = Purpose::start},
    {.seed = 1, .trial = 1, .purpose = Purpose::schedule},
    {.seed = 2, .trial = 0, .purpose = Purpose::schedule},
    {.seed = 0, .trial = 0, .purpose = Purpose::test},
    {.seed = max64, .trial = max64, .purpose = Purpose::test},
    {.seed = 0x0123456789abcdefu, .trial = 0xfedcba9876543210u, .purpose = Purpose::test},
}};

// Every n at which one of the mappings could change its behaviour.
const std::array populations{
    std::uint64_t{2},
    std::uint64_t{3},
    std::uint64_t{4},
    std::uint64_t{5},
    std::uint64_t{6},
    std::uint64_t{7},
    std::uint64_t{8},
    std::uint64_t{9},
    std::uint64_t{10},
    std::uint64_t{255},
    std::uint64_t{256},
    std::uint64_t{257},
    std::uint64_t{1'000},
    std::uint64_t{65'535},
    std::uint64_t{65'536},
    std::uint64_t{65'537},
    std::uint64_t{1'000'003},
    two_to_24 / 2 - 1,
    two_to_24 / 2,
    two_to_24 / 2 + 1,
    two_to_24 - 1,
    two_to_24,
    two_to_24 + 1,
    std::uint64_t{100'000'007},
    std::uint64_t{1'000'000'000},
    two_to_32 / 2 - 1,
    two_to_32 / 2,
    two_to_32 / 2 + 1,
    two_to_32 / 4 * 3 - 1,
    two_to_32 / 4 * 3,
    two_to_32 / 4 * 3 + 1,
    two_to_32 - 2,
    two_to_32 - 1,
};

Words words_of(const StreamName& name, std::size_t count) {
  Words words(count);
  Lanes(name).fill(words);
  return words;
}

Words pairs_of(const StreamName& name, std::uint64_t n, std::size_t words) {
  Lanes lanes(name);
  Words pairs(words);
  pairs.resize(fill_pairs(lanes.state(), n, pairs.data(), words));
  return pairs;
}

// xoshiro256++ 1.0 of Blackman and Vigna (2021), one number at a time.
class ScalarXoshiro {
 public:
  explicit ScalarXoshiro(const std::array<std::uint64_t, 4>& state) : s_(state) {}

  std::uint64_t next() {
    const std::uint64_t result = rotate_left(s_[0] + s_[3], 23) + s_[0];
    const std::uint64_t t = s_[1] << 17;
    s_[2] ^= s_[0];
    s_[3] ^= s_[1];
    s_[1] ^= s_[2];
    s_[0] ^= s_[3];
    s_[2] ^= t;
    s_[3] = rotate_left(s_[3], 45);
    return result;
  }

 private:
  static std::uint64_t rotate_left(std::uint64_t x, int by) { return (x << by) | (x >> (64 - by)); }

  std::array<std::uint64_t, 4> s_;
};

std::array<std::uint64_t, 4> philox(const std::array<std::uint64_t, 4>& counter,
                                    const std::array<std::uint64_t, 2>& key) {
  const auto output =
      r123::Philox4x64{}({{counter[0], counter[1], counter[2], counter[3]}}, {{key[0], key[1]}});
  return {output[0], output[1], output[2], output[3]};
}

Words scalar_words(const StreamName& name, std::size_t count) {
  std::vector<ScalarXoshiro> lanes;
  for (std::uint64_t lane = 0; lane < 8; ++lane) {
    lanes.emplace_back(
        philox({name.trial, lane, 0, 0}, {name.seed, static_cast<std::uint64_t>(name.purpose)}));
  }
  Words words(count);
  for (std::size_t k = 0; k < count; ++k) words[k] = lanes[k % 8].next();
  return words;
}

std::uint64_t as_pair(std::uint64_t initiator, std::uint64_t responder) {
  return initiator | responder << 32;
}

// Up to 2^24 agents: the high half of the word is the initiator, the low half the responder, each
// by Lemire's method (2019), and equal agents are dropped.
void append_small(std::uint64_t word, std::uint64_t n, Words& pairs) {
  const std::uint64_t first = (word >> 32) * n;
  const std::uint64_t second = (word % two_to_32) * n;
  const std::uint64_t biased = two_to_32 % n;
  if (first % two_to_32 < biased || second % two_to_32 < biased) return;
  if (first / two_to_32 == second / two_to_32) return;
  pairs.push_back(as_pair(first / two_to_32, second / two_to_32));
}

// Above: Lemire's method for the number of the pair among all n(n-1), in one step of 128 bits. The
// two steps of 64 bits in the library must come to the same.
void append_large(std::uint64_t word, std::uint64_t n, Words& pairs) {
  const std::uint64_t all_pairs = n * (n - 1);
  const Wide product = static_cast<Wide>(word) * all_pairs;
  const auto biased = static_cast<std::uint64_t>((static_cast<Wide>(max64) + 1) % all_pairs);
  if (static_cast<std::uint64_t>(product) < biased) return;
  const auto number = static_cast<std::uint64_t>(product >> 64);
  const std::uint64_t initiator = number / (n - 1);
  const std::uint64_t among_others = number % (n - 1);
  pairs.push_back(as_pair(initiator, among_others + (among_others >= initiator ? 1 : 0)));
}

Words scalar_pairs(const Words& words, std::uint64_t n) {
  Words pairs;
  for (const std::uint64_t word : words) {
    n <= two_to_24 ? append_small(word, n, pairs) : append_large(word, n, pairs);
  }
  return pairs;
}

// The answers in the file.

std::string in_hex(const auto& words) { return fmt::format("{:016x}", fmt::join(words, " ")); }

std::string philox_answer(std::istream& question) {
  std::array<std::uint64_t, 4> counter{};
  std::array<std::uint64_t, 2> key{};
  question >> std::hex;
  for (std::uint64_t& word : counter) question >> word;
  for (std::uint64_t& word : key) question >> word;
  return in_hex(philox(counter, key));
}

StreamName read_name(std::istream& question) {
  StreamName name;
  std::uint64_t purpose = 0;
  question >> name.seed >> name.trial >> purpose;
  name.purpose = static_cast<Purpose>(purpose);
  return name;
}

std::string words_answer(std::istream& question) {
  return in_hex(words_of(read_name(question), 16));
}

std::string pairs_answer(std::istream& question) {
  const StreamName name = read_name(question);
  std::uint64_t n = 0;
  question >> n;
  std::vector<std::string> texts;
  for (const std::uint64_t pair : pairs_of(name, n, 64)) {
    texts.push_back(fmt::format("{}>{}", pair % two_to_32, pair / two_to_32));
  }
  texts.resize(8);
  return fmt::format("{}", fmt::join(texts, " "));
}

std::string kind_of(const std::string& line) { return line.substr(0, line.find(' ')); }

// The line with the answer that the library gives today; comments stay as they are.
std::string answered(const std::string& line) {
  static const std::map<std::string, std::string (*)(std::istream&)> answers{
      {"philox4x64-10", philox_answer}, {"words", words_answer}, {"pairs", pairs_answer}};
  const auto answer = answers.find(kind_of(line));
  if (answer == answers.end()) return line;
  const std::string question = line.substr(0, line.find('='));
  std::istringstream input(question.substr(question.find(' ')));
  return question + "= " + answer->second(input);
}

std::vector<std::string> lines_of_file() {
  std::ifstream file(CONCLAVE_RANDOM_VECTORS);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

void rewrite_file() {
  const std::vector<std::string> lines = lines_of_file();
  std::ofstream file(CONCLAVE_RANDOM_VECTORS);
  for (const std::string& line : lines) {
    file << (kind_of(line) == "philox4x64-10" ? line : answered(line)) << '\n';
  }
}

TEST(RandomVectors, AreTheKnownAnswers) {
  std::map<std::string, int> seen;
  for (const std::string& line : lines_of_file()) {
    EXPECT_EQ(line, answered(line)) << "in " << CONCLAVE_RANDOM_VECTORS;
    ++seen[kind_of(line)];
  }
  EXPECT_EQ(seen["philox4x64-10"], 3);
  EXPECT_GE(seen["words"], 3);
  EXPECT_GE(seen["pairs"], 8);
}

TEST(RandomVectors, LanesAreEightScalarGenerators) {
  for (const StreamName& name : names) EXPECT_EQ(words_of(name, 4096), scalar_words(name, 4096));
}

TEST(RandomVectors, PairsAreThoseOfTheScalarMappings) {
  for (const std::uint64_t n : populations) {
    for (const StreamName& name : names) {
      const Words words = words_of(name, 4096);
      ASSERT_EQ(pairs_of(name, n, words.size()), scalar_pairs(words, n)) << name << " n " << n;
    }
  }
}

// A generator whose next eight words are these: xoshiro256++ with s0 = 0 gives s3 rotated by 23.
Lanes lanes_that_give(const Words& words) {
  Lanes lanes(names[0]);
  for (std::size_t lane = 0; lane < Lanes::count; ++lane) {
    lanes.state()[0][lane] = 0;
    lanes.state()[3][lane] = std::rotr(words[lane], 23);
  }
  return lanes;
}

// The x with x * factor = remainder modulo 2^64, by Newton's iteration for 1 / factor; the factor
// is odd.
std::uint64_t divided(std::uint64_t remainder, std::uint64_t factor) {
  std::uint64_t inverse = factor;
  for (int bits = 3; bits < 64; bits *= 2) inverse *= 2 - factor * inverse;
  return remainder * inverse;
}

// Words whose product with `factor`, modulo 2^bits, lies at the threshold 2^bits mod factor (the
// first four) and at the largest attainable number below it (the last four, to be dropped).
Words words_at_threshold(std::uint64_t factor, int bits) {
  const int zeros = std::countr_zero(factor);
  const std::uint64_t last = max64 >> (64 - bits);
  const std::uint64_t threshold = (last % factor + 1) % factor;
  Words words;
  for (std::uint64_t below : {0u, 1u}) {
    for (std::uint64_t high = 0; high < 4; ++high) {  // high bits do not matter if factor is even
      const std::uint64_t x = divided((threshold >> zeros) - below, factor >> zeros);
      words.push_back((high << (bits - zeros - 1) << 1 | (x & last >> zeros)) & last);
    }
  }
  return words;
}

void expect_scalar_pairs(const Words& words, std::uint64_t n, std::size_t most_kept) {
  Words pairs(Lanes::count);
  Lanes lanes = lanes_that_give(words);
  pairs.resize(fill_pairs(lanes.state(), n, pairs.data(), Lanes::count));
  EXPECT_EQ(pairs, scalar_pairs(words, n)) << "n " << n << " words " << in_hex(words);
  EXPECT_LE(pairs.size(), most_kept) << "n " << n << " words " << in_hex(words);
}

// Among random words the rejections of most populations are too rare to be seen.
TEST(RandomVectors, PairsAreDroppedExactlyBelowTheThreshold) {
  for (const std::uint64_t n : populations) {
    if (n <= two_to_24) {
      const std::size_t most_kept = std::has_single_bit(n) ? 8 : 4;
      const std::uint64_t other = two_to_32 / 7;
      Words words = words_at_threshold(n, 32);
      for (std::uint64_t& word : words) word = word << 32 | other;
      expect_scalar_pairs(words, n, most_kept);
      for (std::uint64_t& word : words) word = std::rotr(word, 32);
      expect_scalar_pairs(words, n, most_kept);
    } else {
      expect_scalar_pairs(words_at_threshold(n * (n - 1), 64), n, 4);
    }
  }
}

TEST(RandomVectors, PairsConsumeTheWordsAndKeepWithinThem) {
  constexpr std::uint64_t untouched = 0x5555555555555555u;
  for (const std::uint64_t n : populations) {
    Lanes with_pairs(names[0]);
    Lanes with_words(names[0]);
    Words pairs(512 + 64, untouched);
    Words words(512);
    EXPECT_LE(fill_pairs(with_pairs.state(), n, pairs.data(), 512), 512u);
    with_words.fill(words);
    EXPECT_EQ(with_pairs.state(), with_words.state()) << "n " << n;
    EXPECT_EQ(std::count(pairs.begin() + 512, pairs.end(), untouched), 64) << "n " << n;
  }
}

// Makes Highway dispatch to one target, and to the best one again at the end.
class OnlyTarget {
 public:
  explicit OnlyTarget(std::int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  OnlyTarget(const OnlyTarget&) = delete;
  OnlyTarget& operator=(const OnlyTarget&) = delete;
  ~OnlyTarget() {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().DeInit();
  }
};

TEST(RandomVectors, AreEqualOnEveryInstructionSet) {
  // Down to the lowest, which has no vectors and runs everywhere.
  const std::vector<std::int64_t> targets = hwy::SupportedAndGeneratedTargets();
  std::set<std::size_t> dispatched;
  for (const std::int64_t target : targets) {
    const OnlyTarget only(target);
    SCOPED_TRACE(hwy::TargetName(target));
    dispatched.insert(hwy::GetChosenTarget().GetIndex());
    for (const StreamName& name : names) {
      const Words words = scalar_words(name, 1024);
      EXPECT_EQ(words_of(name, words.size()), words) << name;
      for (const std::uint64_t n : populations) {
        ASSERT_EQ(pairs_of(name, n, words.size()), scalar_pairs(words, n)) << name << " n " << n;
      }
    }
  }
  EXPECT_EQ(dispatched.size(), targets.size());
}

}  // namespace
}  // namespace conclave

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc > 1 && std::string_view(argv[1]) == "--rewrite") {
    conclave::rewrite_file();
    return 0;
  }
  return RUN_ALL_TESTS();
}
