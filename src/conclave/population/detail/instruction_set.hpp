// Compiles one loop for several instruction sets and picks at run time. The same source gives the
// same results on each; only the number of lanes differs.
#pragma once

#include <cstdint>

// The loop is written once, in a function marked CONCLAVE_INLINE, and instantiated in thin
// functions marked with an instruction set.
#define CONCLAVE_INLINE [[gnu::always_inline]] inline

#if defined(__x86_64__)
#define CONCLAVE_AVX2 [[gnu::target("avx2,bmi2")]]
#if defined(__clang__)
#define CONCLAVE_AVX512 [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi2")]]
#else  // GCC takes half-width vectors unless told otherwise
#define CONCLAVE_AVX512 \
  [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi2,prefer-vector-width=512")]]
#endif
#else
#define CONCLAVE_AVX2
#define CONCLAVE_AVX512
#endif

namespace conclave::population::detail {

enum class InstructionSet : std::uint8_t { baseline, avx2, avx512 };

// The best that this processor has; determined once.
InstructionSet instruction_set();

}  // namespace conclave::population::detail
