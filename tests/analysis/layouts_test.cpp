// SPDX-License-Identifier: Apache-2.0
//
// Layouts and dtypes against results in f64, which are SciPy's (vectors_test.cpp); ranks by
// counting; what shifted sequences keep.
#include "tutti/analysis.hpp"
#include "tutti_test/arrays.hpp"

namespace {

using tutti::rank_method;

const dense rows = random_dense({5, 11}, -2, 2, 731);

/// By counting in each line along `axis`.
dense counted_ranks(const dense& x, rank_method method, int axis) {
  return tabulate(x.extents, [&](const position& i) {
    double below = 0, equal = 0, before = 0;
    std::set<double> different;
    position j = i;
    std::int64_t& place = j[static_cast<std::size_t>(axis)];
    for (place = 0; place < x.extents[axis]; ++place) {
      const double v = x.at(j);
      if (v < x.at(i)) {
        ++below;
        different.insert(v);
      } else if (v == x.at(i)) {
        ++equal;
        if (j < i) ++before;
      }
    }
    switch (method) {
      case rank_method::average:
        return below + (equal + 1) / 2;
      case rank_method::min:
        return below + 1;
      case rank_method::max:
        return below + equal;
      case rank_method::dense:
        return static_cast<double>(different.size()) + 1;
      default:
        return below + before + 1;
    }
  });
}

}  // namespace

BOOST_AUTO_TEST_CASE(covariances) {
  const dense expected = read(tutti::cov(upload_as<double>(rows)));
  for (const auto& [layout, x] : layouts<float>(rows))
    BOOST_TEST(matches(tutti::cov(x), expected, {.relative = 1e-5, .absolute = 1e-6}), layout);
  // Far from 0, where a difference of products has no digits left.
  const array far = array::from<float>({16777208, 16777210, 16777214, 16777216});
  BOOST_TEST(tutti::cov(far, 0).item() == 10);
  const array batch = tutti::stack({upload_as<double>(rows), upload_as<double>(rows) * 2});
  BOOST_TEST(matches(tutti::cov(batch)[1],
                     {{5, 5}, read(tutti::cov(upload_as<double>(rows)) * 4).values},
                     {.relative = 1e-13, .absolute = 1e-14}));
  BOOST_TEST((tutti::cov(array::from<std::int32_t>({1, 3})).dtype() == dtype::f32));
  BOOST_TEST((tutti::corrcoef(upload_as<float>(rows).astype(dtype::bf16)).dtype() == dtype::bf16));
  BOOST_TEST(std::isnan(tutti::cov(array::from<float>({1})).item()));
  BOOST_TEST(std::isnan(tutti::corrcoef(tutti::ones({2, 3}))({0, 1}).item()));
  BOOST_TEST(tutti::cov(tutti::zeros({0, 4})).shape() == (shape{0, 0}));
}

BOOST_AUTO_TEST_CASE(distances) {
  const array y = upload_as<float>(rows), wide = upload_as<double>(rows);
  const auto metric_of = tutti::distance_metric::cityblock;
  for (const auto& [layout, x] : layouts<float>(rows))
    BOOST_TEST(matches(tutti::cdist(x, y, metric_of), read(tutti::cdist(wide, wide, metric_of)),
                       {.relative = 1e-6}),
               layout);
  // No digits cancel between near rows, and a row is at 0 from itself.
  const array near = array::from<float>({{1000, 1}, {1000, 1.0009765625F}});
  BOOST_TEST((tutti::cdist(near, near).to_vector<float>() ==
              std::vector<float>{0, 0.0009765625F, 0.0009765625F, 0}));
  BOOST_TEST(tutti::cdist(tutti::ones({3, 1, 2, 4}), tutti::ones({5, 6, 4})).shape() ==
             (shape{3, 5, 2, 6}));
  BOOST_TEST(tutti::cdist(tutti::ones({0, 4}), y({{}, {0, 4}})).shape() == (shape{0, 5}));
  for (int metric = 0; metric < 4; ++metric)
    BOOST_TEST(tutti::cdist(tutti::ones({1, 0}), tutti::ones({1, 0}),
                            static_cast<tutti::distance_metric>(metric))
                   .item() == 0);
  const array half = tutti::full({1, 2}, 200, dtype::f16);
  BOOST_TEST(tutti::cdist(half, half * 2).item() == std::round(std::sqrt(80000.0) * 4) / 4);
  BOOST_TEST(std::isnan(tutti::cdist(y * NAN, y)({0, 0}).item()));
}

