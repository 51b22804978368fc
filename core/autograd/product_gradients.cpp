// SPDX-License-Identifier: Apache-2.0
//
// Products of all factors except one, including zeros, as functions that can be differentiated
// again.
#include "autograd/gradients.hpp"
#include "tutti/ops.hpp"

namespace tutti::autograd {
namespace {

// Elementary symmetric polynomials of degree 0, 1, ... from sums of powers: Newton's identities.
std::vector<array> elementary(const std::vector<array>& sums) {
  std::vector<array> e;
  for (std::size_t degree = 1; degree <= sums.size(); ++degree) {
    array total;
    for (std::size_t i = 1; i <= degree; ++i) {
      const array term = degree == i ? sums[i - 1] : e[degree - i - 1] * sums[i - 1];
      total = !total.valid() ? term : i % 2 == 0 ? total - term : total + term;
    }
    e.push_back(degree == 1 ? total : total / static_cast<double>(degree));
  }
  return e;
}

}  // namespace

array zero_factors(const array& x) { return where(x == 0, x, 0); }

std::vector<array> powers(const array& x, int highest) {
  std::vector<array> out;
  for (int i = 0; i < highest; ++i) out.push_back(i == 0 ? x : out.back() * x);
  return out;
}

array product_of_others(const array& x, const zero_aware_product& p) {
  const array is_zero = x == 0;
  std::vector<array> sums_of_others = powers(zero_factors(x), static_cast<int>(p.sums.size()));
  for (std::size_t i = 0; i < p.sums.size(); ++i) sums_of_others[i] = p.sums[i] - sums_of_others[i];
  const std::vector<array> all = elementary(p.sums), others = elementary(sums_of_others);
  array at_zero = where(p.zeros == 1, p.rest, 0);
  array elsewhere = where(p.zeros == 0, p.rest, 0);
  for (std::size_t i = 0; i < p.sums.size(); ++i) {
    const auto count = static_cast<std::int64_t>(i) + 1;
    at_zero = where(p.zeros == count + 1, p.rest * others[i], at_zero);
    elsewhere = where(p.zeros == count, p.rest * all[i], elsewhere);
  }
  return where(is_zero, at_zero, elsewhere / where(is_zero, 1, x));
}

}  // namespace tutti::autograd
