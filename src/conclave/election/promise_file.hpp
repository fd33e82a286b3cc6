// The promise of a member on disk, so that it survives a restart. Only one process at a time may
// use a file.
#pragma once

#include <string>

#include "conclave/election/certificates.hpp"
#include "conclave/election/member.hpp"

namespace conclave::election {

class PromiseFile {
 public:
  // Creates the file at the first store(). Throws Error: it is another member's, it is damaged, it
  // cannot be read, or another process uses it.
  PromiseFile(std::string path, Identity owner);
  ~PromiseFile();
  PromiseFile(const PromiseFile&) = delete;
  PromiseFile& operator=(const PromiseFile&) = delete;

  bool has_existed() const { return has_existed_; }  // when it was opened
  const Promise& promise() const { return promise_; }
  // Returns when the promise is on the disk; throws std::system_error.
  void store(const Promise& promise);

 private:
  std::string path_;
  Identity owner_;
  int lock_ = -1;
  bool has_existed_ = false;
  Promise promise_;
};

}  // namespace conclave::election
