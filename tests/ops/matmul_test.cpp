// SPDX-License-Identifier: Apache-2.0
//
// The matrix product against three loops in double: sizes around the block sizes, layouts, batches,
// vectors, integers, halves, empty operands.
#include "tutti_test/arrays.hpp"

namespace {

// [.., M, K] x [.., K, N] with leading axes that broadcast.
dense product(const dense& a, const dense& b) {
  const auto leading = [](const dense& of) {
    return std::string("xy").substr(std::size_t(4 - of.extents.rank()));
  };
  const std::string output = std::max(
      leading(a), leading(b), [](const auto& l, const auto& r) { return l.size() < r.size(); });
  return by_loops({leading(a) + "ik", leading(b) + "kj"}, output + "ij", {a, b});
}

const tolerance near{.relative = 1e-5, .absolute = 1e-5};

}  // namespace

BOOST_AUTO_TEST_CASE(batches) {
  const shape cases[][2] = {{{3, 4, 5}, {3, 5, 2}},       {{3, 4, 5}, {5, 2}},
                            {{4, 5}, {3, 5, 2}},          {{2, 1, 4, 5}, {3, 5, 2}},
                            {{2, 3, 4, 5}, {2, 1, 5, 2}}, {{1, 4, 5}, {1, 5, 2}},
                            {{2, 3, 1, 5}, {5, 1}}};
  for (const auto& c : cases) {
    const dense a = random_dense(c[0], -1, 1, 43);
    const dense b = random_dense(c[1], -1, 1, 44);
    const dense expected = product(a, b);
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
  FAILS(shape_error, tutti::matmul(a, tutti::zeros({5, 6})),
        "matmul: inner dimensions differ: [3,4] x [5,6]");
  FAILS(shape_error, tutti::matmul(a, tutti::zeros({3})), "[3,4] x [3]");
  FAILS(shape_error, tutti::matmul(tutti::zeros({2, 3, 4}), tutti::zeros({3, 4, 5})),
        "matmul: leading dimensions do not broadcast: [2,3,4] x [3,4,5]");
  FAILS(shape_error, tutti::matmul(a, 2), "matmul");
}
