// Texts from strangers: a file mapped into memory, and a scanner that reads numbers and words from
// a text line by line. The scanner copies nothing and stays within the text; mistakes are Errors
// that name the file and the line.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace conclave::chain::detail {

// The content of a file, mapped for reading; the file must not shrink meanwhile.
class MappedFile {
 public:
  // Throws Error if there is no such file, it is no plain file, or it cannot be read.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view text() const { return text_; }

 private:
  void* memory_ = nullptr;
  std::string_view text_;
};

// Whether a text holds no control characters, which a terminal might obey.
bool is_printable(std::string_view text);

// The beginning of a text for a message: at most 40 characters, others than printable ASCII as '?'.
std::string excerpt(std::string_view text);

// The text must outlive the scanner.
class Scanner {
 public:
  Scanner(std::string_view text, std::string path)
      : begin_(text.data()), here_(begin_), end_(begin_ + text.size()), path_(std::move(path)) {}

  std::size_t size() const { return static_cast<std::size_t>(end_ - begin_); }  // of the text

  // Goes to the next line that is neither empty nor a comment (#); false at the end.
  bool next_line() {
    while (here_ != end_) {
      skip_blanks();
      if (here_ == end_) return false;
      if (*here_ != '\n' && *here_ != '#') return true;
      skip_line();
    }
    return false;
  }

  // Whether something is left in this line.
  bool has_more() {
    skip_blanks();
    return here_ != end_ && *here_ != '\n';
  }

  // The next number in this line. Throws Error, with file and line, if there is none.
  std::uint32_t integer() {
    skip_blanks();
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(here_, end_, value);
    if (error != std::errc()) fail("a whole number below 2^32");
    here_ = end;
    return value;
  }

  // A decimal number or a fraction such as 1/3.
  double real() {
    const double value = decimal();
    if (here_ == end_ || *here_ != '/') return value;
    ++here_;
    const double quotient = value / decimal();
    if (quotient == 0 && value != 0) object("the fraction is too small for a double");
    return quotient;
  }

  // Everything up to the next blank or line end.
  std::string_view word() {
    skip_blanks();
    const char* const start = here_;
    while (here_ != end_ && *here_ != ' ' && *here_ != '\n' && *here_ != '\t' && *here_ != '\r') {
      ++here_;
    }
    if (here_ == start) fail("a word");
    return {start, here_};
  }

  // Goes past the given text, which must be next.
  void expect(char symbol) {
    skip_blanks();
    if (here_ == end_ || *here_ != symbol) fail(std::string(1, symbol));
    ++here_;
  }

  // Everything up to the next symbol in this line, and goes past it.
  std::string_view until(char symbol);

  // Goes to the beginning of the next line.
  void skip_line() {
    while (here_ != end_ && *here_ != '\n') ++here_;
    if (here_ != end_) ++here_;
  }

  // Throws: "chain.tra, line 7: a number was expected, not 'x'".
  [[noreturn]] void fail(std::string_view wanted) const;
  // Throws: "chain.tra, line 7: <what>".
  [[noreturn]] void object(std::string_view what) const;

 private:
  void skip_blanks() {
    while (here_ != end_ && (*here_ == ' ' || *here_ == '\t' || *here_ == '\r')) ++here_;
  }

  double decimal() {
    skip_blanks();
    double value = 0;
    const auto [end, error] = std::from_chars(here_, end_, value);
    if (error == std::errc::result_out_of_range) fail("a number that fits a double");
    if (error != std::errc()) fail("a number");
    here_ = end;
    return value;
  }

  const char* begin_;
  const char* here_;
  const char* end_;
  std::string path_;
};

}  // namespace conclave::chain::detail
