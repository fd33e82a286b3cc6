// Round numbers at which an axis of logarithms is marked.
#pragma once

#include <array>
#include <cmath>
#include <span>
#include <vector>

namespace conclave::plot::detail {

// These digits of every decade from low to high, both positive; the ends belong to it.
inline std::vector<double> digit_places(double low, double high, std::span<const double> digits) {
  std::vector<double> places;
  for (int k = static_cast<int>(std::floor(std::log10(low))); std::pow(10, k) <= high; ++k) {
    for (const double digit : digits) {
      const double place = digit * std::pow(10, k);
      if (place >= low * 0.999 && place <= high * 1.001) places.push_back(place);
    }
  }
  return places;
}

// 1, 2, 5 of every decade, or more of them where these are too few to tell a logarithmic axis from
// a linear one: gnuplot labels decades only, of which there may be none.
inline std::vector<double> round_places(double low, double high) {
  constexpr std::array<double, 3> few{1, 2, 5};
  constexpr std::array<double, 6> many{1, 1.5, 2, 3, 5, 7};
  std::vector<double> places = digit_places(low, high, few);
  return places.size() < 3 ? digit_places(low, high, many) : places;
}

}  // namespace conclave::plot::detail
