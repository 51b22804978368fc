// SPDX-License-Identifier: Apache-2.0
//
// Prints the default device and the sum of 0 ... 9 computed on it.
#include <iostream>
#include <tutti/tutti.hpp>

int main() {
  const tutti::array total = tutti::sum(tutti::arange(10));
  std::cout << tutti::default_device().name() << " sum " << total.item() << '\n';
}
