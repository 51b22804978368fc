// SPDX-License-Identifier: Apache-2.0
//
// Result dtypes: every pair, by the tables of the Python array API standard (2024.12, "Type
// promotion rules") and what Tutti adds where the standard leaves it open (integers with floats and
// complex numbers, bool with numbers, halves); every dtype with every kind of weak scalar;
// refusals.
#include "tutti_test/arrays.hpp"

namespace {

using tutti::zeros;

using enum tutti::dtype;

const std::vector<dtype> integers = {i8, i16, i32, i64, u8, u16, u32, u64};

const std::vector<dtype> all = {boolean, i8,  i16,  i32, i64, u8,  u16, u32,
                                u64,     f16, bf16, f32, f64, c64, c128};

// Rows and columns in the order of `all`. The standard's: bool with bool; integers with integers;
// f32, f64, c64 and c128 among themselves.
constexpr dtype none{0};  // no common dtype
// clang-format off
const dtype table[15][15] = {
    {boolean, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, c64, c128},
    {i8, i8, i16, i32, i64, i16, i32, i64, none, f16, bf16, f32, f64, c64, c128},
    {i16, i16, i16, i32, i64, i16, i32, i64, none, f16, bf16, f32, f64, c64, c128},
    {i32, i32, i32, i32, i64, i32, i32, i64, none, f16, bf16, f32, f64, c64, c128},
    {i64, i64, i64, i64, i64, i64, i64, i64, none, f16, bf16, f32, f64, c64, c128},
    {u8, i16, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, c64, c128},
    {u16, i32, i32, i32, i64, u16, u16, u32, u64, f16, bf16, f32, f64, c64, c128},
    {u32, i64, i64, i64, i64, u32, u32, u32, u64, f16, bf16, f32, f64, c64, c128},
    {u64, none, none, none, none, u64, u64, u64, u64, f16, bf16, f32, f64, c64, c128},
    {f16, f16, f16, f16, f16, f16, f16, f16, f16, f16, f32, f32, f64, c64, c128},
    {bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16, f32, bf16, f32, f64, c64, c128},
    {f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f64, c64, c128},
    {f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, c128, c128},
    {c64, c64, c64, c64, c64, c64, c64, c64, c64, c64, c64, c64, c128, c64, c128},
    {c128, c128, c128, c128, c128, c128, c128, c128, c128, c128, c128, c128, c128, c128, c128},
};

// With a C++ bool, int, double and std::complex. The standard's: a bool with bool; an integer with
// numbers; a float with floats and complex; a complex with floats and complex.
struct weak_row { dtype type, with_bool, with_int, with_double, with_complex; };
const weak_row weak_table[] = {
    {boolean, boolean, i32, f32, c64},
    {i8, i8, i8, f32, c64},      {i16, i16, i16, f32, c64},     {i32, i32, i32, f32, c64},
    {i64, i64, i64, f32, c64},   {u8, u8, u8, f32, c64},        {u16, u16, u16, f32, c64},
    {u32, u32, u32, f32, c64},   {u64, u64, u64, f32, c64},     {f16, f16, f16, f16, c64},
    {bf16, bf16, bf16, bf16, c64}, {f32, f32, f32, f32, c64},   {f64, f64, f64, f64, c128},
    {c64, c64, c64, c64, c64},   {c128, c128, c128, c128, c128},
};
// clang-format on

}  // namespace

