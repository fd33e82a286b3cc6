// How a long computation reports its progress to its caller, and how the caller can end it.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string_view>

namespace conclave {

// Called now and then by the thread that computes: what is being done, how much of it is done, and
// how much there is in all (0: not known). False asks the computation to end.
using ProgressCallback =
    std::function<bool(std::string_view what, std::uint64_t done, std::uint64_t total)>;

// Thrown by a computation that its caller has ended and that has no partial result to return.
struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

// Throws Interrupted if the callback returns false. An empty callback never does.
inline void report_progress(const ProgressCallback& callback, std::string_view what,
                            std::uint64_t done, std::uint64_t total) {
  if (callback && !callback(what, done, total)) throw Interrupted();
}

}  // namespace conclave
