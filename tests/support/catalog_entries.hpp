// Entries of the catalog as parameters of tests, and the names of such tests.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/catalog/catalog.hpp"

namespace conclave::tests {

enum class Taking { populations, networks };

inline std::vector<const catalog::Entry*> entries_taking(Taking what) {
  std::vector<const catalog::Entry*> all;
  for (const catalog::Entry& entry : catalog::entries()) {
    const bool is_network = entry.network.has_value();
    if (is_network == (what == Taking::networks)) all.push_back(&entry);
  }
  return all;
}

inline std::string test_name(const testing::TestParamInfo<const catalog::Entry*>& info) {
  std::string name(info.param->info.name);
  std::ranges::replace(name, '-', '_');
  return name;
}

}  // namespace conclave::tests
