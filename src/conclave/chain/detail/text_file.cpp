#include "conclave/chain/detail/text_file.hpp"

#include <cerrno>
#include <cstring>

#include "conclave/base/error.hpp"

namespace conclave::chain {

TextFile::TextFile(std::string path)
    : path_(std::move(path)), file_(std::fopen(path_.c_str(), "w")) {
  if (!file_) fail();
}

void TextFile::flush() {
  if (std::fwrite(buffer_.data(), 1, buffer_.size(), file_.get()) != buffer_.size()) fail();
  buffer_.clear();
}

void TextFile::close() {
  flush();
  if (std::fclose(file_.release()) != 0) fail();
}

void TextFile::fail() const {
  throw Error(fmt::format("cannot write '{}': {}", path_, std::strerror(errno)));
}

}  // namespace conclave::chain
