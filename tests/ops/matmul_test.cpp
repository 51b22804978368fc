// SPDX-License-Identifier: Apache-2.0
//
// The matrix product against three loops in double: sizes around the block sizes, layouts, batches,
// vectors, integers, halves, empty operands.
#include <boost/test/unit_test.hpp>

#include "tutti_test/dense.hpp"
#include "tutti_test/files.hpp"

namespace {

using namespace tutti_test;
using tutti::array;
using tutti::dtype;
using tutti::shape;

dense product(const dense& a, const dense& b) {
  return tabulate({a.extents[0], b.extents[1]}, [&](const position& i) {
    double sum = 0;
    for (std::int64_t k = 0; k < a.extents[1]; ++k) sum += a.at({i[0], k}) * b.at({k, i[1]});
    return sum;
  });
}

const tolerance near{.relative = 1e-5, .absolute = 1e-5};

// [.., M, K] x [.., K, N] with leading axes that broadcast.
dense batched_product(const dense& a, const dense& b, const shape& to) {
  const auto matrix_of = [](const dense& from, const position& i, std::int64_t row,
                            std::int64_t col) {
    const int rank = from.extents.rank();
    position at(static_cast<std::size_t>(rank));
    for (int d = 0; d + 2 < rank; ++d) {
      const auto place = i[i.size() - static_cast<std::size_t>(rank - d)];
      at[static_cast<std::size_t>(d)] = from.extents[d] == 1 ? 0 : place;
    }
    at[at.size() - 2] = row;
    at[at.size() - 1] = col;
    return from.at(at);
  };
  return tabulate(to, [&](const position& i) {
    double sum = 0;
    for (std::int64_t k = 0; k < a.extents.back(); ++k)
      sum += matrix_of(a, i, i[i.size() - 2], k) * matrix_of(b, i, k, i[i.size() - 1]);
    return sum;
  });
}

}  // namespace

