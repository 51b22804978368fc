// SPDX-License-Identifier: Apache-2.0
//
// The program of the README: a product and a fused expression, on whatever device TUTTI_DEVICE
// names.
#include <iostream>
#include <tutti/tutti.hpp>

int main() try {
  tutti::array a = tutti::random::normal({1}, {512, 256});
  tutti::array b = tutti::random::normal({2}, {256, 128});
  tutti::array c = tutti::tanh(tutti::matmul(a, b)) * 0.5 + 1;  // recorded, not yet computed
  std::cout << c.device().name() << ": mean " << tutti::mean(c).item() << '\n';
} catch (const tutti::error& e) {
  std::cerr << "hello: " << e.what() << '\n';
  return 1;
}
