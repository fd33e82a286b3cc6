// Lines on standard output and standard error of a process that must outlive whoever reads them.
// Nothing here throws, blocks or raises a signal: a line that cannot be written now, because the
// descriptor is closed, the disk is full or the reader of a pipe has gone or sleeps, is dropped and
// counted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "election/frame.hpp"

namespace conclave::cli {

// Whether the whole text went out, in one piece. At most 4000 bytes go, the rest is cut off.
bool write_line(int descriptor, std::string text);

class Journal {
 public:
  enum class Format { text, json };
  enum class Level { info, error };

  // The journal of one member, on standard error. Text has the lines of `Level::error` and, if
  // verbose, all; JSON always has all, one object per line: time, level, cluster, member, event,
  // message.
  Journal(Format format, bool is_verbose, std::string cluster, election::MemberIndex member);

  void add(Level level, std::string_view event, std::string_view message);
  std::uint64_t lost() const { return lost_; }  // lines

 private:
  std::string line(Level level, std::string_view event, std::string_view message) const;

  Format format_;
  bool is_verbose_;
  std::string cluster_;
  election::MemberIndex member_;
  std::uint64_t lost_ = 0;
};

}  // namespace conclave::cli
