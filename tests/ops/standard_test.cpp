// SPDX-License-Identifier: Apache-2.0
//
// Names and arguments of the Python array API standard: dtypes of sums, keepdims in braces, several
// axes, values before differences, sorters, first places of distinct elements. The oracles are
// loops over host values.
#include "differences.hpp"

namespace {

// [3, 4, 5] of small integers, which every dtype but bool holds.
const dense cube = random_integers({3, 4, 5}, 0, 9, 5);

template <class F>
double folded(const dense& d, double start, F&& f) {
  for (double v : d.values) start = f(start, v);
  return start;
}

}  // namespace

BOOST_AUTO_TEST_CASE(keepdims_in_braces) {
  const array a = upload_as<float>(cube);
  const dense kept = tabulate({3, 1, 5}, [](const position& i) {
    double total = 0;
    for (std::int64_t k = 0; k < 4; ++k) total += cube.at({i[0], k, i[2]});
    return total;
  });
  BOOST_TEST(matches(tutti::sum(a, {1, true}), kept));
  BOOST_TEST(matches(tutti::sum(a, {1, tutti::keep_dims::yes}), kept));
  BOOST_TEST((tutti::sum(a, {1, false}).shape() == shape{3, 5}));
  BOOST_TEST((tutti::sum(a, {{0, 1}, true}).shape() == shape{1, 1, 5}));
  BOOST_TEST((tutti::max(a, {{-1}, true}).shape() == shape{3, 4, 1}));
  BOOST_TEST((tutti::sum(a, {0, 1}).shape() == shape{5}));
  BOOST_TEST((tutti::mean(a, {std::vector<std::int64_t>{0, 2}, true}).shape() == shape{1, 4, 1}));
  const std::int64_t one = 1;
  BOOST_TEST((tutti::sum(a, {one, one + 1}).shape() == shape{3}));
  BOOST_TEST((tutti::sum(a, {}).shape() == shape{}));
  FAILS(value_error, tutti::sum(a, {1, 1}), "given twice");
}

BOOST_AUTO_TEST_CASE(sums_of_a_given_dtype) {
  const double total = folded(cube, 0, [](double x, double v) { return x + v; });
  const array a = upload_as<std::int32_t>(cube);
  for (dtype type : all_dtypes) {
    if (tutti::is_bool(type)) continue;
    BOOST_TEST_CONTEXT(name(type)) {
      const array got = tutti::sum(a, {}, type);
      BOOST_TEST((got.dtype() == type));
      // Integers wrap.
      const double expected = type == dtype::i8   ? double(std::int8_t(int(total)))
                              : type == dtype::u8 ? double(std::uint8_t(int(total)))
                                                  : total;
      const double value = tutti::is_complex(type) ? tutti::real(got).item() : got.item();
      BOOST_TEST(std::abs(value - expected) <= (type == dtype::bf16 ? total * 0x1p-8 : 0));
    }
  }
  // 300 ones overflow a byte where they are added up in bytes only.
  const array bytes = tutti::ones({300}, dtype::u8);
  BOOST_TEST(tutti::sum(bytes, {}, dtype::u8).item() == 44);
  BOOST_TEST(tutti::sum(bytes).item() == 300);
  BOOST_TEST(tutti::prod(array::from<std::int8_t>({-100, 100}), {}, dtype::i8).item() ==
             double(std::int8_t(-10000)));
  BOOST_TEST(tutti::prod(array::from<std::int32_t>({100000, 100000}), 0, dtype::f64).item() ==
             1e10);
  BOOST_TEST(tutti::sum(array::from<float>({16777216, 1}), {}, dtype::f64).item() == 16777217);
  // f16 is added up in f32 and rounded once.
  BOOST_TEST(tutti::sum(tutti::full({4096}, 1, dtype::f16), {}, dtype::f16).item() == 4096);
  BOOST_TEST(tutti::sum(tutti::zeros({0, 2}, dtype::i8), {0, true}, dtype::i64).size() == 2);
  BOOST_TEST(
      (tutti::trace(upload_as<std::int32_t>({{2, 2}, {1, 2, 3, 4}}), 0, 0, 1, dtype::f64).dtype() ==
       dtype::f64));
  BOOST_TEST(
      tutti::trace(upload_as<std::int16_t>({{2, 2}, {30000, 2, 3, 30000}}), 0, 0, 1, dtype::i16)
          .item() == double(std::int16_t(60000)));
  const array x = tutti::ones({2, 2});
  FAILS(dtype_error, tutti::sum(x, {}, dtype::i32), "sum: f32");
  FAILS(dtype_error, tutti::prod(x, {}, dtype::boolean), "in bool");
  FAILS(dtype_error, tutti::trace(x, 0, 0, 1, dtype::u8), "trace: f32");
  FAILS(dtype_error, tutti::sum(x.astype(dtype::c64), {}, dtype::f64), "c64");
  check_gradient(
      [](const auto& v) {
        return tutti::sum(v[0] * v[0], {0, true}, dtype::f64).reshape({}) +
               tutti::trace(v[0].reshape({2, 2}), 0, 0, 1, dtype::f64);
      },
      {{{4}, {1, -2, 3, 0.5}}});
}

