// SPDX-License-Identifier: Apache-2.0
//
// Linear recurrences against host loops: axes, directions, layouts, dtypes, long lines, gradients.
#include "differences.hpp"
#include "sampled_layouts.hpp"

namespace recurrence_test {

namespace {

using tutti::linear_recurrence;
using arguments = std::vector<array>;

dense by_loops(const dense& a, const dense& x, int axis, bool reverse) {
  const std::int64_t length = x.extents[axis];
  std::int64_t inner = 1;
  for (int i = axis + 1; i < x.extents.rank(); ++i) inner *= x.extents[i];
  dense y = x;
  for (std::int64_t start = 0; start < x.extents.size(); ++start) {
    if (start / inner % length != 0) continue;
    for (std::int64_t n = 1; n < length; ++n) {
      const auto at = static_cast<std::size_t>(start + (reverse ? length - 1 - n : n) * inner);
      const std::size_t before =
          reverse ? at + static_cast<std::size_t>(inner) : at - static_cast<std::size_t>(inner);
      y.values[at] = a.values[at] * y.values[before] + x.values[at];
    }
  }
  return y;
}

const dense factors = random_dense({3, 5, 4}, -1.5, 1.5, 951),
            terms = random_dense({3, 5, 4}, -1, 1, 952);

}  // namespace

BOOST_AUTO_TEST_CASE(recurrences) {
  const tolerance near{.relative = 1e-13, .absolute = 1e-13};
  const auto other = sampled_layouts<double>(factors);
  std::size_t k = 0;
  for (const auto& [layout, x] : sampled_layouts<double>(terms)) {
    const array a = other[++k % other.size()].second;
    for (int axis = 0; axis < 3; ++axis)
      for (const bool reverse : {false, true})
        BOOST_TEST(matches(linear_recurrence(a, x, axis, reverse),
                           by_loops(factors, terms, axis, reverse), near),
                   layout << " along " << axis << (reverse ? " in reverse" : ""));
  }
  const array a = upload_as<float>(factors), x = upload_as<float>(terms);
  for (const dtype type : {dtype::f16, dtype::bf16, dtype::f32}) {
    const array y = linear_recurrence(a.astype(type), x.astype(type));
    BOOST_TEST((y.dtype() == type));
    const dense expected = by_loops(read(a.astype(type)), read(x.astype(type)), 2, false);
    const double unit = type == dtype::f32 ? 1e-6 : type == dtype::f16 ? 1e-3 : 1e-2;
    BOOST_TEST(matches(y, expected, {.relative = unit, .absolute = unit}));
  }
  // A scalar factor, and a row of factors for all rows.
  dense constant = terms;
  for (double& v : constant.values) v = 0.75;
  BOOST_TEST(matches(linear_recurrence(array(0.75F), upload_as<double>(terms), 1),
                     by_loops(constant, terms, 1, false), near));
  BOOST_TEST(matches(linear_recurrence(array::from<int>({9, 1, 1, 1}), tutti::ones({2, 4})),
                     {{2, 4}, {1, 2, 3, 4, 1, 2, 3, 4}}));
}

// f32 lines that devices divide, over several levels.
BOOST_AUTO_TEST_CASE(long_recurrences) {
  for (const shape& extents : {shape{70000}, shape{2, 9000}, shape{9000, 3}}) {
    const dense a = random_dense(extents, -1, 1, 953), x = random_dense(extents, -1, 1, 954);
    for (const bool reverse : {false, true})
      BOOST_TEST(matches(linear_recurrence(upload_as<float>(a), upload_as<float>(x), 0, reverse),
                         by_loops(a, x, 0, reverse), {.relative = 1e-5, .absolute = 1e-5}),
                 extents.str());
  }
  const array counted = linear_recurrence(tutti::ones({300000}), tutti::ones({300000}));
  BOOST_TEST(counted[299999].item() == 300000);
}

BOOST_AUTO_TEST_CASE(edges_of_recurrences) {
  using numbers = std::complex<float>;
  BOOST_TEST(linear_recurrence(tutti::zeros({0, 3}), tutti::ones({3})).shape() == (shape{0, 3}));
  BOOST_TEST(linear_recurrence(tutti::zeros({3, 0}), tutti::ones({1})).shape() == (shape{3, 0}));
  const array z = linear_recurrence(array::from<numbers>({{7, 7}, {0, 1}, {0, 1}}),
                                    array::from<numbers>({{1, 0}, {0, 0}, {2, 0}}));
  BOOST_TEST(matches(tutti::real(z), {{3}, {1, 0, 1}}));
  BOOST_TEST(matches(tutti::imag(z), {{3}, {0, 1, 0}}));
  const float nan = std::nanf(""), inf = HUGE_VALF;
  BOOST_TEST(
      matches(linear_recurrence(array::from<float>({nan, 2, 2}), array::from<float>({1, 1, inf})),
              {{3}, {1, 3, HUGE_VAL}}));
  BOOST_TEST(matches(
      linear_recurrence(array::from<float>({1, 2, nan, 1, 0}), array::from<float>({1, 1, 1, 1, 1})),
      {{5}, {1, 3, NAN, NAN, NAN}}));
  FAILS(index_error, linear_recurrence(tutti::ones({2}), tutti::ones({2}), 1), "linear_recurrence");
  FAILS(shape_error, linear_recurrence(tutti::ones({2}), tutti::ones({3})), "linear_recurrence");
}

BOOST_AUTO_TEST_CASE(gradients_of_recurrences) {
  const dense a = random_dense({2, 4}, -1, 1, 955), x = random_dense({2, 4}, -1, 1, 956);
  for (const bool reverse : {false, true})
    for (int axis = 0; axis < 2; ++axis)
      check_gradient(
          [&](const arguments& v) {
            return weighted_sum(linear_recurrence(v[0], v[1], axis, reverse));
          },
          {a, x});
  check_gradient(
      [](const arguments& v) {
        const tutti::array y =
            linear_recurrence(tutti::complex(v[0], v[1]), tutti::complex(v[1], v[0]));
        return weighted_sum(real(y)) + weighted_sum(imag(y) * real(y));
      },
      {a, x});
  // Broadcast factors, and the gradient of a gradient.
  check_gradient([](const arguments& v) { return weighted_sum(linear_recurrence(v[0], v[1])); },
                 {random_dense({1}, -1, 1, 957), x});
  check_gradient(
      [](const arguments& v) {
        const auto inner = tutti::grad([](const arguments& w) {
          return weighted_sum(tutti::sin(linear_recurrence(w[0], w[1])));
        });
        const arguments slopes = inner(v);
        return weighted_sum(slopes[0]) + weighted_sum(slopes[1] * slopes[1]);
      },
      {a, x});
}

}  // namespace recurrence_test
