#include "conclave/chain/detail/text_input.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <system_error>

#include <fmt/format.h>

#include "conclave/base/error.hpp"

namespace conclave::chain::detail {
namespace {

std::span<char> mapped(int file, const std::string& path) {
  struct stat status {};
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
    throw Error(fmt::format("'{}' is not a file", path));
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return {};
  void* const memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
  if (memory == MAP_FAILED) {
    throw Error(fmt::format("cannot read '{}': {}", path, std::generic_category().message(errno)));
  }
  return {static_cast<char*>(memory), size};
}

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    throw Error(fmt::format("cannot read '{}': {}", path, std::generic_category().message(errno)));
  try {
    const std::span<char> content = mapped(file, path);
    memory_ = content.data();
    text_ = {content.data(), content.size()};
  } catch (...) {
    close(file);
    throw;
  }
  close(file);
}

MappedFile::~MappedFile() {
  if (!text_.empty()) munmap(memory_, text_.size());
}

bool is_printable(std::string_view text) {
  return std::ranges::none_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
}

std::string excerpt(std::string_view text) {
  std::string result(text.substr(0, 40));
  std::ranges::replace_if(
      result, [](char c) { return c < ' ' || c > '~'; }, '?');
  return result;
}

std::string_view Scanner::until(char symbol) {
  const char* const start = here_;
  const char* const line_end = std::find(here_, end_, '\n');
  here_ = std::find(start, line_end, symbol);
  if (here_ == line_end) fail(std::string(1, symbol));
  return {start, here_++};
}

void Scanner::fail(std::string_view wanted) const {
  const char* const stop = std::find_if(here_, end_, [](char c) { return c == ' ' || c == '\n'; });
  const std::string found = excerpt({here_, stop});
  object(fmt::format("{} was expected, not {}", wanted,
                     found.empty() ? "the end of the line" : fmt::format("'{}'", found)));
}

void Scanner::object(std::string_view what) const {
  const auto line = std::count(begin_, here_, '\n') + 1;
  throw Error(fmt::format("{}, line {}: {}", path_, line, what));
}

}  // namespace conclave::chain::detail
