// A text file under construction: what is formatted goes to the disk in large pieces.
#pragma once

#include <cstdio>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace conclave::chain {

class TextFile {
 public:
  // Throws Error if the file cannot be created.
  explicit TextFile(std::string path);

  template <class... Arguments>
  void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Arguments>(arguments)...);
    if (buffer_.size() > large) flush();
  }

  // Must be the last call. Throws Error if not everything could be written.
  void close();

 private:
  static constexpr std::size_t large = 1 << 20;
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  void flush();
  [[noreturn]] void fail() const;

  std::string path_;
  std::unique_ptr<std::FILE, Closer> file_;
  fmt::memory_buffer buffer_;
};

}  // namespace conclave::chain
