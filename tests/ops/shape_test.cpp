// SPDX-License-Identifier: Apache-2.0
//
// Views and copies: reshape, transpose, slices, broadcasting, joining, against index arithmetic on
// the host, on every layout of the operand.
#include "tutti_test/arrays.hpp"

namespace {

const dense cube = random_dense({4, 6, 5}, -1, 1, 21);

// Python's range(start, stop, step) over an axis of n elements, after slice.indices(n).
std::vector<std::int64_t> taken(const slice& s, std::int64_t n) {
  std::vector<std::int64_t> out;
  const bool back = s.step < 0;
  std::int64_t start = s.start.value_or(back ? n - 1 : 0);
  if (s.start && start < 0) start += n;
  std::int64_t stop = s.stop.value_or(back ? -1 : n);
  if (s.stop && stop < 0) stop += n;
  if (s.stop && stop < 0) stop = back ? -1 : 0;
  if (start < 0) start = back ? -1 : 0;
  if (start >= n) start = back ? n - 1 : n;
  if (stop > n) stop = n;
  for (std::int64_t i = start; back ? i > stop : i < stop; i += s.step) out.push_back(i);
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(reshape_keeps_row_major_order) {
  for (const auto& [layout, x] : layouts(cube)) {
    for (const shape& to : {shape{120}, shape{4, 30}, shape{24, 5}, shape{2, 2, 3, 2, 5, 1},
                            shape{5, 6, 4}, shape{1, 120}, shape{-1, 8}}) {
      BOOST_TEST_CONTEXT(layout << " to " << to.str()) {
        dense expected{to, cube.values};
        for (int i = 0; i < to.rank(); ++i)
          if (to[i] < 0) expected.extents[i] = 120 / 8;
        BOOST_TEST(matches(x.reshape(to), expected));
        // In a fused expression as well.
        for (double& v : expected.values) v = 2 * v;
        BOOST_TEST(matches((x * 2).reshape(to), expected));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(transpose_permutes) {
  for (const auto& [layout, x] : layouts(cube)) {
    for (const shape& axes : {shape{0, 1, 2}, shape{0, 2, 1}, shape{1, 0, 2}, shape{1, 2, 0},
                              shape{2, 0, 1}, shape{-1, 1, 0}}) {
      BOOST_TEST_CONTEXT(layout << " by " << axes.str()) {
        const auto from = [&](int d) { return axes[d] < 0 ? axes[d] + 3 : axes[d]; };
        shape to{0, 0, 0};
        for (int d = 0; d < 3; ++d) to[d] = cube.extents[static_cast<int>(from(d))];
        const dense expected = tabulate(to, [&](const position& i) {
          position j(3);
          for (int d = 0; d < 3; ++d) j[std::size_t(from(d))] = i[std::size_t(d)];
          return cube.at(j);
        });
        BOOST_TEST(matches(tutti::transpose(x, axes), expected));
      }
    }
    BOOST_TEST(matches(tutti::matrix_transpose(x), read(tutti::transpose(x, {0, 2, 1}))));
    BOOST_TEST(matches(tutti::swapaxes(x, 0, -1), read(tutti::transpose(x, {2, 1, 0}))));
  }
  FAILS(shape_error, tutti::matrix_transpose(tutti::zeros({3})),
        "matrix_transpose: needs at least two dimensions, got [3]");
}

BOOST_AUTO_TEST_CASE(slices_follow_python) {
  const std::vector<slice> cases = {{},
                                    {1, {}, 1},
                                    {{}, -1, 1},
                                    {-3, {}, 1},
                                    {{}, {}, 2},
                                    {{}, {}, -1},
                                    {4, 0, -2},
                                    {-1, -4, -1},
                                    {2, 2, 1},
                                    {5, 1, 1},
                                    {100, {}, 1},
                                    {-100, 100, 3},
                                    {100, -100, -3},
                                    {1, 5, 100},
                                    {{}, {}, -100},
                                    {{}, {}, std::numeric_limits<std::int64_t>::max()},
                                    {{}, {}, std::numeric_limits<std::int64_t>::min()}};
  const dense line = random_dense({6}, -1, 1, 22);
  for (const auto& [layout, x] : layouts(line)) {
    for (const slice& s : cases) {
      BOOST_TEST_CONTEXT(layout << " " << s.start.value_or(-999) << ":" << s.stop.value_or(-999)
                                << ":" << s.step) {
        dense expected;
        // A step beyond any extent takes the first element only.
        slice host = s;
        host.step = std::clamp<std::int64_t>(s.step, -1000, 1000);
        for (std::int64_t i : taken(host, 6)) expected.values.push_back(line.at({i}));
        expected.extents = {static_cast<std::int64_t>(expected.values.size())};
        BOOST_TEST(matches(x({s}), expected));
        BOOST_TEST(matches(x({s}) + 0, expected));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(slices_of_slices) {
  for (const auto& [layout, x] : layouts(cube)) {
    BOOST_TEST_CONTEXT(layout) {
      const array part =
          x({slice{1, {}, 2}, slice{{}, {}, -2}})({slice{}, slice{1, 3, 1}, slice{{}, {}, -1}});
      BOOST_TEST(matches(part, tabulate({2, 2, 5}, [](const position& i) {
                           return cube.at({1 + 2 * i[0], 5 - 2 * (1 + i[1]), 4 - i[2]});
                         })));
      BOOST_TEST(matches(x[-1][2], tabulate({5}, [](const position& i) {
                           return cube.at({3, 2, i[0]});
                         })));
    }
  }
}

BOOST_AUTO_TEST_CASE(slice_update_replaces_a_region) {
  const dense update = random_dense({2, 1, 5}, 5, 6, 23);
  const std::vector<slice> region = {slice{{}, {}, 2}, slice{4, 0, -2}};
  for (const auto& [layout, x] : layouts(cube)) {
    BOOST_TEST_CONTEXT(layout) {
      const array got = tutti::slice_update(x, upload_as<float>(update), region);
      BOOST_TEST(matches(got, tabulate(cube.extents, [&](const position& i) {
                           const bool inside = i[0] % 2 == 0 && (i[1] == 4 || i[1] == 2);
                           return inside ? update.at({i[0] / 2, 0, i[2]}) : cube.at(i);
                         })));
    }
  }
  const array whole = tutti::slice_update(tutti::zeros({3}), 7, {});
  BOOST_TEST(matches(whole, {{3}, {7, 7, 7}}));
  FAILS(shape_error, tutti::slice_update(tutti::zeros({3}), tutti::zeros({2}), {}), "slice_update");
}

BOOST_AUTO_TEST_CASE(broadcast_to_repeats) {
  const dense column = random_dense({4, 1}, -1, 1, 24);
  for (const auto& [layout, x] : layouts(column)) {
    BOOST_TEST_CONTEXT(layout) {
      const array wide = tutti::broadcast_to(x, {3, 4, 5});
      const auto expected = [&](const position& i) { return column.at({i[1], 0}); };
      BOOST_TEST(matches(wide, tabulate({3, 4, 5}, expected)));
      BOOST_TEST(matches(wide.reshape({60}), {{60}, tabulate({3, 4, 5}, expected).values}));
      BOOST_TEST(matches(tutti::sum(wide, {0, 2}),
                         tabulate({4},
                                  [&](const position& i) {
                                    return 15 * column.at({i[0], 0});
                                  }),
                         {.relative = 1e-6}));
    }
  }
  BOOST_TEST(matches(tutti::broadcast_to(array(2.5), {2}), {{2}, {2.5, 2.5}}));
  BOOST_TEST(tutti::broadcast_to(upload_as<float>(column), {0, 4, 2}).size() == 0);
  FAILS(shape_error, tutti::broadcast_to(upload_as<float>(column), {3, 2}),
        "broadcast_to: [4,1] does not broadcast to [3,2]");
}

BOOST_AUTO_TEST_CASE(expand_and_squeeze) {
  const array x = upload_as<float>(cube);
  BOOST_TEST(tutti::expand_dims(x, 0).shape() == (shape{1, 4, 6, 5}));
  BOOST_TEST(tutti::expand_dims(x, -1).shape() == (shape{4, 6, 5, 1}));
  BOOST_TEST(tutti::expand_dims(x, 2).shape() == (shape{4, 6, 1, 5}));
  BOOST_TEST(matches(tutti::squeeze(tutti::expand_dims(tutti::expand_dims(x, 2), 0)), cube));
  BOOST_TEST(tutti::squeeze(tutti::zeros({1, 3, 1}), -1).shape() == (shape{1, 3}));
  FAILS(shape_error, tutti::squeeze(x, 1), "squeeze: axis 1 of [4,6,5]");
}

BOOST_AUTO_TEST_CASE(concatenate_and_stack) {
  const dense other = random_dense({4, 2, 5}, 2, 3, 25);
  const array y = upload_as<float>(other);
  for (const auto& [layout, x] : layouts(cube)) {
    BOOST_TEST_CONTEXT(layout) {
      const auto joined = [&](const position& i) {
        if (i[1] < 6) return cube.at(i);
        if (i[1] < 8) return other.at({i[0], i[1] - 6, i[2]});
        return cube.at({i[0], i[1] - 8, i[2]});
      };
      BOOST_TEST(matches(tutti::concatenate({x, y, x}, 1), tabulate({4, 14, 5}, joined)));
      const array pair[] = {x, x * 2};
      BOOST_TEST(matches(tutti::stack(pair, -1), tabulate({4, 6, 5, 2}, [](const position& i) {
                           return cube.at({i[0], i[1], i[2]}) * static_cast<double>(1 + i[3]);
                         })));
    }
  }
  const array mixed = tutti::concatenate(
      {array::from<std::int32_t>({1, 2}), tutti::zeros({0}), array::from<float>({0.5f})});
  BOOST_TEST(matches(mixed, {{3}, {1, 2, 0.5}}));
  BOOST_TEST((mixed.dtype() == tutti::dtype::f32));
  FAILS(shape_error,
        (tutti::concatenate({y, y}, 0), tutti::concatenate({upload_as<float>(cube), y}, 0)),
        "concatenate: shapes differ");
  FAILS(value_error, tutti::concatenate({}), "concatenate");
  FAILS(shape_error, tutti::concatenate({array(1), array(2)}), "0-d");
}

// Parts of one shape are copied several at a time; others between them, constants and broadcasts
// are not, and the order stays.
BOOST_AUTO_TEST_CASE(many_alike_parts_are_joined) {
  const array x = upload_as<float>(random_dense({4, 5}, -1, 1, 26));
  std::vector<array> parts;
  for (int k = 0; k < 13; ++k)
    parts.push_back(k == 6       ? tutti::full({4, 5}, array(7), dtype::f32)
                    : k == 9     ? tutti::broadcast_to(x({slice{2, 3}}), {4, 5})
                    : k % 3 == 2 ? x({slice{std::nullopt, std::nullopt, -1}})
                                 : (x * static_cast<float>(1 << k)).eval());
  parts.insert(parts.begin() + 5, x({slice{1, 2}}));
  std::vector<array> alike = parts;
  alike.erase(alike.begin() + 5);
  const array joined = tutti::concatenate(parts, 0).wait(), stacked = tutti::stack(alike, 2).wait();
  std::int64_t place = 0;
  for (const array& part : parts) {
    const std::int64_t end = place + part.dim(0);
    BOOST_TEST(matches(joined({slice{place, end}}), read(part)));
    place = end;
  }
  BOOST_TEST(joined.dim(0) == place);
  BOOST_TEST(stacked.shape() == (shape{4, 5, 13}));
  for (std::size_t k = 0; k < alike.size(); ++k)
    BOOST_TEST(matches(stacked({slice{}, slice{}, std::int64_t(k)}), read(alike[k])));
}

// CPUs copy short parts as bytes, and long ones like other devices.
BOOST_AUTO_TEST_CASE(parts_of_all_sizes_are_joined) {
  constexpr std::int64_t ends[] = {0, 1, 8, 17000, 17003, 40000};
  const array all = tutti::arange(40000) % 7 < 3;
  for (const dtype type : {dtype::boolean, dtype::u8, dtype::i16, dtype::f32, dtype::f64}) {
    const array x = all.astype(type).wait();
    std::vector<array> parts;
    std::vector<std::uint8_t> expected;
    for (std::size_t i = std::size(ends) - 1; i-- > 0;) {
      parts.push_back(x({slice{ends[i], ends[i + 1]}}));
      for (std::int64_t k = ends[i]; k < ends[i + 1]; ++k) expected.push_back(k % 7 < 3);
    }
    parts.push_back(tutti::zeros({0}, type));
    const array joined = tutti::concatenate(parts);
    BOOST_TEST((joined.dtype() == type));
    BOOST_TEST((joined.astype(dtype::u8).to_vector<std::uint8_t>() == expected));
  }
}

BOOST_AUTO_TEST_CASE(contiguous_copies) {
  for (const auto& [layout, x] : layouts(cube)) BOOST_TEST(matches(tutti::contiguous(x), cube));
}

BOOST_AUTO_TEST_CASE(bad_shapes) {
  const array x = upload_as<float>(cube);
  FAILS(shape_error, x.reshape({7, 17}), "reshape: cannot make [7,17] of [4,6,5]");
  FAILS(shape_error, x.reshape({-1, 7}), "[-1,7]");
  FAILS(shape_error, x.reshape({-1, -1}), "[-1,-1]");
  FAILS(shape_error, x.reshape({-2, 60}), "[-2,60]");
  FAILS(value_error, x.transpose({0, 0, 1}), "[0,0,1]");
  FAILS(value_error, x.transpose({0, 1}), "[4,6,5]");
  FAILS(index_error, x.transpose({0, 1, 3}), "axis 3");
  FAILS(value_error, x({slice{0, 1, 0}}), "step 0");
  FAILS(index_error, x({slice{}, slice{}, slice{}, slice{}}), "4 indices");
  FAILS(index_error, x[4], "4");
  FAILS(index_error, x[-5], "-5");
}

BOOST_AUTO_TEST_CASE(empty_shapes) {
  const array x = tutti::zeros({0, 3});
  BOOST_TEST(x.reshape({3, 0, 2}).shape() == (shape{3, 0, 2}));
  BOOST_TEST(x.transpose().shape() == (shape{3, 0}));
  BOOST_TEST((x + 1).to_vector<float>().empty());
  BOOST_TEST(matches(tutti::concatenate({x, tutti::ones({1, 3})}), {{1, 3}, {1, 1, 1}}));
}
