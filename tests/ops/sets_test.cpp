// SPDX-License-Identifier: Apache-2.0
//
// Binary search, sets, positions and counting: dtypes, values that are no numbers, shapes, errors.
// Random elements in every layout: the differential test; long ones: `tutti verify`.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "tutti/random.hpp"
#include "tutti/sorting.hpp"
#include "tutti_test/dense.hpp"
#include "tutti_test/fails.hpp"

namespace {

using namespace tutti_test;
using tutti::array;
using tutti::dtype;
using tutti::shape;
using tutti::side;

const double nan_value = std::numeric_limits<double>::quiet_NaN();

dense flat(std::vector<double> values) {
  return {{static_cast<std::int64_t>(values.size())}, std::move(values)};
}

}  // namespace

BOOST_AUTO_TEST_CASE(binary_search) {
  for (dtype type : {dtype::f16, dtype::bf16}) {
    const array t = array::from<float>({-3, 0, 0, 7}).astype(type);
    const array v = array::from<float>({-4, -3, 0, 1, 7, 8}).astype(type);
    BOOST_TEST(matches(tutti::searchsorted(t, v), flat({0, 0, 1, 3, 3, 4})), tutti::name(type));
    BOOST_TEST(matches(tutti::searchsorted(t, v, side::right), flat({0, 1, 3, 3, 4, 4})));
  }
  const array t = upload_as<float>(flat({1, 2, nan_value, nan_value}));
  const array v = upload_as<float>(flat({nan_value, HUGE_VAL, -0.0}));
  BOOST_TEST(matches(tutti::searchsorted(t, v), flat({2, 2, 0})));
  BOOST_TEST(matches(tutti::searchsorted(t, v, side::right), flat({4, 2, 0})));
  BOOST_TEST(matches(tutti::searchsorted(tutti::zeros({0}), v), flat({0, 0, 0})));
  FAILS(shape_error, tutti::searchsorted(tutti::zeros({2, 2}), v),
        "searchsorted: the sorted array has shape [2,2]");
}

BOOST_AUTO_TEST_CASE(membership) {
  const dense among = flat({3, -7, 3, 50});
  for (const auto& [layout, a] : layouts<std::int32_t>({{2, 3}, {3, 4, 50, 51, -7, 0}}))
    BOOST_TEST(
        matches(tutti::isin(a, upload_as<std::int32_t>(among)), {{2, 3}, {1, 0, 1, 0, 1, 0}}),
        layout);
  BOOST_TEST(matches(tutti::isin(upload_as<float>(flat({1, nan_value, 2})),
                                 upload_as<float>(flat({nan_value, 2})), true),
                     flat({1, 1, 0})));
  BOOST_TEST(matches(tutti::isin(array::from<std::int32_t>({1}), tutti::zeros({0}, dtype::i32)),
                     flat({0})));
}

BOOST_AUTO_TEST_CASE(positions_of_what_is_not_zero) {
  const std::vector<array> got = tutti::nonzero(array::from({{0, 2, 0}, {-1, 0, 3}}));
  BOOST_TEST_REQUIRE(got.size() == 2u);
  BOOST_TEST((got[0].dtype() == dtype::i64));
  BOOST_TEST(matches(got[0], flat({0, 1, 1})));
  BOOST_TEST(matches(got[1], flat({1, 0, 2})));
  BOOST_TEST(tutti::nonzero(tutti::zeros({4}))[0].shape() == (shape{0}));
  BOOST_TEST(tutti::nonzero(tutti::zeros({0, 2})).size() == 2u);
  BOOST_TEST(matches(tutti::nonzero(tutti::ones({3}))[0], flat({0, 1, 2})));
  FAILS(shape_error, tutti::nonzero(array(1)), "nonzero");
}

