// One [[run]] of a plan, as TOML has it: its keys, or else those at the top of the plan, and errors
// that say where.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conclave/base/toml.hpp"
#include "conclave/sweep/plan.hpp"
#include "conclave/sweep/plan_values.hpp"

namespace conclave::sweep::detail {

class RunTable {
 public:
  // `own` may be `root` itself. Errors name options instead of lines where the path is empty.
  // Throws Error if there is a key that no run has.
  RunTable(std::string path, const toml::table& root, const toml::table& own);

  // The node of a key in the run, or else at the top of the plan; null where neither has it.
  const toml::node* find(std::string_view key) const;
  // The same; throws Error where neither has it.
  const toml::node& need(std::string_view key) const;

  // Throw Error if the value is not of this kind. No alternatives: nothing was said.
  Value only(std::string_view key, const toml::node& node) const;
  std::vector<Value> values(std::string_view key) const;
  // At least `low`; `fallback` where the key is missing.
  std::uint64_t count(std::string_view key, std::uint64_t low, std::uint64_t fallback) const;
  bool flag(std::string_view key) const;
  // "" for trials, or "rare". Throws Error if there is a key that runs of this kind lack.
  std::string kind() const;
  // How many trials a cell has, or how precise its mean must be.
  Sampling sampling() const;

  struct Param {
    std::string name;
    const toml::node* node;
  };
  std::vector<Param> params() const;  // in the order of the plan

  // Adds file and key to mistakes in values.
  template <class Work>
  auto about(std::string_view key, Work work) const {
    try {
      return work();
    } catch (const ValueError& error) {
      object(error.line(), key, error.what());
    }
  }
  // Throws Error with file, line and key before the sentence.
  [[noreturn]] void object(std::uint32_t line, std::string_view key,
                           std::string_view sentence) const;

  std::uint32_t line() const { return line_of(*own_); }
  static std::uint32_t line_of(const toml::node& node) { return node.source().begin.line; }

 private:
  void check_keys() const;
  double precision_of(const Value& value) const;

  std::string path_;
  const toml::table* root_;
  const toml::table* own_;
};

}  // namespace conclave::sweep::detail
