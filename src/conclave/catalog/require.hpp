// Commands that not every protocol supports, such as `verify`, check here that theirs does.
#pragma once

#include <string>
#include <string_view>

#include "conclave/base/error.hpp"
#include "conclave/catalog/catalog.hpp"

namespace conclave::catalog {

// Throws Error if the entry lacks an ability, such as &Entry::verify. `what` completes the sentence
// after the protocol's name; the protocols that have the ability are listed.
template <class Ability>
void require(const Entry& entry, Ability ability, std::string_view what) {
  if (entry.*ability) return;
  std::string able;
  for (const Entry& each : entries()) {
    if (each.*ability) able += (able.empty() ? "" : ", ") + std::string(each.info.name);
  }
  throw Error(std::string(entry.info.name) + ' ' + std::string(what) + "; these can: " + able);
}

}  // namespace conclave::catalog
