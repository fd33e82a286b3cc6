// Reading a text file of which nothing is known yet.
#pragma once

#include <cstddef>
#include <string>

namespace conclave {

// The whole content. Reads at most `most_bytes` and claims memory for what it has read only, so
// that an endless device costs no more than the limit. Throws Error with the name of the file where
// it cannot be read, is a folder, is larger, or holds a zero byte, which no text has. A FIFO or
// /dev/stdin is read to its end.
std::string read_text(const std::string& path, std::size_t most_bytes);

}  // namespace conclave
