// The inputs that fuzzing has kept, and many small changes of them, without a fuzzer.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/random.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Input = std::vector<std::uint8_t>;

std::string setting(const char* name) {
  const char* given = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
  return given != nullptr ? given : "";
}

// In all, shared by the inputs.
std::size_t most_changes() {
  const std::string given = setting("CONCLAVE_CHANGES");
  return given.empty() ? 6000 : std::stoul(given);
}

// The files in the folders that the environment names, in order, so that a failure comes again.
std::vector<std::filesystem::path> corpus() {
  std::vector<std::filesystem::path> files;
  std::istringstream folders(setting("CONCLAVE_CORPUS"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  return files;
}

Input content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
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
  const auto files = corpus();
  ASSERT_GE(files.size(), 3u);
  const std::size_t changes = 1 + most_changes() / files.size();
  conclave::Stream stream({.seed = 1});
  for (const auto& file : files) {
    SCOPED_TRACE(file);
    const Input input = content_of(file);
    LLVMFuzzerTestOneInput(input.data(), input.size());
    for (std::size_t i = 0; i < changes && !input.empty(); ++i) {
      Input changed = input;
      for (std::uint32_t left = 1 + stream.below(3); left > 0; --left) change(changed, stream);
      LLVMFuzzerTestOneInput(changed.data(), changed.size());
    }
  }
}

}  // namespace