BOOST_AUTO_TEST_CASE(ranks) {
  const dense few = random_integers({3, 40}, 0, 5, 732);
  for (const dense& values : {few, random_integers({1, 1}, 0, 5, 733)})
    for (const auto type : {dtype::i32, dtype::f64})
      for (const auto method : {rank_method::average, rank_method::min, rank_method::max,
                                rank_method::dense, rank_method::ordinal}) {
        BOOST_TEST_CONTEXT(tutti::name(type)
                           << values.extents.str() << ", method " << static_cast<int>(method)) {
          const array x = upload(values, type);
          const bool is_average = method == rank_method::average;
          const dtype wanted = !is_average          ? dtype::i64
                               : type == dtype::i32 ? dtype::f32
                                                    : dtype::f64;
          for (const int axis : {0, 1}) {
            const array got = tutti::rankdata(x, method, axis);
            BOOST_TEST((got.dtype() == wanted));
            BOOST_TEST(matches(got, counted_ranks(values, method, axis)));
          }
          const dense line{{values.extents.size()}, values.values};
          BOOST_TEST(matches(tutti::rankdata(x, method), counted_ranks(line, method, 0)));
        }
      }
  const dense expected = counted_ranks(few, rank_method::average, 1);
  for (const auto& [layout, x] : layouts<float>(few))
    BOOST_TEST(matches(tutti::rankdata(x, {}, 1), expected), layout);
  BOOST_TEST(matches(tutti::rankdata(upload_as<std::uint8_t>(few), {}, 1), expected));
  BOOST_TEST(matches(tutti::rankdata(upload_as<float>(few).astype(dtype::f16), {}, 1), expected));
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const array odd = array::from<float>({nan, -0.0F, HUGE_VALF, 0, nan, -HUGE_VALF});
  BOOST_TEST((tutti::rankdata(odd, rank_method::min).to_vector<std::int64_t>() ==
              std::vector<std::int64_t>{5, 2, 4, 2, 6, 1}));
  BOOST_TEST((tutti::rankdata(array::from<bool>({true, false}), rank_method::dense)
                  .to_vector<std::int64_t>() == std::vector<std::int64_t>{2, 1}));
  BOOST_TEST(tutti::rankdata(tutti::zeros({2, 0}), rank_method::max, 1).shape() == (shape{2, 0}));
  BOOST_TEST(tutti::rankdata(array(3.0)).item() == 1);
}

BOOST_AUTO_TEST_CASE(counts) {
  const dense expected = read(tutti::histogram_along(upload_as<double>(rows), 4, -1, 1).counts);
  for (const auto& [layout, x] : layouts<float>(rows)) {
    const auto h = tutti::histogram_along(x, 4, -1, 1);
    BOOST_TEST(matches(h.counts, expected), layout);
    BOOST_TEST((h.edges.to_vector<float>() == std::vector<float>{-1, -0.5F, 0, 0.5F, 1}));
  }
  const array i = array::from<std::int64_t>({1, 2, 2, 3});
  BOOST_TEST((tutti::histogram_along(i, 3, 1, 3).counts.to_vector<std::int64_t>() ==
              tutti::histogram(i, 3, 1, 3).counts.to_vector<std::int64_t>()));
  BOOST_TEST(tutti::histogram_along(tutti::zeros({3, 0}), 2, 0, 1).counts.shape() == (shape{3, 2}));
  const auto cells = tutti::histogram2d(i, i, {3, 1}, {1, 3}, {2, 2});
  BOOST_TEST((cells.counts.to_vector<std::int64_t>() == std::vector<std::int64_t>{0, 2, 0}));
  BOOST_TEST(
      tutti::sum(
          tutti::histogram2d(tutti::zeros({0}), tutti::zeros({0}), {2, 2}, {0, 1}, {0, 1}).counts)
          .item() == 0);
}

