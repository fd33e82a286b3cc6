// A stream that goes on as another one does and takes notes of the steps of the pseudocode
// (model/steps.hpp).
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/base/random.hpp"
#include "conclave/model/steps.hpp"

namespace conclave::population {

class NotingStream : public Stream {
 public:
  explicit NotingStream(const Stream& stream) : Stream(stream) {}

  // A step that both agents execute is noted once. Not inlined: it is called at every step of a
  // transition function, and never in a hurry.
  [[gnu::noinline]] void note(std::string_view line) {
    if (std::ranges::find(lines_, line) == lines_.end()) lines_.emplace_back(line);
  }
  const Stream& stream() const { return *this; }  // as it goes on
  // In the order in which they were executed first.
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  std::vector<std::string> lines_;
};
static_assert(TakesNotes<NotingStream> && !TakesNotes<Stream>);

}  // namespace conclave::population
