// SPDX-License-Identifier: Apache-2.0
//
// The program of the README: a product and a fused expression on the default device.
#include <iostream>
#include <tutti/tutti.hpp>

#include "common/command_line.hpp"

int main(int argc, char** argv) {
  CLI::App app("A product and a fused expression on the first device of TUTTI_DEVICE.", "hello");
  return samples::run(app, argc, argv, [] {
    tutti::array a = tutti::random::normal({1}, {512, 256});
    tutti::array b = tutti::random::normal({2}, {256, 128});
    tutti::array c = tutti::tanh(tutti::matmul(a, b)) * 0.5 + 1;  // recorded, not yet computed
    std::cout << c.device().name() << ": mean " << tutti::mean(c).item() << '\n';
  });
}
