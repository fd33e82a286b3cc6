#include "conclave/chain/method.hpp"

#include <algorithm>
#include <array>

#include "conclave/base/check.hpp"
#include "conclave/base/error.hpp"

namespace conclave::chain {
namespace {

constexpr std::array numerical{
    MethodInfo{Method::automatic, "auto", "Tries the methods below, the cheapest first.",
               "It is the default, and says which method it took and why."},
    MethodInfo{
        Method::sweeps, "sweeps",
        "Gauss-Seidel sweeps over the whole chain, and now and then one common factor.",
        "First, on chains of 50 000 states and more, unless nearly every state is a component of "
        "its own: those that mix well need some 30 sweeps however far the target is."},
    MethodInfo{
        Method::elimination, "elimination",
        "Eliminates the states of each strongly connected component one by one, without a "
        "subtraction, in the order given or in that of minimum degree.",
        "Where it fills in little, as on lines and trees; in components of up to 5000 states "
        "where it takes little work; in larger ones if BiCGSTAB stalls, as on squares. It is "
        "direct, and slow chains keep all digits."},
    MethodInfo{Method::bicgstab, "bicgstab", "BiCGSTAB, preconditioned by incomplete elimination.",
               "In larger components, for 30 iterations: enough where the walk mixes well."},
    MethodInfo{Method::clusters, "clusters",
               "BiCGSTAB, preconditioned by a correction of whole clusters.",
               "If BiCGSTAB stalls and there are clusters that the walk leaves with a probability "
               "below 10^-3 per step."},
    MethodInfo{Method::multiprecision, "multiprecision",
               "Elimination in numbers of as many bits as the expectations need.",
               "At last, where the others cannot certify the error because doubles do not hold the "
               "equations: expectations beyond about 10^12."},
};

constexpr std::array fractions{
    MethodInfo{Method::automatic, "auto", "Takes lifting.", "It is the default."},
    MethodInfo{Method::lifting, "lifting",
               "Factors the equations modulo a prime of 60 bits and lifts the solution digit by "
               "digit.",
               "Always."},
};

}  // namespace

std::span<const MethodInfo> numerical_methods() { return numerical; }

std::span<const MethodInfo> fraction_methods() { return fractions; }

std::string_view name_of(Method method) {
  for (const auto methods : {numerical_methods(), fraction_methods()}) {
    const auto found = std::ranges::find(methods, method, &MethodInfo::method);
    if (found != methods.end()) return found->name;
  }
  CONCLAVE_CHECK(false);
  return {};
}

Method parse_method(std::string_view name, std::span<const MethodInfo> methods) {
  const auto found = std::ranges::find(methods, name, &MethodInfo::name);
  if (found != methods.end()) return found->method;
  std::vector<std::string_view> names;
  for (const MethodInfo& info : methods) names.push_back(info.name);
  throw Error(unknown_name("method", name, names));
}

const MethodUse& main_use(const std::vector<MethodUse>& uses) {
  CONCLAVE_CHECK(!uses.empty());
  return *std::ranges::max_element(uses, {}, &MethodUse::states);
}

}  // namespace conclave::chain
