#include "conclave/base/csv.hpp"

#include "conclave/base/numbers.hpp"

namespace conclave {
namespace {

std::vector<std::string> split(std::string_view line) {
  std::vector<std::string> fields(1);
  bool is_quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (is_quoted && c == '"' && line.substr(i + 1).starts_with('"'))
      fields.back() += line[++i];
    else if (c == '"' && (is_quoted || fields.back().empty()))
      is_quoted = !is_quoted;
    else if (c == ',' && !is_quoted)
      fields.emplace_back();
    else
      fields.back() += c;
  }
  return fields;
}

}  // namespace

std::string csv_field(std::string text, Formulas formulas) {
  const bool is_formula =
      !text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos &&
      !parse_real(text);
  if (formulas == Formulas::quoted && is_formula) text.insert(0, 1, '\'');
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::vector<std::string> take_csv_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return split(line);
}

}  // namespace conclave
