// SPDX-License-Identifier: Apache-2.0
//
// What is composed of several kernels, on arrays small enough for Oclgrind's simulated device:
// whether each kernel, as the core launches it, stays within its buffers and has no races. Values
// are checked too, so that a case cannot pass by doing nothing.
#include "tutti/analysis.hpp"
#include "tutti_test/arrays.hpp"

namespace {

// Odd, so that vectors and groups have rests.
const dense rows = random_integers({3, 7}, -20, 20, 1);
const dense line = random_integers({37}, -20, 20, 2);

std::vector<double> sorted(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values;
}

}  // namespace

BOOST_AUTO_TEST_CASE(take) {
  const array x = upload_as<float>(rows);
  const array index = array::from(std::vector<std::int32_t>{2, -3, 2, 1});
  BOOST_TEST(matches(tutti::take(x, index, 0), tabulate({4, 7}, [&](const position& i) {
                       const std::int64_t places[] = {2, 0, 2, 1};
                       return rows.at({places[i[0]], i[1]});
                     })));
  BOOST_TEST(matches(tutti::take(x, index, 1), tabulate({3, 4}, [&](const position& i) {
                       const std::int64_t places[] = {2, 4, 2, 1};
                       return rows.at({i[0], places[i[1]]});
                     })));
}

BOOST_AUTO_TEST_CASE(scatter) {
  const array x = upload_as<float>(rows);
  const array index = array::from(std::vector<std::int64_t>{2, 0, 2});
  const array updates = upload_as<float>(rows);
  BOOST_TEST(matches(tutti::scatter_add(x, index, updates, 0), tabulate({3, 7}, [&](position i) {
                       const double own = rows.at(i);
                       if (i[0] == 1) return own;
                       if (i[0] == 0) return own + rows.at({1, i[1]});
                       return own + rows.at({0, i[1]}) + rows.at({2, i[1]});
                     })));
  BOOST_TEST(matches(tutti::scatter_set(x, index, updates, 0), tabulate({3, 7}, [&](position i) {
                       return rows.at({i[0] == 0 ? 1 : i[0] == 1 ? 1 : 2, i[1]});
                     })));
}

BOOST_AUTO_TEST_CASE(concatenate) {
  const array x = upload_as<std::int16_t>(rows);
  BOOST_TEST(matches(tutti::concatenate({x, x.transpose().transpose() + 1, x}, 1),
                     tabulate({3, 21}, [&](const position& i) {
                       return rows.at({i[0], i[1] % 7}) + (i[1] / 7 == 1 ? 1 : 0);
                     })));
  BOOST_TEST(matches(tutti::pad(x, {{1, 2}, {0, 3}}), tabulate({6, 10}, [&](const position& i) {
                       const bool inside = i[0] >= 1 && i[0] < 4 && i[1] < 7;
                       return inside ? rows.at({i[0] - 1, i[1]}) : 0;
                     })));
}

BOOST_AUTO_TEST_CASE(draws) {
  const array drawn = tutti::random::uniform({7}, {37}, -1, 1);
  const array again =
      tutti::random::uniform({7}, {37}, -1, 1, dtype::f32, tutti::device("reference"));
  BOOST_TEST(read(drawn).values == read(again).values, same);
  const dense integers = read(tutti::random::integers({8}, {5, 5}, -3, 4));
  for (double v : integers.values) BOOST_TEST((v >= -3 && v < 4));
  const dense normal = read(tutti::random::normal({9}, {33}));
  for (double v : normal.values) BOOST_TEST(std::abs(v) < 6);
}

BOOST_AUTO_TEST_CASE(reductions) {
  const array x = upload_as<float>(rows);
  BOOST_TEST(matches(tutti::sum(x, 0), tabulate({7}, [&](const position& i) {
                       return rows.at({0, i[0]}) + rows.at({1, i[0]}) + rows.at({2, i[0]});
                     })));
  const double total = std::accumulate(rows.values.begin(), rows.values.end(), 0.0);
  BOOST_TEST(matches(tutti::mean(x), {{}, {total / 21}}, {.relative = 1e-6, .absolute = 1e-6}));
}

// ---- through a workspace (see under_oclgrind)

BOOST_AUTO_TEST_CASE(scans) {
  std::vector<double> sums(line.values.size());
  std::partial_sum(line.values.begin(), line.values.end(), sums.begin());
  BOOST_TEST(matches(tutti::cumsum(upload_as<std::int32_t>(line)), {{37}, sums}));
  BOOST_TEST(matches(tutti::cummax(upload_as<float>(rows), 0), tabulate({3, 7}, [&](position i) {
                       double largest = -100;
                       for (; i[0] >= 0; --i[0]) largest = std::max(largest, rows.at(i));
                       return largest;
                     })));
}

BOOST_AUTO_TEST_CASE(sorts) {
  const array x = upload_as<float>(line);
  BOOST_TEST(matches(tutti::sort(x), {{37}, sorted(line.values)}));
  std::vector<double> order(37);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [](double i, double k) {
    return line.values[static_cast<std::size_t>(i)] > line.values[static_cast<std::size_t>(k)];
  });
  BOOST_TEST(matches(tutti::argsort(x, -1, tutti::order::descending), {{37}, order}));
  const tutti::sorted_values top = tutti::topk(x, 5);
  order.resize(5);
  BOOST_TEST(matches(top.indices, {{5}, order}));
  for (double& i : order) i = line.values[static_cast<std::size_t>(i)];
  BOOST_TEST(matches(top.values, {{5}, order}));
}

BOOST_AUTO_TEST_CASE(counting) {
  const tutti::histogram_result h = tutti::histogram(upload_as<float>(line), 4, -20, 20);
  std::vector<double> counts(4, 0);
  for (double v : line.values) ++counts[static_cast<std::size_t>(std::min((v + 20) / 10, 3.0))];
  BOOST_TEST(matches(h.counts, {{4}, counts}));
  std::vector<double> distinct = sorted(line.values);
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  const std::int64_t n = static_cast<std::int64_t>(distinct.size());
  BOOST_TEST(matches(tutti::unique_values(upload_as<std::int32_t>(line)), {{n}, distinct}));
}
