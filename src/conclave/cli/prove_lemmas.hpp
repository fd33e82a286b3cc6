// The lemmas of protocols of the catalog, for every population size and all constants.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "conclave/cli/cli.hpp"

namespace conclave::cli {

struct LemmaRequest {
  std::string protocol;
  std::string lemma;        // empty: all
  std::string certificate;  // the file to write it to; empty: none
  std::vector<std::string> params{};
};

// Nothing if the protocol is none about which lemmas are known.
std::optional<Exit> prove_lemmas(const LemmaRequest& request);

}  // namespace conclave::cli
