#include "conclave/experiment/output.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/error.hpp"

namespace conclave::experiment {

Output::Output(const std::string& path) : path_(path) {
  if (path_.empty()) {
    file_ = stdout;
    return;
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(path_, ignored)) {
    throw Error(fmt::format("cannot write '{}': it is a folder", path_));
  }
  partial_path_ = path_ + ".partial";
  file_ = std::fopen(partial_path_.c_str(), "wb");
  if (file_ == nullptr) {
    throw Error(fmt::format("cannot write '{}': {}", path_, std::strerror(errno)));
  }
}

Output::~Output() {
  if (partial_path_.empty() || file_ == nullptr) return;
  std::fclose(file_);
  std::remove(partial_path_.c_str());
}

void Output::check(bool succeeded) const {
  if (succeeded) return;
  throw std::runtime_error(fmt::format("cannot write {}: {}",
                                       path_.empty() ? "standard output" : "'" + path_ + "'",
                                       std::strerror(errno)));
}

void Output::write(std::string_view text) {
  check(std::fwrite(text.data(), 1, text.size(), file_) == text.size());
}

void Output::finish() {
  check(std::fflush(file_) == 0);
  if (partial_path_.empty()) return;
  check(std::fclose(std::exchange(file_, nullptr)) == 0);
  check(std::rename(partial_path_.c_str(), path_.c_str()) == 0);
}

}  // namespace conclave::experiment
