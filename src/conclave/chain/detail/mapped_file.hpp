// A file mapped into memory for reading.
#pragma once

#include <string>
#include <string_view>

namespace conclave::chain {

class MappedFile {
 public:
  // Throws Error if there is no such file or it cannot be read.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view text() const { return text_; }

 private:
  std::string_view text_;
};

}  // namespace conclave::chain
