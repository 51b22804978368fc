// SPDX-License-Identifier: Apache-2.0
//
// Cumulative operations against host loops: every kind, direction, axis, layout and dtype; the
// errors of long ones.
#include "tutti_test/arrays.hpp"

namespace {

using tutti::scan_options;

using combine = double (*)(double, double);
double add(double a, double b) { return a + b; }
double multiply(double a, double b) { return a * b; }
double larger(double a, double b) { return a > b || std::isnan(a) ? a : b; }
double smaller(double a, double b) { return a < b || std::isnan(a) ? a : b; }
double log_add(double a, double b) {
  const double top = std::max(a, b);
  return std::isinf(top) ? top : top + std::log(std::exp(a - top) + std::exp(b - top));
}

struct kind {
  const char* name;
  array (*call)(const array&, const scan_options&);
  combine f;
  double neutral;
};
constexpr double inf = std::numeric_limits<double>::infinity();
const kind kinds[] = {{"cumsum", tutti::cumsum, add, 0},
                      {"cumprod", tutti::cumprod, multiply, 1},
                      {"cummax", tutti::cummax, larger, -inf},
                      {"cummin", tutti::cummin, smaller, inf},
                      {"logcumsumexp", tutti::logcumsumexp, log_add, -inf}};

dense expected_scan(const dense& x, int axis, const kind& k, bool exclusive, bool reverse) {
  dense out = x;
  std::int64_t inner = 1;
  for (int i = axis + 1; i < x.extents.rank(); ++i) inner *= x.extents[i];
  const std::int64_t n = x.extents[axis];
  for (std::int64_t start = 0; start < x.extents.size(); ++start) {
    if (start / inner % n != 0) continue;
    double value = k.neutral;
    for (std::int64_t step = 0; step < n; ++step) {
      const auto at = static_cast<std::size_t>(start + (reverse ? n - 1 - step : step) * inner);
      const double before = value;
      value = k.f(value, x.values[at]);
      out.values[at] = exclusive ? before : value;
    }
  }
  return out;
}

}  // namespace

// The errors of equal terms have one sign: those of a plain running sum would show.
BOOST_AUTO_TEST_CASE(long_sums_of_equal_numbers) {
  const std::size_t count = 1000003;
  const array x = array::from(std::vector<float>(count, 0.1f));
  for (const bool reverse : {false, true}) {
    const auto got = tutti::cumsum(x, scan_options(0, false, reverse)).to_vector<float>();
    double worst = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double terms = static_cast<double>(reverse ? count - i : i + 1);
      worst = std::max(worst, std::fabs(got[i] / (terms * 0.1f) - 1));
    }
    BOOST_TEST(worst <= 1e-5);
    // Of columns.
    const array columns = array::from(std::vector<float>(60000, 0.1f), {20000, 3});
    const auto got_columns = tutti::cumsum(columns, scan_options(0, false, reverse));
    const auto ends = got_columns[reverse ? 0 : 19999].to_vector<float>();
    for (const float end : ends)
      BOOST_TEST(end == 20000 * double{0.1f}, boost::test_tools::tolerance(1e-5));
  }
}

// The same of products and of logarithms of sums, whose terms are equal: plain ones were off by
// 2e-5 to 8e-5.
BOOST_AUTO_TEST_CASE(long_products_and_logarithms_of_equal_numbers) {
  constexpr std::int64_t length = 100000, columns = 20;
  for (const bool reverse : {false, true}) {
    const auto worst = [&](const array& got, auto expected) {
      const std::vector<float> values = got.to_vector<float>();
      double most = 0;
      for (std::int64_t i = 0; i < length; ++i)
        for (const std::int64_t c : {std::int64_t{0}, columns - 1}) {
          const auto at = static_cast<std::size_t>((reverse ? length - 1 - i : i) * columns + c);
          most = std::max(most, std::fabs(values[at] / expected(static_cast<double>(i + 1)) - 1));
        }
      return most;
    };
    const auto of = [](float value) {
      return array::from(std::vector<float>(length * columns, value), {length, columns});
    };
    const scan_options along(0, false, reverse);
    const double factor = 1.0001F, term = 0.25F;
    BOOST_TEST(worst(tutti::cumprod(of(1.0001F), along),
                     [&](double n) { return std::pow(factor, n); }) <= 1e-5);
    BOOST_TEST(worst(tutti::logcumsumexp(of(0.25F), along),
                     [&](double n) { return term + std::log(n); }) <= 1e-5);
  }
  // Of a row.
  const array row = array::from(std::vector<float>(1000003, 0.25F));
  const std::vector<float> sums = tutti::logcumsumexp(row, 0).to_vector<float>();
  double most = 0;
  for (std::size_t i = 0; i < sums.size(); ++i)
    most = std::max(most, std::fabs(sums[i] / (0.25 + std::log(double(i + 1))) - 1));
  BOOST_TEST(most <= 5e-6);
}

