// Running another program without a shell.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "conclave/base/error.hpp"

namespace conclave::plot::detail {

struct ProcessResult {
  bool has_started = false;
  int status = 0;        // as in a shell: what it returned, or 128 and the signal that ended it
  std::string output{};  // what it wrote to its standard output
  std::string errors{};  // the beginning of what it wrote to its standard error
};

// Finds words[0] in PATH, hands over the words as they are, runs it in `folder` with nothing to
// read, and waits for its end. Throws std::system_error if the system has no descriptors or
// processes left.
ProcessResult run_process(const std::vector<std::string>& words, const std::string& folder);

// A temporary folder.

// A folder that only this user may read, gone when it is no longer needed.
class ScratchFolder {
 public:
  // Throws std::system_error if no folder can be made.
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "conclave-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw Error("cannot make a temporary folder");
    path_ = name;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string path() const { return path_.string(); }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace conclave::plot::detail
