// SPDX-License-Identifier: Apache-2.0
//
// Writes the parameters of a network into a file and counts what is read back.
#include <iostream>
#include <tutti/data.hpp>
#include <tutti/nn.hpp>

int main() {
  const tutti::nn::sequential model = tutti::nn::perceptron({4, 3, 2}, {1}, tutti::relu);
  tutti::io::save_npz("network.npz", model.named(model.parameters()));
  std::int64_t numbers = 0;
  for (const auto& [name, values] : tutti::io::load_npz("network.npz")) numbers += values.size();
  std::cout << numbers << " numbers\n";
}
