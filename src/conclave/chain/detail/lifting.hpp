// Dixon's p-adic lifting: the solution of integer equations, digit by digit to the base of a prime,
// from one factorization modulo that prime.
#pragma once

#include <gmpxx.h>

#include <cstdint>
#include <optional>
#include <span>

#include "conclave/chain/detail/fractions.hpp"
#include "conclave/chain/detail/remainder.hpp"

namespace conclave::chain {

// The values of the given unknowns modulo a modulus that is larger than `least`; nothing if the
// factorization takes more than `most_work` multiplications.
std::optional<Residues> lift(const IntegerEquations& equations,
                             std::span<const std::uint32_t> unknowns, const mpz_class& least,
                             double most_work);

}  // namespace conclave::chain
