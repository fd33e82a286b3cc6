// Functions that the harnesses share. A harness gives a reader bytes of unknown origin: the
// reader must take them or throw an Error, and do nothing else.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "conclave/base/check.hpp"
#include "conclave/base/error.hpp"

namespace conclave::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// A file in memory, for readers that take a path. It lives as long as this object.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view content) : file_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    CONCLAVE_CHECK(file_ >= 0);
    const auto written = ::write(file_, content.data(), content.size());
    CONCLAVE_CHECK(written == static_cast<ssize_t>(content.size()));
  }
  ~MemoryFile() { ::close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

// Whether `read` took its input; an Error must be a sentence. Other exceptions escape, and end the
// fuzzer.
template <class Read>
bool reads(Read read) {
  try {
    read();
    return true;
  } catch (const Error& error) {
    CONCLAVE_CHECK(!std::string_view(error.what()).empty());
    return false;
  }
}

}  // namespace conclave::fuzz
