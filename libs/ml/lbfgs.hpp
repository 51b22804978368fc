// SPDX-License-Identifier: Apache-2.0
//
// Minimisation of smooth functions of few variables, on the host in f64; the function computes
// value and gradient where the samples are.
#pragma once

#include <functional>
#include <vector>

namespace tutti::ml {

struct lbfgs_options {
  int iterations = 100;
  double tolerance = 1e-4;  ///< largest derivative at convergence
  double noise = 1e-15;     ///< relative error of values: smaller differences are ignored
  int history = 10;         ///< number of stored steps
};

struct lbfgs_result {
  std::vector<double> place;
  double value = 0;
  int iterations = 0;
  bool converged = false;
};

/// The value of a function at `place`; writes its derivatives to `gradient`.
using smooth_function =
    std::function<double(const std::vector<double>& place, std::vector<double>& gradient)>;

/// L-BFGS from `start` (J. Nocedal, S. Wright, "Numerical Optimization", 2006, algorithm 7.5) with
/// the line search of nn. The optimiser of nn keeps its steps as arrays in the dtype of the
/// parameters, which would take a launch and a wait for each product and lose the last steps in
/// f32. Stops without convergence if no step is found.
lbfgs_result minimize(const smooth_function& f, std::vector<double> start,
                      const lbfgs_options& options);

}  // namespace tutti::ml
