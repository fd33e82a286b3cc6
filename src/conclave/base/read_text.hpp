// Reading text files of unknown size and origin.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace conclave {

// Raises the size limit of all files that this process reads to at least `bytes`, for the option
// --max-file-size. Limits that are fixed stay as they are. Thread-safe.
void raise_file_limits(std::size_t bytes);
// The size limit of a file whose usual limit is `usual_bytes`: that, or the raised one if it is
// larger. Thread-safe.
std::size_t file_limit(std::size_t usual_bytes);

// The mark that some editors put before a text in UTF-8; it says nothing.
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

enum class Limit { may_be_raised, fixed };

// The whole content. Reads at most `most_bytes` and claims memory for what it has read only, so
// that an endless device costs no more than the limit. Throws Error with the name of the file if it
// cannot be read, is a folder, is larger, or holds a zero byte, which no text has. A FIFO or
// /dev/stdin is read to its end. A byte order mark, which editors on other systems put first, is
// left out.
std::string read_text(const std::string& path, std::size_t most_bytes,
                      Limit limit = Limit::may_be_raised);

}  // namespace conclave
