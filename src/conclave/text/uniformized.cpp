#include "conclave/text/uniformized.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "conclave/base/check.hpp"

namespace conclave::text {
namespace {

constexpr std::int64_t largest_total = std::int64_t{1} << 62;

Number least(const Number& a, const Number& b) { return compare(a, b) < 0 ? a : b; }
Number greatest(const Number& a, const Number& b) { return compare(a, b) < 0 ? b : a; }

// One possible result of an ordered pair, with its share of L.
struct Share {
  StateIndex u, v;
  Number amount;
  Place place;
};

class Filling {
 public:
  Filling(const std::vector<MassAction>& network, std::size_t species, AgentCount n,
          const Number& volume)
      : network_(network),
        species_(species),
        per_pair_(Number(static_cast<std::int64_t>(n) - 1) / volume),
        alone_(species),
        shares_(species * species) {}

  Uniformized result() {
    set_ticks();
    for (const MassAction& each : network_) {
      if (each.is_active() && !each.is_pair) add_single(each);
    }
    for (const MassAction& each : network_) {
      if (each.is_active() && each.is_pair) add_pair(each);
    }
    Uniformized result{.ticks_per_molecule = ticks_, .reactions = {}};
    for (std::size_t u = 0; u < species_; ++u) {
      for (std::size_t v = 0; v < species_; ++v) result.reactions.push_back(reaction(u, v));
    }
    return result;
  }

 private:
  // Both orders of a pair together have room for 2 L.
  void set_ticks() {
    std::vector<Number> both(species_ * species_);
    for (const MassAction& each : network_) {
      if (!each.is_active()) continue;
      if (each.is_pair) {
        const auto [low, high] = std::minmax(each.reactants[0], each.reactants[1]);
        Number& sum = both[place(low, high)];
        sum = sum + each.rate * per_pair_;
      } else {
        alone_[each.reactants[0]] = alone_[each.reactants[0]] + each.rate;
      }
    }
    for (std::size_t u = 0; u < species_; ++u) {
      ticks_ = greatest(ticks_, alone_[u]);
      for (std::size_t v = u; v < species_; ++v) {
        const Number& pair = both[place(u, v)];
        if (compare(pair, 0) == 0) continue;
        ticks_ = greatest(ticks_, (alone_[u] + alone_[v] + pair) / Number(2));
      }
    }
    if (compare(ticks_, 0) == 0) ticks_ = 1;  // nothing ever happens
  }

  void add_single(const MassAction& each) {
    const StateIndex u = each.reactants[0];
    for (std::size_t v = 0; v < species_; ++v) {
      add(u, static_cast<StateIndex>(v),
          {each.products[0], static_cast<StateIndex>(v), each.rate, each.place});
    }
  }

  // The first order takes what it has room for, the other one the rest.
  void add_pair(const MassAction& each) {
    const auto [u, v] = each.reactants;
    const auto [new_u, new_v] = each.products;
    const Number wanted = each.rate * per_pair_;
    if (u == v) return add(u, v, {new_u, new_v, wanted / Number(2), each.place});
    const Number first = least(wanted, ticks_ - used(u, v));
    add(u, v, {new_u, new_v, first, each.place});
    add(v, u, {new_v, new_u, wanted - first, each.place});
  }

  Number used(StateIndex u, StateIndex v) const {
    Number sum;
    for (const Share& each : shares_[place(u, v)]) sum = sum + each.amount;
    return sum;
  }

  void add(StateIndex u, StateIndex v, const Share& share) {
    if (compare(share.amount, 0) == 0) return;
    std::vector<Share>& all = shares_[place(u, v)];
    const auto same = std::ranges::find_if(
        all, [&](const Share& each) { return each.u == share.u && each.v == share.v; });
    if (same == all.end()) return all.push_back(share);
    same->amount = same->amount + share.amount;
  }

  Reaction reaction(std::size_t u, std::size_t v) const {
    Reaction reaction;
    const std::vector<Share>& all = shares_[place(u, v)];
    for (const Share& each : all) take_denominator(reaction, each);
    for (const Share& each : all) {
      const Number weight =
          each.amount / ticks_ * Number(static_cast<std::int64_t>(reaction.total));
      reaction.outcomes.push_back({each.u, each.v, static_cast<std::uint64_t>(weight.numerator())});
    }
    return reaction;
  }

  void take_denominator(Reaction& reaction, const Share& share) const {
    const Number::Whole denominator = (share.amount / ticks_).denominator();
    if (denominator <= largest_total) {
      const auto other = static_cast<std::uint64_t>(denominator);
      const std::uint64_t factor = other / std::gcd(reaction.total, other);
      if (reaction.total <= largest_total / factor) {
        reaction.total *= factor;
        return;
      }
    }
    throw Mistake(share.place,
                  "the rates and the volume have too many digits: the probabilities of "
                  "this pair need a common denominator larger than 2^62");
  }

