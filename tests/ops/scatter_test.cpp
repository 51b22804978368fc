// SPDX-License-Identifier: Apache-2.0
//
// Scattering in every mode against loops on the host: along an axis, at index tuples, at flat
// places; every dtype, repeated places, NaN, gradients.
#include "differences.hpp"
#include "sampled_layouts.hpp"
#include "tutti_test/host_device.hpp"

namespace scatter_test {

namespace {

using tutti::scatter_mode;
using arguments = std::vector<array>;

const dense cube = random_dense({4, 6, 5}, -1, 1, 811);
constexpr scatter_mode modes[] = {scatter_mode::set, scatter_mode::add, scatter_mode::multiply,
                                  scatter_mode::min, scatter_mode::max};
const char* const names[] = {"set", "add", "multiply", "min", "max"};
const char* name_of(scatter_mode mode) { return names[static_cast<int>(mode)]; }

array integers(std::vector<std::int32_t> values, const shape& extents) {
  return array::from(values, extents);
}

// Where each combination of a dtype and a mode is another program to compile, those of a sample;
// `tutti verify` tries them all.
bool compiles() { return !tutti_test::on_host(); }

template <class T>
T combined(T a, T b, scatter_mode mode) {
  switch (mode) {
    case scatter_mode::add:
      return static_cast<T>(a + b);
    case scatter_mode::multiply:
      return static_cast<T>(a * b);
    case scatter_mode::min:
      return a != a || b != b ? std::numeric_limits<T>::quiet_NaN() : a < b ? a : b;
    case scatter_mode::max:
      return a != a || b != b ? std::numeric_limits<T>::quiet_NaN() : a > b ? a : b;
    default:
      return b;
  }
}

constexpr tolerance few_roundings{.relative = 1e-6, .absolute = 1e-6};

// Updates at flat places, one after the other.
dense put_loop(dense a, const std::vector<std::int64_t>& places, const std::vector<double>& values,
               scatter_mode mode) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto at = static_cast<std::size_t>(
        places[i] < 0 ? places[i] + static_cast<std::int64_t>(a.values.size()) : places[i]);
    a.values[at] = combined(a.values[at], values[i % values.size()], mode);
  }
  return a;
}

// The same where `to` gives the index of the element for that of each update.
template <class F>
dense scattered(const dense& a, const dense& updates, scatter_mode mode, F&& to) {
  std::vector<std::int64_t> places;
  tabulate(updates.extents, [&](const position& i) {
    const position at = to(i);
    std::int64_t place = 0;
    for (int d = 0; d < a.extents.rank(); ++d) {
      const std::int64_t k = at[std::size_t(d)];
      place = place * a.extents[d] + (k < 0 ? k + a.extents[d] : k);
    }
    places.push_back(place);
    return 0;
  });
  return put_loop(a, places, updates.values, mode);
}

}  // namespace

