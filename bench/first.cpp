// SPDX-License-Identifier: Apache-2.0
//
// The smallest useful program: prints the value of one fused expression.
#include <cstdio>

#include "tutti/tutti.hpp"

int main() {
  const tutti::array a = tutti::arange(0, 1000) / 1000;
  const tutti::array b = a * a + tutti::tanh(a) - tutti::exp(-a * a);
  std::printf("%.5f\n", b[999].item());
}
