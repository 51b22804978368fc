// SPDX-License-Identifier: Apache-2.0
//
// Sharded arrays against the arrays that they are parts of: splits of every kind, elementwise work,
// reductions, rows by index, products, and moves from one split to another.
#include "members.hpp"

using tutti::sharded;
using tutti::shares;

namespace {

/// Splits that leave parts of different sizes, and empty ones.
std::vector<std::pair<std::string, shares>> splits(std::size_t members) {
  std::vector<double> rising, lopsided(members, 0.0);
  for (std::size_t m = 0; m < members; ++m) rising.push_back(1.0 + static_cast<double>(m));
  lopsided.back() = 2.5;
  return {{"equal", shares::equal()}, {"rising", rising}, {"all to the last", lopsided}};
}

template <class F>
void for_each_split(F&& f) {
  for (const device_group& group : groups())
    for (const auto& [name, by] : splits(group.size()))
      BOOST_TEST_CONTEXT(group.names() << ", " << name) f(group, by);
}

/// The same work on the whole array, on the first device.
array whole(const dense& d, const device_group& group) { return put(d, group[0]); }

void check_like(const sharded& got, const array& expected, const tolerance& t = {}) {
  BOOST_TEST((got.shape() == expected.shape()));
  BOOST_TEST((got.dtype() == expected.dtype()));
  for (std::size_t m = 0; m < got.parts().size(); ++m)
    BOOST_TEST((got.parts()[m].device() == got.group()[m]));
  const dense wanted = read(expected);
  BOOST_TEST(matches(got.gather(got.group()[got.group().size() - 1]), wanted, t));
  if (got.replicated())
    for (const array& copy : got.parts()) BOOST_TEST(matches(copy, wanted, t));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sharding)

BOOST_AUTO_TEST_CASE(boundaries_by_rule) {
  const device_group group = largest_group();
  for (const std::int64_t extent : {0, 1, 4, 5, 17, 1000})
    BOOST_TEST(shares().boundaries(extent, group) == equal_cuts(extent, group.size()), same);
  if (group.size() < 2) return;
  const device_group two = first_devices(2);
  const std::vector<std::int64_t> quarter{0, 25, 100}, none{0, 0, 100};
  BOOST_TEST(shares(std::vector<double>{1, 3}).boundaries(100, two) == quarter);
  BOOST_TEST(shares(std::vector<double>{0, 1e-300}).boundaries(100, two) == none);
  const double gib =
      static_cast<double>(two[0].properties().memory_bytes) /
      static_cast<double>(two[0].properties().memory_bytes + two[1].properties().memory_bytes);
  BOOST_TEST(shares::by_memory().boundaries(1000, two)[1] == std::llround(1000 * gib));
}

BOOST_AUTO_TEST_CASE(wrong_weights) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto with = [](std::vector<double> weights) {
    return [weights] { static_cast<void>(shares(weights)); };
  };
  BOOST_TEST(fails<tutti::value_error>(with({1, -2}), "weight 1 is -2"));
  BOOST_TEST(fails<tutti::value_error>(with({nan, 1}), "weight 0 is nan"));
  BOOST_TEST(fails<tutti::value_error>(with({1, INFINITY}), "weight 1 is inf"));
  BOOST_TEST(fails<tutti::value_error>(with({0, 0}), "2 weights sum to 0"));
  BOOST_TEST(fails<tutti::value_error>(with({}), "0 weights"));
  const device_group group = first_devices(1);
  FAILS(value_error, shares(std::vector<double>{1, 2}).boundaries(4, group),
        "2 weights for 1 devices");
}

BOOST_AUTO_TEST_CASE(one_device_is_not_measured) {
  const std::uint64_t before = tutti::stats().launches;
  BOOST_TEST(weights_by_throughput(first_devices(1)) == std::vector<double>{1}, same);
  BOOST_TEST(tutti::stats().launches == before);
}

BOOST_AUTO_TEST_CASE(throughput_is_measured_once) {
  const device_group group = largest_group();
  const auto weights = weights_by_throughput(group);
  double total = 0;
  for (const double w : weights) {
    BOOST_TEST(w > 0);
    total += w;
  }
  BOOST_TEST(std::abs(total - 1) < 1e-12);
  const std::uint64_t before = tutti::stats().launches;
  BOOST_TEST(weights_by_throughput(group) == weights, same);
  BOOST_TEST(tutti::stats().launches == before);
  // Devices of one kind share a measurement.
  for (std::size_t m = 1; m < group.size(); ++m)
    if (group[m].backend() == group[0].backend())
      BOOST_TEST(tutti::throughput(group[m]) == tutti::throughput(group[0]));
}

BOOST_AUTO_TEST_CASE(shard_and_gather) {
  for_each_split([](const device_group& group, const shares& by) {
    for (const shape& extents : {shape{7, 3}, shape{2, 3}, shape{0, 3}}) {
      const dense d = random_integers(extents, -99, 99);
      for (const int axis : {0, -1}) {
        const array source = whole(d, group);
        const sharded s = shard(source, group, axis, by);
        BOOST_TEST(s.axis() == (axis == 0 ? 0 : 1));
        const auto cuts = by.boundaries(extents[s.axis()], group);
        BOOST_TEST(s.boundaries() == cuts, same);
        for (std::size_t m = 0; m < group.size(); ++m)
          BOOST_TEST(matches(s.parts()[m], cut(d, s.axis(), cuts[m], cuts[m + 1])));
        check_like(s, source);
      }
    }
  });
}

