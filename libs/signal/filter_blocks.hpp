// SPDX-License-Identifier: Apache-2.0
//
// The effect of a filter on a block of samples, as matrices computed on the host.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "tutti/extension.hpp"

namespace tutti::op {

/// A filter: `step` takes a sample and the state of `order` numbers, updates the state and returns
/// the output. Linear in both.
struct linear_filter {
  std::int64_t order = 0;
  std::function<double(double sample, std::vector<double>& state)> step;
};

/// Row-major.
struct host_matrix {
  std::int64_t rows, columns;
  std::vector<double> values;

  host_matrix(std::int64_t m, std::int64_t n);
  double& at(std::int64_t i, std::int64_t j) {
    return values[static_cast<std::size_t>(i * columns + j)];
  }
  double at(std::int64_t i, std::int64_t j) const {
    return values[static_cast<std::size_t>(i * columns + j)];
  }
};

host_matrix identity_matrix(std::int64_t n);
host_matrix product_of(const host_matrix& a, const host_matrix& b);

/// The outputs y of a block and the state s' after it, from its samples x and the state s before: y
/// = x H + s O, s' = x K + s P.
struct block_matrices {
  host_matrix outputs_of_samples, outputs_of_state, state_of_samples, state_of_state;
};

/// Conversion of states for blocks: z = s inwards, s = z outwards.
struct state_basis {
  host_matrix inwards, outwards;
};

/// The blocks of a filter, in a basis of states in which P does not enlarge any state. In the basis
/// of the direct form, powers of P have large elements that cancel, and rounding moves poles
/// outside of the unit circle. Here the states for white noise have the identity as covariance
/// (input-normal form: Mullis and Roberts, "Synthesis of minimum roundoff noise fixed-point digital
/// filters", 1976). Filters that are not stable, and those with more than 48 states, keep their
/// basis.
class filter_blocks {
 public:
  explicit filter_blocks(const linear_filter& filter);

  block_matrices of_length(std::int64_t length) const;
  state_basis basis() const;

 private:
  struct realization;
  static std::shared_ptr<const realization> input_normal(const std::vector<double>& step,
                                                         std::int64_t order);
  static std::shared_ptr<const realization> remembered(const linear_filter& filter);

  const linear_filter& filter_;
  std::shared_ptr<const realization> normal_;  // null for the basis of `filter_`
};

}  // namespace tutti::op