  std::size_t place(std::size_t u, std::size_t v) const { return u * species_ + v; }

  const std::vector<MassAction>& network_;
  std::size_t species_;
  Number per_pair_;            // (n - 1) / V
  std::vector<Number> alone_;  // by species: the rates at which a molecule reacts alone
  std::vector<std::vector<Share>> shares_;
  Number ticks_;
};

}  // namespace

Uniformized uniformized(const std::vector<MassAction>& network, std::size_t species, AgentCount n,
                        const Number& volume) {
  CONCLAVE_CHECK(n >= 2 && species <= Uniformized::most_species && compare(volume, 0) > 0);
  try {
    return Filling(network, species, n, volume).result();
  } catch (const NumberError& error) {
    throw Mistake(network.front().place,
                  std::string("of the rates of this network, ") + error.what());
  }
}

OpenNetwork open_network(std::vector<OpenReaction> reactions, const std::vector<Number>& rates,
                         const Number& volume, Place place) try {
  const Number most(std::int64_t{1} << 60);
  std::vector<Number> weights;
  Number scale = 1;
  for (std::size_t i = 0; i < reactions.size(); ++i) {
    const std::vector<StateIndex>& reactants = reactions[i].reactants;
    Number weight = rates[i];
    if (reactants.empty()) weight = weight * volume;
    if (reactants.size() == 2) weight = weight / volume;
    if (reactants.size() == 2 && reactants[0] == reactants[1]) weight = weight / Number(2);
    scale = scale * Number::from_whole((weight * scale).denominator());
    if (compare(scale, most) > 0) throw NumberError("too many digits");
    weights.push_back(weight);
  }
  for (std::size_t i = 0; i < reactions.size(); ++i) {
    const Number weight = weights[i] * scale;
    if (compare(weight, most) > 0) throw NumberError("too many digits");
    reactions[i].weight = static_cast<std::uint64_t>(weight.numerator());
  }
  return {.reactions = std::move(reactions), .scale = scale.as_double()};
} catch (const NumberError&) {
  throw Mistake(place, "the rates and the volume have too many digits: the propensities need a "
                       "common denominator larger than 2^60");
}

namespace {

// The probability that a tick is a given ordered pair and this reaction, times n (n - 1); of a
// reaction of one molecule that of all pairs with a given first one, times n.
Number chance(const MassAction& each, AgentCount n, const Number& volume, const Number& ticks) {
  if (!each.is_pair) return each.rate / ticks;
  const Number both = each.rate * Number(static_cast<std::int64_t>(n) - 1) / volume / ticks;
  return each.reactants[0] == each.reactants[1] ? both / Number(2) : both;
}

// With one denominator for all chances.
Channels exact_channels(const std::vector<MassAction>& network, AgentCount n, const Number& volume,
                        const Number& ticks) {
  Number denominator = 1;
  for (const MassAction& each : network) {
    if (each.is_active()) {
      const Number product = chance(each, n, volume, ticks) * denominator;
      denominator = denominator * Number::from_whole(product.denominator());
    }
  }
  const Number others(static_cast<std::int64_t>(n) - 1);
  const Number total = denominator * Number(static_cast<std::int64_t>(n)) * others;
  if (compare(total, Number(largest_total)) > 0) return {};
  Channels result{.list = {}, .total = static_cast<std::uint64_t>(total.numerator())};
  for (const MassAction& each : network) {
    if (!each.is_active()) continue;
    Number weight = chance(each, n, volume, ticks) * denominator;
    if (!each.is_pair) weight = weight * others;
    result.list.push_back({each.reactants, each.products, each.is_pair,
                           static_cast<std::uint64_t>(weight.numerator())});
  }
  return result;
}

}  // namespace

Channels channels(const std::vector<MassAction>& network, AgentCount n, const Number& volume,
                  const Number& ticks_per_molecule) {
  try {
    return exact_channels(network, n, volume, ticks_per_molecule);
  } catch (const NumberError&) {
    return {};
  }
}

std::uint32_t jump_weight(const Reaction& reaction, std::uint32_t scale) {
  __extension__ using Wide = unsigned __int128;
  Wide weight = 0;
  for (const Outcome& each : reaction.outcomes) weight += each.weight;
  return static_cast<std::uint32_t>((weight * scale + reaction.total - 1) / reaction.total);
}

std::uint32_t jump_scale(AgentCount n) {
  const int bits = std::max(0, 62 - static_cast<int>(std::bit_width(n)));
  return std::uint32_t{1} << std::min(bits, 31);
}

}  // namespace conclave::text