BOOST_AUTO_TEST_CASE(along_an_axis) {
  const std::vector<std::int32_t> places = {1, -1, 1, 0};
  for (int axis = 0; axis < 3; ++axis) {
    shape taken = cube.extents;
    taken[axis] = 4;
    const dense updates = random_dense(taken, -1, 1, 812);
    for (const auto& [layout, x] : sampled_layouts(cube)) {
      if (compiles() && axis != 1 && layout != "transposed") continue;
      const array index = integers(places, {4}), y = upload_as<float>(updates);
      for (const scatter_mode mode : modes) {
        BOOST_TEST_CONTEXT(name_of(mode) << " " << layout << " axis " << axis) {
          const dense expected = scattered(cube, updates, mode, [&](position p) {
            std::int64_t& k = p[std::size_t(axis)];
            k = places[std::size_t(k)];
            return p;
          });
          BOOST_TEST(matches(tutti::scatter(x, index, y, axis, mode), expected, few_roundings));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(at_tuples_of_indices) {
  const std::vector<std::int32_t> i = {0, -1, 0}, j = {5, -6};
  const array column = integers(i, {3, 1}), row = integers(j, {2});
  const dense updates = random_dense({3, 2, 5}, -1, 1, 813);
  for (const auto& [layout, x] : sampled_layouts(cube)) {
    for (const scatter_mode mode : {scatter_mode::set, scatter_mode::add}) {
      BOOST_TEST_CONTEXT(name_of(mode) << " " << layout) {
        const dense expected = scattered(cube, updates, mode, [&](const position& p) {
          return position{i[std::size_t(p[0])], j[std::size_t(p[1])], p[2]};
        });
        BOOST_TEST(matches(tutti::index_put(x, {column, row}, upload_as<float>(updates), mode),
                           expected, few_roundings));
      }
    }
  }
  const array x = upload_as<float>(cube);
  BOOST_TEST(matches(tutti::index_put(x, {3, 5, 4}, 7), put_loop(cube, {119}, {7}, {})));
  BOOST_TEST(matches(tutti::index_put(x, {integers({}, {0}), row({tutti::slice{0, 1}})}, 7), cube));
  FAILS(index_error, tutti::index_put(x, {0, 6}, 1),
        "index_put: index 6 is out of range for axis 1");
  FAILS(index_error, tutti::index_put(x, {0, 0, 0, 0}, 1), "4 indices");
  FAILS(value_error, tutti::index_put(x, {}, 1), "no indices");
  FAILS(shape_error, tutti::index_put(x, {row}, tutti::ones({3, 1, 1})), "index_put: ");
}

BOOST_AUTO_TEST_CASE(at_flat_places) {
  const std::vector<std::int64_t> places = {7, -1, 7, 0, 118, 119, -120};
  const array index = array::from(places);
  for (const auto& [layout, x] : sampled_layouts(cube)) {
    for (const scatter_mode mode : {scatter_mode::set, scatter_mode::max}) {
      BOOST_TEST_CONTEXT(name_of(mode) << " " << layout) {
        const std::vector<double> values = {0.5, -0.25, 2, 0.125, -3, 4, -5};
        const array y = upload_as<float>({{7}, values});
        BOOST_TEST(matches(tutti::put(x, index, y, mode), put_loop(cube, places, values, mode),
                           few_roundings));
      }
    }
  }
  const array x = upload_as<float>(cube);
  BOOST_TEST(matches(tutti::put(x, index * 1, 2.5), put_loop(cube, places, {2.5}, {})));
  BOOST_TEST(matches(tutti::put(x, integers({}, {0, 3}), tutti::ones({3})), cube));
  BOOST_TEST(matches(tutti::put(tutti::full({}, 3, dtype::f32), 0, 4), {{}, {4}}));
  FAILS(index_error, tutti::put(x, integers({3, -121}, {2}), 1), "put: index -121");
  FAILS(index_error, tutti::put(x, index + 1, 1), "put: index 120");
  FAILS(index_error, tutti::put(tutti::zeros({0}), 0, 1), "put: index 0");
  FAILS(dtype_error, tutti::put(x, 0.5, 1), "put: indices");
  FAILS(shape_error, tutti::put(x, index, tutti::ones({3})), "put");
}

BOOST_AUTO_TEST_CASE(at_places_along_an_axis) {
  for (int axis = 0; axis < 3; ++axis) {
    shape extents = cube.extents;
    extents[axis] = 3;
    const std::int64_t n = cube.extents[axis];
    const dense where = random_integers(extents, -n, n - 1, 814);
    const dense updates = random_dense(extents, -1, 1, 815);
    const array index = upload_as<std::int64_t>(where), y = upload_as<float>(updates);
    for (const auto& [layout, x] : sampled_layouts(cube)) {
      for (const scatter_mode mode : {scatter_mode::set, scatter_mode::multiply}) {
        BOOST_TEST_CONTEXT(name_of(mode) << " " << layout << " axis " << axis) {
          const dense expected = scattered(cube, updates, mode, [&](position p) {
            const double k = where.at(p);
            p[std::size_t(axis)] = static_cast<std::int64_t>(k);
            return p;
          });
          BOOST_TEST(
              matches(tutti::put_along_axis(x, index, y, axis, mode), expected, few_roundings));
        }
      }
    }
  }
  const array x = upload_as<float>(cube);
  const array order = tutti::argsort(x, 1);
  BOOST_TEST(
      matches(tutti::put_along_axis(tutti::zeros({4, 6, 5}), order, tutti::sort(x, 1), 1), cube));
  BOOST_TEST(matches(tutti::put_along_axis(x, tutti::zeros({4, 0, 5}, dtype::i64), 1, 1), cube));
  FAILS(shape_error, tutti::put_along_axis(x, tutti::zeros({4, 6}, dtype::i64), 1),
        "put_along_axis");
  FAILS(index_error, tutti::put_along_axis(x, tutti::full({4, 6, 5}, 6, dtype::i64), 1, 1),
        "put_along_axis: index 6");
}

BOOST_AUTO_TEST_CASE(every_integer_dtype_wraps_and_orders) {
  const auto check = [](auto zero) {
    using T = decltype(zero);
    const std::vector<T> base = {T(3), T(-5), T(100), std::numeric_limits<T>::max(), T(0)};
    const std::vector<T> updates = {T(7), T(-3), T(90), T(2), std::numeric_limits<T>::lowest(),
                                    T(11)};
    const std::vector<std::int32_t> places = {2, 0, 2, 3, 4, 2};
    for (const scatter_mode mode : modes) {
      const int sample = static_cast<int>(tutti::dtype_of<T>) + static_cast<int>(mode);
      if (compiles() && sample % 4 != 0) continue;
      std::vector<T> expected = base;
      for (std::size_t i = 0; i < places.size(); ++i) {
        T& value = expected[static_cast<std::size_t>(places[i])];
        const auto a = static_cast<std::uint64_t>(value),
                   b = static_cast<std::uint64_t>(updates[i]);
        value = mode == scatter_mode::add        ? static_cast<T>(a + b)
                : mode == scatter_mode::multiply ? static_cast<T>(a * b)
                                                 : combined(value, updates[i], mode);
      }
      const array got =
          tutti::scatter(array::from(base), integers(places, {6}), array::from(updates), 0, mode);
      BOOST_TEST_CONTEXT(name_of(mode) << " of " << tutti::name(tutti::dtype_of<T>)) {
        BOOST_TEST((got.dtype() == tutti::dtype_of<T>));
        BOOST_TEST(all_close(got.to_vector<T>(), expected));
      }
    }
  };
  check(std::int8_t{});
  check(std::int16_t{});
  check(std::int32_t{});
  check(std::int64_t{});
  check(std::uint8_t{});
  check(std::uint16_t{});
  check(std::uint32_t{});
  check(std::uint64_t{});
}

BOOST_AUTO_TEST_CASE(floats_of_every_width_and_bool) {
  const array index = integers({1, 1, 0}, {3});
  for (const dtype type : {dtype::f16, dtype::bf16, dtype::f64}) {
    const array x = upload({{3}, {1, 2, 3}}, type), u = upload({{3}, {0.5, 4, -8}}, type);
    const std::vector<std::vector<double>> expected = {
        {-8, 4, 3}, {-7, 6.5, 3}, {-8, 4, 3}, {-8, 0.5, 3}, {1, 4, 3}};
    for (const scatter_mode mode : modes) {
      if (compiles() && type != dtype::f16 && mode != scatter_mode::set) continue;
      const array got = tutti::scatter(x, index, u, 0, mode);
      BOOST_TEST((got.dtype() == type));
      BOOST_TEST(matches(got, {{3}, expected[static_cast<std::size_t>(mode)]}), name_of(mode));
    }
  }
  // Many small halves, rounded once.
  const array ones = tutti::full({4096}, 1, dtype::f16);
  BOOST_TEST(matches(
      tutti::scatter_add(tutti::full({1}, 1, dtype::f16), tutti::zeros({4096}, dtype::i32), ones),
      {{1}, {4096}}));
  const array truth = array::from(std::vector<bool>{true, false, true});
  BOOST_TEST(matches(tutti::scatter_set(truth, index, array::from({true, true, false})),
                     {{3}, {0, 1, 1}}));
  for (const scatter_mode mode : {scatter_mode::add, scatter_mode::multiply, scatter_mode::min})
    FAILS(dtype_error, tutti::scatter(truth, index, true, 0, mode), "scatter: needs");
  // Dtypes promote.
  BOOST_TEST((tutti::scatter_max(array::from<std::int8_t>({1}), 0, tutti::full({}, 300, dtype::i16))
                  .dtype() == dtype::i16));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(complex_numbers, T, decltype(std::tuple<float, double>{})) {
  using C = std::complex<T>;
  const std::vector<C> base = {{1, 2}, {-1, 0.5}, {0, 3}}, updates = {{2, -1}, {0.5, 0.25}, {4, 1}};
  const array index = integers({1, 1, 0}, {3}), x = array::from(base), u = array::from(updates);
  const auto check = [&](scatter_mode mode, const std::vector<C>& expected) {
    const array got = tutti::scatter(x, index, u, 0, mode);
    BOOST_TEST((got.dtype() == tutti::dtype_of<C>));
    const std::vector<C> values = got.template to_vector<C>();
    for (std::size_t i = 0; i < 3; ++i)
      BOOST_TEST(std::abs(values[i] - expected[i]) <= 1e-6, name_of(mode) << " " << i);
  };
  check(scatter_mode::set, {updates[2], updates[1], base[2]});
  check(scatter_mode::add, {base[0] + updates[2], base[1] + updates[0] + updates[1], base[2]});
  check(scatter_mode::multiply, {base[0] * updates[2], base[1] * updates[0] * updates[1], base[2]});
  FAILS(dtype_error, tutti::scatter_min(x, index, u), "scatter_min: needs");
}

BOOST_AUTO_TEST_CASE(nan_and_infinities) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = HUGE_VAL;
  const dense base{{6}, {nan, 1, 2, -inf, inf, 0}}, updates{{6}, {1, nan, 5, inf, -inf, nan}};
  const std::vector<std::int64_t> places = {0, 1, 1, 3, 4, 2};
  for (const scatter_mode mode : modes)
    BOOST_TEST(matches(tutti::put(upload_as<float>(base), array::from(places),
                                  upload_as<float>(updates), mode),
                       put_loop(base, places, updates.values, mode)),
               name_of(mode));
}

BOOST_AUTO_TEST_CASE(many_updates_repeat_bit_by_bit) {
  const std::int64_t count = 30011, rows = 97;
  const dense where = random_integers({count}, 0, rows - 1, 816);
  const std::vector<double> at = where.values;
  const std::vector<std::int64_t> places(at.begin(), at.end());
  const dense updates = random_dense({count}, 0.99, 1.01, 817),
              base = random_dense({rows}, 1, 2, 818);
  const array index = array::from(places), u = upload_as<float>(updates),
              x = upload_as<float>(base);
  for (const scatter_mode mode : modes) {
    const array once = tutti::put(x, index, u, mode);
    BOOST_TEST(matches(once, put_loop(base, places, updates.values, mode), {.relative = 1e-4}));
    BOOST_TEST(
        all_close(tutti::put(x * 1, index, u, mode).to_vector<float>(), once.to_vector<float>()));
  }
}

BOOST_AUTO_TEST_CASE(bad_and_empty_input) {
  const array counts = tutti::zeros({3}, dtype::i32), none = integers({}, {0});
  BOOST_TEST(
      matches(tutti::scatter_add(counts, integers({2, 2, 0, 2}, {2, 2}), 1), {{3}, {1, 0, 3}}));
  BOOST_TEST(matches(tutti::scatter_set(counts, 1, 9), {{3}, {0, 9, 0}}));
  BOOST_TEST(matches(tutti::scatter_multiply(counts + 2, 1, 9), {{3}, {2, 18, 2}}));
  for (const scatter_mode mode : modes) {
    BOOST_TEST(matches(tutti::scatter(counts, none, 9, 0, mode), {{3}, {0, 0, 0}}));
    BOOST_TEST(tutti::scatter(tutti::zeros({3, 0}), 1, 2, 0, mode).shape() == (shape{3, 0}));
  }
  // What was given stays as it was.
  BOOST_TEST(matches(counts, {{3}, {0, 0, 0}}));
  FAILS(index_error, tutti::scatter_max(counts, 3, 1), "scatter_max: index 3");
  FAILS(index_error, tutti::scatter(counts, 0, 1, 1), "scatter");
  FAILS(shape_error, tutti::scatter(tutti::ones({}), 0, 1), "0-d");
  FAILS(shape_error, tutti::scatter_set(counts, integers({0, 1}, {2}), tutti::ones({3})),
        "scatter_set: ");
  FAILS(shape_error, tutti::scatter_set(counts, integers({0, 1}, {2}), tutti::ones({0})),
        "updates of shape [0]");
}

BOOST_AUTO_TEST_CASE(gradients) {
  const dense a = random_dense({4, 3}, 0.5, 1.5, 803), u = random_dense({5, 3}, 0.5, 1.5, 804);
  const array rows = integers({2, 0, 2, 2, -1}, {5});
  for (const scatter_mode mode : modes) {
    if (compiles() && mode != scatter_mode::set) continue;  // composed alike on every device
    BOOST_TEST_CONTEXT(name_of(mode)) {
      check_gradient(
          [&](const arguments& v) {
            return weighted_sum(tutti::scatter(v[0], rows, v[1], 0, mode) * v[0]);
          },
          {a, u});
    }
  }
  // Factors of zero: none, one and two of them at a place, in the base and in the updates.
  const dense base{{4}, {2, 0, 3, 0}}, factors{{6}, {0, 5, 0, 0, 7, 2}};
  const array places = integers({0, 1, 2, 2, 0, 3}, {6});
  check_gradient(
      [&](const arguments& v) { return weighted_sum(tutti::scatter_multiply(v[0], places, v[1])); },
      {base, factors});
  // Those that reach the extremum share equally.
  const auto shares = tutti::grad([&](const arguments& v) {
    return tutti::sum(tutti::scatter_max(v[0], integers({0, 0, 0, 1}, {4}), v[1]));
  })({upload_as<double>({{2}, {4, 1}}), upload_as<double>({{4}, {4, 2, 4, 3}})});
  BOOST_TEST(matches(shares[0], {{2}, {1.0 / 3, 0}}, {.relative = 1e-15}));
  BOOST_TEST(matches(shares[1], {{4}, {1.0 / 3, 0, 1.0 / 3, 1}}, {.relative = 1e-15}));
  // Of one place and of complex numbers.
  check_gradient(
      [](const arguments& v) {
        return weighted_sum(tutti::index_put(v[0], {1, 2}, v[1]));
      },
      {a, {{}, {2}}});
  const auto of_complex = [&](const arguments& v) {
    const array z = tutti::complex(v[0], v[1]);
    const array product = tutti::scatter_multiply(z, integers({1, 1, 0}, {3}), z);
    return tutti::sum(tutti::real(product) * 2 + tutti::imag(product));
  };
  check_gradient(of_complex, {random_dense({3}, 0.5, 1.5, 819), random_dense({3}, 0.5, 1.5, 820)});
}

// Hundreds of thousands of updates that meet in few elements, at whose size a plain sum of f32 has
// lost a digit of each update and more.
BOOST_AUTO_TEST_CASE(long_runs_of_sums) {
  const std::int64_t columns = 37;
  for (const std::int64_t width : {std::int64_t{1}, columns}) {
    const std::int64_t picks = width == 1 ? 300000 : 20000, rows = 3;
    const auto values = random_vector<float>(static_cast<std::size_t>(picks * width), 0, 1, 77);
    std::vector<std::int32_t> index(static_cast<std::size_t>(picks));
    // Row 1 gets few updates, which are added as they are.
    for (std::size_t i = 0; i < index.size(); ++i)
      index[i] = i % 4000 == 0 ? 1 : i % 3 == 0 ? 2 : 0;
    dense expected = tabulate({rows, width}, [](const position& i) { return double(i[0]); });
    const array base = upload_as<float>(expected);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto w = static_cast<std::size_t>(width);
      expected.values[static_cast<std::size_t>(index[i / w]) * w + i % w] += double(values[i]);
    }
    const array places = array::from(index);
    BOOST_TEST_CONTEXT("rows of " << width) {
      const array updates = array::from(values, {picks, width});
      BOOST_TEST(
          matches(tutti::scatter_add(base, places, updates), expected, {.relative = 1.2e-7}));
    }
  }
}

// More elements than a cache holds, which CPUs divide among their cores; sums are exact.
BOOST_AUTO_TEST_CASE(single_elements_of_long_arrays) {
  constexpr std::size_t rows = (1 << 20) + 37, picks = 70000;
  std::vector<std::int32_t> index, values;
  std::vector<double> sums(rows, 1), largest(rows, 1);
  for (std::size_t i = 0; i < picks; ++i) {
    index.push_back(static_cast<std::int32_t>(i % 3 == 0 ? rows - 1 - i % 5 : i * 7919 % rows));
    values.push_back(static_cast<std::int32_t>(i * 31 % 201) - 100);
    const auto at = static_cast<std::size_t>(index.back());
    sums[at] += values.back();
    largest[at] = std::max<double>(largest[at], values.back());
  }
  for (const dtype type : {dtype::f32, dtype::f64, dtype::i32}) {
    const array base = tutti::ones({std::int64_t(rows)}, type), places = array::from(index);
    const array updates = array::from(values).astype(type);
    BOOST_TEST(
        (tutti::scatter_add(base, places, updates).astype(dtype::f64).to_vector<double>() == sums));
    BOOST_TEST((tutti::scatter_max(base, places, updates).astype(dtype::f64).to_vector<double>() ==
                largest));
  }
}

BOOST_AUTO_TEST_CASE(long_runs_past_an_infinity) {
  const std::vector<std::int32_t> index(40, 0);
  std::vector<float> values(40, 1);
  values[20] = std::numeric_limits<float>::infinity();
  const array sums = tutti::scatter_add(tutti::zeros({2}), array::from(index), array::from(values));
  BOOST_TEST(matches(sums, {{2}, {std::numeric_limits<double>::infinity(), 0}}));
  values[30] = -values[20];
  const array none = tutti::scatter_add(tutti::zeros({2}), array::from(index), array::from(values));
  BOOST_TEST(matches(none, {{2}, {std::numeric_limits<double>::quiet_NaN(), 0}}));
}

// bincount with weights is such a sum.
BOOST_AUTO_TEST_CASE(long_runs_of_weights) {
  const std::vector<std::int32_t> numbers(200000, 1);
  const auto weights = random_vector<float>(numbers.size(), 0, 1, 78);
  double sum = 0;
  for (const float w : weights) sum += w;
  const array got = tutti::bincount(array::from(numbers), array::from(weights));
  BOOST_TEST(matches(got, {{2}, {0, sum}}, {.relative = 1.2e-7}));
}

}  // namespace scatter_test
