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

#include <string_view>

#include "conclave/base/choice.hpp"

namespace conclave {

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
constexpr void note(C& choice, const char* line, bool condition) {
  if (condition) note(choice, line);
}

}  // namespace conclave
