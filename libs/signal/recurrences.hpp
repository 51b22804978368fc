// SPDX-License-Identifier: Apache-2.0
//
// Linear recurrences over lines of samples, as matrix products.
//
// A filter is a state s and a rule that processes one sample. Over a block of samples x both the
// outputs and the state after it are linear in x and s: y = x H + s O, s' = x K + s P
// (filter_blocks). The states between blocks follow a similar recurrence, s[k + 1] = s[k] P +
// c[k], so they are computed in a tree.
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

struct filtered_lines {
  array values;  // [rows, length]
  array state;   // [rows, order], at the end
};

/// Filters lines x [rows, length] from a state [rows, order], both of a floating or complex dtype
/// in which devices compute. Throws value_error with `op` if the impulse response of a block
/// overflows f64.
filtered_lines run_filter(const linear_filter& filter, const array& x, const array& state,
                          std::string_view op);

}  // namespace tutti::op
