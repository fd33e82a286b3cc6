// The inputs that fuzzing has kept, and many small changes of them, without a fuzzer.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/random.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Input = std::vector<std::uint8_t>;

std::vector<Input> corpus() {
  std::vector<Input> inputs;
  for (const auto& entry : std::filesystem::directory_iterator(CONCLAVE_CORPUS)) {
    std::ifstream file(entry.path(), std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{});
  }
  return inputs;
}

void change(Input& input, conclave::Stream& stream) {
  const auto place = [&] { return stream.below(static_cast<std::uint32_t>(input.size())); };
  switch (stream.below(3)) {
    case 0:
      input[place()] = static_cast<std::uint8_t>(stream.below(256));
      break;
    case 1:
      input[place()] ^= static_cast<std::uint8_t>(1u << stream.below(8));
      break;
    default:
      input.resize(1 + place());
  }
}

// A broken promise aborts.
TEST(Fuzz, KnownInputsAndTheirNeighboursDoNoHarm) {
  const auto inputs = corpus();
  ASSERT_GE(inputs.size(), 5u);
  conclave::Stream stream({.seed = 1});
  for (const Input& input : inputs) {
    LLVMFuzzerTestOneInput(input.data(), input.size());
    for (int i = 0; i < 2000 && !input.empty(); ++i) {
      Input changed = input;
      for (std::uint32_t left = 1 + stream.below(3); left > 0; --left) change(changed, stream);
      LLVMFuzzerTestOneInput(changed.data(), changed.size());
    }
  }
}

}  // namespace
