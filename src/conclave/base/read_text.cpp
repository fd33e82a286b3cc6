#include "conclave/base/read_text.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "conclave/base/error.hpp"

namespace conclave {
namespace {

// The limit of the whole process: one that the user has raised holds for all files.
std::atomic<std::size_t>& raised_limit() {
  static std::atomic<std::size_t> bytes{0};
  return bytes;
}

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

[[noreturn]] void refuse(const std::string& path, std::string_view reason) {
  throw Error(fmt::format("cannot read '{}': {}", path, reason));
}

std::string size_text(std::size_t bytes) {
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  return bytes < mebibyte ? fmt::format("{} bytes", bytes)
                          : fmt::format("{} MiB", bytes / mebibyte);
}

}  // namespace

void raise_file_limits(std::size_t bytes) { raised_limit() = bytes; }

std::size_t file_limit(std::size_t usual_bytes) {
  return std::max(usual_bytes, raised_limit().load());
}

std::string read_text(const std::string& path, std::size_t most_bytes, Limit limit) {
  const bool is_fixed = limit == Limit::fixed;
  if (!is_fixed) most_bytes = file_limit(most_bytes);
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rbe"));
  if (file == nullptr) refuse(path, std::generic_category().message(errno));
  std::string content;
  std::array<char, 1 << 16> piece{};
  while (const std::size_t length = std::fread(piece.data(), 1, piece.size(), file.get())) {
    const std::string_view read(piece.data(), length);
    if (read.find('\0') != std::string_view::npos) refuse(path, "it is no text: it has zero bytes");
    content += read;
    if (content.size() > most_bytes) {
      refuse(path, fmt::format("it is larger than {}{}", size_text(most_bytes),
                               is_fixed ? "" : " (--max-file-size allows more)"));
    }
  }
  if (std::ferror(file.get()) != 0) {
    refuse(path, errno == EISDIR ? "it is a folder" : std::generic_category().message(errno));
  }
  if (content.starts_with(byte_order_mark)) content.erase(0, byte_order_mark.size());
  return content;
}

}  // namespace conclave
