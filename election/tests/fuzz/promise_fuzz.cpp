// A promise file that somebody wrote or a crash left: it is refused with a sentence, or it is
// sound, and then what it says comes back as it is stored.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include <fmt/format.h>
#include <openssl/evp.h>

#include "election/promise_file.hpp"

#include "tests/fuzz/reading.hpp"

namespace {

using namespace conclave;

// With the checksum that no fuzzer guesses.
std::string with_checksum(std::string_view body) {
  std::array<unsigned char, 32> sum{};
  CONCLAVE_CHECK(EVP_Digest(body.data(), body.size(), sum.data(), nullptr, EVP_sha256(), nullptr));
  std::string text = std::string(body) + "sha256 ";
  for (const unsigned char byte : sum) text += fmt::format("{:02x}", byte);
  return text + '\n';
}

void check(const std::string& text, const election::PromiseOwner& owner) {
  const election::PromiseRecord record = election::parse_promise(text, owner, "promise");
  CONCLAVE_CHECK(record.is_there);
  if (!record.trouble.empty()) return;
  CONCLAVE_CHECK(record.is_intact &&
                 record.state.configuration.stamp.term <= record.state.promise.term);
  const std::string again = election::promise_text(record.state, owner, record.place, record.count);
  const election::PromiseRecord second = election::parse_promise(again, owner, "promise");
  CONCLAVE_CHECK(second.state == record.state && second.place == record.place);
}

// As the file of a cluster whose list is fixed, and of one whose list may change.
void check(const std::string& text) {
  check(text, {{"test", 1}, "3 members, 0f1e2d3c4b5a6978"});
  check(text, {{"test", 1}, std::string(election::elastic_list)});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = fuzz::text_of(data, size);
  check(std::string(text));
  check(with_checksum(text));
  return 0;
}
