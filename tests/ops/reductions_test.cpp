// SPDX-License-Identifier: Apache-2.0
//
// Reductions over every choice of axes, in every layout, against loops in double; NaN, infinities,
// ties, empty arrays; the composed ones.
#include "tutti_test/arrays.hpp"

namespace {

using tutti::reduce_options;

const double inf = std::numeric_limits<double>::infinity();

// Every set of axes of the given rank, as a bit mask.
std::vector<std::int64_t> axes_of(unsigned mask, int rank) {
  std::vector<std::int64_t> out;
  for (int i = 0; i < rank; ++i)
    if ((mask >> i & 1) != 0) out.push_back(i);
  return out;
}

// For each kept index, the reduced elements in row-major order, folded by f.
template <class F>
dense reduce_by(const dense& a, unsigned mask, bool keepdims, F&& f) {
  tutti::shape to;
  for (int i = 0; i < a.extents.rank(); ++i) {
    if ((mask >> i & 1) == 0)
      to.push_back(a.extents[i]);
    else if (keepdims)
      to.push_back(1);
  }
  return tabulate(to, [&](const position& kept) {
    std::vector<double> found;
    tabulate(a.extents, [&](const position& i) {
      std::size_t k = 0;
      bool same = true;
      for (int d = 0; d < a.extents.rank(); ++d) {
        const bool reduced = (mask >> d & 1) != 0;
        if (!reduced) same = same && i[std::size_t(d)] == kept[k];
        if (!reduced || keepdims) ++k;
      }
      if (same) found.push_back(a.at(i));
      return 0;
    });
    return f(found);
  });
}

double total(const std::vector<double>& v) {
  double sum = 0;
  for (double x : v) sum += x;
  return sum;
}
double product(const std::vector<double>& v) {
  double p = 1;
  for (double x : v) p *= x;
  return p;
}
double average(const std::vector<double>& v) { return total(v) / static_cast<double>(v.size()); }
double variance(const std::vector<double>& v) {
  const double m = average(v);
  double sum = 0;
  for (double x : v) sum += (x - m) * (x - m);
  return sum / static_cast<double>(v.size());
}
double smallest(const std::vector<double>& v) {
  double low = inf;
  for (double x : v) low = x < low || std::isnan(x) ? x : low;
  return low;
}
double largest(const std::vector<double>& v) {
  double high = -inf;
  for (double x : v) high = x > high || std::isnan(x) ? x : high;
  return high;
}
double log_sum(const std::vector<double>& v) {
  double sum = 0;
  for (double x : v) sum += std::exp(x);
  return std::log(sum);
}

using function = array (*)(const array&, const reduce_options&);
using oracle = double (*)(const std::vector<double>&);
array population_variance(const array& a, const reduce_options& o) { return tutti::var(a, o); }

struct reduction {
  const char* name;
  function device;
  oracle host;
};
const reduction reductions[] = {
    {"sum", tutti::sum, total},
    {"prod", tutti::prod, product},
    {"min", tutti::min, smallest},
    {"max", tutti::max, largest},
    {"mean", tutti::mean, average},
    {"var", population_variance, variance},
    {"logsumexp", tutti::logsumexp, log_sum},
};

}  // namespace