// By loops on the host: standard_test.
BOOST_AUTO_TEST_CASE(distinct_elements) {
  const dense x = random_integers({40, 50}, -30, 30, 326);
  for (const auto& [layout, a] : layouts<std::int32_t>(x)) {
    const auto [values, inverse, counts] = tutti::unique(a);
    const tutti::unique_all_result all = tutti::unique_all(a);
    BOOST_TEST(matches(values, read(all.values)), layout);
    BOOST_TEST(matches(counts, read(all.counts)), layout);
    BOOST_TEST(matches(tutti::take(values, inverse), x), layout);
    BOOST_TEST(matches(tutti::unique_values(a), read(all.values)), layout);
  }
  const array special = upload_as<float>(flat({nan_value, 0, -0.0, nan_value, 1}));
  BOOST_TEST(matches(tutti::unique(special).values, flat({0, 1, nan_value, nan_value})));
  BOOST_TEST(matches(tutti::unique_values(tutti::ones({5})), flat({1})));
  BOOST_TEST(tutti::unique(tutti::zeros({0, 2})).inverse.shape() == (shape{0, 2}));
}

BOOST_AUTO_TEST_CASE(counts_of_numbers) {
  const array numbers = array::from({{1, 3, 1}, {0, 1, 3}});
  for (dtype type : {dtype::i32, dtype::u8, dtype::i64})
    BOOST_TEST(matches(tutti::bincount(numbers.astype(type), 6), flat({1, 3, 0, 2, 0, 0})));
  const array weights = array::from<float>({{1, 2, 3}, {4, 5, -6}});
  BOOST_TEST(matches(tutti::bincount(numbers, weights), flat({4, 9, 0, -4})));
  BOOST_TEST(matches(tutti::bincount(tutti::zeros({0}, dtype::i32), 3), flat({0, 0, 0})));
  FAILS(value_error, tutti::bincount(array::from<std::int32_t>({1, -2})), "bincount: element -2");
  FAILS(dtype_error, tutti::bincount(tutti::zeros({3})),
        "bincount: indices must be integers, got f32");
  FAILS(shape_error, tutti::bincount(numbers, tutti::zeros({3})), "[2,3]");
}

namespace {

// Each element in the last bin whose lower edge, as given, is not above it; the last bin is closed.
template <class T>
std::vector<std::int64_t> counted(const std::vector<T>& values, const std::vector<T>& edges) {
  std::vector<std::int64_t> counts(edges.size() - 1, 0);
  for (const T v : values) {
    if (!(v >= edges.front() && v <= edges.back())) continue;
    const auto at = std::upper_bound(edges.begin(), edges.end(), v) - edges.begin() - 1;
    ++counts[std::min(static_cast<std::size_t>(at), counts.size() - 1)];
  }
  return counts;
}

// The edges themselves, their neighbours among the floats, and what lies outside or nowhere.
template <class T>
void check_edges(std::int64_t bins, double low, double high) {
  std::vector<T> values = {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity(),
                           -std::numeric_limits<T>::infinity(), 0, static_cast<T>(-0.0)};
  const double step = (high - low) / static_cast<double>(bins);
  std::vector<T> edges;
  for (std::int64_t i = 0; i <= bins; ++i)
    edges.push_back(static_cast<T>(i == bins ? high : static_cast<double>(i) * step + low));
  const T end = std::numeric_limits<T>::infinity();
  for (const T edge : edges)
    for (const T v : {std::nextafter(edge, -end), edge, std::nextafter(edge, end)})
      values.push_back(v);
  const tutti::histogram_result result = tutti::histogram(array::from(values), bins, low, high);
  const array &counts = result.counts, &got = result.edges;
  BOOST_TEST(got.template to_vector<T>() == edges);
  BOOST_TEST(counts.template to_vector<std::int64_t>() == counted(values, edges),
             bins << " bins from " << low << " to " << high);
}

}  // namespace

