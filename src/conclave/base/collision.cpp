#include "conclave/base/collision.hpp"

#include <bit>

#include "conclave/base/check.hpp"
#include "conclave/base/detail/contingency.hpp"
#include "conclave/base/detail/logarithms.hpp"

namespace conclave {
namespace {

using detail::log1p_minus;
using detail::Quad;
using detail::real;

// -log P(T >= t) when `fresh` of n agents are untouched. By Stirling's formula, for h = 2t,
//
//   D(fresh - h, fresh) + h rate + log(1 - h/fresh)/2 + stirling(fresh - h) - stirling(fresh)
//
// with D(x, e) = x log(x/e) - x + e and rate = -log(fresh/n) + log(1 - 1/n)/2. D and h rate are not
// negative and the other terms are at most of the size of h/n, so nothing cancels.
class Survival {
 public:
  Survival(std::uint64_t n, std::uint64_t fresh)
      : inverse_of_n_(1 / real(n)), fresh_(real(fresh)), inverse_(1 / fresh_) {
    const double used_share = real(n - fresh) / real(n);
    rate_ =
        used_share - log1p_minus(-used_share) + (log1p_minus(-inverse_of_n_) - inverse_of_n_) / 2;
    stirling_of_fresh_ = detail::stirling_series(fresh_);
  }

  double cost(double t) const {
    const double h = 2 * t;
    const double share = h * inverse_;
    const double log_share = log1p_minus(-share);
    const double left = fresh_ - h;
    return h * share + left * log_share + h * rate_ + (log_share - share) / 2 +
           (detail::stirling_series(left) - stirling_of_fresh_);
  }

  // cost(t + 1) - cost(t), from the probability w (2n - 1 - w) / (n (n - 1)) that an interaction
  // involves one of w agents.
  double step(double t) const {
    const double share = 1 - (fresh_ - 2 * t) * inverse_of_n_;
    const double p = share * (2 - inverse_of_n_ - share) * (1 + inverse_of_n_);
    return p - log1p_minus(-p);
  }

  // Where the cost reaches `limit`, nearly: h^2 / (2 fresh) + h^3 / (6 fresh^2) + h slope = limit,
  // solved without the cubic term first.
  double guess(double limit) const {
    const double slope = rate_ - inverse_ / 2;
    const double h = 2 * limit / (slope + __builtin_sqrt(slope * slope + 2 * limit * inverse_));
    const double share = h * inverse_;
    return (h - h * share * share / (6 * (share + slope))) / 2;
  }

 private:
  double inverse_of_n_;
  double fresh_;
  double inverse_;
  double rate_;
  double stirling_of_fresh_;
};

// Below, the same in 128-bit floating point, for the comparisons that double cannot settle.
Quad log1p_minus(Quad t) { return detail::log1p_minus_series<36>(t); }

Quad cost_finely(std::uint64_t n, std::uint64_t fresh_agents, std::uint64_t t) {
  const Quad fresh = static_cast<Quad>(fresh_agents);
  const Quad h = static_cast<Quad>(2 * t);
  const Quad used_share = static_cast<Quad>(n - fresh_agents) / static_cast<Quad>(n);
  const Quad agent = Quad(1) / static_cast<Quad>(n);
  const Quad rate = used_share - log1p_minus(-used_share) + (log1p_minus(-agent) - agent) / 2;
  const Quad share = h / fresh;
  const Quad log_share = log1p_minus(-share);
  const Quad left = fresh - h;
  return h * share + left * log_share + h * rate + (log_share - share) / 2 +
         (detail::stirling_series(left) - detail::stirling_series(fresh));
}

// -log of a number in [1/2, 1].
Quad minus_log(Quad x) {
  const Quad v = (Quad(1) - x) / (Quad(1) + x);
  const Quad y = v * v;
  return 2 * v * (Quad(1) + y * detail::artanh_tail<40>(y));
}

// -log(u) for u in the middle of the interval of 2^-128 that two random words name.
Quad minus_log(std::uint64_t high, std::uint64_t low) {
  Quad u = (static_cast<Quad>(high) + (static_cast<Quad>(low) + Quad(0.5)) * Quad(0x1p-64)) *
           Quad(0x1p-64);
  int halvings = 0;
  for (; u < Quad(0.5); u += u) ++halvings;
  return minus_log(u) + minus_log(Quad(0.5)) * halvings;
}

// The largest t whose cost is at most -log(u), from a t nearby.
std::uint64_t settle_finely(std::uint64_t n, std::uint64_t fresh, std::uint64_t t, Quad limit) {
  while (t > 0 && cost_finely(n, fresh, t) > limit) --t;
  while (cost_finely(n, fresh, t + 1) <= limit) ++t;
  return t;
}

struct Settled {
  std::uint64_t t = 0;
  bool is_certain = false;
};

// The largest t whose cost is at most `limit`, by Newton's method in integers: the cost is convex,
// so from the second point on t only falls. It is certain if the limit is not close to a cost.
Settled settle(const Survival& survival, double limit, double uncertain) {
  auto t = static_cast<std::int64_t>(survival.guess(limit));
  constexpr int enough = 8;
  for (int round = 0; round < enough; ++round) {
    const double rest = limit - survival.cost(static_cast<double>(t));
    const double step = survival.step(static_cast<double>(t));
    if (rest > uncertain && rest < step - uncertain) return {static_cast<std::uint64_t>(t), true};
    t += static_cast<std::int64_t>(rest / step) - (rest < 0 ? 1 : 0);
    if (t < 0) t = 0;
  }
  return {static_cast<std::uint64_t>(t), false};
}

std::uint64_t invert(std::uint64_t n, std::uint64_t fresh, Stream& stream) {
  const std::uint64_t high = stream.word();
  const double limit = -detail::log_of((real(high >> 1) + 0.5) * 0x1p-63);
  Settled settled;
  // Outside of these limits, one random word does not determine its logarithm well enough.
  constexpr double least = 0x1p-40, most = 11;
  if (limit > least) settled = settle(Survival(n, fresh), limit, 0x1p-45 * (1 + limit));
  if (settled.is_certain && limit < most) return settled.t;
  return settle_finely(n, fresh, settled.t, minus_log(high, stream.word()));
}

// Exact: interaction after interaction.
std::uint64_t try_one_by_one(std::uint64_t n, std::uint64_t fresh, Stream& stream) {
  std::uint64_t t = 0;
  for (; fresh >= 2; fresh -= 2, ++t) {
    if (stream.below64(n) >= fresh || stream.below64(n - 1) >= fresh - 1) break;
  }
  return t;
}

}  // namespace

CollisionRun::CollisionRun(std::uint64_t n) : n_(n) {
  CONCLAVE_CHECK(n >= 2 && n <= std::uint64_t{1} << 62);
}

std::uint64_t CollisionRun::operator()(std::uint64_t used, Stream& stream) const {
  constexpr std::uint64_t small = 1024, many = 16;
  CONCLAVE_CHECK(used <= n_);
  if (n_ < small || used > n_ / many) return try_one_by_one(n_, n_ - used, stream);
  return invert(n_, n_ - used, stream);
}

}  // namespace conclave