BOOST_AUTO_TEST_CASE(views_are_sharded) {
  const device_group group = largest_group();
  const dense d = random_integers({6, 5}, -99, 99);
  const dense turned = tabulate({5, 6}, [&](const position& i) { return d.at({i[1], i[0]}); });
  check_like(shard(whole(turned, group).T(), group, 0), whole(d, group));
  const dense reversed = tabulate({6, 5}, [&](const position& i) {
    return d.at({5 - i[0], i[1]});
  });
  check_like(shard(whole(reversed, group)({{{}, {}, -1}}), group, 1), whole(d, group));
}

BOOST_AUTO_TEST_CASE(reshard_moves_parts) {
  const dense d = random_integers({7, 5}, -99, 99);
  for_each_split([&](const device_group& group, const shares& by) {
    const array source = whole(d, group);
    const sharded s = shard(source, group, 0, by);
    std::vector<double> falling;
    for (std::size_t m = 0; m < group.size(); ++m) falling.push_back(1.0 / (1.0 + double(m)));
    for (const int axis : {0, 1}) {
      const sharded other = reshard(s, group, axis, falling);
      BOOST_TEST(other.axis() == axis);
      BOOST_TEST(other.boundaries() == shares(falling).boundaries(d.extents[axis], group), same);
      check_like(other, source);
    }
    const device_group backwards(
        std::vector<tutti::device>(group.members().rbegin(), group.members().rend()));
    check_like(reshard(s, backwards, 1), source);
    check_like(reshard(s, first_devices(1)), source);
    const sharded copies = replicate(s, group);
    BOOST_TEST(copies.replicated());
    check_like(copies, source);
    check_like(reshard(copies, group, 1, by), source);
    check_like(replicate(source, group), source);
    check_like(sharded::from_parts(group, s.parts(), 0) * 1, source);
  });
}

BOOST_AUTO_TEST_CASE(elementwise_work) {
  const dense d = random_integers({7, 3}, 1, 9), e = random_integers({7, 3}, 1, 9, 1);
  const dense row = random_integers({3}, 1, 9, 2), column = random_integers({7, 1}, 1, 9, 3);
  for_each_split([&](const device_group& group, const shares& by) {
    const array a = whole(d, group), b = whole(e, group), r = whole(row, group),
                c = whole(column, group);
    const sharded x = shard(a, group, 0, by), y = shard(b, group, 0, by);
    check_like(((x + y) * x - y) / y, ((a + b) * a - b) / b);
    check_like(2 * x - 1, 2 * a - 1);
    check_like(x + tutti::full({7, 3}, 4, dtype::f32, group[0]), a + 4);
    check_like(x * replicate(r, group) + replicate(b, group), a * r + b);
    check_like(replicate(r, group) / x, r / a);
    check_like(x + shard(c, group, 0, by), a + c);
    check_like(replicate(a, group) + replicate(r, group), a + r);
    check_like(map(tutti::exp, x), tutti::exp(a), {.relative = 1e-6});
    check_like(map(tutti::maximum, x, y), tutti::maximum(a, b));
    const sharded columns = shard(a, group, 1, by);
    check_like(columns * shard(r, group, 0, by), a * r);
  });
}

BOOST_AUTO_TEST_CASE(reductions_over_each_axis) {
  const dense d = random_integers({7, 3, 2}, -3, 3);
  for_each_split([&](const device_group& group, const shares& by) {
    const array a = whole(d, group);
    for (const int axis : {0, 1}) {
      const sharded x = shard(a, group, axis, by);
      check_like(sum(x), sum(a));
      check_like(max(x, 0), max(a, 0));
      check_like(sum(x, {1, tutti::keep_dims::yes}), sum(a, {1, tutti::keep_dims::yes}));
      check_like(min(x, {0, 2}), min(a, {0, 2}));
      check_like(mean(x, -1), mean(a, -1), {.relative = 1e-6});
      check_like(mean(x), mean(a), {.relative = 1e-6, .absolute = 1e-7});
    }
    check_like(prod(shard(a, group, 1, by), 1), prod(a, 1));
    check_like(sum(replicate(a, group), 0), sum(a, 0));
    const array i = put(d, group[0], dtype::i32);
    check_like(sum(shard(i, group, 0, by), 0), sum(i, 0));
    check_like(mean(shard(i, group, 0, by)), mean(i), {.relative = 1e-6, .absolute = 1e-7});
  });
  const sharded none = shard(put({{0, 3}, {}}, first_devices(1)[0]), largest_group());
  check_like(sum(none, 0), array::from(std::vector<float>{0, 0, 0}));
  FAILS(value_error, max(none, 0), "max");
}

