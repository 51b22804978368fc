// SPDX-License-Identifier: Apache-2.0
//
// Central differences in f64: the oracle of gradients.
#pragma once

#include "tutti_test/arrays.hpp"

namespace tutti_test {

/// Gradients of f (one element, f64) at `arguments` against (f(x + h) - f(x - h)) / 2h, element by
/// element.
inline void check_gradient(const tutti::function& f, const std::vector<dense>& arguments,
                           double tolerated = 2e-7) {
  const auto arrays = [&](const std::vector<dense>& from) {
    std::vector<tutti::array> out;
    for (const dense& d : from) out.push_back(upload_as<double>(d));
    return out;
  };
  const std::vector<tutti::array> gradients = tutti::grad(f)(arrays(arguments));
  BOOST_TEST_REQUIRE(gradients.size() == arguments.size());
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    dense expected = arguments[k];
    for (std::size_t i = 0; i < expected.values.size(); ++i) {
      const double h = 1e-5;
      std::vector<dense> moved = arguments;
      moved[k].values[i] = arguments[k].values[i] + h;
      const double above = f(arrays(moved)).item();
      moved[k].values[i] = arguments[k].values[i] - h;
      const double below = f(arrays(moved)).item();
      expected.values[i] = (above - below) / (2 * h);
    }
    BOOST_TEST((gradients[k].dtype() == tutti::dtype::f64));
    BOOST_TEST_CONTEXT("argument " << k) {
      BOOST_TEST(matches(gradients[k], expected, {.relative = tolerated, .absolute = tolerated}));
    }
  }
}

/// Weights that make every element of a result count differently.
inline tutti::array weighted_sum(const tutti::array& y) {
  const tutti::array weights = upload_as<double>(random_dense(y.shape(), 0.5, 1.5, 91));
  return tutti::sum(y * weights);
}

/// The same of both parts of complex numbers, which count differently.
inline tutti::array weighed(const tutti::array& y) {
  if (!tutti::is_complex(y.dtype())) return weighted_sum(y);
  return weighted_sum(tutti::real(y)) + weighted_sum(tutti::imag(y) * 0.7 + 0.2);
}

/// First gradients, and those of the first of them, where f is given the cubes of its arguments:
/// they make second derivatives depend on the argument.
inline void check_gradients_of_cubes(const tutti::function& f, const std::vector<dense>& arguments,
                                     double tolerated, double tolerated_of_second) {
  const tutti::function value = [=](const std::vector<tutti::array>& v) {
    std::vector<tutti::array> cubes;
    for (const tutti::array& x : v) cubes.push_back(x * x * x);
    return weighed(f(cubes));
  };
  check_gradient(value, arguments, tolerated);
  check_gradient(
      [=](const std::vector<tutti::array>& v) { return weighted_sum(tutti::grad(value)(v)[0]); },
      arguments, tolerated_of_second);
}

}  // namespace tutti_test
