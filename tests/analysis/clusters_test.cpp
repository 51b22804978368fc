// SPDX-License-Identifier: Apache-2.0
//
// Components and clusters: known groups are found, each row has its nearest center, centers are the
// means of their rows.
#include <cmath>

#include "tutti/analysis.hpp"
#include "tutti/movement.hpp"
#include "tutti_test/dense.hpp"

namespace {

using namespace tutti_test;
using tutti::array;
using tutti::dtype;
using tutti::shape;

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
      const tutti::kmeans_result r = tutti::kmeans(tutti::random::key{seed}, x, 4);
      BOOST_TEST((r.centers.dtype() == type));
      BOOST_TEST(r.labels.shape() == shape{100});
      const std::vector<std::int64_t> labels = r.labels.to_vector<std::int64_t>();
      for (std::size_t i = 4; i < labels.size(); ++i) BOOST_TEST(labels[i] == labels[i % 4]);
      const dense rows = read(x), centers = read(r.centers);
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
      BOOST_TEST(r.inertia == inertia,
                 boost::test_tools::tolerance(type == dtype::f32 ? 1e-4 : 1e-9));
    }
}

BOOST_AUTO_TEST_CASE(given_centers) {
  const array x = array::from<double>({{0.0}, {1.0}, {10.0}, {11.0}});
  const tutti::kmeans_result r = tutti::kmeans(x, array::from<double>({{0.0}, {20.0}, {90.0}}));
  // Nothing is near the third.
  BOOST_TEST((r.centers.to_vector<double>() == std::vector<double>{0.5, 10.5, 90}));
  BOOST_TEST((r.labels.to_vector<std::int64_t>() == std::vector<std::int64_t>{0, 0, 1, 1}));
  BOOST_TEST(r.inertia == 1);
  BOOST_TEST(tutti::kmeans(x, x, {.iterations = 1}).iterations == 1);
  BOOST_TEST(tutti::kmeans(tutti::random::key{3}, tutti::ones({5, 2}), 3).inertia == 0);
  BOOST_TEST(
      (tutti::kmeans(tutti::random::key{3}, array::from({{1, 2}, {3, 4}}), 2).centers.dtype() ==
       dtype::f32));
}

BOOST_AUTO_TEST_CASE(components_rebuild_the_rows) {
  const dense rows = random_dense({9, 4}, -2, 2, 742);
  for (const auto& [layout, x] : layouts<float>(rows)) {
    const tutti::pca_result p = tutti::pca(x, 4);
    BOOST_TEST(matches(tutti::matmul(p.scores, p.components) + p.mean, rows,
                       {.relative = 1e-5, .absolute = 1e-5}),
               layout);
    BOOST_TEST(tutti::sum(p.explained_variance_ratio).item() == 1,
               boost::test_tools::tolerance(1e-6));
  }
  BOOST_TEST(tutti::pca(upload_as<std::int32_t>(random_integers({3, 5}, -4, 4, 743)), 2)
                 .components.shape() == (shape{2, 5}));
}
