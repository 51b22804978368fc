// SPDX-License-Identifier: Apache-2.0
//
// Elementwise arithmetic of f32 on the default device, held against the C library's in double.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iostream>
#include <tutti/tutti.hpp>
#include <vector>

int main() {
  std::vector<float> x(100003);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = -3.0f + 6e-5f * static_cast<float>(i);
  const tutti::array a = tutti::array::from(x);
  const auto got = (tutti::tanh(a * a - 2.0f) + tutti::exp(a) / 3.0f).to_vector<float>();
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double v = x[i], right = std::tanh(v * v - 2) + std::exp(v) / 3;
    worst = std::max(worst, std::fabs(got[i] - right) / (1 + std::fabs(right)));
  }
  // Six roundings and two functions of a few units each in the last of 24 bits.
  if (!(worst < 2e-6)) {
    std::cerr << "elementwise: an error of " << worst << '\n';
    return 1;
  }
  std::cout << tutti::default_device().name() << " agrees in " << got.size() << " elements\n";
}