BOOST_AUTO_TEST_CASE(several_axes) {
  for (const auto& [how, a] : layouts(cube)) {
    BOOST_TEST_CONTEXT(how) {
      BOOST_TEST(matches(tutti::flip(a, {0, -1}), tabulate(cube.extents, [](const position& i) {
                           return cube.at({2 - i[0], i[1], 4 - i[2]});
                         })));
      BOOST_TEST(matches(tutti::roll(a, {1, -2}, {0, 2}), tabulate(cube.extents, [](auto i) {
                           return cube.at({(i[0] + 2) % 3, i[1], (i[2] + 2) % 5});
                         })));
      BOOST_TEST(matches(tutti::roll(a, 2, {1, 2}), tabulate(cube.extents, [](auto i) {
                           return cube.at({i[0], (i[1] + 2) % 4, (i[2] + 3) % 5});
                         })));
    }
  }
  const array a = upload_as<float>(cube);
  BOOST_TEST(matches(tutti::roll(a, {1, 1}, {2, 2}), read(tutti::roll(a, 2, 2))));
  BOOST_TEST(matches(tutti::flip(a, std::vector<std::int64_t>{}), cube));
  BOOST_TEST(matches(tutti::flip(a, {}), read(tutti::flip(a))));
  BOOST_TEST((tutti::expand_dims(a, {0, -1}).shape() == shape{1, 3, 4, 5, 1}));
  BOOST_TEST((tutti::expand_dims(a, {3, 1}).shape() == shape{3, 1, 4, 1, 5}));
  BOOST_TEST((tutti::expand_dims(array(2), {0, 1}).shape() == shape{1, 1}));
  const array thin = a.reshape({1, 3, 1, 20, 1});
  BOOST_TEST((tutti::squeeze(thin, {0, -1}).shape() == shape{3, 1, 20}));
  BOOST_TEST((tutti::squeeze(thin, shape{2}).shape() == shape{1, 3, 20, 1}));
  BOOST_TEST((tutti::squeeze(thin).shape() == shape{3, 20}));
  BOOST_TEST((tutti::squeeze(thin, std::nullopt).shape() == shape{3, 20}));
  BOOST_TEST((tutti::squeeze(thin, std::optional<std::int64_t>(0)).shape() == shape{3, 1, 20, 1}));
  BOOST_TEST(tutti::roll(tutti::zeros({0, 3}), {1, 1}, {0, 1}).size() == 0);
  FAILS(value_error, tutti::flip(a, {0, -3}), "flip: axis -3");
  FAILS(index_error, tutti::flip(a, {0, 3}), "flip: axis 3");
  FAILS(value_error, tutti::roll(a, {1, 2}, 0), "[1,2] for axes [0]");
  FAILS(index_error, tutti::roll(a, 1, {0, 5}), "roll: axis 5");
  FAILS(value_error, tutti::expand_dims(a, {1, 1}), "expand_dims");
  FAILS(value_error, tutti::expand_dims(a, {}), "expand_dims");
  FAILS(index_error, tutti::expand_dims(a, {0, 5}), "axis 5");
  FAILS(shape_error, tutti::squeeze(thin, {0, 1}), "axis 1 of");
  check_gradient(
      [](const auto& v) {
        const array rolled = tutti::roll(v[0], {1, 1}, {0, 1});
        return weighted_sum(
            tutti::squeeze(tutti::expand_dims(tutti::flip(rolled, {0, 1}) * v[0], {0, 2}), {0, 2}));
      },
      {random_dense({2, 3}, -1, 1, 8)});
}

