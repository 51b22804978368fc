// SPDX-License-Identifier: Apache-2.0
//
// Cross entropy of softmax, ReLU between the layers; gradients are means over the batch.
#include "peer_digits.hpp"

#include <cblas-openblas.h>
#pragma weak cblas_sgemm

#include <algorithm>
#include <cmath>

namespace tutti::bench::peer {
namespace {

// c = op(a) op(b), row-major, op(a) being m x k.
void product(bool transpose_a, bool transpose_b, int m, int n, int k, const float* a,
             const float* b, float* c) {
  cblas_sgemm(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans,
              transpose_b ? CblasTrans : CblasNoTrans, m, n, k, 1, a, transpose_a ? m : k, b,
              transpose_b ? k : n, 0, c, n);
}

void add_rows(int rows, int columns, const float* bias, float* values, bool rectify) {
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      const float value = values[i * columns + j] + bias[j];
      values[i * columns + j] = rectify ? std::max(value, 0.0f) : value;
    }
  }
}

void sum_rows(int rows, int columns, const float* values, float* out) {
  std::fill(out, out + columns, 0.0f);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) out[j] += values[i * columns + j];
  }
}

// Replaces logits by the gradient of the mean loss with respect to them.
float cross_entropy(int rows, int columns, const int* labels, float* logits) {
  float loss = 0;
  for (int i = 0; i < rows; ++i) {
    float* row = logits + i * columns;
    const float largest = *std::max_element(row, row + columns);
    float total = 0;
    for (int j = 0; j < columns; ++j) total += std::exp(row[j] - largest);
    loss -= row[labels[i]] - largest - std::log(total);
    for (int j = 0; j < columns; ++j) {
      row[j] = (std::exp(row[j] - largest) / total - (j == labels[i] ? 1.0f : 0.0f)) /
               static_cast<float>(rows);
    }
  }
  return loss / static_cast<float>(rows);
}

}  // namespace

digits_network::digits_network(int batch, std::vector<std::vector<float>> parameters)
    : batch_(batch),
      parameters_(std::move(parameters)),
      activated_(static_cast<std::size_t>(batch) * hidden),
      logits_(static_cast<std::size_t>(batch) * classes),
      hidden_gradient_(activated_.size()) {
  for (const auto& p : parameters_) {
    first_.emplace_back(p.size());
    second_.emplace_back(p.size());
    gradients_.emplace_back(p.size());
  }
}

float digits_network::step(const float* x, const int* labels) {
  product(false, false, batch_, hidden, inputs, x, parameters_[0].data(), activated_.data());
  add_rows(batch_, hidden, parameters_[1].data(), activated_.data(), true);
  product(false, false, batch_, classes, hidden, activated_.data(), parameters_[2].data(),
          logits_.data());
  add_rows(batch_, classes, parameters_[3].data(), logits_.data(), false);
  const float loss = cross_entropy(batch_, classes, labels, logits_.data());

  product(true, false, hidden, classes, batch_, activated_.data(), logits_.data(),
          gradients_[2].data());
  sum_rows(batch_, classes, logits_.data(), gradients_[3].data());
  product(false, true, batch_, hidden, classes, logits_.data(), parameters_[2].data(),
          hidden_gradient_.data());
  for (std::size_t i = 0; i < hidden_gradient_.size(); ++i) {
    if (activated_[i] <= 0) hidden_gradient_[i] = 0;
  }
  product(true, false, inputs, hidden, batch_, x, hidden_gradient_.data(), gradients_[0].data());
  sum_rows(batch_, hidden, hidden_gradient_.data(), gradients_[1].data());

  ++steps_;
  for (std::size_t i = 0; i < parameters_.size(); ++i) adam(i, gradients_[i]);
  return loss;
}

void digits_network::adam(std::size_t which, const std::vector<float>& gradient) {
  const float correct1 = 1 / (1 - std::pow(0.9f, static_cast<float>(steps_)));
  const float correct2 = 1 / (1 - std::pow(0.999f, static_cast<float>(steps_)));
  float* p = parameters_[which].data();
  float* m = first_[which].data();
  float* v = second_[which].data();
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    m[i] = 0.9f * m[i] + 0.1f * gradient[i];
    v[i] = 0.999f * v[i] + 0.001f * gradient[i] * gradient[i];
    p[i] -= 0.001f * m[i] * correct1 / (std::sqrt(v[i] * correct2) + 1e-8f);
  }
}

}  // namespace tutti::bench::peer