BOOST_AUTO_TEST_CASE(any_axes_of_any_layout) {
  const dense a = random_dense({3, 5, 7}, 0.5, 1.5, 11);
  const array wide = upload_as<double>(a);
  for (const auto& [layout, x] : layouts(a)) {
    for (unsigned mask = 0; mask < 8; ++mask) {
      const bool keepdims = (mask + layout.size()) % 2 == 0;
      for (const reduction& r : reductions) {
        // Every layout with every set of axes for two of them; each pair is a kernel to compile.
        const bool thorough = r.host == total || r.host == largest;
        if (!thorough && (layout == "reversed" || layout == "strided" || mask % 3 == 0)) continue;
        BOOST_TEST_CONTEXT(r.name << " of " << layout << ", axes " << mask << ", keepdims "
                                  << keepdims) {
          const reduce_options by{axes_of(mask, 3), tutti::keep_dims{keepdims}};
          const dense expected = reduce_by(a, mask, keepdims, r.host);
          BOOST_TEST(matches(r.device(x, by), expected, {.relative = 1e-5, .absolute = 1e-6}));
          BOOST_TEST(matches(r.device(wide, by), expected, {.relative = 1e-14}));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(integers_and_bool) {
  const dense a = random_integers({6, 35}, -3, 3, 13);
  const array x = upload_as<std::int32_t>(a);
  BOOST_TEST(matches(tutti::sum(x, 1), reduce_by(a, 2, false, total)));
  BOOST_TEST(matches(tutti::max(x, 0), reduce_by(a, 1, false, largest)));
  BOOST_TEST(
      matches(tutti::mean(x), {{}, {average(a.values)}}, {.relative = 1e-6, .absolute = 1e-6}));
  // A sum beyond 32 bits.
  const array large = array::from(std::vector<std::int32_t>(1000, 2000000000));
  BOOST_TEST((tutti::sum(large).item<std::int64_t>() == 2000000000000LL));
  BOOST_TEST((tutti::sum(x > 0).item<std::int64_t>() ==
              std::count_if(a.values.begin(), a.values.end(), [](double v) { return v > 0; })));
  BOOST_TEST(matches(tutti::any(x == 3, 1), reduce_by(a, 2, false, [](const auto& v) {
                       return double(std::count(v.begin(), v.end(), 3.0) > 0);
                     })));
  BOOST_TEST(matches(tutti::all(x != 3, 1), reduce_by(a, 2, false, [](const auto& v) {
                       return double(std::count(v.begin(), v.end(), 3.0) == 0);
                     })));
  BOOST_TEST(matches(tutti::max(x > 0, 1),
                     reduce_by(a, 2, false, [](const auto& v) { return double(largest(v) > 0); })));
}

BOOST_AUTO_TEST_CASE(arg_reductions_take_the_first) {
  const dense a{{2, 4}, {1, 3, 3, 0, 5, 5, 5, 5}};
  for (const auto& [layout, x] : layouts(a)) {
    BOOST_TEST_CONTEXT(layout) {
      BOOST_TEST(matches(tutti::argmax(x, 1), {{2}, {1, 0}}));
      BOOST_TEST(matches(tutti::argmin(x, -1, true), {{2, 1}, {3, 0}}));
      BOOST_TEST(matches(tutti::argmax(x), {{}, {4}}));
      BOOST_TEST(matches(tutti::argmax(x, 0), {{4}, {1, 1, 1, 1}}));
    }
  }
  const array x = upload_as<float>(a);
  BOOST_TEST(matches(tutti::argmax(x, {1, true}), {{2, 1}, {1, 0}}));
  BOOST_TEST(matches(tutti::argmin(x, {-1, tutti::keep_dims::yes}), {{2, 1}, {3, 0}}));
  BOOST_TEST(matches(tutti::argmin(x, {}, true), {{1, 1}, {3}}));
  FAILS(value_error, tutti::argmax(x, {0, 1}), "argmax: takes one axis, got 2");
  const array with_nan = array::from<float>({1, std::nanf(""), 7, std::nanf("")});
  BOOST_TEST(matches(tutti::argmax(with_nan), {{}, {1}}));
  BOOST_TEST(matches(tutti::argmin(with_nan), {{}, {1}}));
}

BOOST_AUTO_TEST_CASE(numbers_of_both_signs_in_f64) {
  const dense a = random_dense({3, 4, 5}, -3, 3, 12);
  for (const unsigned mask : {1u, 2u, 4u})
    for (const reduction& r : reductions) {
      BOOST_TEST_CONTEXT(r.name << ", axes " << mask) {
        const array got = r.device(upload_as<double>(a), {axes_of(mask, 3)});
        BOOST_TEST((got.dtype() == dtype::f64));
        BOOST_TEST(matches(got, reduce_by(a, mask, false, r.host),
                           {.relative = 1e-14, .absolute = 1e-14}));
      }
    }
}

BOOST_AUTO_TEST_CASE(nan_and_infinity) {
  const dense a{{4, 3}, {1, not_a_number, 2, inf, 1, 2, -inf, 1, 2, -inf, -inf, -inf}};
  const array x = upload_as<float>(a);
  BOOST_TEST(matches(tutti::max(x, 1), {{4}, {not_a_number, inf, 2, -inf}}));
  BOOST_TEST(matches(tutti::min(x, 1), {{4}, {not_a_number, 1, -inf, -inf}}));
  BOOST_TEST(matches(tutti::sum(x, 1), {{4}, {not_a_number, inf, -inf, -inf}}));
  BOOST_TEST(matches(tutti::logsumexp(x, 1),
                     {{4}, {not_a_number, inf, 2 + std::log1p(std::exp(-1.0)), -inf}},
                     {.relative = 1e-6}));
  // As PyTorch: rows with an infinite maximum have no distribution.
  const double one = 1 / (1 + std::exp(-1.0));
  BOOST_TEST(matches(tutti::softmax(x, 1),
                     {{4, 3},
                      {not_a_number, not_a_number, not_a_number, not_a_number, not_a_number,
                       not_a_number, 0, 1 - one, one, not_a_number, not_a_number, not_a_number}},
                     {.relative = 1e-6}));
  BOOST_TEST(
      matches(tutti::log_softmax(x, 1),
              {{4, 3},
               {not_a_number, not_a_number, not_a_number, not_a_number, not_a_number, not_a_number,
                -inf, std::log(1 - one), std::log(one), not_a_number, not_a_number, not_a_number}},
              {.relative = 1e-6}));
}

// The errors of equal terms have one sign: those of long plain sums would show.
BOOST_AUTO_TEST_CASE(long_sums_of_equal_numbers) {
  for (const float value : {0.1f, 0.3f, 0.7f}) {
    const array rows = array::from(std::vector<float>(5 * 8192, value), {5, 8192});
    const array columns = array::from(std::vector<float>(65536 * 5, value), {65536, 5});
    BOOST_TEST(matches(tutti::sum(rows, 1), dense{{5}, std::vector<double>(5, 8192.0 * value)},
                       {.relative = 1e-6}));
    BOOST_TEST(matches(tutti::sum(columns, 0), dense{{5}, std::vector<double>(5, 65536.0 * value)},
                       {.relative = 1e-6}));
    BOOST_TEST(matches(tutti::mean(columns, 0), dense{{5}, std::vector<double>(5, value)},
                       {.relative = 1e-6}));
  }
}

namespace {

void check_softmax(double spread, double f64_bound) {
  const dense a = random_dense({5, 33}, -spread, spread, 14);
  for (std::int64_t axis : {0, 1}) {
    const unsigned mask = 1u << axis;
    const dense top = reduce_by(a, mask, true, largest);
    const dense shifted = tabulate(a.extents, [&](position i) {
      const double v = a.at(i);
      i[std::size_t(axis)] = 0;
      return v - top.at(i);
    });
    const dense norm = reduce_by(shifted, mask, true, log_sum);
    const auto log_share = [&](position i) {
      const double v = shifted.at(i);
      i[std::size_t(axis)] = 0;
      return v - norm.at(i);
    };
    const dense logs = tabulate(a.extents, log_share);
    dense shares = logs;
    for (double& v : shares.values) v = std::exp(v);
    for (const auto& [layout, x] : layouts(a)) {
      BOOST_TEST_CONTEXT(layout << ", axis " << axis) {
        BOOST_TEST(
            matches(tutti::log_softmax(x, axis), logs, {.relative = 1e-6, .absolute = 1e-6}));
        BOOST_TEST(matches(tutti::softmax(x, axis), shares, {.relative = 1e-4, .absolute = 1e-30}));
      }
    }
    const array wide = upload_as<double>(a);
    BOOST_TEST(matches(tutti::log_softmax(wide, axis), logs, {.relative = 1e-13}));
    BOOST_TEST(matches(tutti::softmax(wide, axis), shares, {.relative = f64_bound}));
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(softmax_of_small_and_large_numbers) {
  check_softmax(3, 1e-14);
  check_softmax(500, 1e-11);
}

BOOST_AUTO_TEST_CASE(empty_arrays) {
  const array a = tutti::zeros({3, 0, 2});
  BOOST_TEST(matches(tutti::sum(a, 1), {{3, 2}, {0, 0, 0, 0, 0, 0}}));
  BOOST_TEST(matches(tutti::prod(a, 1), {{3, 2}, {1, 1, 1, 1, 1, 1}}));
  BOOST_TEST(matches(tutti::sum(a), {{}, {0}}));
  BOOST_TEST(matches(tutti::any(a), {{}, {0}}));
  BOOST_TEST(matches(tutti::all(a), {{}, {1}}));
  BOOST_TEST(matches(tutti::mean(a), {{}, {not_a_number}}));
  BOOST_TEST(matches(tutti::logsumexp(a), {{}, {-inf}}));
  BOOST_TEST(matches(tutti::sum(a, 0), {{0, 2}, {}}));
  BOOST_TEST(matches(tutti::softmax(a, 1), {{3, 0, 2}, {}}));
  FAILS(value_error, tutti::max(a, 1), "max");
  FAILS(value_error, tutti::argmin(a), "[3,0,2]");
}

// Partial products near 1 round the same way again and again.
BOOST_AUTO_TEST_CASE(long_products_of_f32) {
  constexpr std::int64_t rows = 1000, columns = 1000;
  const dense x = random_dense({rows, columns}, 0.9999, 1.0001, 77);
  const array a = upload_as<float>(x);
  const auto product = [&](std::int64_t from, std::int64_t to, std::int64_t step) {
    double out = 1;
    for (std::int64_t i = from; i < to; i += step)
      out *= static_cast<float>(x.values[static_cast<std::size_t>(i)]);
    return out;
  };
  const auto by = boost::test_tools::tolerance(1e-5);
  BOOST_TEST((tutti::prod(a).dtype() == dtype::f32));
  BOOST_TEST(tutti::prod(a).item() == product(0, rows * columns, 1), by);
  BOOST_TEST(tutti::prod(a, 0)[7].item() == product(7, rows * columns, columns), by);
  BOOST_TEST(tutti::prod(a, 1)[7].item() == product(7 * columns, 8 * columns, 1), by);
}

BOOST_AUTO_TEST_CASE(halves_accumulate_in_f32) {
  const array ones = tutti::ones({5000}, dtype::f16);
  BOOST_TEST(matches(tutti::sum(ones), {{}, {5000}}));
  const array large = tutti::full({100}, 30000, dtype::f16);
  BOOST_TEST(matches(tutti::mean(large), {{}, {30000}}, {.relative = 1e-3}));
  BOOST_TEST(matches(tutti::argmax(large), {{}, {0}}));
}

BOOST_AUTO_TEST_CASE(bad_axes) {
  const array a = tutti::zeros({2, 3});
  FAILS(index_error, tutti::sum(a, 2), "sum: axis 2");
  FAILS(index_error, tutti::softmax(a, -3), "softmax: axis -3");
  FAILS(value_error, tutti::max(a, {0, -2}), "max: axis -2 is given twice");
  FAILS(value_error, tutti::sum(array()), "sum");
}

BOOST_AUTO_TEST_CASE(variance_with_correction) {
  const dense a{{4}, {1, 2, 4, 9}};
  const array x = upload_as<double>(a);
  BOOST_TEST(matches(tutti::var(x), {{}, {9.5}}, {.relative = 1e-14}));
  BOOST_TEST(matches(tutti::var(x, {}, 1), {{}, {38.0 / 3}}, {.relative = 1e-14}));
  // Far from zero the two passes keep what one would lose.
  BOOST_TEST(matches(tutti::var(x + 1e9), {{}, {9.5}}, {.relative = 1e-12}));
}