BOOST_AUTO_TEST_CASE(differences_with_ends) {
  const array a = upload_as<float>({{2, 3}, {1, 4, 9, 2, 2, 7}});
  BOOST_TEST(matches(tutti::diff(a, 1, 1, 0), {{2, 3}, {1, 3, 5, 2, 0, 5}}));
  BOOST_TEST(matches(tutti::diff(a, 1, -1, 0, 10), {{2, 4}, {1, 3, 5, 1, 2, 0, 5, 3}}));
  BOOST_TEST(matches(tutti::diff(a, 1, 0, array::from<float>({{0, 0, 1}})),
                     {{2, 3}, {1, 4, 8, 1, -2, -2}}));
  BOOST_TEST(matches(tutti::diff(a, 2, 1, {}, array::from({{0, 1}, {2, 3}})),
                     {{2, 3}, {2, -14, 10, 5, -10, 6}}));
  BOOST_TEST((tutti::diff(array::from<std::uint8_t>({3, 5}), 1, 0, array::from<std::int16_t>({4}))
                  .dtype() == dtype::i16));
  BOOST_TEST((tutti::diff(array::from({true, false}), 1, 0, true).to_vector<bool>() ==
              std::vector<bool>{false, true}));
  BOOST_TEST(matches(tutti::diff(tutti::zeros({0}), 1, 0, 2, 5), {{1}, {3}}));
  BOOST_TEST(matches(tutti::diff(a, 0, 1, 7), {{2, 4}, {7, 1, 4, 9, 7, 2, 2, 7}}));
  FAILS(shape_error, tutti::diff(a, 1, 1, tutti::zeros({3, 1})), "[2,3] and [3,1]");
  FAILS(shape_error, tutti::diff(a, 1, 1, {}, tutti::zeros({2})), "[2]");
  check_gradient(
      [](const auto& v) { return weighted_sum(tutti::diff(v[0] * v[0], 1, 1, v[1], 2)); },
      {random_dense({2, 3}, -1, 1, 9), random_dense({2, 1}, -1, 1, 10)});
}

BOOST_AUTO_TEST_CASE(sorters) {
  const dense table{{5}, {7, 1, 9, 3, 5}}, wanted{{2, 2}, {0, 3, 8, 10}};
  for (dtype type : {dtype::f32, dtype::i64}) {
    const array t = upload(table, type), w = upload(wanted, type);
    const array order = tutti::argsort(t);
    BOOST_TEST(
        matches(tutti::searchsorted(t, w, tutti::side::left, order), {{2, 2}, {0, 1, 4, 5}}));
    BOOST_TEST(matches(tutti::searchsorted(t, w, tutti::side::right, order.astype(dtype::i32)),
                       {{2, 2}, {0, 2, 4, 5}}));
  }
  const array t = upload_as<float>(table);
  BOOST_TEST(
      tutti::searchsorted(tutti::zeros({0}), t, tutti::side::left, tutti::zeros({0}, dtype::i64))
          .size() == 5);
  FAILS(shape_error, tutti::searchsorted(t, 1, tutti::side::left, tutti::arange(4)),
        "sorter of shape [4]");
  FAILS(index_error, tutti::searchsorted(t, 1, tutti::side::left, tutti::arange(1, 6)), "index 5");
  FAILS(dtype_error, tutti::searchsorted(t, 1, tutti::side::left, t), "integers");
}

BOOST_AUTO_TEST_CASE(first_places_of_distinct_elements) {
  for (dtype type : {dtype::f32, dtype::u64}) {
    BOOST_TEST_CONTEXT(name(type)) {
      const array a = upload(cube, type).transpose();
      const dense values = read(a);
      std::map<double, std::pair<std::int64_t, std::int64_t>> seen;  // first place, count
      for (std::size_t i = 0; i < values.values.size(); ++i)
        ++seen.try_emplace(values.values[i], std::int64_t(i), 0).first->second.second;
      dense distinct{{std::int64_t(seen.size())}, {}}, first = distinct, counts = distinct;
      dense inverse = values;
      for (const auto& [value, found] : seen) {
        std::replace(inverse.values.begin(), inverse.values.end(), value,
                     -1.0 - double(distinct.values.size()));
        distinct.values.push_back(value);
        first.values.push_back(double(found.first));
        counts.values.push_back(double(found.second));
      }
      for (double& place : inverse.values) place = -1 - place;
      const tutti::unique_all_result got = tutti::unique_all(a);
      BOOST_TEST((got.values.dtype() == type));
      BOOST_TEST((got.indices.dtype() == dtype::i64));
      BOOST_TEST(matches(got.values, distinct));
      BOOST_TEST(matches(got.indices, first));
      BOOST_TEST(matches(got.inverse_indices, inverse));
      BOOST_TEST(matches(got.counts, counts));
      BOOST_TEST(matches(tutti::unique_counts(a).counts, counts));
      BOOST_TEST(matches(tutti::unique_inverse(a).inverse_indices, inverse));
    }
  }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto special = tutti::unique_all(array::from<float>({float(nan), 1, float(nan), 1}));
  BOOST_TEST(matches(special.indices, {{3}, {1, 0, 2}}));
  BOOST_TEST(matches(special.counts, {{3}, {2, 1, 1}}));
  const auto none = tutti::unique_all(tutti::zeros({2, 0}));
  BOOST_TEST(none.indices.size() == 0);
  BOOST_TEST((none.inverse_indices.shape() == shape{2, 0}));
  const auto no_rows = tutti::unique_all(tutti::zeros({0, 2}), 0);
  BOOST_TEST((no_rows.values.shape() == shape{0, 2}));
  BOOST_TEST((no_rows.inverse_indices.shape() == shape{0}));
  FAILS(dtype_error, tutti::unique_all(tutti::zeros({2}, dtype::c64)), "unique");
}

