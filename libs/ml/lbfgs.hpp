// SPDX-License-Identifier: Apache-2.0
//
// Minimisation of smooth functions of few numbers, on the host in f64, whose values and gradients
// are computed where the samples lie.
#pragma once

#include <functional>
#include <vector>

namespace tutti::ml {

struct lbfgs_options {
  int iterations = 100;
  double tolerance = 1e-4;  ///< ends where no derivative is larger
  double noise = 1e-15;     ///< relative error of values: smaller differences say nothing
  int history = 10;         ///< steps that are remembered
};

struct lbfgs_result {
  std::vector<double> place;
  double value = 0;
  int iterations = 0;
  bool converged = false;
};

/// A function's value at a place; writes its derivatives, as many, to `gradient`.
using smooth_function =
    std::function<double(const std::vector<double>& place, std::vector<double>& gradient)>;

/// L-BFGS from `start` (J. Nocedal, S. Wright, "Numerical Optimization", 2006, algorithm 7.5) with
/// the line search of core/nn. The optimiser there keeps its steps as arrays in the dtype of the
/// parameters: of the few numbers of a model that would be a launch and a wait for each product,
/// and in f32 the last steps are lost. Ends without having converged where no step is found.
lbfgs_result minimize(const smooth_function& f, std::vector<double> start,
                      const lbfgs_options& options);

}  // namespace tutti::ml
