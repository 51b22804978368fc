// SPDX-License-Identifier: Apache-2.0
//
// Components and clusters: known groups are found, each row has its nearest center, centers are the
// means of their rows.
#include "tutti/ml.hpp"
#include "tutti_test/arrays.hpp"

namespace {

namespace ml = tutti::ml;

// 4 groups of 25 around the corners of a square.
array groups(dtype type) {
  const dense noise = random_dense({100, 2}, -1, 1, 741);
  return upload(tabulate({100, 2},
                         [&](const position& i) {
                           const std::int64_t corner = i[0] % 4;
                           return noise.at(i) + (((corner >> i[1]) & 1) != 0 ? 1010.0 : 1000.0);
                         }),
                type);
}

}  // namespace

BOOST_AUTO_TEST_CASE(groups_are_found) {
  for (const dtype type : {dtype::f32, dtype::f64})
    for (const std::uint64_t seed : {1, 2, 3}) {
      const array x = groups(type);
      const auto r = ml::k_means(tutti::random::key{seed}, {.clusters = 4, .starts = 1}).fit(x);
      BOOST_TEST((r.centers().dtype() == type));
      BOOST_TEST(r.labels().shape() == shape{100});
      const std::vector<std::int64_t> labels = r.labels().to_vector<std::int64_t>();
      for (std::size_t i = 4; i < labels.size(); ++i) BOOST_TEST(labels[i] == labels[i % 4]);
      const dense rows = read(x), centers = read(r.centers());
      double inertia = 0;
      for (std::int64_t corner = 0; corner < 4; ++corner)
        for (std::int64_t axis = 0; axis < 2; ++axis) {
          double mean = 0;
          for (std::int64_t i = corner; i < 100; i += 4) mean += rows.at({i, axis}) / 25;
          BOOST_TEST(centers.at({labels[std::size_t(corner)], axis}) == mean,
                     boost::test_tools::tolerance(type == dtype::f32 ? 1e-6 : 1e-13));
          for (std::int64_t i = corner; i < 100; i += 4)
            inertia += std::pow(rows.at({i, axis}) - mean, 2);
        }
      BOOST_TEST(r.inertia() == inertia,
                 boost::test_tools::tolerance(type == dtype::f32 ? 1e-4 : 1e-9));
    }
}

BOOST_AUTO_TEST_CASE(given_centers) {
  const array x = array::from<double>({{0.0}, {1.0}, {10.0}, {11.0}});
  ml::k_means r(tutti::random::key{3}, {.clusters = 3});
  r.fit(x, array::from<double>({{0.0}, {20.0}, {90.0}}));
  // Nothing is near the third.
  BOOST_TEST((r.centers().to_vector<double>() == std::vector<double>{0.5, 10.5, 90}));
  BOOST_TEST((r.labels().to_vector<std::int64_t>() == std::vector<std::int64_t>{0, 0, 1, 1}));
  BOOST_TEST(r.inertia() == 1);
  BOOST_TEST(ml::k_means(tutti::random::key{3}, {.iterations = 1}).fit(x, x).iterations() == 1);
  BOOST_TEST(r.fit(tutti::ones({5, 2})).inertia() == 0);
  BOOST_TEST((r.fit(array::from({{1, 2}, {3, 4}, {5, 7}})).centers().dtype() == dtype::f32));
  FAILS(shape_error, r.fit(x, tutti::ones({2, 2})), "k_means::fit");
  FAILS(value_error, r.fit(x, x * NAN), "k_means::fit");
}

BOOST_AUTO_TEST_CASE(components_rebuild_the_rows) {
  const dense rows = random_dense({9, 4}, -2, 2, 742);
  for (const auto& [layout, x] : layouts<float>(rows)) {
    ml::pca p({4});
    BOOST_TEST(matches(p.inverse_transform(p.fit_transform(x)), rows,
                       {.relative = 1e-5, .absolute = 1e-5}),
               layout);
    BOOST_TEST(tutti::sum(p.explained_variance_ratio()).item() == 1,
               boost::test_tools::tolerance(1e-6));
  }
  const array integers = upload_as<std::int32_t>(random_integers({3, 5}, -4, 4, 743));
  BOOST_TEST(ml::pca({2}).fit(integers).components().shape() == (shape{2, 5}));
}
