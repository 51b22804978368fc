// SPDX-License-Identifier: Apache-2.0
//
// bit_cast: bytes are those that went up, whatever the dtypes and the layout; std::bit_cast and
// memcmp are the oracle.
#include "tutti_test/arrays.hpp"

namespace bit_cast_test {

using tutti::bit_cast;
using enum tutti::dtype;

namespace {

constexpr dtype others_than_bool[] = {i8,  i16, i32,  i64, u8,  u16, u32,
                                      u64, f16, bf16, f32, f64, c64, c128};

std::vector<std::int32_t> words_of(const dense& d) {
  std::vector<std::int32_t> out;
  for (const double v : d.values) out.push_back(std::bit_cast<std::int32_t>(static_cast<float>(v)));
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(all_bytes_between_all_dtypes_of_one_size) {
  for (const dtype from : others_than_bool)
    for (const dtype to : others_than_bool) {
      if (size_of(from) != size_of(to)) continue;
      BOOST_TEST_CONTEXT(name(from) << " as " << name(to)) {
        // NaNs with any payload, infinities and denormals are among them.
        std::string bytes(size_of(from) * 37, 0);
        for (std::size_t i = 0; i < bytes.size(); ++i)
          bytes[i] = static_cast<char>(i % 5 == 0 ? 0xff : i % 7 == 0 ? 0 : i * 151 + 127);
        const array x = array::from_bytes(bytes.data(), 37, from, {37});
        const array y = bit_cast(x, to);
        BOOST_TEST((y.dtype() == to && y.shape() == x.shape()));
        BOOST_TEST((bytes_of(y) == bytes));
        BOOST_TEST((bytes_of(bit_cast(y, from)) == bytes));
      }
    }
}

BOOST_AUTO_TEST_CASE(views_and_unevaluated_operands) {
  const dense cube = random_dense({4, 6, 5}, -1, 1, 23);
  for (const auto& [layout, x] : layouts(cube)) BOOST_TEST_CONTEXT(layout) {
      BOOST_TEST((bit_cast(x, i32).to_vector<std::int32_t>() == words_of(cube)));
      BOOST_TEST((bit_cast(bit_cast(x, u32), f32).to_vector<float>() == x.to_vector<float>()));
      // As a part of a fused expression, and of one.
      std::vector<std::int32_t> expected = words_of(cube);
      for (std::int32_t& w : expected) w = (w + (1 << 23)) ^ 1;  // doubled, last bit changed
      BOOST_TEST(((bit_cast(x * 2, i32) ^ 1).to_vector<std::int32_t>() == expected));
    }
}

BOOST_AUTO_TEST_CASE(memory_is_shared_and_not_written) {
  array x = tutti::full({1000}, 1.5, f32).eval() * array::from(std::vector<float>(1000, 2));
  array words = bit_cast(x, i32);
  array changed = words + 1;
  words = array();
  changed.wait();
  BOOST_TEST((x.to_vector<float>() == std::vector<float>(1000, 3)));
  // The same memory as two dtypes in one program.
  const array both = bit_cast(x, i32).astype(f32) + x;
  const float expected = static_cast<float>(std::bit_cast<std::int32_t>(3.0f)) + 3.0f;
  BOOST_TEST((both.to_vector<float>() == std::vector<float>(1000, expected)));
}

BOOST_AUTO_TEST_CASE(constants_bools_and_nothing) {
  BOOST_TEST((bit_cast(tutti::full({2, 3}, 1.0, f32), u32).to_vector<std::uint32_t>() ==
              std::vector<std::uint32_t>(6, 0x3f800000)));
  const array flags = array::from(std::vector<bool>{true, false, true}, {3});
  BOOST_TEST((bit_cast(flags, u8).to_vector<std::uint8_t>() == std::vector<std::uint8_t>{1, 0, 1}));
  const array none = bit_cast(tutti::zeros({0, 3}, f64), i64);
  BOOST_TEST((none.dtype() == i64 && none.shape() == (shape{0, 3})));
  BOOST_TEST(bit_cast(array::from(std::vector<float>{-0.0f}, {}), i32).item<std::int32_t>() ==
             INT32_MIN);
}

BOOST_AUTO_TEST_CASE(what_has_no_bits_of_that_kind) {
  const array x = tutti::ones({3});
  FAILS(dtype_error, bit_cast(x, f64), "bit_cast: elements of f32 have 4 bytes, those of f64 8");
  FAILS(dtype_error, bit_cast(x.astype(u8), boolean), "bytes of u8");
  BOOST_TEST(fails<tutti::value_error>(
      [&] { tutti::grad([](const array& a) { return sum(bit_cast(a, i32).astype(f32)); })(x); },
      "bit_cast: the array is being differentiated"));
  FAILS(value_error, bit_cast(array(), i32), "bit_cast");
}

}  // namespace bit_cast_test
