// SPDX-License-Identifier: Apache-2.0
//
// Elementwise functions beyond the rows of op_table.def, which `tutti verify` and the vectors of
// NumPy judge: powers, casts, choices, constants, what does not broadcast.
#include "tutti_test/arrays.hpp"
#include "tutti_test/host_device.hpp"

BOOST_AUTO_TEST_CASE(powers_of_integers) {
  const auto check = [](auto zero) {
    using T = decltype(zero);
    const std::vector<T> bases = {T(0),  T(1), T(-1),  T(2),
                                  T(-3), T(7), T(100), std::numeric_limits<T>::lowest()};
    const std::vector<T> exponents = {T(0),  T(1),   T(2),  T(3),  T(5),
                                      T(31), T(100), T(-1), T(-2), T(-127)};
    std::vector<T> expected;
    for (T a : bases) {
      for (T b : exponents) {
        std::uint64_t y = 1;
        for (T n = 0; n < b; ++n) y *= static_cast<std::uint64_t>(a);
        // The only numbers with an integer reciprocal.
        const bool unit = a == 1 || a == -1;
        if (b < 0) y = !unit ? 0 : b % 2 == 0 ? 1 : static_cast<std::uint64_t>(a);
        expected.push_back(static_cast<T>(y));
      }
    }
    const array x = array::from(bases).reshape({8, 1});
    const array got = tutti::power(x, array::from(exponents));
    BOOST_TEST((got.dtype() == tutti::dtype_of<T>));
    BOOST_TEST(all_close(got.to_vector<T>(), expected), tutti::name(tutti::dtype_of<T>));
  };
  check(std::int8_t{});
  check(std::int32_t{});
  check(std::int64_t{});
  if (tutti_test::on_host()) check(std::int16_t{});
  const array x = array::from<std::int16_t>({3, -2});
  BOOST_TEST(matches(tutti::power(x, 2), {{2}, {9, 4}}));
  BOOST_TEST((tutti::power(x, 2).dtype() == dtype::i16));
  BOOST_TEST((tutti::power(x, array::from<std::int32_t>({1, 2})).dtype() == dtype::i32));
  BOOST_TEST((tutti::power(x, 2.0).dtype() == dtype::f32));
  BOOST_TEST((tutti::power(x, array::from<double>({0.5, 2})).dtype() == dtype::f64));
  BOOST_TEST(matches(tutti::power(array::from<std::uint8_t>({3, 200, 255}), 2), {{3}, {9, 64, 1}}));
  BOOST_TEST(matches(tutti::power(tutti::full({2}, 3, dtype::i64), 4), {{2}, {81, 81}}));
  BOOST_TEST(tutti::power(array(2), array(-1)).item() == 0);
  FAILS(dtype_error, tutti::power(array(true), array(true)), "power: needs integers");
}

BOOST_AUTO_TEST_CASE(integers_wrap) {
  const array a = array::from<std::int32_t>({2147483647, -2147483647 - 1, 65536});
  BOOST_TEST((a + 1).to_vector<std::int32_t>() ==
                 (std::vector<std::int32_t>{-2147483647 - 1, -2147483647, 65537}),
             same);
  BOOST_TEST((a * a).to_vector<std::int32_t>() == (std::vector<std::int32_t>{1, 0, 0}), same);
  const array b = array::from<std::int64_t>({9223372036854775807LL, 5});
  BOOST_TEST((b + 1).to_vector<std::int64_t>() ==
                 (std::vector<std::int64_t>{-9223372036854775807LL - 1, 6}),
             same);
}

BOOST_AUTO_TEST_CASE(where_picks_and_broadcasts) {
  const dense a = random_dense({5, 7}, -1, 1, 4);
  const dense row_values = random_dense({7}, 2, 3, 5);
  for (const auto& [layout, x] : layouts(a)) {
    BOOST_TEST_CONTEXT(layout) {
      const array got = tutti::where(x > 0, upload_as<float>(row_values), -1);
      BOOST_TEST(matches(got, tabulate({5, 7}, [&](const position& i) {
                           return a.at(i) > 0 ? row_values.at({i[1]}) : -1;
                         })));
    }
  }
  BOOST_TEST(matches(tutti::where(array::from<std::int32_t>({0, 3, -1}), 1, 2), {{3}, {2, 1, 1}}));
}