BOOST_AUTO_TEST_CASE(rows_by_index) {
  const dense d = random_integers({7, 3}, -99, 99);
  const std::vector<std::int32_t> picked{6, 0, -1, 3, 3, -7, 5, 2};
  for_each_split([&](const device_group& group, const shares& by) {
    const array a = whole(d, group);
    const sharded x = shard(a, group, 0, by);
    const tutti::device on = group[group.size() - 1];
    const array index = array::from(picked, on), own = index.to(group[0]);
    const array got = take(x, index);
    BOOST_TEST((got.device() == on));
    BOOST_TEST(matches(got, read(take(a, own))));
    BOOST_TEST(matches(take(x, index.reshape({2, 4})), read(take(a, own.reshape({2, 4})))));
    check_like(take(x, shard(index, group, 0, by)), take(a, own));
    check_like(take(x, replicate(index, group)), take(a, own));
    const array low = array::from(std::vector<std::int32_t>{2, 0, -1, 1}, on);
    const array low_here = low.to(group[0]);
    BOOST_TEST(matches(take(x, low, 1), read(take(a, low_here, 1))));
    BOOST_TEST(matches(take(shard(a, group, 1, by), low, 1), read(take(a, low_here, 1))));
    BOOST_TEST(matches(take(shard(a, group, 1, by), index.reshape({2, 4}), 0),
                       read(take(a, own.reshape({2, 4}), 0))));
    BOOST_TEST(matches(take(replicate(a, group), index), read(take(a, own))));
    FAILS(index_error, take(x, array::from(std::vector<std::int32_t>{7}, on)), "index 7");
  });
}

BOOST_AUTO_TEST_CASE(products_by_layout) {
  const dense dx = random_integers({5, 7}, -4, 4), dw = random_integers({7, 6}, -4, 4, 1);
  for_each_split([&](const device_group& group, const shares& by) {
    const array x = whole(dx, group), w = whole(dw, group), expected = matmul(x, w);
    const sharded columns = matmul(replicate(x, group), shard(w, group, 1, by));
    BOOST_TEST(columns.axis() == 1);
    check_like(columns, expected);
    const sharded inner = matmul(shard(x, group, 1, by), shard(w, group, 0, by));
    BOOST_TEST(inner.replicated());
    check_like(inner, expected);
    const sharded rows = matmul(shard(x, group, 0, by), replicate(w, group));
    BOOST_TEST(rows.axis() == 0);
    check_like(rows, expected);
    check_like(matmul(replicate(x, group), replicate(w, group)), expected);
    // The pair of a tensor-parallel layer: nothing moves between its products.
    const array v = whole(tabulate({6, 2}, [&](const position& i) { return i[0] - i[1]; }), group);
    const sharded pair = matmul(map(tutti::relu, columns), shard(v, group, 0, by));
    check_like(pair, matmul(tutti::relu(expected), v));
  });
}

BOOST_AUTO_TEST_CASE(operands_that_do_not_fit) {
  const device_group group = largest_group();
  if (group.size() < 2) return;
  const array a = whole(random_integers({4, 4}, 0, 9), group);
  const sharded rows = shard(a, group, 0), columns = shard(a, group, 1);
  FAILS(value_error, rows + columns, "add: operands are split");
  FAILS(value_error, rows + columns, columns.str());
  FAILS(value_error, map(tutti::add, rows, columns), rows.str());
  std::vector<double> lopsided(group.size(), 0.0);
  lopsided[0] = 1;
  const sharded other = shard(a, group, 0, lopsided);
  FAILS(value_error, rows * other, other.str());
  const sharded alone = shard(a, first_devices(1), 0);
  FAILS(value_error, rows - alone, "different groups");
  FAILS(device_error, rows + a, "an array on " + group[0].name());
  FAILS(value_error, matmul(rows, columns), "no product of these");
  FAILS(value_error, matmul(columns, other), other.str());
  const sharded narrow = replicate(whole(random_integers({3, 4}, 0, 9), group), group);
  FAILS(shape_error, matmul(rows, narrow), "[4,4] x [3,4]");
  FAILS(shape_error, rows + narrow, "[4,4]");
  const auto transposed = [](const array& p) { return p.T(); };
  FAILS(shape_error, map(transposed, rows), "map: the function makes");
  FAILS(value_error, static_cast<void>(narrow.axis()), "replicated");
  FAILS(index_error, shard(a, group, 2), "shard");
  const array scalar = put({{}, {1}}, group[0]);
  FAILS(shape_error, shard(scalar, group), "0-d");
  check_like(replicate(scalar, group), scalar);
}

BOOST_AUTO_TEST_CASE(an_extreme_has_no_gradient_in_parts_without_elements) {
  for_each_split([](const device_group& group, const shares& by) {
    for (const double value : {2.0, HUGE_VAL}) {
      const array x = tutti::full({2}, value, dtype::f32, group[0]);
      const array got = tutti::grad([&](const array& a) {
        return min(shard(a, group, 0, by), {}).parts()[0].to(group[0]);
      })(x);
      BOOST_TEST(sum(got).item<float>() == 1);
    }
  });
}

BOOST_AUTO_TEST_SUITE_END()
