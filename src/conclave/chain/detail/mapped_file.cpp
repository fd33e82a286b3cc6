#include "conclave/chain/detail/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "conclave/base/error.hpp"

namespace conclave::chain {
namespace {

std::string_view mapped(int file, const std::string& path) {
  struct stat status {};
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
    throw Error(fmt::format("'{}' is not a file", path));
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return {};
  void* const memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
  if (memory == MAP_FAILED) {
    throw Error(fmt::format("cannot read '{}': {}", path, std::strerror(errno)));
  }
  return {static_cast<const char*>(memory), size};
}

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw Error(fmt::format("cannot read '{}': {}", path, std::strerror(errno)));
  try {
    text_ = mapped(file, path);
  } catch (...) {
    close(file);
    throw;
  }
  close(file);
}

MappedFile::~MappedFile() {
  if (!text_.empty()) munmap(const_cast<char*>(text_.data()), text_.size());
}

}  // namespace conclave::chain
