#include "conclave/chain/detail/scanner.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "conclave/base/error.hpp"

namespace conclave::chain {

std::string_view Scanner::until(char symbol) {
  const char* const start = here_;
  const char* const line_end = std::find(here_, end_, '\n');
  here_ = std::find(start, line_end, symbol);
  if (here_ == line_end) fail(std::string(1, symbol));
  return {start, here_++};
}

void Scanner::fail(std::string_view wanted) const {
  const char* const stop = std::find_if(here_, end_, [](char c) { return c == ' ' || c == '\n'; });
  const std::string_view found(here_,
                               std::min(stop, here_ + std::min<std::ptrdiff_t>(40, end_ - here_)));
  object(fmt::format("{} was expected, not {}", wanted,
                     found.empty() ? "the end of the line" : fmt::format("'{}'", found)));
}

void Scanner::object(std::string_view what) const {
  const auto line = std::count(begin_, here_, '\n') + 1;
  throw Error(fmt::format("{}, line {}: {}", path_, line, what));
}

}  // namespace conclave::chain
