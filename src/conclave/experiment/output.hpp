// Where rows go: standard output, or a file that appears under its name only when it is complete.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace conclave::experiment {

class Output {
 public:
  // An empty path means standard output. Throws Error if the file cannot be written.
  explicit Output(const std::string& path);
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output();  // removes what was not finished

  // Throws std::runtime_error when the device is full or the reader has gone.
  void write(std::string_view text);

  // Flushes; a file gets its name.
  void finish();

 private:
  void check(bool succeeded) const;

  std::string path_;
  std::string partial_path_;
  std::FILE* file_ = nullptr;
};

}  // namespace conclave::experiment
