// SPDX-License-Identifier: Apache-2.0
//
// full, zeros, ones, arange, eye: values, dtypes, bounds.
#include "tutti_test/arrays.hpp"

namespace {}  // namespace

BOOST_AUTO_TEST_CASE(constants) {
  for (dtype type :
       {dtype::boolean, dtype::i8, dtype::i16, dtype::i32, dtype::i64, dtype::u8, dtype::u16,
        dtype::u32, dtype::u64, dtype::f16, dtype::bf16, dtype::f32, dtype::f64}) {
    BOOST_TEST_CONTEXT(tutti::name(type)) {
      BOOST_TEST(matches(tutti::zeros({2, 2}, type), {{2, 2}, {0, 0, 0, 0}}));
      BOOST_TEST(matches(tutti::ones({3}, type), {{3}, {1, 1, 1}}));
      BOOST_TEST((tutti::ones({3}, type).dtype() == type));
      BOOST_TEST(matches(tutti::ones_like(tutti::zeros({1, 2}, type)), {{1, 2}, {1, 1}}));
      BOOST_TEST(matches(tutti::zeros({}, type), {{}, {0}}));
      BOOST_TEST(tutti::zeros({0, 5}, type).size() == 0);
    }
  }
  BOOST_TEST(matches(tutti::full({2}, 2.5, dtype::f64), {{2}, {2.5, 2.5}}));
  BOOST_TEST(
      matches(tutti::full({2, 2}, array::from<float>({1, 2}), dtype::i32), {{2, 2}, {1, 2, 1, 2}}));
  BOOST_TEST((tutti::full({1}, 0.1, dtype::f64).to_vector<double>()[0] == 0.1));
  FAILS(shape_error, tutti::zeros({2, -1}), "[2,-1]");
  FAILS(value_error, tutti::full({2}, 300, dtype::u8), "full: 300");
  FAILS(shape_error, tutti::full({2}, tutti::ones({3}), dtype::f32), "[3]");
}

BOOST_AUTO_TEST_CASE(ranges) {
  BOOST_TEST(matches(tutti::arange(5), {{5}, {0, 1, 2, 3, 4}}));
  BOOST_TEST((tutti::arange(5).dtype() == dtype::i32));
  BOOST_TEST(tutti::arange(-3).size() == 0);
  BOOST_TEST(matches(tutti::arange(2.0, 11.0, 3.0), {{3}, {2, 5, 8}}));
  BOOST_TEST(matches(tutti::arange(5.0, -3.0, -2.0, dtype::i64), {{4}, {5, 3, 1, -1}}));
  BOOST_TEST(matches(tutti::arange(0.0, 1.0, 0.25), {{4}, {0, 0.25, 0.5, 0.75}}));
  BOOST_TEST(
      matches(tutti::arange(1.0, 2.0, 0.1, dtype::f64),
              tabulate({10}, [](const tutti_test::position& i) { return 1 + 0.1 * double(i[0]); }),
              {.relative = 1e-15}));
  BOOST_TEST(tutti::arange(3.0, 3.0).size() == 0);
  // Integers give integers, the same for every number of arguments.
  for (const array& a : {tutti::arange(5), tutti::arange(0, 5), tutti::arange(0, 5, 1),
                         tutti::arange(std::int64_t{0}, 5u), tutti::arange(std::uint8_t{5})}) {
    BOOST_TEST((a.dtype() == dtype::i32));
    BOOST_TEST(matches(a, {{5}, {0, 1, 2, 3, 4}}));
  }
  for (const array& a : {tutti::arange(5.0), tutti::arange(0, 5.0), tutti::arange(0, 5, 1.0),
                         tutti::arange(0.f, 5), tutti::arange(0, 5, dtype::f32)}) {
    BOOST_TEST((a.dtype() == dtype::f32));
    BOOST_TEST(matches(a, {{5}, {0, 1, 2, 3, 4}}));
  }
  BOOST_TEST(matches(tutti::arange(2.5), {{3}, {0, 1, 2}}));
  BOOST_TEST(matches(tutti::arange(7, -2, -4), {{3}, {7, 3, -1}}));
  BOOST_TEST(matches(tutti::arange(2, 9, 3, dtype::u8), {{3}, {2, 5, 8}}));
  BOOST_TEST(tutti::arange(5, 5, -1).size() == 0);
  constexpr std::int64_t low = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t high = std::numeric_limits<std::int64_t>::max();
  BOOST_TEST((tutti::arange(low, high, high, dtype::i64).to_vector<std::int64_t>() ==
              std::vector<std::int64_t>{low, -1, high - 1}));
  BOOST_TEST((tutti::arange(high, low, low, dtype::i64).to_vector<std::int64_t>() ==
              std::vector<std::int64_t>{high, -1}));
  FAILS(value_error, tutti::arange(0, 5, 0), "step is zero");
  FAILS(value_error, tutti::arange(std::int64_t{1} << 31, (std::int64_t{1} << 31) + 2),
        "does not fit i32");
  FAILS(value_error, tutti::arange(~std::uint64_t{0}), "does not fit a signed 64-bit integer");
  FAILS(dtype_error, tutti::arange(0, 3, dtype::c64), "c64");
  FAILS(value_error, tutti::arange(0.0, 1.0, 0.0), "step is zero");
  FAILS(value_error, tutti::arange(0.0, std::nan("")), "finite");
  FAILS(value_error, tutti::arange(0.5, 3.0, 1.0, dtype::i32), "0.5");
  FAILS(value_error, tutti::arange(300, dtype::u8), "does not fit u8");
  FAILS(dtype_error, tutti::arange(3, dtype::boolean), "bool");
}

BOOST_AUTO_TEST_CASE(identity) {
  BOOST_TEST(matches(tutti::eye(3, dtype::f64), {{3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1}}));
  BOOST_TEST(tutti::eye(0).shape() == (tutti::shape{0, 0}));
  FAILS(value_error, tutti::eye(-1), "eye");
  for (std::int64_t offset = -4; offset <= 5; ++offset)
    BOOST_TEST(matches(tutti::eye(3, 4, offset, dtype::i16),
                       tabulate({3, 4}, [&](const position& i) { return i[1] - i[0] == offset; })),
               offset);
  BOOST_TEST(tutti::eye(0, 4).shape() == (tutti::shape{0, 4}));
  FAILS(value_error, tutti::eye(2, -3), "2 and -3");
  const array like = tutti::zeros({2, 3}, dtype::i8);
  BOOST_TEST((tutti::zeros_like(like, dtype::f64).dtype() == dtype::f64));
  BOOST_TEST(matches(tutti::ones_like(like, dtype::boolean), {{2, 3}, {1, 1, 1, 1, 1, 1}}));
  BOOST_TEST((tutti::ones_like(like).dtype() == dtype::i8));
}
