// What `conclave verify` prints.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conclave/catalog/catalog.hpp"
#include "conclave/experiment/law_test.hpp"

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
  std::string text() const;
};

}  // namespace conclave::cli
