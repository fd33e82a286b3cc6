// Where results go: standard output, or a file that appears under its name when it is complete.
//
// A plain file is never written in place. Its content goes into a fresh file beside it, which is
// opened with O_EXCL under a name that cannot be guessed, and which takes the place of the old one
// in the end: readers see the old content or the new one, and an interrupted command leaves the old
// one. A device, a FIFO or an open descriptor (/dev/stdout, /dev/fd/3) cannot be replaced, so it is
// written as the text comes. Folders, disks and sockets are refused.
//
// A symbolic link is followed: the file it leads to is replaced and the link stays. A link to
// nothing is refused, and so is one that another user has put into a folder that everyone may write
// to.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <span>
#include <string>
#include <string_view>

namespace conclave {

class Output {
 public:
  // An empty path means standard output. A new file gets the permissions that the umask leaves, and
  // a replaced one keeps those it had. Throws Error if the file cannot be written.
  explicit Output(std::string path);
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output();  // removes what was not finished

  // Both throw std::system_error if the device is full or the reader has gone.
  void write(std::string_view text);
  // Flushes; a plain file is on the disk and has its name afterwards. Must be the last call.
  void finish();

 private:
  void open_descriptor(int descriptor);
  void open_stream(const std::string& target);
  void open_fresh(const std::string& target, const mode_t* replaced_mode);
  void place();
  [[noreturn]] void refuse(const std::string& reason) const;
  void check(bool succeeded) const;

  std::string path_;          // as given, for messages
  std::string name_;          // of a plain file, within its folder
  std::string partial_name_;  // of the file that will take its place
  int folder_ = -1;
  std::FILE* file_ = nullptr;
};

// Writes the whole of a file, as Output does.
void write_file(const std::string& path, std::string_view text);

// Whether two outputs would replace each other: both are given and lead to one plain file.
bool is_same_output(const std::string& a, const std::string& b);

// Throws Error where no such output can be made: for long work that is written at its end. Devices
// and FIFOs are not tried.
void check_can_be_written(const std::string& path);

// Throws Error where the output would replace a file that is read. Empty names are nothing.
void check_output_is_not_read(const std::string& output, const std::string& input);
void check_output_is_not_read(const std::string& output, std::span<const std::string> inputs);

}  // namespace conclave
