// The output of `conclave verify`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "conclave/catalog/catalog.hpp"
#include "conclave/experiment/exact_text.hpp"

namespace conclave::cli {

struct VerifyOutput {
  std::string protocol;
  std::uint64_t n = 0;
  std::string graph;   // empty: the protocol's own
  std::string target;  // empty: convergence
  std::string within;  // empty: everywhere
  catalog::Verified verified{};
  std::vector<experiment::LawTest> engines{};

  std::string json() const;
  // No line is longer than `width` characters, except where a configuration is.
  std::string text(std::size_t width) const;

 private:
  std::string whole_text(std::size_t width) const;
};

}  // namespace conclave::cli
