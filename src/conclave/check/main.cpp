// conclave-check CERTIFICATE [--solver cvc5|z3]
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/printable.hpp"
#include "conclave/base/read_text.hpp"
#include "conclave/check/check.hpp"

namespace conclave::check {

const Json& member(const Json& object, std::string_view name) {
  const Json* const found = object.find(name);
  if (found == nullptr) throw Rejected(fmt::format("'{}' is missing", name));
  return *found;
}

std::uint64_t count(const Json& value, std::uint64_t most) {
  const auto number = value.count();
  require(number && *number <= most, "a number is missing or out of range");
  return *number;
}

const std::string& word(const Json& value) {
  require(value.is_string(), "a text is missing");
  return value.text();
}

namespace {

constexpr std::size_t most_bytes = std::size_t{64} << 20;

int check(const std::string& path, const std::string& solver_name) {
  const auto certificate = Json::parse(read_text(path, most_bytes));
  require(certificate.has_value(), "this is no JSON, or nested too deeply");
  require(word(member(*certificate, "format")) == "conclave-proof 1", "the format is unknown");
  const std::string& kind = word(member(*certificate, "kind"));
  require(kind == "counts" || kind == "pairs", "the kind of proof is unknown");
  SolverProcess solver(solver_name);
  const std::string proved =
      kind == "counts" ? check_counts(*certificate, solver) : check_pairs(*certificate, solver);
  fmt::print("accepted  {} ({} queries to {})\n", proved, solver.queries(), solver_name);
  return 0;
}

int run(std::span<char*> words) {
  std::string path, solver = "cvc5";
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "--solver" && i + 1 < words.size()) {
      solver = words[++i];
    } else if (word == "--help" || word.starts_with("--") || !path.empty()) {
      path.clear();
      break;
    } else {
      path = word;
    }
  }
  if (!path.empty()) return check(path, solver);
  fmt::print(stderr,
             "conclave-check CERTIFICATE [--solver cvc5|z3]\n"
             "Checks a proof of `conclave prove`. Status 0 accepted, 4 rejected, 1 failed.\n");
  return 2;
}

}  // namespace
}  // namespace conclave::check

int main(int argc, char** argv) try {
  return conclave::check::run({argv, static_cast<std::size_t>(argc)});
} catch (const conclave::check::Rejected& reason) {
  fmt::print("rejected  {}\n", conclave::printable(reason.what()));
  return 4;
} catch (const std::exception& error) {
  fmt::print(stderr, "conclave-check: {}\n", conclave::printable(error.what()));
  return 1;
}
