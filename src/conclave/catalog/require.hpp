// Not every protocol can do everything: a command says what it asks for.
#pragma once

#include <string>
#include <string_view>

#include "conclave/base/error.hpp"
#include "conclave/catalog/catalog.hpp"

namespace conclave::catalog {

// Throws Error unless the entry has what a command asks for, such as &Entry::verify; `what` says so
// in words that follow the protocol's name.
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
