// The user's mistakes: an unknown name, an impossible parameter, an unreadable file. The message is
// one sentence that says what was given, what is allowed and, where there is one, the nearest name.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace conclave {

// Thrown where a request is looked at, never in the middle of a trial; shown as it is by the front
// ends, with exit status 2.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The name closest to `given` by edit distance, or an empty view if none is reasonably close.
std::string_view nearest_name(std::string_view given, std::span<const std::string_view> names);

// "unknown protocol 'pl' (did you mean 'pll'?); known: fratricide, pll", for an Error.
std::string unknown_name(std::string_view kind, std::string_view given,
                         std::span<const std::string_view> names);

}  // namespace conclave