BOOST_AUTO_TEST_CASE(batches) {
  const shape cases[][3] = {{{3, 4, 5}, {3, 5, 2}, {3, 4, 2}},
                            {{3, 4, 5}, {5, 2}, {3, 4, 2}},
                            {{4, 5}, {3, 5, 2}, {3, 4, 2}},
                            {{2, 1, 4, 5}, {3, 5, 2}, {2, 3, 4, 2}},
                            {{2, 3, 4, 5}, {2, 1, 5, 2}, {2, 3, 4, 2}},
                            {{1, 4, 5}, {1, 5, 2}, {1, 4, 2}},
                            {{2, 3, 1, 5}, {5, 1}, {2, 3, 1, 1}}};
  for (const auto& c : cases) {
    const dense a = random_dense(c[0], -1, 1, 43);
    const dense b = random_dense(c[1], -1, 1, 44);
    const dense expected = batched_product(a, b, c[2]);
    for (const auto& [la, x] : layouts(a)) {
      for (const auto& [lb, y] : layouts(b)) {
        BOOST_TEST_CONTEXT(la << " " << c[0].str() << " x " << lb << " " << c[1].str()) {
          BOOST_TEST(matches(tutti::matmul(x, y), expected, near));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(operands_repeated_by_broadcasting) {
  const dense row = random_dense({1, 6}, -1, 1, 45);
  const dense b = random_dense({6, 3}, -1, 1, 46);
  const dense a = tabulate({4, 6}, [&](const position& i) { return row.at({0, i[1]}); });
  const array wide = tutti::broadcast_to(upload_as<float>(row), {4, 6});
  BOOST_TEST(matches(tutti::matmul(wide, upload_as<float>(b)), product(a, b), {.absolute = 1e-5}));
  const array ones = tutti::ones({2, 4});
  const dense host_ones = tabulate({2, 4}, [](const position&) { return 1; });
  BOOST_TEST(matches(tutti::matmul(ones, wide), product(host_ones, a), {.absolute = 1e-5}));
}

BOOST_AUTO_TEST_CASE(fused_operands_and_results) {
  const dense a = random_dense({9, 6}, -1, 1, 47);
  const dense b = random_dense({6, 5}, -1, 1, 48);
  const auto twice = [](dense d) {
    for (double& v : d.values) v = 2 * v + 1;
    return d;
  };
  const array got =
      tutti::relu(tutti::matmul(upload_as<float>(a) * 2 + 1, (upload_as<float>(b) * 2 + 1)) - 3);
  dense expected = product(twice(a), twice(b));
  for (double& v : expected.values) v = std::max(v - 3, 0.0);
  BOOST_TEST(matches(got, expected, {.relative = 1e-5, .absolute = 1e-5}));
}

BOOST_AUTO_TEST_CASE(vectors) {
  const dense a = random_dense({4, 5}, -1, 1, 49);
  const dense v = random_dense({5}, -1, 1, 50);
  const dense column{{5, 1}, v.values};
  const array x = upload_as<float>(a);
  for (const auto& [layout, y] : layouts(v)) {
    BOOST_TEST_CONTEXT(layout) {
      BOOST_TEST(matches(tutti::matmul(x, y), {{4}, product(a, column).values}, near));
      BOOST_TEST(matches(tutti::matmul(y, x.T()), {{4}, product(a, column).values}, near));
      BOOST_TEST(
          matches(tutti::matmul(y, y), {{}, product({{1, 5}, v.values}, column).values}, near));
    }
  }
}

// Equal products, whose roundings all go the same way: one after the other they would take off
// some 1e-4.
BOOST_AUTO_TEST_CASE(long_depths) {
  constexpr std::int64_t depth = 8192;
  for (const auto& [rows, columns] : {std::pair(1, 1), std::pair(3, 5), std::pair(40, 1)}) {
    const array a = tutti::full({rows, depth}, 0.1F, dtype::f32).wait();
    const array b = tutti::full({depth, columns}, 0.3F, dtype::f32).wait();
    const dense expected = tabulate(
        {rows, columns}, [](const position&) { return depth * (double(0.1F) * double(0.3F)); });
    BOOST_TEST_CONTEXT(rows << " rows, " << columns << " columns") {
      BOOST_TEST(matches(tutti::matmul(contiguous(a + 0), contiguous(b + 0)), expected,
                         {.relative = 1e-5}));
    }
  }
}

BOOST_AUTO_TEST_CASE(other_dtypes) {
  const dense a = random_integers({7, 9}, -5, 5, 51);
  const dense b = random_integers({9, 4}, -5, 5, 52);
  const dense expected = product(a, b);
  const array x = upload_as<std::int32_t>(a);
  const array y = upload_as<std::int32_t>(b);
  BOOST_TEST(matches(tutti::matmul(x, y), expected));
  BOOST_TEST((tutti::matmul(x, y).dtype() == dtype::i32));
  BOOST_TEST(matches(tutti::matmul(x.astype(dtype::i64), y), expected));
  const array mixed = tutti::matmul(x, y.astype(dtype::f32));
  BOOST_TEST((mixed.dtype() == dtype::f32));
  BOOST_TEST(matches(mixed, expected));
  for (dtype type : {dtype::f16, dtype::bf16}) {
    const array half = tutti::matmul(x.astype(type), y.astype(type));
    BOOST_TEST((half.dtype() == type));
    BOOST_TEST(matches(half, expected, {.absolute = 1}));
  }
}

BOOST_AUTO_TEST_CASE(empty_operands) {
  const array a = tutti::zeros({3, 0});
  BOOST_TEST(matches(tutti::matmul(a, tutti::zeros({0, 2})), {{3, 2}, {0, 0, 0, 0, 0, 0}}));
  BOOST_TEST(tutti::matmul(tutti::zeros({0, 3}), tutti::zeros({3, 2})).shape() == (shape{0, 2}));
  BOOST_TEST(tutti::matmul(tutti::zeros({0, 2, 3}), tutti::zeros({3, 2})).shape() ==
             (shape{0, 2, 2}));
}

BOOST_AUTO_TEST_CASE(bad_operands) {
  const array a = tutti::zeros({3, 4});
  BOOST_TEST(fails<tutti::shape_error>(
      [&] {
        tutti::matmul(a, tutti::zeros({5, 6}));
      },
      "matmul: inner dimensions differ: [3,4] x [5,6]"));
  BOOST_TEST(
      fails<tutti::shape_error>([&] { tutti::matmul(a, tutti::zeros({3})); }, "[3,4] x [3]"));
  BOOST_TEST(fails<tutti::shape_error>(
      [&] {
        tutti::matmul(tutti::zeros({2, 3, 4}), tutti::zeros({3, 4, 5}));
      },
      "matmul: leading dimensions do not broadcast: [2,3,4] x [3,4,5]"));
  BOOST_TEST(fails<tutti::shape_error>([&] { tutti::matmul(a, 2); }, "matmul"));
}
