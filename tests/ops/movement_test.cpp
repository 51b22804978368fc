// SPDX-License-Identifier: Apache-2.0
//
// Data movement against index arithmetic on the host, on every layout of the operand, and its
// gradients.
#include "differences.hpp"
#include "graph/node.hpp"
#include "sampled_layouts.hpp"

namespace movement_test {

namespace {

using tutti::pad_mode;
using arguments = std::vector<array>;

const dense cube = random_dense({4, 6, 5}, -1, 1, 401);
const dense matrix = random_dense({3, 5}, -2, 2, 402);

// x with the index along `axis` given by `source`.
template <class F>
dense gathered(const dense& x, int axis, std::int64_t extent, F&& source) {
  shape to = x.extents;
  to[axis] = extent;
  return tabulate(to, [&](position i) {
    i[std::size_t(axis)] = source(i[std::size_t(axis)]);
    return x.at(i);
  });
}

bool is_view(const array& a) { return a.node()->is_view(); }

}  // namespace

BOOST_AUTO_TEST_CASE(splitting) {
  for (const auto& [layout, x] : sampled_layouts(cube)) {
    BOOST_TEST_CONTEXT(layout) {
      const auto halves = tutti::split(x, 3, 1);
      BOOST_TEST_REQUIRE(halves.size() == 3u);
      for (std::int64_t k = 0; k < 3; ++k) {
        BOOST_TEST(matches(halves[std::size_t(k)],
                           gathered(cube, 1, 2, [&](std::int64_t i) { return 2 * k + i; })));
        BOOST_TEST(is_view(halves[std::size_t(k)]));
      }
      const auto parts = tutti::split_at(x, {1, 1, -1, 9}, -1);
      BOOST_TEST_REQUIRE(parts.size() == 5u);
      const std::int64_t starts[] = {0, 1, 1, 4, 5}, sizes[] = {1, 0, 3, 1, 0};
      for (std::size_t k = 0; k < 5; ++k)
        BOOST_TEST(matches(
            parts[k], gathered(cube, 2, sizes[k], [&](std::int64_t i) { return starts[k] + i; })));
      const auto rows = tutti::unstack(x, 1);
      BOOST_TEST_REQUIRE(rows.size() == 6u);
      BOOST_TEST(matches(rows[4], tabulate({4, 5}, [](const position& i) {
                           return cube.at({i[0], 4, i[1]});
                         })));
    }
  }
  BOOST_TEST(tutti::unstack(tutti::zeros({0, 3})).empty());
  BOOST_TEST(tutti::split(tutti::zeros({0, 3}), 2)[1].shape() == (shape{0, 3}));
  const array x = upload_as<float>(cube);
  FAILS(shape_error, tutti::split(x, 5), "split: axis 0 of [4,6,5] has no 5 equal sections");
  FAILS(shape_error, tutti::split(x, 0), "split");
  FAILS(index_error, tutti::split_at(x, {1}, 3), "split_at");
  FAILS(index_error, tutti::unstack(array(1)), "unstack");
}

BOOST_AUTO_TEST_CASE(tiling) {
  const array pair = array::from({{1, 2}, {3, 4}});
  BOOST_TEST(matches(tutti::tile(pair, {2}), {{2, 4}, {1, 2, 1, 2, 3, 4, 3, 4}}));
  BOOST_TEST(matches(tutti::tile(pair, {2, 1}), {{4, 2}, {1, 2, 3, 4, 1, 2, 3, 4}}));
  BOOST_TEST(matches(tutti::tile(pair, {2, 1, 1}), {{2, 2, 2}, {1, 2, 3, 4, 1, 2, 3, 4}}));
  BOOST_TEST(matches(tutti::tile(pair, {}), read(pair)));
  // More axes than a view has.
  const dense deep = random_dense({2, 1, 2, 2, 1, 2, 2, 2}, -1, 1, 403);
  const dense expected = tabulate({4, 1, 2, 4, 3, 2, 2, 4}, [&](const position& i) {
    return deep.at({i[0] % 2, 0, i[2], i[3] % 2, 0, i[5], i[6], i[7] % 2});
  });
  BOOST_TEST(matches(tutti::tile(upload_as<float>(deep), {2, 1, 1, 2, 3, 1, 1, 2}), expected));
  BOOST_TEST(tutti::tile(upload_as<float>(matrix), {0, 2}).shape() == (shape{0, 10}));
  BOOST_TEST(matches(tutti::tile(array(7), {3}), {{3}, {7, 7, 7}}));
  FAILS(value_error, tutti::tile(array(7), {2, -1}), "tile: negative count in [2,-1]");
}

BOOST_AUTO_TEST_CASE(repeating) {
  const std::vector<std::int64_t> counts = {2, 0, 1, 3, 0, 1}, places = {0, 0, 2, 3, 3, 3, 5};
  for (const auto& [layout, x] : sampled_layouts(cube)) {
    BOOST_TEST_CONTEXT(layout) {
      for (int axis = 0; axis < 3; ++axis)
        BOOST_TEST(matches(
            tutti::repeat(x, 3, axis),
            gathered(cube, axis, 3 * cube.extents[axis], [](std::int64_t i) { return i / 3; })));
      const dense flat{{120}, cube.values};
      BOOST_TEST(matches(tutti::repeat(x, 2),
                         gathered(flat, 0, 240, [](std::int64_t i) { return i / 2; })));
      BOOST_TEST(
          matches(tutti::repeat_each(x, counts, 1),
                  gathered(cube, 1, 7, [&](std::int64_t i) { return places[std::size_t(i)]; })));
    }
  }
  // A list of counts, as the array API has it: of the host, in braces, or an array of any integers.
  const dense each = gathered(cube, 1, 7, [&](std::int64_t i) { return places[std::size_t(i)]; });
  const array whole = upload_as<float>(cube);
  BOOST_TEST(matches(tutti::repeat(whole, counts, 1), each));
  BOOST_TEST(matches(tutti::repeat(whole, {2, 0, 1, 3, 0, 1}, 1), each));
  BOOST_TEST(matches(tutti::repeat_each(whole, {2, 0, 1, 3, 0, 1}, -2), each));
  for (const dtype type : {dtype::u8, dtype::i16, dtype::i64, dtype::u64})
    BOOST_TEST(matches(tutti::repeat(whole, array::from(counts).astype(type), 1), each));
  BOOST_TEST(matches(tutti::repeat(whole, array::from<int>({2})), read(tutti::repeat(whole, 2))));
  BOOST_TEST(matches(tutti::repeat(whole, array::from<int>({3})[0], 2),
                     gathered(cube, 2, 15, [](std::int64_t i) { return i / 3; })));
  FAILS(shape_error, tutti::repeat(whole, {1, 2}, 1), "repeat: 2 counts for axis 1 of [4,6,5]");
  FAILS(shape_error, tutti::repeat(whole, array::from<int>({{1}, {2}}), 1),
        "repeat: counts of shape [2,1]");
  FAILS(dtype_error, tutti::repeat(whole, array::from<float>({1, 2})), "repeat: ");
  FAILS(value_error, tutti::repeat(whole, array::from<int>({1, 1, 1, -4, 1, 1}), 1),
        "-4 is negative");
  const dense deep = random_dense({2, 1, 2, 1, 1, 2, 1, 3}, -1, 1, 404);
  BOOST_TEST(matches(tutti::repeat(upload_as<float>(deep), 2, 5),
                     gathered(deep, 5, 4, [](std::int64_t i) { return i / 2; })));
  const array x = upload_as<float>(cube);
  BOOST_TEST(tutti::repeat(x, 0, 1).shape() == (shape{4, 0, 5}));
  BOOST_TEST(matches(tutti::repeat(array(3), 2), {{2}, {3, 3}}));
  FAILS(value_error, tutti::repeat(x, -2, 1), "repeat: the count -2 is negative");
  FAILS(shape_error, tutti::repeat_each(x, counts, 0),
        "repeat_each: 6 counts for axis 0 of [4,6,5]");
  const std::vector<std::int64_t> bad = {1, -1, 0, 2};
  FAILS(value_error, tutti::repeat_each(x, bad, 0), "-1 is negative");
}

BOOST_AUTO_TEST_CASE(rolling_and_flipping) {
  for (const auto& [layout, x] : sampled_layouts(cube)) {
    BOOST_TEST_CONTEXT(layout) {
      for (std::int64_t by : {1, -2, 6, 13, -7})
        BOOST_TEST(matches(tutti::roll(x, by, 1), gathered(cube, 1, 6, [&](std::int64_t i) {
                             return ((i - by) % 6 + 6) % 6;
                           })));
      dense whole = gathered({{120}, cube.values}, 0, 120,
                             [](std::int64_t i) { return (i + 119 - 6) % 120; });
      whole.extents = cube.extents;
      BOOST_TEST(matches(tutti::roll(x, 7), whole));
      BOOST_TEST(matches(tutti::flip(x), read(tutti::flip(x, {0, 1, 2}))));
      BOOST_TEST(is_view(tutti::flip(x)));
    }
  }
  BOOST_TEST(tutti::roll(tutti::zeros({0, 2}), 3, 0).shape() == (shape{0, 2}));
  BOOST_TEST(tutti::flip(array(2.5)).item() == 2.5);
  FAILS(index_error, tutti::flip(tutti::zeros({2}), 1), "flip");
  FAILS(index_error, tutti::roll(tutti::zeros({2}), 1, 1), "roll");
}

BOOST_AUTO_TEST_CASE(padding) {
  const std::vector<tutti::pad_width> widths = {{2, 1}, {0, 0}, {3, 4}};
  const auto place = [](std::int64_t i, std::int64_t n, pad_mode mode) {
    if (mode == pad_mode::edge || n == 1) return std::clamp<std::int64_t>(i, 0, n - 1);
    while (i < 0 || i >= n) i = i < 0 ? -i : 2 * (n - 1) - i;
    return i;
  };
  for (const auto& [layout, x] : sampled_layouts(cube)) {
    BOOST_TEST_CONTEXT(layout) {
      BOOST_TEST(matches(tutti::pad(x, widths, pad_mode::constant, 7),
                         tabulate({7, 6, 12}, [](const position& i) {
                           const std::int64_t p = i[0] - 2, q = i[2] - 3;
                           return p < 0 || p >= 4 || q < 0 || q >= 5 ? 7.0 : cube.at({p, i[1], q});
                         })));
      for (pad_mode mode : {pad_mode::edge, pad_mode::reflect})
        BOOST_TEST(
            matches(tutti::pad(x, widths, mode), tabulate({7, 6, 12}, [&](const position& i) {
                      return cube.at({place(i[0] - 2, 4, mode), i[1], place(i[2] - 3, 5, mode)});
                    })));
    }
  }
  // Reflected many times over.
  for (std::int64_t n : {1, 2, 3}) {
    const dense line = random_dense({n}, -1, 1, 405);
    BOOST_TEST(matches(tutti::pad(upload_as<float>(line), {{9, 30}}, pad_mode::reflect),
                       tabulate({n + 39}, [&](const position& i) {
                         return line.at({place(i[0] - 9, n, pad_mode::reflect)});
                       })));
  }
  const array bytes =
      tutti::pad(array::from<std::int8_t>({1, 2}), {{1, 0}}, pad_mode::constant, -3);
  BOOST_TEST((bytes.dtype() == dtype::i8));
  BOOST_TEST(matches(bytes, {{3}, {-3, 1, 2}}));
  BOOST_TEST(
      matches(tutti::pad(tutti::zeros({0}), {{1, 1}}, pad_mode::constant, NAN), {{2}, {NAN, NAN}}));
  const array x = upload_as<float>(matrix);
  BOOST_TEST(matches(tutti::pad(x, {}), matrix));
  FAILS(value_error, tutti::pad(x, {{1, 1}, {1, 1}, {1, 1}}),
        "pad: 3 widths for an array of shape [3,5]");
  // Negative widths take away first.
  const array m = tutti::arange(15).reshape({3, 5});
  BOOST_TEST(matches(tutti::pad(m, {{-2, 1}, {1, -3}}, pad_mode::constant, 7),
                     dense{{2, 3}, {7, 10, 11, 7, 7, 7}}));
  BOOST_TEST(matches(tutti::pad(m, {{-1, -1}, {-4, 2}}, pad_mode::wrap), dense{{1, 3}, {9, 9, 9}}));
  FAILS(value_error, tutti::pad(x, {{1, -4}}), "1 and -4 of axis 0");
  FAILS(value_error, tutti::pad(x, {{-2, -2}}), "remove more elements");
  BOOST_TEST(matches(tutti::pad(tutti::arange(3), {{4, 70}}, pad_mode::wrap),
                     tabulate({77}, [](const position& i) { return double((i[0] + 2) % 3); })));
  FAILS(value_error, tutti::pad(tutti::zeros({0}), {{1, 0}}, pad_mode::edge), "is empty");
}

BOOST_AUTO_TEST_CASE(moving_axes) {
  for (const auto& [layout, x] : sampled_layouts(cube)) {
    BOOST_TEST_CONTEXT(layout) {
      BOOST_TEST(matches(tutti::moveaxis(x, 0, -1), read(tutti::transpose(x, {1, 2, 0}))));
      BOOST_TEST(matches(tutti::moveaxis(x, shape{2, 0}, shape{0, 1}),
                         read(tutti::transpose(x, {2, 0, 1}))));
      BOOST_TEST(is_view(tutti::moveaxis(x, 1, 0)));
    }
  }
  const array x = upload_as<float>(cube);
  FAILS(value_error, tutti::moveaxis(x, shape{0, 1}, shape{1}),
        "moveaxis: axes [0,1] to [1] of [4,6,5]");
  FAILS(value_error, tutti::moveaxis(x, shape{0, -3}, shape{1, 2}), "twice");
  FAILS(index_error, tutti::moveaxis(x, 3, 0), "moveaxis");
}

// Lines that are long enough to be read in tiles, which end within a row, a column and an outer
// axis.
BOOST_AUTO_TEST_CASE(transposed_copies_in_tiles) {
  const dense x = tabulate(
      {3, 1030, 21}, [](const position& i) { return double((i[0] + 7 * i[1] + 5 * i[2]) % 90); });
  const dense y =
      tabulate({3, 21, 1030}, [](const position& i) { return double((i[1] + i[2]) % 30); });
  const dense copy = tabulate({3, 21, 1030}, [&](const position& i) {
    return x.at({i[0], i[2], i[1]});
  });
  const dense reversed = tabulate({21, 3, 1030}, [&](const position& i) {
    return x.at({i[1], 1029 - i[2], i[0]});
  });
  const dense sums =
      tabulate({3, 21, 1030}, [&](const position& i) { return copy.at(i) + y.at(i); });
  const auto test = [&]<class T>(T) {
    const array a = upload_as<T>(x), b = upload_as<T>(y);
    const array across = tutti::transpose(a, {0, 2, 1});
    BOOST_TEST(matches(tutti::contiguous(across), copy));
    BOOST_TEST(matches(across + b, sums));
    BOOST_TEST(
        matches(tutti::contiguous(tutti::transpose(tutti::flip(a, 1), {2, 0, 1})), reversed));
  };
  test(float{});
  test(double{});
  test(std::int8_t{});
  test(std::int16_t{});
  const dense odd =
      tabulate({3, 21, 1030}, [&](const position& i) { return double(copy.at(i) > 40); });
  BOOST_TEST(
      matches(tutti::contiguous(tutti::transpose(upload_as<float>(x) > 40, {0, 2, 1})), odd));
}

BOOST_AUTO_TEST_CASE(broadcasting_together) {
  const dense row = random_dense({5}, 0, 1, 406);
  const auto both = tutti::broadcast_arrays(
      {upload_as<float>(random_dense({3, 1}, 0, 1, 407)), upload_as<float>(row), array(2)});
  BOOST_TEST_REQUIRE(both.size() == 3u);
  for (const array& a : both) BOOST_TEST(a.shape() == (shape{3, 5}));
  BOOST_TEST(matches(both[1], tabulate({3, 5}, [&](const position& i) { return row.at({i[1]}); })));
  BOOST_TEST(tutti::broadcast_arrays({}).empty());
  FAILS(shape_error, tutti::broadcast_arrays({tutti::zeros({2}), tutti::zeros({3})}),
        "broadcast_arrays");
}

BOOST_AUTO_TEST_CASE(diagonals) {
  for (const auto& [layout, x] : sampled_layouts(cube)) {
    for (std::int64_t k : {-5, -4, -3, -1, 0, 1, 2, 5, 6}) {
      BOOST_TEST_CONTEXT(layout << " offset " << k) {
        std::vector<position> on;
        for (std::int64_t r = 0; r < 4; ++r)
          if (r + k >= 0 && r + k < 6) on.push_back({r, r + k});
        const auto length = static_cast<std::int64_t>(on.size());
        const array d = tutti::diagonal(x, k);
        BOOST_TEST(matches(d, tabulate({5, length}, [&](const position& i) {
                             const position& p = on[std::size_t(i[1])];
                             return cube.at({p[0], p[1], i[0]});
                           })));
        if (length > 0) BOOST_TEST(is_view(d));
        BOOST_TEST(matches(tutti::diagonal(x, k, 1, 0), read(tutti::diagonal(x, -k))));
      }
    }
  }
  const array x = upload_as<float>(matrix);
  BOOST_TEST(tutti::diagonal(x, std::numeric_limits<std::int64_t>::min()).size() == 0);
  BOOST_TEST(tutti::diagonal(x, std::numeric_limits<std::int64_t>::max()).size() == 0);
  FAILS(value_error, tutti::diagonal(x, 0, 1, -1), "diagonal: axes 1 and -1 of [3,5] are the same");
  FAILS(index_error, tutti::diagonal(tutti::zeros({3})), "diagonal");

  const dense line = random_dense({4}, -1, 1, 408);
  for (const auto& [layout, v] : sampled_layouts(line)) {
    for (std::int64_t k : {-2, 0, 3}) {
      const std::int64_t n = 4 + std::abs(k);
      BOOST_TEST(matches(tutti::diag(v, k), tabulate({n, n}, [&](const position& i) {
                           return i[1] - i[0] == k ? line.at({std::min(i[0], i[1])}) : 0.0;
                         })));
    }
  }
  BOOST_TEST(
      matches(tutti::diag(x, 1), {{3}, {matrix.at({0, 1}), matrix.at({1, 2}), matrix.at({2, 3})}}));
  BOOST_TEST(tutti::diag(tutti::zeros({0})).shape() == (shape{0, 0}));
  FAILS(shape_error, tutti::diag(array(1)), "diag");
}

BOOST_AUTO_TEST_CASE(triangles) {
  for (const auto& [layout, x] : sampled_layouts(cube)) {
    for (std::int64_t k : {-7, -2, 0, 1, 9}) {
      BOOST_TEST_CONTEXT(layout << " offset " << k) {
        BOOST_TEST(matches(tutti::tril(x, k), tabulate(cube.extents, [&](const position& i) {
                             return i[2] - i[1] <= k ? cube.at(i) : 0.0;
                           })));
        BOOST_TEST(matches(tutti::triu(x, k), read(x - tutti::tril(x, k - 1))));
      }
    }
  }
  // What is cut off may be anything.
  const array bad = array::from(std::vector<float>{1, NAN, INFINITY, 4}, {2, 2});
  BOOST_TEST(matches(tutti::tril(bad), {{2, 2}, {1, 0, INFINITY, 4}}));
  BOOST_TEST((tutti::triu(bad.astype(dtype::f16)).dtype() == dtype::f16));
  BOOST_TEST(tutti::tril(tutti::zeros({0, 3})).shape() == (shape{0, 3}));
  FAILS(shape_error, tutti::triu(tutti::zeros({3})),
        "triu: needs at least two dimensions, got [3]");
}

BOOST_AUTO_TEST_CASE(grids) {
  const array u = array::from<float>({1, 2, 3}), v = array::from<std::int32_t>({4, 5}), w = 6;
  const auto ij = tutti::meshgrid({u, v, w}, tutti::mesh_order::ij);
  const auto xy = tutti::meshgrid({u, v, w});
  BOOST_TEST_REQUIRE((ij.size() == 3u && xy.size() == 3u));
  BOOST_TEST(matches(ij[0], tabulate({3, 2, 1}, [](const position& i) { return 1 + i[0]; })));
  BOOST_TEST(matches(ij[1], tabulate({3, 2, 1}, [](const position& i) { return 4 + i[1]; })));
  BOOST_TEST(matches(xy[0], tabulate({2, 3, 1}, [](const position& i) { return 1 + i[1]; })));
  BOOST_TEST(matches(xy[1], tabulate({2, 3, 1}, [](const position& i) { return 4 + i[0]; })));
  BOOST_TEST(matches(xy[2], tabulate({2, 3, 1}, [](const position&) { return 6; })));
  BOOST_TEST((ij[1].dtype() == dtype::i32));
  BOOST_TEST(tutti::meshgrid({u})[0].shape() == (shape{3}));
  BOOST_TEST(tutti::meshgrid({}).empty());
  FAILS(shape_error, tutti::meshgrid({tutti::zeros({2, 2})}),
        "meshgrid: needs vectors, got shape [2,2]");
}

BOOST_AUTO_TEST_CASE(spaced_numbers) {
  for (dtype type : {dtype::f32, dtype::f64, dtype::f16}) {
    const double relative = type == dtype::f64 ? 1e-15 : type == dtype::f32 ? 3e-7 : 1e-3;
    for (const auto& [low, high] : {std::pair{0.0, 1.0}, {-3.0, 7.5}, {2.0, -2.0}, {5.0, 5.0}}) {
      for (std::int64_t n : {1, 2, 7, 100}) {
        for (bool endpoint : {true, false}) {
          const array got = tutti::linspace(low, high, n, endpoint, type);
          const double gaps = std::max<double>(endpoint ? double(n) - 1 : double(n), 1);
          BOOST_TEST((got.dtype() == type));
          BOOST_TEST(matches(
              got,
              tabulate({n},
                       [&](const position& i) { return low + (high - low) * double(i[0]) / gaps; }),
              {.relative = relative, .absolute = 8 * relative}));
          if (endpoint && n > 1) BOOST_TEST(read(got).values.back() == high);
          BOOST_TEST(read(got).values[0] == low);
        }
      }
    }
  }
  BOOST_TEST(tutti::linspace(0, 1, 0).size() == 0);
  FAILS(value_error, tutti::linspace(0, 1, -1), "linspace: the count -1 is negative");
  FAILS(value_error, tutti::linspace(0, INFINITY, 2), "finite");
  FAILS(dtype_error, tutti::linspace(0, 1, 2, true, dtype::i32), "i32");

  const array like = tutti::full_like(upload_as<float>(matrix), 3);
  BOOST_TEST((like.dtype() == dtype::f32));
  BOOST_TEST(matches(like, tabulate({3, 5}, [](const position&) { return 3; })));
  BOOST_TEST((tutti::full_like(like, 3, dtype::i8).dtype() == dtype::i8));
  BOOST_TEST(matches(tutti::full_like(like, array::from<float>({1, 2, 3, 4, 5})),
                     tabulate({3, 5}, [](const position& i) { return i[1] + 1; })));
  FAILS(shape_error, tutti::full_like(like, tutti::zeros({2})), "[2]");
}

BOOST_AUTO_TEST_CASE(gradients_of_movement) {
  const auto check = [](std::function<array(const array&)> f) {
    check_gradient([&](const arguments& v) { return weighted_sum(f(v[0])); }, {matrix});
  };
  check([](const array& x) { return tutti::split_at(x, {2}, 1)[1] * 2; });
  check([](const array& x) { return tutti::tile(x, {2, 3}); });
  check([](const array& x) { return tutti::repeat(x, 3, 1); });
  check([](const array& x) {
    const std::vector<std::int64_t> counts = {2, 0, 3};
    return tutti::repeat_each(x, counts, 0);
  });
  check([](const array& x) { return tutti::roll(x, 2, 1); });
  check([](const array& x) { return tutti::flip(x); });
  check([](const array& x) { return tutti::pad(x, {{1, 2}, {0, 3}}); });
  check([](const array& x) { return tutti::pad(x, {{1, 2}, {0, 3}}, pad_mode::edge); });
  check([](const array& x) { return tutti::pad(x, {{3, 2}, {0, 3}}, pad_mode::reflect); });
  check([](const array& x) { return tutti::moveaxis(x, 0, 1); });
  for (std::int64_t k : {-1, 0, 1, 3}) {
    check([&](const array& x) { return tutti::square(tutti::diagonal(x, k)); });
    check([&](const array& x) { return tutti::diagonal(tutti::sin(x), k, 1, 0); });
  }
  check([](const array& x) { return tutti::diag(tutti::diagonal(x), 1); });
  check([](const array& x) { return tutti::tril(x * x, 1); });
  check([](const array& x) { return tutti::triu(x * x); });
  // Twice through a diagonal.
  const tutti::function once = [](const arguments& v) {
    const array d = tutti::diagonal(tutti::sin(v[0]), 1);
    return weighted_sum(d * d);
  };
  check_gradient(
      [&](const arguments& v) { return weighted_sum(tutti::square(tutti::grad(once)(v)[0])); },
      {matrix}, 2e-6);
}

}  // namespace movement_test