BOOST_AUTO_TEST_CASE(numbers_between) {
  const array xp = array::from<float>({0, 1, 3}), fp = array::from<float>({2, 4, -2});
  const dense expected = read(tutti::interp(upload_as<double>(rows), xp, fp));
  for (const auto& [layout, x] : layouts<float>(rows))
    BOOST_TEST(matches(tutti::interp(x, xp, fp), expected, {.relative = 1e-6, .absolute = 1e-6}),
               layout);
  BOOST_TEST(
      (tutti::interp(xp.astype(dtype::f16), xp.astype(dtype::f16), fp.astype(dtype::f16)).dtype() ==
       dtype::f16));
  BOOST_TEST((tutti::interp(xp, xp({{{}, {}, 1}}), tutti::flip(fp)).to_vector<float>() ==
              std::vector<float>{-2, 4, 2}));
  BOOST_TEST(tutti::interp(tutti::zeros({2, 0}), xp, fp).shape() == (shape{2, 0}));
  BOOST_TEST(tutti::interp(array(0.5), xp, fp).item() == 3);
  const array ends = array::from<float>({-HUGE_VALF, 0, HUGE_VALF});
  BOOST_TEST((tutti::interp(array::from<float>({-5, 5, HUGE_VALF}), ends, fp).to_vector<float>() ==
              std::vector<float>{4, 4, -2}));
  BOOST_TEST((tutti::interp(xp, xp, ends).to_vector<float>() ==
              std::vector<float>{-HUGE_VALF, 0, HUGE_VALF}));
  BOOST_TEST(std::isnan(tutti::interp(array(NAN), array::from({1.0}), array::from({3.0})).item()));
  BOOST_TEST(tutti::trapezoid(array::from<std::int32_t>({1, 2, 3})).item() == 4);
  BOOST_TEST(tutti::trapezoid(tutti::ones({1})).item() == 0);
  BOOST_TEST(tutti::trapezoid(tutti::ones({0})).item() == 0);
  BOOST_TEST((tutti::gradient(array::from<std::int32_t>({1, 2, 4})).to_vector<float>() ==
              std::vector<float>{1, 1.5F, 2}));
  BOOST_TEST(tutti::gradient(tutti::zeros({0, 3})).shape() == (shape{0, 3}));
}

BOOST_AUTO_TEST_CASE(sequences) {
  // One point in each of 256 intervals of every coordinate, also where they are shifted.
  for (const std::optional<tutti::random::key> shift :
       {std::optional<tutti::random::key>{}, {{7}}}) {
    const array x = tutti::random::sobol(256, 10, 512, shift);
    const array cells = tutti::sort((x * 256).astype(dtype::i32), 0);
    BOOST_TEST(tutti::all(cells == tutti::arange(256).reshape({256, 1})).item<bool>());
  }
  const array some = tutti::random::sobol(3, 4, 5);
  BOOST_TEST((some.to_vector<float>() == tutti::random::sobol(8, 4)({{5, 8}}).to_vector<float>()));
  BOOST_TEST(tutti::random::sobol(0, 3).shape() == (shape{0, 3}));
  BOOST_TEST((tutti::random::sobol(1, 1, (std::int64_t{1} << 32) - 1).item() < 1));
  BOOST_TEST((tutti::random::halton(3, 2, 1).to_vector<float>() ==
              std::vector<float>{0.5F, 1.0F / 3, 0.25F, 2.0F / 3, 0.75F, 1.0F / 9}));
  // The last point of a power of the base, which f32 would round to 1.
  for (const dtype type : {dtype::f32, dtype::f64}) {
    const array last = tutti::random::halton(1, 1, (std::int64_t{1} << 30) - 1, type);
    const double point = last.astype(dtype::f64).to_vector<double>()[0];
    BOOST_TEST(point < 1);
    BOOST_TEST(point > 0.999);
  }
}
