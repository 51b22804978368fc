// SPDX-License-Identifier: Apache-2.0
//
// take and one_hot: axes, index dtypes, negative and wrong indices, known and unknown bounds.
#include "tutti_test/arrays.hpp"

namespace {

const dense cube = random_dense({4, 6, 5}, -1, 1, 31);

}  // namespace

// Every axis, with negative indices: the differential test.
BOOST_AUTO_TEST_CASE(take_along_an_axis) {
  const std::vector<std::int32_t> places = {5, -6, 2, 0, -1, 2};
  const dense expected = tabulate({4, 2, 3, 5}, [&](const position& i) {
    const std::int64_t k = places[std::size_t(i[1] * 3 + i[2])];
    return cube.at({i[0], k < 0 ? k + 6 : k, i[3]});
  });
  const dense indices{{2, 3}, {places.begin(), places.end()}};
  for (const auto& [layout, x] : layouts(cube))
    for (const auto& [index_layout, where] : layouts<std::int64_t>(indices))
      BOOST_TEST_CONTEXT(layout << " by " << index_layout) {
        BOOST_TEST(matches(tutti::take(x, where.astype(dtype::i32), 1), expected));
        BOOST_TEST(matches(tutti::take(x, where, -2), expected));
        // Bounds that only evaluation can tell.
        BOOST_TEST(matches(tutti::take(x * 1, where * 1 + 0, 1), expected));
      }
}

BOOST_AUTO_TEST_CASE(any_integer_dtype) {
  const array x = upload_as<float>({{3}, {10, 11, 12}});
  for (dtype type : {dtype::i8, dtype::i16, dtype::i32, dtype::i64, dtype::u8, dtype::u16,
                     dtype::u32, dtype::u64}) {
    const array i = array::from<std::int32_t>({2, 0, 1}).astype(type);
    BOOST_TEST(matches(tutti::take(x, i), {{3}, {12, 10, 11}}), tutti::name(type));
    BOOST_TEST(matches(tutti::one_hot(i, 3), {{3, 3}, {0, 0, 1, 1, 0, 0, 0, 1, 0}}));
  }
  for (dtype type : {dtype::u8, dtype::i64, dtype::f64, dtype::boolean}) {
    const array y = upload_as<float>({{3}, {1, 0, 1}}).astype(type);
    BOOST_TEST(matches(tutti::take(y, array::from<std::int32_t>({1, -1})), {{2}, {0, 1}}));
  }
}

BOOST_AUTO_TEST_CASE(scalar_and_empty_indices) {
  const array x = upload_as<float>(cube);
  BOOST_TEST(matches(tutti::take(x, -2, 1), tabulate({4, 5}, [](const position& i) {
                       return cube.at({i[0], 4, i[1]});
                     })));
  const array none = tutti::zeros({2, 0}, dtype::i32);
  BOOST_TEST(tutti::take(x, none, 1).shape() == (tutti::shape{4, 2, 0, 5}));
  BOOST_TEST(tutti::take(tutti::zeros({0, 3}), none).shape() == (tutti::shape{2, 0, 3}));
  BOOST_TEST(matches(tutti::take(x, tutti::arange(4), 0), cube));
  BOOST_TEST(
      matches(tutti::take(tutti::arange(10), tutti::argmax(x, 1), 0), read(tutti::argmax(x, 1))));
}

BOOST_AUTO_TEST_CASE(indices_out_of_range) {
  const array x = upload_as<float>(cube);
  const auto take_at = [&](const array& i) { return [&x, i] { tutti::take(x, i, 1); }; };
  const array known = array::from<std::int32_t>({0, 6});
  BOOST_TEST(fails<tutti::index_error>(take_at(known), "take: index 6 is out of range for axis 1"));
  BOOST_TEST(fails<tutti::index_error>(take_at(known), "[4,6,5]"));
  BOOST_TEST(fails<tutti::index_error>(take_at(known - 7), "index -7"));
  BOOST_TEST(fails<tutti::index_error>(take_at(known * 2), "index 12"));
  BOOST_TEST(fails<tutti::index_error>(take_at(-7), "index -7"));
  FAILS(index_error, tutti::take(tutti::zeros({0}), 0), "extent 0");
  BOOST_TEST(fails<tutti::index_error>(take_at(array::from<std::uint64_t>({~std::uint64_t{0}})),
                                       "out of range"));
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  BOOST_TEST(fails<tutti::index_error>(take_at(array::from<std::int64_t>({0, largest})),
                                       "index 9223372036854775807"));
  BOOST_TEST(fails<tutti::index_error>(take_at(array::from<std::int64_t>({0, -largest})),
                                       "index -9223372036854775807"));
  // The bounds of a part are not those of the whole.
  BOOST_TEST(matches(tutti::take(x, known({tutti::slice{0, 1, 1}}), 1),
                     tabulate({4, 1, 5}, [](const position& i) {
                       return cube.at({i[0], 0, i[2]});
                     })));
  BOOST_TEST(fails<tutti::dtype_error>(take_at(tutti::zeros({2})),
                                       "take: indices must be integers, got f32"));
  FAILS(shape_error, tutti::take(array(1), 0), "take");
  FAILS(index_error, tutti::take(x, 0, 3), "take: axis 3");
}

BOOST_AUTO_TEST_CASE(checks_can_be_switched_off) {
  const array x = upload_as<float>({{3}, {10, 11, 12}});
  const array far = array::from<std::int32_t>({1, 5, -9}) + 0;
  setenv("TUTTI_CHECK_INDICES", "off", 1);
  const array got = tutti::take(x, far);
  unsetenv("TUTTI_CHECK_INDICES");
  BOOST_TEST(matches(got, {{3}, {11, 12, 10}}));
}

BOOST_AUTO_TEST_CASE(one_hot_shapes) {
  const array i = array::from(std::vector<std::int32_t>{0, 2, -1, 3}, {2, 2});
  BOOST_TEST(matches(tutti::one_hot(i, 3), {{2, 2, 3}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0}}));
  BOOST_TEST((tutti::one_hot(i, 3, dtype::u8).dtype() == dtype::u8));
  BOOST_TEST(tutti::one_hot(i, 0).shape() == (tutti::shape{2, 2, 0}));
  FAILS(value_error, tutti::one_hot(i, -1), "one_hot: depth -1");
  FAILS(dtype_error, tutti::one_hot(tutti::zeros({2}), 3), "one_hot");
}