BOOST_AUTO_TEST_CASE(clip_relu_sigmoid) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const dense a{{9}, {-3, -0.5, 0, 0.25, 2, 1000, -1000, inf, nan}};
  const array x = upload_as<float>(a);
  BOOST_TEST(matches(tutti::clip(x, -1, 1.5), {{9}, {-1, -0.5, 0, 0.25, 1.5, 1.5, -1, 1.5, nan}}));
  // Without a bound.
  BOOST_TEST(matches(tutti::clip(x, -1), read(tutti::clip(x, -1, inf))));
  BOOST_TEST(matches(tutti::clip(x, {}, 1.5), read(tutti::clip(x, -inf, 1.5))));
  BOOST_TEST(matches(tutti::clip(x, std::nullopt, array::from<float>({1.5})),
                     read(tutti::clip(x, -inf, 1.5))));
  BOOST_TEST(matches(tutti::clip(x), read(x)));
  FAILS(shape_error, tutti::clip(x, {}, tutti::ones({2})),
        "clip: shapes do not broadcast: [9] and [2]");
  BOOST_TEST(matches(tutti::relu(x), {{9}, {0, 0, 0, 0.25, 2, 1000, 0, inf, nan}}));
  const dense expected =
      tabulate({9}, [&](const position& i) { return 1 / (1 + std::exp(-a.at(i))); });
  BOOST_TEST(matches(tutti::sigmoid(x), expected, {.relative = 1e-6}));
  BOOST_TEST(matches(tutti::sigmoid(-upload_as<float>({{}, {inf}})), {{}, {0}}));
}

BOOST_AUTO_TEST_CASE(casts_saturate_and_wrap) {
  const double inf = std::numeric_limits<double>::infinity();
  const dense a{{8}, {1.9, -1.9, 300, -300, 1e20, -1e20, inf, std::nan("")}};
  for (const auto& [layout, x] : layouts<double>(a)) {
    BOOST_TEST_CONTEXT(layout) {
      BOOST_TEST(matches(x.astype(dtype::u8), {{8}, {1, 0, 255, 0, 255, 0, 255, 0}}));
      BOOST_TEST(matches(x.astype(dtype::i8), {{8}, {1, -1, 127, -128, 127, -128, 127, 0}}));
      BOOST_TEST(matches(x.astype(dtype::boolean), {{8}, {1, 1, 1, 1, 1, 1, 1, 1}}));
    }
  }
  BOOST_TEST(matches(array::from<std::int32_t>({257, -1}).astype(dtype::u8), {{2}, {1, 255}}));
  BOOST_TEST(matches(array(2.9).astype(dtype::i32), {{}, {2}}));
  // Halves: to nearest even, with infinity beyond their range.
  const array b = array::from<float>({1.0009765f, 2049, 2051, 70000, -0.0f});
  BOOST_TEST(matches(b.astype(dtype::f16), {{5}, {1.0009765625, 2048, 2052, inf, 0}}));
  BOOST_TEST(matches(b.astype(dtype::bf16), {{5}, {1, 2048, 2048, 70144, 0}}));
}

BOOST_AUTO_TEST_CASE(halves_are_computed_in_f32) {
  const dense a = random_dense({65}, 0.5, 2, 6);
  for (dtype type : {dtype::f16, dtype::bf16}) {
    const array x = upload_as<float>(a).astype(type);
    const dense rounded = read(x);
    const array y = tutti::exp(x) * x;
    BOOST_TEST((y.dtype() == type));
    const double step = type == dtype::f16 ? 0x1p-10 : 0x1p-7;
    BOOST_TEST(matches(
        y,
        tabulate({65}, [&](const position& i) { return std::exp(rounded.at(i)) * rounded.at(i); }),
        {.relative = 2 * step}));
  }
}

BOOST_AUTO_TEST_CASE(shapes_that_do_not_broadcast) {
  const array a = tutti::zeros({3, 4});
  const array b = tutti::zeros({3});
  FAILS(shape_error, a + b, "add");
  FAILS(shape_error, a + b, "[3,4]");
  FAILS(shape_error, a + b, "[3]");
  FAILS(shape_error, tutti::where(a > 0, b, 1), "where");
  FAILS(value_error, array() + b, "add");
}
