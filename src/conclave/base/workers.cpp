#include "conclave/base/workers.hpp"

#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

#include <fmt/format.h>

namespace conclave {

std::exception_ptr start_workers(std::vector<std::jthread>& workers, unsigned threads,
                                 const std::function<void()>& work) {
  const auto cannot_start = [&](const std::string& reason) {
    return std::make_exception_ptr(std::runtime_error(
        fmt::format("cannot start {} threads: {}; give a smaller --threads", threads, reason)));
  };
  try {
    for (unsigned i = 1; i < threads; ++i) workers.emplace_back(work);
  } catch (const std::system_error& error) {
    return cannot_start(error.code().message());
  } catch (const std::bad_alloc&) {
    return cannot_start("out of memory");
  }
  return nullptr;
}

}  // namespace conclave
