// A temporary folder.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "conclave/base/error.hpp"

namespace conclave::plot::detail {

// A folder that only this user may read, gone when it is no longer needed.
class ScratchFolder {
 public:
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
