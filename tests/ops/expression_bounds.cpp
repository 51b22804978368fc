// SPDX-License-Identifier: Apache-2.0
//
// How far a device may be off in each element of a random program: every step adds its own rounding
// to what its operands' errors become.
#include <cmath>
#include <sstream>

#include "expression.hpp"
#include "tutti/sorting.hpp"

namespace tutti_test {
namespace {

using tutti::abs;
using tutti::array;
using tutti::dtype;
using number = std::complex<double>;

// Half the distance of numbers around 1.
double unit(dtype type) {
  switch (tutti::real_dtype(type)) {
    case dtype::f64:
      return 0x1p-53;
    case dtype::f16:
      return 0x1p-11;
    case dtype::bf16:
      return 0x1p-8;
    default:
      return 0x1p-24;
  }
}

// What adding up numbers of these absolute values in any order may lose, for each number.
double lost_in_sum(dtypes types) { return types.real == dtype::f64 ? 0x1p-53 : 0x1p-24; }

struct bounding {
  const step& s;
  const std::vector<expected_array>& done;
  const array& value;  // of the step
  dtypes types;

  const array& of(std::size_t k) const { return done[std::size_t(s.from[k])].value; }
  const array& bound(std::size_t k) const { return done[std::size_t(s.from[k])].bound; }

  // With what the few instructions of a step may add, their own ulps included, and what denormals
  // lose.
  array rounded(const array& of_operands) const {
    const double u = unit(types.real);
    return of_operands + abs(value) * (6 * u) + (4 * u + 0x1p-25 * u);
  }

  array unary() const {
    if (s.kind == value_kind::complex || s.choice == 5 || s.choice == 6) return bound(0);
    switch (s.choice) {
      case 7:
        return rounded(bound(0) * 0.25);
      case 8:
        return rounded((abs(of(0)) * 2 + bound(0)) / 5 * bound(0));
      case 9:
        return rounded(bound(0) * 0.5);
      case 10:
        return rounded(bound(0) * 1.5);
      default:
        return rounded(bound(0));
    }
  }

  // Of products: what the errors of both factors make of the sizes of the others.
  array product(auto&& multiply) const {
    return multiply(abs(of(0)), bound(1)) + multiply(bound(0), abs(of(1))) +
           multiply(bound(0), bound(1));
  }

  array binary() const {
    const int choice = s.kind == value_kind::complex ? s.choice % 3 : s.choice;
    if (choice > 2) return tutti::maximum(bound(0), bound(1));
    if (choice < 2) return rounded((bound(0) + bound(1)) / 2);
    return rounded(product([](const array& a, const array& b) { return a * b; }) / 4);
  }

  array reduce() const {
    const std::vector<std::int64_t> axes(s.numbers.begin(), s.numbers.end());
    if (s.choice != 0 && s.kind != value_kind::complex) return tutti::max(bound(0), axes);
    return rounded(tutti::mean(bound(0), axes) + tutti::sum(abs(of(0)), axes) * lost_in_sum(types));
  }

  array scan() const {
    const std::int64_t axis = s.numbers[0];
    if (s.choice != 0) return tutti::cummax(bound(0), axis);
    return rounded(tutti::cumsum(bound(0), axis) / static_cast<double>(value.dim(axis)) +
                   tutti::cumsum(abs(of(0)), axis) * lost_in_sum(types));
  }

  array matrix_product() const {
    const auto multiply = [](const array& a, const array& b) { return tutti::matmul(a, b); };
    const auto inner = static_cast<double>(of(0).dim(1));
    const array lost = multiply(abs(of(0)), abs(of(1))) * (2 * inner * lost_in_sum(types));
    return rounded((product(multiply) + lost) / (4 * inner));
  }

  array result() const {
    switch (s.what) {
      case operation::input:
        return abs(value) * unit(types.real);
      case operation::unary:
        return unary();
      case operation::binary:
        return binary();
      case operation::where:
        return tutti::where(of(0), bound(1), bound(2));
      case operation::reduce:
        return reduce();
      case operation::scan:
        return scan();
      case operation::sort:  // an element may take its neighbour's place
        return tutti::max(bound(0), {s.numbers[0], true}) + tutti::zeros_like(bound(0));
      case operation::product:
        return matrix_product();
      case operation::to_real:
        return rounded(tutti::zeros_like(value));
      case operation::to_complex:
        return bound(0) + bound(1);
      case operation::part:
        return rounded(s.choice == 2 ? bound(0) / 2 : bound(0));
      default: {  // those that move elements move their bounds
        std::vector<array> bounds;
        for (const expected_array& e : done) bounds.push_back(e.bound);
        return evaluate_step(s, bounds, types);
      }
    }
  }
};

// Of any dtype, as complex numbers.
std::vector<number> numbers(const array& a) {
  if (tutti::is_complex(a.dtype())) return a.astype(dtype::c128).to_vector<number>();
  const dense values = read(a);
  return {values.values.begin(), values.values.end()};
}

}  // namespace

std::vector<expected_array> expected_values(const program& steps, dtypes types) {
  const tutti::device reference("reference");
  const std::vector<array> values = on_device(steps, {dtype::f64, types.integer}, true, reference);
  std::vector<expected_array> done;
  for (std::size_t n = 0; n < steps.size(); ++n) {
    const step& s = steps[n];
    const bool is_exact = s.kind == value_kind::integer || s.kind == value_kind::truth;
    const array bound = is_exact ? tutti::zeros(s.shape, dtype::f64).to(reference)
                                 : bounding{s, done, values[n], types}.result();
    done.push_back({values[n], bound.wait()});
  }
  return done;
}

std::optional<std::string> difference(const array& got, const expected_array& expected) {
  if (got.shape() != expected.value.shape())
    return "got shape " + got.shape().str() + ", expected " + expected.value.shape().str();
  const std::vector<number> found = numbers(got), wanted = numbers(expected.value);
  const std::vector<double> bounds = expected.bound.to_vector<double>();
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double error = std::abs(found[i] - wanted[i]);
    if (error <= bounds[i]) continue;
    std::ostringstream text;
    text.precision(17);
    text << "[" << i << "] got " << found[i] << ", expected " << wanted[i] << " to within "
         << bounds[i];
    return text.str();
  }
  return std::nullopt;
}

}  // namespace tutti_test
