// SPDX-License-Identifier: Apache-2.0
//
// Binary search, sets, positions and counting against the standard library.
#include "tutti/analysis.hpp"
#include "tutti_test/arrays.hpp"

namespace {

using tutti::side;

const double nan_value = std::numeric_limits<double>::quiet_NaN();

dense flat(std::vector<double> values) {
  return {{static_cast<std::int64_t>(values.size())}, std::move(values)};
}

}  // namespace

BOOST_AUTO_TEST_CASE(binary_search) {
  dense table = random_integers({1000}, -500, 500, 321);
  std::sort(table.values.begin(), table.values.end());
  const dense values = random_integers({30, 40}, -510, 510, 322);
  const auto expected = [&](bool right) {
    return tabulate(values.extents, [&](const position& i) {
      const auto& t = table.values;
      return (right ? std::upper_bound(t.begin(), t.end(), values.at(i))
                    : std::lower_bound(t.begin(), t.end(), values.at(i))) -
             t.begin();
    });
  };
  for (const auto& [layout, v] : layouts(values)) {
    BOOST_TEST(matches(tutti::searchsorted(upload_as<float>(table), v), expected(false)), layout);
    BOOST_TEST(matches(tutti::searchsorted(upload_as<std::int32_t>(table), v, side::right),
                       expected(true)));
  }
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
  const dense x = random_integers({20, 30}, 0, 50, 323);
  const dense among = random_integers({3, 5}, 0, 50, 324);
  const std::set<double> held(among.values.begin(), among.values.end());
  const dense expected =
      tabulate(x.extents, [&](const position& i) { return held.count(x.at(i)); });
  for (const auto& [layout, a] : layouts<std::int32_t>(x))
    BOOST_TEST(matches(tutti::isin(a, upload_as<std::int32_t>(among)), expected), layout);
  BOOST_TEST(matches(tutti::isin(upload_as<float>(flat({1, nan_value, 2})),
                                 upload_as<float>(flat({nan_value, 2})), true),
                     flat({1, 1, 0})));
  BOOST_TEST(matches(tutti::isin(array::from<std::int32_t>({1}), tutti::zeros({0}, dtype::i32)),
                     flat({0})));
}

BOOST_AUTO_TEST_CASE(positions_of_what_is_not_zero) {
  const dense x = random_integers({7, 5, 11}, 0, 2, 325);
  for (const auto& [layout, a] : layouts(x)) {
    std::vector<std::vector<double>> expected(3);
    tabulate(x.extents, [&](const position& i) {
      if (x.at(i) != 0)
        for (std::size_t d = 0; d < 3; ++d) expected[d].push_back(static_cast<double>(i[d]));
      return 0;
    });
    const std::vector<array> got = tutti::nonzero(a);
    BOOST_TEST_REQUIRE(got.size() == 3u);
    for (std::size_t d = 0; d < 3; ++d) {
      BOOST_TEST((got[d].dtype() == dtype::i64));
      BOOST_TEST(matches(got[d], flat(expected[d])), layout);
    }
  }
  BOOST_TEST(tutti::nonzero(tutti::zeros({4}))[0].shape() == (shape{0}));
  BOOST_TEST(tutti::nonzero(tutti::zeros({0, 2})).size() == 2u);
  BOOST_TEST(matches(tutti::nonzero(tutti::ones({3}))[0], flat({0, 1, 2})));
  FAILS(shape_error, tutti::nonzero(array(1)), "nonzero");
}

BOOST_AUTO_TEST_CASE(distinct_elements) {
  const dense x = random_integers({40, 50}, -30, 30, 326);
  std::map<double, std::int64_t> held;
  for (double v : x.values) ++held[v];
  std::vector<double> values, counts;
  for (const auto& [v, n] : held) values.push_back(v), counts.push_back(static_cast<double>(n));
  for (const auto& [layout, a] : layouts<std::int32_t>(x)) {
    const auto [got, inverse, number] = tutti::unique(a);
    BOOST_TEST(matches(got, flat(values)), layout);
    BOOST_TEST(matches(number, flat(counts)), layout);
    BOOST_TEST(matches(tutti::take(got, inverse), x), layout);
    BOOST_TEST(matches(tutti::unique_values(a), flat(values)), layout);
  }
  const array special = upload_as<float>(flat({nan_value, 0, -0.0, nan_value, 1}));
  BOOST_TEST(matches(tutti::unique(special).values, flat({0, 1, nan_value, nan_value})));
  BOOST_TEST(matches(tutti::unique_values(tutti::ones({5})), flat({1})));
  BOOST_TEST(tutti::unique(tutti::zeros({0, 2})).inverse.shape() == (shape{0, 2}));
}

BOOST_AUTO_TEST_CASE(counts_of_numbers) {
  const dense x = random_integers({60, 70}, 0, 99, 327);
  std::vector<double> counts(120, 0), sums(100, 0);
  const dense weights = random_integers(x.extents, -9, 9, 328);
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    const auto place = static_cast<std::size_t>(x.values[i]);
    ++counts[place];
    sums[place] += weights.values[i];
  }
  for (dtype type : {dtype::i32, dtype::u8, dtype::i64})
    BOOST_TEST(matches(tutti::bincount(upload_as<float>(x).astype(type), 120), flat(counts)));
  const array numbers = upload_as<std::int32_t>(x);
  BOOST_TEST(matches(tutti::bincount(numbers, upload_as<float>(weights)), flat(sums)));
  BOOST_TEST(matches(tutti::bincount(tutti::zeros({0}, dtype::i32), 3), flat({0, 0, 0})));
  const dense many = random_integers({200000}, 0, 6, 329);
  std::vector<double> few(7, 0);
  for (double v : many.values) ++few[static_cast<std::size_t>(v)];
  BOOST_TEST(matches(tutti::bincount(upload_as<std::int32_t>(many)), flat(few)));
  FAILS(value_error, tutti::bincount(array::from<std::int32_t>({1, -2})), "bincount: element -2");
  FAILS(dtype_error, tutti::bincount(tutti::zeros({3})),
        "bincount: indices must be integers, got f32");
  FAILS(shape_error, tutti::bincount(numbers, tutti::zeros({3})), "[60,70]");
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
  // Integers that f32 cannot tell apart, with given edges.
  const array ends = array::from<std::uint32_t>({0, 4000000000, 4294967294, 4294967295});
  const array large = array::from<std::uint32_t>({4294967294, 4294967293, 4294967295, 1});
  BOOST_TEST(tutti::histogram(large, ends).counts.to_vector<std::int64_t>() ==
             (std::vector<std::int64_t>{1, 1, 2}));
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
    std::vector<double> counts(edges.size() - 1, 0);
    for (double v : x.values) {
      if (!(v >= edges.front() && v <= edges.back())) continue;
      auto at = std::upper_bound(edges.begin(), edges.end(), v) - edges.begin() - 1;
      if (v == edges.back()) at = static_cast<std::ptrdiff_t>(counts.size()) - 1;
      ++counts[static_cast<std::size_t>(at)];
    }
    return flat(counts);
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
