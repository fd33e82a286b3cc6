// Protocol texts in tests: compiled from a string or from the examples that are shipped.
#pragma once

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/base/error.hpp"
#include "conclave/text/compiled.hpp"
#include "conclave/text/protocol_text.hpp"

namespace conclave::tests {

inline constexpr const char* example_names[] = {
    "approximate_majority", "epidemic",       "exact_majority", "fratricide",
    "junta_clock",          "junta_election", "lottery",        "majority_with_ties",
    "modulo_count",         "phase_clock",    "ranking",        "rumor_with_cancel",
    "synthetic_coin"};

inline std::string example_path(const std::string& name) {
  return std::string(CONCLAVE_EXAMPLES) + "/" + name + ".pp";
}

inline std::shared_ptr<const text::ProtocolText> example(const std::string& name) {
  return text::ProtocolText::read(example_path(name));
}

inline std::string example_content(const std::string& name) {
  std::ifstream file(example_path(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::shared_ptr<const text::Compiled> compiled(std::string_view content, AgentCount n,
                                                      const std::vector<text::Given>& given = {},
                                                      const std::string& name = "my.pp") {
  return text::Compiled::make(std::make_shared<const text::ProtocolText>(name, content), given, n);
}

// A message without the marked line of the text below it.
inline std::string sentence_of(const std::string& message) {
  return message.substr(0, message.find('\n'));
}

// The objection to a text or to its first start, in a sentence; empty if all is well.
inline std::string objection(std::string_view content, AgentCount n = 10,
                             const std::vector<text::Given>& given = {},
                             const std::string& name = "my.pp") {
  try {
    return sentence_of(compiled(content, n, given, name)->starts()[0].objection);
  } catch (const Error& error) {
    return sentence_of(error.what());
  }
}

}  // namespace conclave::tests
