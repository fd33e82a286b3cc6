#include "conclave/base/toml.hpp"

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/toml_shape.hpp"

namespace conclave {

toml::table parse_toml(const std::string& text, const std::string& path) {
  if (const unsigned line = line_of_deep_nesting(text))
    throw Error(fmt::format("{}:{}: keys or lists nest too deep here", path, line));
  try {
    return toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    throw Error(fmt::format("{}:{}: {}", path, error.source().begin.line, error.description()));
  } catch (const detail::TomlAssertion& error) {
    throw Error(fmt::format("{}: {}", path, error.what()));
  }
}

}  // namespace conclave
