// A promise file that somebody wrote or a crash left: it is refused with a sentence, or it is
// sound, and then what it says comes back as it is stored.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include <fmt/format.h>
#include <openssl/evp.h>

#include "conclave/election/promise_file.hpp"

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

void check(const std::string& text) {
  const election::PromiseOwner owner{{"test", 1}, "3 members, 0f1e2d3c4b5a6978"};
  const election::PromiseRecord record = election::parse_promise(text, owner, "promise");
  CONCLAVE_CHECK(record.is_there);
  if (!record.trouble.empty()) return;
  const std::string again = election::promise_text(record.promise, owner);
  CONCLAVE_CHECK(election::parse_promise(again, owner, "promise").promise == record.promise);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = fuzz::text_of(data, size);
  check(std::string(text));
  check(with_checksum(text));
  return 0;
}
