// Which steps of the pseudocode an interaction executes.
//
// A protocol lists its steps as `info.steps`, in our own words under the paper's line numbers, and
// says in `interact` which one it is at: note(choice, "9"). The Choice goes along with every
// interaction, so whoever wants to know the steps passes one that also takes notes. All others,
// those of the engines among them, cannot: then the call is empty and costs nothing.
//
//   if (u.leader && v.leader) {
//     note(choice, "57");
//     v.leader = false;
//   }
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/base/choice.hpp"
#include "conclave/base/random.hpp"

namespace conclave {

// A Choice that is informed of the steps as they are executed.
template <class C>
concept TakesNotes = Choice<C> && requires(C& choice, std::string_view line) {
  choice.note(line);
};

// `line` is that of a PseudocodeStep; the second says that the step is executed only if the
// condition holds, for code that has no branch there.
template <class C>
constexpr void note([[maybe_unused]] C& choice, [[maybe_unused]] const char* line) {
  if constexpr (TakesNotes<C>) choice.note(line);
}
template <class C>
constexpr void note([[maybe_unused]] C& choice, [[maybe_unused]] const char* line,
                    [[maybe_unused]] const auto& condition) {
  if constexpr (TakesNotes<C>) {
    if (condition) note(choice, line);
  }
}

// A stream that goes on as another one does and takes notes of the steps.
class NotingStream : public Stream {
 public:
  // Draws the words that the given stream would draw next; that one does not go on with it.
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

}  // namespace conclave
