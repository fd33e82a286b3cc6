// The methods that solve the equations of hitting times: their names, what they do, and when they
// are used. Whatever method found a solution, the same certificate bounds its error, so a method
// decides about time only. detail/method_choice.cpp is where `auto` chooses.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace conclave::chain {

enum class Method : std::uint8_t {
  automatic,
  sweeps,
  elimination,
  bicgstab,
  clusters,
  multiprecision,
  lifting
};

struct MethodInfo {
  Method method;
  std::string_view name;
  std::string_view what;  // it does, as a sentence
  std::string_view when;  // `auto` takes it and why, as a sentence
};

// Those for numbers with a certified error, `auto` first.
std::span<const MethodInfo> numerical_methods();

// Those for exact fractions, `auto` first.
std::span<const MethodInfo> fraction_methods();

// As the command line spells it.
std::string_view name_of(Method method);

// The method of this name among the given ones. Throws Error, with all names and the nearest, if
// there is none.
Method parse_method(std::string_view name, std::span<const MethodInfo> methods);

// One method that took part in a solution.
struct MethodUse {
  Method method;
  std::uint64_t states = 0;  // whose values it found
  std::string reason;        // why it was used; of its largest component, where there are several
};

// The use with the most states. At least one must be given.
const MethodUse& main_use(const std::vector<MethodUse>& uses);

}  // namespace conclave::chain