BOOST_AUTO_TEST_CASE(every_pair_promotes_as_the_table_says) {
  for (std::size_t r = 0; r < all.size(); ++r) {
    for (std::size_t c = 0; c < all.size(); ++c) {
      const dtype a = all[r], b = all[c];
      BOOST_TEST_CONTEXT(tutti::name(a) << " with " << tutti::name(b)) {
        BOOST_TEST((table[r][c] == table[c][r]));
        // where takes every dtype, bool included.
        const auto pick = [&] { return tutti::where(true, zeros({1}, a), zeros({1}, b)); };
        if (table[r][c] == none) {
          BOOST_CHECK_THROW(tutti::promote(a, b), tutti::dtype_error);
          FAILS(dtype_error, pick(), "where: no dtype can represent both");
          FAILS(dtype_error, pick(), "u64");
          continue;
        }
        BOOST_TEST((tutti::promote(a, b) == table[r][c]));
        BOOST_TEST((pick().dtype() == table[r][c]));
        if (table[r][c] == boolean) continue;
        BOOST_TEST(((zeros({1}, a) + zeros({1}, b)).dtype() == table[r][c]));
        BOOST_TEST((tutti::concatenate({zeros({1}, a), zeros({1}, b)}).dtype() == table[r][c]));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(every_dtype_with_every_weak_scalar) {
  for (const weak_row& row : weak_table) {
    const array a = zeros({2}, row.type);
    const auto pick = [&](const array& scalar) {
      const dtype right = tutti::where(true, scalar, a).dtype();
      BOOST_TEST((tutti::where(true, a, scalar).dtype() == right));
      return right;
    };
    BOOST_TEST_CONTEXT(tutti::name(row.type)) {
      BOOST_TEST((pick(true) == row.with_bool));
      BOOST_TEST((pick(1) == row.with_int));
      BOOST_TEST((pick(0.5) == row.with_double));
      BOOST_TEST((pick(std::complex<double>(0, 1)) == row.with_complex));
      if (row.type != boolean) BOOST_TEST(((a * true).dtype() == row.with_bool));
      BOOST_TEST(((a + 1).dtype() == row.with_int && (1 - a).dtype() == row.with_int));
      BOOST_TEST(((a + 0.5).dtype() == row.with_double));
      BOOST_TEST((pick(std::complex<float>(0, 1)) == row.with_complex));
    }
  }
}

BOOST_AUTO_TEST_CASE(results_of_integers) {
  for (dtype whole : integers) {
    BOOST_TEST((tutti::exp(zeros({1}, whole)).dtype() == f32));
    BOOST_TEST(((zeros({1}, whole) / zeros({1}, whole)).dtype() == f32));
    BOOST_TEST((tutti::mean(zeros({1}, whole)).dtype() == f32));
    BOOST_TEST((tutti::sum(zeros({2}, whole)).dtype() == (tutti::is_unsigned(whole) ? u64 : i64)));
  }
  BOOST_TEST((tutti::sum(zeros({2}, boolean)).dtype() == i64));
  BOOST_TEST((tutti::sum(zeros({2}, f16)).dtype() == f16));
  BOOST_TEST((tutti::argmax(zeros({2}, f32)).dtype() == i64));
}

BOOST_AUTO_TEST_CASE(scalars_are_weak) {
  const array truth = zeros({2}, boolean);
  BOOST_TEST(((truth + std::int64_t{1}).dtype() == i64));
  BOOST_TEST(((truth & true).dtype() == boolean));
  // Alone, and among themselves.
  BOOST_TEST((array(1).dtype() == i32));
  BOOST_TEST((array(std::int64_t{1}).dtype() == i64));
  BOOST_TEST((array(2.5).dtype() == f32));
  BOOST_TEST((array(true).dtype() == boolean));
  BOOST_TEST(((array(1) + array(2.5)).dtype() == f32));
  BOOST_TEST((tutti::exp(array(1)).dtype() == f32));
}

BOOST_AUTO_TEST_CASE(weak_arithmetic_keeps_the_precision_of_c) {
  // 1/3 as a double, not as an f32 that was widened.
  const array third = array(1.0) / array(3);
  const array got = zeros({1}, f64) + third;
  BOOST_TEST(got.to_vector<double>()[0] == 1.0 / 3);
  const array large = array(std::int64_t{1} << 40) + array(1);
  BOOST_TEST((zeros({1}, i64) + large).to_vector<std::int64_t>()[0] == (std::int64_t{1} << 40) + 1);
  BOOST_TEST((array(3) < array(4)).item() == 1);
}

BOOST_AUTO_TEST_CASE(weak_integers_must_fit) {
  const array a = zeros({2}, u8);
  FAILS(value_error, a + 256, "add: 256 does not fit u8");
  BOOST_TEST((a + 255).to_vector<std::uint8_t>()[1] == 255);
  const std::uint64_t top = ~std::uint64_t{0};
  BOOST_TEST((zeros({1}, u64) + top).to_vector<std::uint64_t>()[0] == top);
  FAILS(value_error, zeros({1}, i64) + top, "does not fit i64");
}

// As NumPy 2: what the dtype does not hold is compared by its value.
BOOST_AUTO_TEST_CASE(comparisons_with_what_does_not_fit) {
  const auto is = [](const array& got, bool expected) {
    return got.dtype() == boolean && got.shape() == tutti::shape{3} &&
           tutti::sum(got).item() == (expected ? 3 : 0);
  };
  const array a = array::from<std::int8_t>({-128, 0, 127});
  BOOST_TEST(is(a < 3000000000, true));
  BOOST_TEST(is(a <= 128, true));
  BOOST_TEST(is(a > 3000000000, false));
  BOOST_TEST(is(a >= 128, false));
  BOOST_TEST(is(a == 384, false));
  BOOST_TEST(is(a != 384, true));
  BOOST_TEST(is(a > -129, true));
  BOOST_TEST(is(a < -3000000000, false));
  BOOST_TEST(is(3000000000 < a, false));
  BOOST_TEST(is(3000000000 > a, true));
  BOOST_TEST(is(-129 < a, true));
  BOOST_TEST(is(-129 == a, false));
  BOOST_TEST(is(zeros({3}, u8) > -1, true));
  const std::uint64_t top = ~std::uint64_t{0};
  BOOST_TEST(is(zeros({3}, i64) < top, true));
  BOOST_TEST(is(zeros({3}, i64) == top, false));
  BOOST_TEST(is(zeros({3}, u64) >= -1, true));
  // What fits is compared as before.
  BOOST_TEST(tutti::sum(a <= -128).item() == 1);
}

BOOST_AUTO_TEST_CASE(refused_dtypes) {
  const array truth = zeros({2}, boolean);
  const array real = zeros({2}, f32);
  FAILS(dtype_error, truth + truth,
        "add: needs integers, floats or complex numbers, got bool, bool");
  FAILS(dtype_error, -truth, "negative");
  FAILS(dtype_error, real & real, "bitwise_and: needs integers or bool, got f32, f32");
  FAILS(dtype_error, tutti::left_shift(real, 1), "left_shift");
  FAILS(dtype_error, tutti::matmul(zeros({2, 2}, boolean), zeros({2, 2}, boolean)), "matmul");
  FAILS(dtype_error, tutti::nextafter(real.astype(f16), 1), "nextafter: needs f32 or f64, got f16");
}

BOOST_AUTO_TEST_CASE(truth_values_of_numbers) {
  const array a = array::from<float>({0, 2, -1, std::nanf("")});
  BOOST_TEST(matches(tutti::logical_not(a), {{4}, {1, 0, 0, 0}}));
  BOOST_TEST(matches(tutti::logical_and(a, 1), {{4}, {0, 1, 1, 1}}));
  // Truth values need no dtype that holds both.
  const array wide = array::from<std::uint64_t>({1, 0}), small = array::from<std::int8_t>({-1, 2});
  BOOST_TEST(matches(tutti::logical_and(wide, small), {{2}, {1, 0}}));
  BOOST_TEST(matches(tutti::logical_or(small, wide), {{2}, {1, 1}}));
  BOOST_TEST(matches(tutti::logical_xor(wide, small), {{2}, {0, 1}}));
}

BOOST_AUTO_TEST_CASE(casts_that_promotion_allows) {
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < all.size(); ++j)
      BOOST_TEST(tutti::can_cast(all[i], all[j]) == (table[i][j] == all[j]),
                 tutti::name(all[i]) << " to " << tutti::name(all[j]));
}

BOOST_AUTO_TEST_CASE(result_types) {
  const array narrow = zeros({2}, i8), wide = zeros({3, 3}, i32), half = zeros({}, f16);
  BOOST_TEST((tutti::result_type({narrow, wide}) == i32));  // shapes do not matter
  BOOST_TEST((tutti::result_type({narrow, 5}) == i8));
  BOOST_TEST((tutti::result_type({narrow, 5.0}) == f32));
  BOOST_TEST((tutti::result_type({half, 5.0, true}) == f16));
  BOOST_TEST((tutti::result_type({half, std::complex<float>(1, 2)}) == c64));
  BOOST_TEST((tutti::result_type({true, 2}) == i32));
  FAILS(dtype_error, tutti::result_type({narrow, zeros({}, u64)}),
        "result_type: no dtype can represent both");
  FAILS(value_error, tutti::result_type(std::span<const array>()), "result_type");
}

BOOST_AUTO_TEST_CASE(large_unsigned_scalars) {
  const std::uint64_t top = std::numeric_limits<std::uint64_t>::max();
  BOOST_TEST((array(top) < array(1)).item() == 0);
  BOOST_TEST((array(top) > array(std::int64_t{1})).item() == 1);
  BOOST_TEST((array(top) == array(top)).item() == 1);
  BOOST_TEST((array(top) / array(2)).item() == 0x1p63, boost::test_tools::tolerance(1e-6));
  BOOST_TEST((tutti::maximum(array(top), array(7)).item<std::uint64_t>() == top));
  BOOST_TEST(((array(top) - array(1)).item<std::uint64_t>() == top - 1));
  BOOST_TEST((array(std::uint64_t{5}) - array(6)).item() == -1);
  FAILS(value_error, array(top) < array(-1), "less: -1 does not fit u64");
}

template <class T>
void check_integer_limits(dtype type) {
  const tutti::integer_limits limits = tutti::iinfo(type);
  BOOST_TEST(limits.bits == static_cast<int>(8 * sizeof(T)));
  BOOST_TEST(limits.min == static_cast<std::int64_t>(std::numeric_limits<T>::min()));
  BOOST_TEST(limits.max == static_cast<std::uint64_t>(std::numeric_limits<T>::max()));
}

BOOST_AUTO_TEST_CASE(machine_limits) {
  check_integer_limits<std::int8_t>(i8);
  check_integer_limits<std::int16_t>(i16);
  check_integer_limits<std::int32_t>(i32);
  check_integer_limits<std::int64_t>(i64);
  check_integer_limits<std::uint8_t>(u8);
  check_integer_limits<std::uint16_t>(u16);
  check_integer_limits<std::uint32_t>(u32);
  check_integer_limits<std::uint64_t>(u64);
  for (dtype type : {f32, f64, c64, c128}) {
    const tutti::float_limits limits = tutti::finfo(type);
    const bool wide = tutti::real_dtype(type) == f64;
    using F = std::numeric_limits<float>;
    using D = std::numeric_limits<double>;
    BOOST_TEST(limits.bits == (wide ? 64 : 32));
    BOOST_TEST(limits.epsilon == (wide ? D::epsilon() : double(F::epsilon())));
    BOOST_TEST(limits.max == (wide ? D::max() : double(F::max())));
    BOOST_TEST(limits.smallest_normal == (wide ? D::min() : double(F::min())));
  }
  // What the device makes of the halves' limits, and of what lies beyond them.
  for (dtype type : {f16, bf16}) {
    const tutti::float_limits limits = tutti::finfo(type);
    const double over = limits.max * (1 + limits.epsilon);
    const array x = array::from<double>(
        {limits.max, 1 + limits.epsilon, 1 + limits.epsilon / 4, limits.smallest_normal, over});
    const array rounded = x.astype(f32).astype(type).astype(f64);
    BOOST_TEST(matches(rounded, {{5},
                                 {limits.max, 1 + limits.epsilon, 1, limits.smallest_normal,
                                  std::numeric_limits<double>::infinity()}}),
               tutti::name(type));
  }
  FAILS(dtype_error, tutti::finfo(i8), "finfo: needs a floating dtype");
  FAILS(dtype_error, tutti::iinfo(boolean), "iinfo");
}
