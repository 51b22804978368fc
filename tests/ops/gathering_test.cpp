// SPDX-License-Identifier: Apache-2.0
//
// Indexing by arrays and masks against loops on the host; gradients.
#include "differences.hpp"
#include "sampled_layouts.hpp"

namespace {

using arguments = std::vector<array>;

const dense cube = random_dense({4, 6, 5}, -1, 1, 801);

array integers(std::vector<std::int32_t> values, const shape& extents) {
  return array::from(values, extents);
}

}  // namespace

BOOST_AUTO_TEST_CASE(indexing_with_integers) {
  const std::vector<std::int32_t> i = {0, -1, 2}, j = {5, -6};
  const array column = integers(i, {3, 1}), row = integers(j, {2});
  for (const auto& [layout, x] : sampled_layouts(cube)) {
    BOOST_TEST_CONTEXT(layout) {
      const auto expected = tabulate({3, 2, 5}, [&](const position& p) {
        const std::int64_t r = i[std::size_t(p[0])], c = j[std::size_t(p[1])];
        return cube.at({r < 0 ? r + 4 : r, c < 0 ? c + 6 : c, p[2]});
      });
      BOOST_TEST(matches(tutti::index_with(x, {column, row}), expected));
      // The same, of bounds that only the device knows.
      BOOST_TEST(matches(tutti::index_with(x, {column * 1, row * 1}), expected));
      BOOST_TEST(tutti::index_with(x, {-1, row * 0 + 2, 4}).shape() == shape{2});
      BOOST_TEST(matches(tutti::index_with(x, {-1, row * 0 + 2, 4}),
                         {{2}, {cube.at({3, 2, 4}), cube.at({3, 2, 4})}}));
      BOOST_TEST(matches(tutti::index_with(x, {row * 0 + 1}), tabulate({2, 6, 5}, [](position p) {
                           return cube.at({1, p[1], p[2]});
                         })));
    }
  }
  const array x = upload_as<float>(cube);
  BOOST_TEST(tutti::index_with(x, {integers({}, {0, 2}), row}).shape() == (shape{0, 2, 5}));
  FAILS(index_error, tutti::index_with(x, {abs(row), row}),
        "index_with: index 6 is out of range for axis 0 of [4,6,5]");
  FAILS(index_error, tutti::index_with(x, {0, 0, 0, 0}), "4 indices");
  FAILS(value_error, tutti::index_with(x, {}), "no indices");
  FAILS(dtype_error, tutti::index_with(x, {0.5}), "index_with");
  FAILS(shape_error, tutti::index_with(x, {integers({0, 0, 0}, {3}), integers({0, 0}, {2})}),
        "[3]");
}

BOOST_AUTO_TEST_CASE(masks) {
  for (const auto& [layout, x] : sampled_layouts(cube)) {
    BOOST_TEST_CONTEXT(layout) {
      const array first = array::from(std::vector<bool>{true, false, false, true});
      BOOST_TEST(matches(tutti::mask_select(x, first), tabulate({2, 6, 5}, [](position p) {
                           return cube.at({p[0] * 3, p[1], p[2]});
                         })));
      BOOST_TEST(matches(tutti::masked_fill(x, x > 0, -7), tabulate(cube.extents, [](position p) {
                           return cube.at(p) > 0 ? -7 : cube.at(p);
                         })));
    }
  }
  const array x = upload_as<float>(cube);
  BOOST_TEST(tutti::mask_select(x, x > 9).shape() == shape{0});
  BOOST_TEST(tutti::mask_select(x, true).shape() == (shape{1, 4, 6, 5}));
  BOOST_TEST(tutti::mask_select(x, false).shape() == (shape{0, 4, 6, 5}));
  BOOST_TEST((tutti::masked_fill(array::from<std::int8_t>({1}), true, 3).dtype() == dtype::i8));
  FAILS(shape_error, tutti::mask_select(x, tutti::ones({6})), "mask_select: a mask of shape [6]");
  FAILS(shape_error, tutti::masked_fill(x, tutti::ones({2, 4, 6, 5}), 0), "masked_fill");
}

// Step by step, 2048 + 1 in f16 is 2048.
BOOST_AUTO_TEST_CASE(halves_are_summed_in_f32) {
  const array updates = array::from<float>({2048, 1, 1, 5}), index = integers({1, 1, 1, 0}, {4});
  for (dtype type : {dtype::f16, dtype::bf16}) {
    const array sums = tutti::scatter_add(tutti::zeros({2}, type), index, updates.astype(type));
    BOOST_TEST((sums.dtype() == type));
    BOOST_TEST(sums[0].item() == 5);
    BOOST_TEST(sums[1].item() == (type == dtype::f16 ? 2050 : 2048));
  }
}

BOOST_AUTO_TEST_CASE(gradients_of_indexing) {
  const dense a = random_dense({4, 3}, -1, 1, 803);
  const array rows = integers({2, 0, 2}, {3}), columns = integers({1, 1, -1}, {3});
  const auto check = [](const std::function<array(const arguments&)>& f,
                        const std::vector<dense>& at) {
    check_gradient([&](const arguments& v) { return weighted_sum(f(v)); }, at);
  };
  check(
      [&](const arguments& v) {
        return tutti::index_with(tutti::sin(v[0]), {rows, columns});
      },
      {a});
  check([&](const arguments& v) { return tutti::mask_select(v[0] * v[0], v[0] > 0); }, {a});
  check([&](const arguments& v) { return tutti::masked_fill(v[0], v[0] > 0, 2) * v[0]; }, {a});
}