BOOST_AUTO_TEST_CASE(other_names) {
  const array a = upload_as<float>({{2, 3}, {1, 2, 3, 4, 5, 6}});
  const array n = array::from<std::int32_t>({12, -7, 1});
  BOOST_TEST(matches(tutti::pow(a, 2), {{2, 3}, {1, 4, 9, 16, 25, 36}}));
  BOOST_TEST(matches(tutti::bitwise_invert(n), {{3}, {-13, 6, -2}}));
  BOOST_TEST(matches(tutti::bitwise_left_shift(n, 2), {{3}, {48, -28, 4}}));
  BOOST_TEST(matches(tutti::bitwise_right_shift(n, 1), {{3}, {6, -4, 0}}));
  BOOST_TEST(matches(tutti::concat({n, n}), {{6}, {12, -7, 1, 12, -7, 1}}));
  const std::vector<array> parts = {a, a};
  BOOST_TEST((tutti::concat(parts, 1).shape() == shape{2, 6}));
  BOOST_TEST(matches(tutti::permute_dims(a, {1, 0}), {{3, 2}, {1, 4, 2, 5, 3, 6}}));
  BOOST_TEST(matches(tutti::std(a, 1), {{2}, {std::sqrt(2.0 / 3), std::sqrt(2.0 / 3)}},
                     {.relative = 1e-6}));
  BOOST_TEST(matches(tutti::std(a, {1, true}, 1), {{2, 1}, {1, 1}}, {.relative = 1e-6}));
  BOOST_TEST(matches(tutti::vector_norm(a, 1, 1), {{2}, {6, 15}}));
  BOOST_TEST(matches(tutti::vector_norm(array::from<float>({3, 4})), {{}, {5}}));
  BOOST_TEST(matches(tutti::stack({n, n + 1}, 1), {{3, 2}, {12, 13, -7, -6, 1, 2}}));
  const array nothing = tutti::empty({2, 3}, dtype::i16);
  BOOST_TEST((nothing.shape() == shape{2, 3} && nothing.dtype() == dtype::i16));
  BOOST_TEST((tutti::empty_like(a, dtype::f64).dtype() == dtype::f64));
  BOOST_TEST(tutti::empty_like(nothing).to_vector<std::int16_t>().size() == 6u);
  FAILS(value_error, tutti::empty_like(array()), "empty_like");
  FAILS(dtype_error, tutti::bitwise_invert(a), "f32");
}

BOOST_AUTO_TEST_CASE(kinds_of_dtypes) {
  // The table of the standard's isdtype.
  for (dtype t : all_dtypes) {
    const std::string text(name(t));
    const char kind = text[0];
    BOOST_TEST_CONTEXT(text) {
      BOOST_TEST(isdtype(t, "bool") == (text == "bool"));
      BOOST_TEST(isdtype(t, "signed integer") == (kind == 'i'));
      BOOST_TEST(isdtype(t, "unsigned integer") == (kind == 'u'));
      BOOST_TEST(isdtype(t, "integral") == (kind == 'i' || kind == 'u'));
      BOOST_TEST(isdtype(t, "real floating") == (kind == 'f' || text == "bf16"));
      BOOST_TEST(isdtype(t, "complex floating") == (kind == 'c'));
      BOOST_TEST(isdtype(t, "numeric") == (text != "bool"));
      BOOST_TEST(isdtype(t, t));
      BOOST_TEST(isdtype(t, {"bool", "complex floating"}) == (kind == 'c' || text == "bool"));
    }
  }
  BOOST_TEST(!isdtype(dtype::f32, dtype::f64));
  FAILS(value_error, isdtype(dtype::f32, "float"), "'float'");
  FAILS(value_error, isdtype(dtype::f32, {"numeric", "x"}), "'x'");
}
