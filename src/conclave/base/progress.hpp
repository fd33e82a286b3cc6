// How a long computation tells its caller how far it is, and how the caller ends it.
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

// Thrown by a computation that was asked to end and has no partial result to return.
struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

// Throws Interrupted if the callback asks for the end. An empty callback never does.
inline void report_progress(const ProgressCallback& callback, std::string_view what,
                            std::uint64_t done, std::uint64_t total) {
  if (callback && !callback(what, done, total)) throw Interrupted();
}

}  // namespace conclave
