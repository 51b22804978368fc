// SPDX-License-Identifier: Apache-2.0
//
// One training step of a perceptron 64 - 128 - 10 with Adam, written by hand over OpenBLAS.
#pragma once

#include <vector>

namespace tutti::bench::peer {

class digits_network {
 public:
  static constexpr int inputs = 64, hidden = 128, classes = 10;

  /// Initial weights [in, out] and biases: w1, b1, w2, b2.
  digits_network(int batch, std::vector<std::vector<float>> parameters);

  /// Forward, backward and an Adam update (learning rate 0.001, beta 0.9 and 0.999, epsilon 1e-8).
  /// x [batch, 64], labels [batch]. Returns the loss before the update.
  float step(const float* x, const int* labels);

 private:
  void adam(std::size_t which, const std::vector<float>& gradient);

  int batch_;
  int steps_ = 0;
  std::vector<std::vector<float>> parameters_, first_, second_;
  std::vector<float> activated_, logits_, hidden_gradient_;
  std::vector<std::vector<float>> gradients_;
};

}  // namespace tutti::bench::peer