BOOST_AUTO_TEST_CASE(every_kind_axis_direction_and_layout) {
  const dense x = random_dense({3, 37, 5}, 0.5, 1.5, 301);
  for (const kind& k : kinds) {
    for (const auto& [layout, a] : layouts(x)) {
      for (int axis : {0, 1, 2}) {
        for (int flags = 0; flags < 4; ++flags) {
          const bool exclusive = (flags & 1) != 0, reverse = (flags & 2) != 0;
          BOOST_TEST_CONTEXT(k.name << ' ' << layout << " axis " << axis << " flags " << flags) {
            BOOST_TEST(matches(k.call(a, scan_options(axis - 3, exclusive, reverse)),
                               expected_scan(x, axis, k, exclusive, reverse),
                               {.relative = 1e-5, .absolute = 1e-5}));
          }
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(every_dtype) {
  const dense x = random_integers({2, 300}, 0, 1, 303);
  for (dtype type :
       {dtype::boolean, dtype::i8, dtype::i16, dtype::i32, dtype::i64, dtype::u8, dtype::u16,
        dtype::u32, dtype::u64, dtype::f16, dtype::bf16, dtype::f32, dtype::f64}) {
    const array a = upload_as<float>(x).astype(type);
    const array sums = tutti::cumsum(a, 1);
    const dtype wanted = tutti::is_floating(type)   ? type
                         : tutti::is_unsigned(type) ? dtype::u64
                                                    : dtype::i64;
    BOOST_TEST((sums.dtype() == wanted), tutti::name(type));
    BOOST_TEST(matches(sums, expected_scan(x, 1, kinds[0], false, false)), tutti::name(type));
    BOOST_TEST((tutti::cummax(a, 1).dtype() == type));
  }
  for (dtype type : {dtype::boolean, dtype::u16, dtype::i64, dtype::f16}) {
    const array a = upload_as<float>(x).astype(type);
    BOOST_TEST(matches(tutti::cummax(a, 1), expected_scan(x, 1, kinds[2], false, false)));
    BOOST_TEST(matches(tutti::cummin(a, 0), expected_scan(x, 0, kinds[3], false, false)));
  }
  // Neutral elements are the ends of the dtype.
  const array ends = tutti::cummax(array::from<std::int16_t>({3, 1}), scan_options(0, true));
  BOOST_TEST(matches(ends, {{2}, {-32768, 3}}));
  BOOST_TEST(matches(tutti::cummin(array::from<std::uint8_t>({3, 1}), scan_options(0, true)),
                     {{2}, {255, 3}}));
}

BOOST_AUTO_TEST_CASE(chosen_result_dtypes) {
  const array a = array::from<std::int32_t>({100, 100, 100});
  const array narrow = tutti::cumsum(a, scan_options(0, false, false, dtype::i8));
  BOOST_TEST((narrow.dtype() == dtype::i8));
  BOOST_TEST(matches(narrow, {{3}, {100, -56, 44}}));
  BOOST_TEST(
      matches(tutti::cumsum(array::from<std::int8_t>({-1, -2}), scan_options(0)), {{2}, {-1, -3}}));
  BOOST_TEST(matches(tutti::cumprod(a, scan_options(0, false, false, dtype::f32)),
                     {{3}, {100, 1e4, 1e6}}));
  FAILS(dtype_error, tutti::cumsum(tutti::ones({3}), scan_options(0, false, false, dtype::i32)),
        "cumsum: f32 elements do not accumulate in i32");
}

BOOST_AUTO_TEST_CASE(cumulative_special_values) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const dense x{{40}, std::vector<double>(40, 1)};
  for (const std::size_t at : {std::size_t{0}, std::size_t{5}, std::size_t{39}}) {
    dense with = x;
    with.values[at] = nan;
    dense after = x;
    for (std::size_t i = 0; i < 40; ++i) after.values[i] = i < at ? 1 : nan;
    for (const kind& k : {kinds[1], kinds[2], kinds[3]})
      BOOST_TEST(matches(k.call(upload_as<float>(with), 0), after), k.name << " at " << at);
  }
  const array ends = array::from<float>({-HUGE_VALF, 0, HUGE_VALF, 1});
  BOOST_TEST(matches(tutti::logcumsumexp(ends, 0), {{4}, {-inf, 0, inf, inf}}));
  BOOST_TEST(matches(tutti::logcumsumexp(array::from<float>({1000, 1000, -1000}), 0),
                     {{3}, {1000, 1000 + std::log(2), 1000 + std::log(2)}}, {.relative = 1e-6}));
  BOOST_TEST(matches(tutti::cummax(ends * -1, 0), {{4}, {inf, inf, inf, inf}}));
}

BOOST_AUTO_TEST_CASE(cumulative_shapes) {
  const dense x = random_integers({3, 4}, -9, 9, 304);
  dense flat = x;
  flat.extents = {12};
  BOOST_TEST(
      matches(tutti::cumsum(upload_as<float>(x)), expected_scan(flat, 0, kinds[0], false, false)));
  BOOST_TEST(matches(tutti::cumsum(array(3)), {{1}, {3}}));
  BOOST_TEST(tutti::cumsum(tutti::zeros({0, 3}), 0).shape() == (shape{0, 3}));
  BOOST_TEST(matches(tutti::cumsum(tutti::full({4}, 2, dtype::f32), 0), {{4}, {2, 4, 6, 8}}));
  FAILS(index_error, tutti::cumsum(tutti::zeros({2}), 1), "cumsum");
  FAILS(value_error, tutti::cumulative_sum(tutti::zeros({2, 2})),
        "cumulative_sum: an array of shape [2,2] needs an axis");
  BOOST_TEST(matches(tutti::cumulative_sum(array::from<std::int32_t>({1, 2, 3}), {}, {}, true),
                     {{4}, {0, 1, 3, 6}}));
  BOOST_TEST(matches(tutti::cumulative_prod(upload_as<float>({{2, 2}, {2, 3, 4, 5}}), 1, {}, true),
                     {{2, 3}, {1, 2, 6, 1, 4, 20}}));
}

BOOST_AUTO_TEST_CASE(differences) {
  const dense x = random_integers({4, 6}, -99, 99, 305);
  for (const auto& [layout, a] : layouts<std::int32_t>(x)) {
    BOOST_TEST(matches(tutti::diff(a), tabulate({4, 5},
                                                [&](const position& i) {
                                                  return x.at({i[0], i[1] + 1}) - x.at(i);
                                                })),
               layout);
    BOOST_TEST(
        matches(tutti::diff(a, 2, 0),
                tabulate({2, 6},
                         [&](const position& i) {
                           return x.at({i[0] + 2, i[1]}) - 2 * x.at({i[0] + 1, i[1]}) + x.at(i);
                         })),
        layout);
  }
  BOOST_TEST(
      matches(tutti::diff(array::from(std::vector<bool>{true, true, false})), {{2}, {0, 1}}));
  BOOST_TEST(tutti::diff(tutti::zeros({2, 3}), 7).shape() == (shape{2, 0}));
  FAILS(value_error, tutti::diff(tutti::zeros({3}), -1), "diff: n is -1");
}

BOOST_AUTO_TEST_CASE(equal_scans_run_once) {
  const array a = upload_as<float>(random_dense({100}, -1, 1, 306));
  const array two = tutti::cumsum(a, 0) + tutti::cumsum(a, 0);
  const array other = tutti::cumsum(a, scan_options(0, true)) + tutti::cumsum(a, 0);
  BOOST_TEST(matches(two - other, read(a), {.relative = 1e-4, .absolute = 1e-5}));
}