// NumPy: edges are i * step + low, and values are compared with them as they are.
BOOST_AUTO_TEST_CASE(histograms_follow_their_edges) {
  check_edges<float>(256, -1, 1);
  check_edges<float>(7, -0.1, 0.3);
  check_edges<float>(1000, -3e38, 3e38);
  check_edges<float>(100, 1e6, 1e6 + 3);  // edges that f32 cannot tell apart
  check_edges<float>(1, 0, 1e-40);
  check_edges<float>(3, 5, 5 + 1e-9);
  check_edges<double>(77, -1.0 / 3, 1e5 / 7);
  check_edges<double>(1, 1, 1 + 0x1p-52);
  const std::vector<std::int32_t> whole = {1, 2, 3, 3, 7, 2147483647, -5, 0};
  const auto [counts, edges] = tutti::histogram(array::from(whole), 3, 1, 7);
  BOOST_TEST(counts.to_vector<std::int64_t>() == (std::vector<std::int64_t>{2, 2, 1}));
  BOOST_TEST((edges.dtype() == dtype::f64));
  const array halves = array::from<float>({0.5F, 0.25F, -1, 1, 0.999F}).astype(dtype::f16);
  BOOST_TEST(tutti::histogram(halves, 2, -1, 1).counts.to_vector<std::int64_t>() ==
             (std::vector<std::int64_t>{1, 4}));
}

// The known bounds of uploaded values are those of the whole array.
BOOST_AUTO_TEST_CASE(counts_of_a_part) {
  const array whole = array::from<std::int64_t>({1, 2, 9});
  const array part = whole({tutti::slice{0, 2}});
  BOOST_TEST(matches(tutti::bincount(part), flat({0, 1, 1})));
  BOOST_TEST(matches(tutti::bincount(part, tutti::ones({2})), flat({0, 1, 1})));
  BOOST_TEST(tutti::bincount(whole).size() == 10);
  const array drawn = tutti::random::integers({1}, {3}, 0, 1000000);
  BOOST_TEST(tutti::bincount(drawn).size() == tutti::max(drawn).item() + 1);
  const array lower = array::from<std::int32_t>({-1, 4})({tutti::slice{1, 2}});
  BOOST_TEST(tutti::bincount(lower).size() == 5);
}

BOOST_AUTO_TEST_CASE(histograms) {
  dense x = random_dense({5000}, -1, 1, 330);
  x.values[7] = nan_value, x.values[8] = 1, x.values[9] = -0.5, x.values[10] = 0.5;
  const auto expected = [&](const std::vector<double>& edges) {
    const std::vector<std::int64_t> counts = counted(x.values, edges);
    return flat({counts.begin(), counts.end()});
  };
  const array a = upload_as<float>(x);
  const auto [counts, edges] = tutti::histogram(a, 8, -0.5, 0.5);
  BOOST_TEST(matches(edges, flat({-0.5, -0.375, -0.25, -0.125, 0, 0.125, 0.25, 0.375, 0.5})));
  BOOST_TEST(matches(counts, expected(read(edges).values)));
  const array wide = array::from<float>({-1, -0.9F, 0, 0.001F, 0.7F, 1});
  BOOST_TEST(matches(tutti::histogram(a, wide).counts, expected(read(wide).values)));
  const array clean = upload_as<float>(random_dense({3, 400}, -1, 1, 331));
  const tutti::histogram_result whole = tutti::histogram(clean, 7);
  BOOST_TEST(tutti::sum(whole.counts).item() == 1200);
  BOOST_TEST(whole.edges.to_vector<float>().front() == tutti::min(clean).item<float>());
  BOOST_TEST(whole.edges.to_vector<float>().back() == tutti::max(clean).item<float>());
  BOOST_TEST(
      matches(tutti::histogram(array::from<std::int32_t>({1, 1, 2}), 2).counts, flat({2, 1})));
  BOOST_TEST(matches(tutti::histogram(tutti::ones({4}), 3).counts, flat({0, 4, 0})));
  BOOST_TEST(matches(tutti::histogram(tutti::zeros({0}), 2).edges, flat({0, 0.5, 1})));
  FAILS(value_error, tutti::histogram(a, 4), "histogram: bounds");
  FAILS(value_error, tutti::histogram(a, 4, -1e308, 1e308), "histogram: bounds -1");
  FAILS(value_error, tutti::histogram(a, 0, 0, 1), "histogram: 0 bins");
}
