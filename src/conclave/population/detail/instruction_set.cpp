#include "conclave/population/detail/instruction_set.hpp"

namespace conclave::population::detail {
namespace {

InstructionSet ask() {
#if defined(__x86_64__)
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512cd");
  if (avx2 && avx512) return InstructionSet::avx512;
  if (avx2) return InstructionSet::avx2;
#endif
  return InstructionSet::baseline;
}

}  // namespace

InstructionSet instruction_set() {
  static const InstructionSet set = ask();
  return set;
}

}  // namespace conclave::population::detail
