// Exponential variates in fixed point by layers of equal area (Marsaglia and Tsang 2000): nearly
// always one word, one comparison, one product. The layers come from basic arithmetic at compile
// time, so they have the same bits on every machine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "conclave/base/detail/logarithms.hpp"
#include "conclave/base/random.hpp"

namespace conclave::detail {

inline constexpr int exponential_bits = 57;  // behind the point

// Layer i lies between the heights exp(-edge[i]) and exp(-edge[i + 1]) and reaches from 0 to
// edge[i]; up to edge[i + 1] it is under the curve. Layer 0 stands for the tail as well.
struct ExponentialLayers {
  static constexpr std::size_t count = 256;
  static constexpr double tail = 7.69711747013104972;

  std::array<double, count + 1> edge{};
  std::array<std::uint64_t, count> width{};   // the edge in fixed point
  std::array<std::uint64_t, count> inside{};  // edge[i + 1] / edge[i] in units of 2^-56

  constexpr ExponentialLayers() {
    const double area = (tail + 1) * exp_of(-tail);
    edge[0] = tail + 1;
    edge[1] = tail;
    double height = exp_of(-tail);
    for (std::size_t i = 1; i + 1 < count; ++i) {
      height += area / edge[i];
      edge[i + 1] = -log_of(height);
    }
    for (std::size_t i = 0; i < count; ++i) {
      width[i] = static_cast<std::uint64_t>(edge[i] * (std::uint64_t{1} << exponential_bits));
      inside[i] = static_cast<std::uint64_t>(edge[i + 1] / edge[i] * 0x1p56);
    }
  }
};

inline constexpr ExponentialLayers exponential_layers;

// The slow path, for the one word in a hundred that does not fall inside its layer.
std::uint64_t exponential_outside(std::uint64_t word, Stream& stream);

// A variate of mean 1 in units of 2^-57; it has about 53 bits behind the point.
inline std::uint64_t exponential(Stream& stream) {
  __extension__ using Wide = unsigned __int128;
  const std::uint64_t word = stream.word();
  const std::uint64_t layer = word % ExponentialLayers::count;
  const std::uint64_t place = word / ExponentialLayers::count;
  if (place >= exponential_layers.inside[layer]) [[unlikely]] {
    return exponential_outside(word, stream);
  }
  return static_cast<std::uint64_t>(static_cast<Wide>(place) * exponential_layers.width[layer] >>
                                    56);
}

}  // namespace conclave::detail
