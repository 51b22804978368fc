// SPDX-License-Identifier: Apache-2.0
//
// What makes no sense, given to groups, collectives and sharded arrays: values that do not fit each
// other, strangers among the members, axes and numbers out of range, extents near 2^62, weights
// that are no numbers. Each is refused with the name of the function and the values, and what
// follows computes as if nothing had been.
#include "hostile.hpp"

using namespace hostile;
using tutti::shares;
namespace collective = tutti::collective;

namespace {

struct arguments {
  std::int64_t axis = 0;
  std::optional<tutti::device> root{};
  collective::reduction with = collective::reduction::sum;
  collective::options how{};
};

struct call {
  std::string name;
  bool reduces, cuts, of_one;  // of_one: takes the first value only
  std::function<arrays(const device_group&, const arrays&, const arguments&)> run;
};

std::vector<call> collectives() {
  const auto first = [](const arrays& v) { return v.empty() ? array() : v[0]; };
  const auto root = [](const device_group& g, const arguments& a) { return a.root.value_or(g[0]); };
  return {
      {"all_reduce", true, false, false,
       [](auto& g, auto& v, auto& a) { return collective::all_reduce(g, v, a.with, a.how); }},
      {"reduce", true, false, false,
       [=](auto& g, auto& v, auto& a) {
         return arrays{collective::reduce(g, v, root(g, a), a.with, a.how)};
       }},
      {"reduce_scatter", true, true, false,
       [](auto& g, auto& v, auto& a) {
         return collective::reduce_scatter(g, v, a.with, a.axis, a.how);
       }},
      {"all_gather", false, true, false,
       [](auto& g, auto& v, auto& a) { return collective::all_gather(g, v, a.axis, a.how); }},
      {"gather", false, true, false,
       [=](auto& g, auto& v, auto& a) {
         return arrays{collective::gather(g, v, root(g, a), a.axis, a.how)};
       }},
      {"all_to_all", false, true, false,
       [](auto& g, auto& v, auto& a) { return collective::all_to_all(g, v, a.axis, a.how); }},
      {"broadcast", false, false, true,
       [=](auto& g, auto& v, auto& a) { return collective::broadcast(g, first(v), a.how); }},
      {"scatter", false, true, true,
       [=](auto& g, auto& v, auto& a) { return collective::scatter(g, first(v), a.axis, a.how); }},
  };
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(collectives_and_shards, fixture)

BOOST_AUTO_TEST_CASE(groups) {
  using tutti::value_error;
  refused<value_error>("device_group", "no devices",
                       [] { device_group(std::vector<tutti::device>()); });
  refused<value_error>("device_group", group[0].name() + " is in the list twice", [&] {
    device_group({group[0], group[1], group[0]});
  });
  refused<value_error>("device_group", stranger.name() + " is not one of " + group.names(),
                       [&] { group.index_of(stranger); });
  BOOST_CHECK_THROW(device_group(","), value_error);
  // What was moved from is a group still.
  device_group first = group;
  const device_group second = std::move(first);
  BOOST_TEST((first == second));  // NOLINT(bugprone-use-after-move)
}

BOOST_AUTO_TEST_CASE(values_of_collectives) {
  for (const call& c : collectives()) {
    const auto with = [&](const arrays& values) {
      return [&, values] { c.run(group, values, {}); };
    };
    if (!c.of_one) {
      for (const std::size_t n : {std::size_t{0}, count - 1, count + 1})
        refused<tutti::value_error>(c.name, std::to_string(n) + " arrays for " + text(count),
                                    with(arrays(n, array::from({1.f}, group[0]))));
      arrays strange = each(1);
      strange[1] = strange[1].to(stranger);
      refused<tutti::device_error>(
          c.name, "is on " + stranger.name() + ", but belongs on " + group[1].name(),
          with(strange));
      arrays types = each(1);
      types[1] = types[1].astype(dtype::f64);
      refused<tutti::dtype_error>(c.name, "f32 on " + group[0].name() + " and f64 on", with(types));
      arrays shapes = each(1);
      shapes[1] = shapes[1].reshape({1, 3});
      refused<tutti::shape_error>(c.name, "[3] on " + group[0].name() + " and [1,3] on",
                                  with(shapes));
    } else {
      refused<tutti::device_error>(c.name, "is on " + stranger.name(),
                                   with({array::from({1.f}, stranger)}));
    }
    refused<tutti::value_error>(c.name, "never assigned", with(arrays(count)));
    if (c.cuts) {
      refused<tutti::shape_error>(c.name, "0-d", with(constants(1)));
      for (const std::int64_t axis : {std::int64_t{1}, std::int64_t{-2}, most, least})
        refused<tutti::index_error>(c.name, "axis " + text(axis),
                                    [&] { c.run(group, each(1), {.axis = axis}); });
    }
  }
}

BOOST_AUTO_TEST_CASE(settings_of_collectives) {
  for (const call& c : collectives()) {
    const auto with = [&](const arguments& a, dtype type = dtype::f32) {
      return [&, a, type] { c.run(group, each(1, type), a); };
    };
    for (const double limit : {0.0, -1.0, -infinite, not_a_number})
      refused<tutti::value_error>(c.name, "is not positive", with({.how = {.time_limit = limit}}));
    for (const int number : {-1, 4, 1 << 30})
      refused<tutti::value_error>(
          c.name, "unknown algorithm " + text(number),
          with({.how = {.algorithm = static_cast<collective::algorithm>(number)}}));
    if (c.reduces) {
      for (const int number : {-1, 5, 1 << 30})
        refused<tutti::value_error>(c.name, "unknown reduction " + text(number),
                                    with({.with = static_cast<collective::reduction>(number)}));
      refused<tutti::dtype_error>(c.name, "no sum of bool", with({}, dtype::boolean));
      refused<tutti::dtype_error>(c.name, "no avg of i32",
                                  with({.with = collective::reduction::avg}, dtype::i32));
    }
    if (c.name == "reduce" || c.name == "gather")
      refused<tutti::value_error>(c.name, stranger.name() + " is not one of " + group.names(),
                                  with({.root = stranger}));
  }
  refused<tutti::value_error>("barrier", "is not positive",
                              [&] { collective::barrier(group, {.time_limit = not_a_number}); });
}

BOOST_AUTO_TEST_CASE(extents_beyond_any_memory) {
  const tutti::shape wide{huge};
  for (const call& c : collectives()) {
    for (const arrays& values : {ones(wide), views(wide)}) {
      BOOST_TEST_CONTEXT(c.name) {
        if (c.name == "all_gather" || c.name == "gather") {
          refused<tutti::shape_error>(c.name, "too large", [&] { c.run(group, values, {}); });
        } else {
          for (const array& a : c.run(group, values, {})) BOOST_TEST(a.size() > 0);
        }
      }
    }
  }
  refused<tutti::shape_error>("sharded", "too large",
                              [&] { sharded::from_parts(group, views(wide), 0); });
  refused<tutti::shape_error>("sharded", "too large", [&] {
    sharded::from_parts(group, views({huge / 2, 1}), 1);
    sharded::from_parts(group, views({huge, 1}), 1);
  });
  const sharded split = shard(tutti::ones(wide, dtype::u8), group);
  BOOST_TEST(split.boundaries().back() == huge);
  BOOST_TEST(shares(std::vector<double>(count, 1e-300)).boundaries(most, group).back() == most);
}

BOOST_AUTO_TEST_CASE(messages_between_members) {
  using collective::communicator;
  for (const double limit : {0.0, -1.0, not_a_number})
    refused<tutti::value_error>("communicator", "is not positive",
                                [&] { communicator(group, {.time_limit = limit}); });
  communicator messages(group, {.time_limit = 0.05});
  const array value = array::from({5.f}, group[0]);
  refused<tutti::value_error>("send", stranger.name() + " is not one of",
                              [&] { messages.send(value, stranger); });
  refused<tutti::device_error>("send", "is on " + stranger.name(),
                               [&] { messages.send(value.to(stranger), group[1]); });
  refused<tutti::value_error>("send", "never assigned", [&] { messages.send({}, group[1]); });
  refused<tutti::value_error>("receive", stranger.name() + " is not one of",
                              [&] { messages.receive(stranger, group[0]); });
  refused<tutti::device_error>("receive", "with tag -7 within 0.05",
                               [&] { messages.receive(group[0], group[1], -7); });
  communicator moved = std::move(messages);
  messages.send(value, group[1],
                std::numeric_limits<int>::min());  // NOLINT(bugprone-use-after-move)
  BOOST_TEST(moved.receive(group[0], group[1], std::numeric_limits<int>::min()).item() == 5);
}

BOOST_AUTO_TEST_CASE(sharded_arrays) {
  const array whole = array::from(std::vector<float>(12, 1), {4, 3}, group[0]);
  for (const std::int64_t axis : {std::int64_t{2}, std::int64_t{-3}, most, least}) {
    refused<tutti::index_error>("shard", "axis " + text(axis), [&] { shard(whole, group, axis); });
    refused<tutti::index_error>("reshard", "axis " + text(axis),
                                [&] { reshard(shard(whole, group), group, axis); });
    refused<tutti::index_error>("take", "axis " + text(axis), [&] {
      take(shard(whole, group), array::from({0}, group[0]), axis);
    });
  }
  refused<tutti::shape_error>("shard", "0-d", [&] { shard(1, group); });
  refused<tutti::value_error>("shard", "never assigned", [&] { shard({}, group); });
  refused<tutti::value_error>("replicate", "never assigned", [&] { replicate(array(), group); });
  refused<tutti::value_error>("take", "never assigned",
                              [&] { take(shard(whole, group), array()); });
  refused<tutti::value_error>("shares", std::to_string(count + 1) + " weights for",
                              [&] { shard(whole, group, 0, std::vector<double>(count + 1, 1)); });
  refused<tutti::value_error>("shares", "an extent of -1", [&] { shares().boundaries(-1, group); });
  refused<tutti::value_error>("shares", "weights sum to inf",
                              [&] { shares(std::vector<double>(count, 1.7e308)); });
  const sharded rows = shard(whole, group), columns = shard(whole, group, 1);
  refused<tutti::value_error>("add", "split differently", [&] { rows + columns; });
  refused<tutti::value_error>("multiply", "different groups",
                              [&] { rows* shard(whole, first_devices(1)); });
  refused<tutti::device_error>("subtract", "replicate() or shard() it", [&] { rows - whole; });
  refused<tutti::shape_error>("divide", "[4,3] and [4,2]", [&] {
    rows / replicate(tutti::ones({4, 2}), group);
  });
  refused<tutti::index_error>("sum", "axis 5", [&] { sum(rows, 5); });
  refused<tutti::value_error>("matmul", "reshard() one", [&] {
    matmul(columns, shard(tutti::ones({3, 2}), group, 1));
  });
  refused<tutti::index_error>("parts_at", "member " + std::to_string(count),
                              [&] { tutti::parts_at({rows}, count); });
  refused<tutti::value_error>("sharded", "has no split axis", [&] { replicas()[0].axis(); });
  refused<tutti::index_error>("take", "index 4 is out of range", [&] {
    take(rows, array::from({0, 4}, group[0]));
  });
  sharded first = rows;
  const sharded second = std::move(first);
  BOOST_TEST(first.parts().size() == count);  // NOLINT(bugprone-use-after-move)
  BOOST_TEST(sum(first).gather(group[0]).item() == 12);
}

BOOST_AUTO_TEST_CASE(functions_of_parts) {
  const array whole = array::from(std::vector<float>(12, 1), {4, 3}, group[0]);
  const sharded rows = shard(whole, group);
  using function = std::function<array(const arrays&)>;
  const auto map_with = [&](const function& f) { return [&, f] { tutti::map_parts(f, {rows}); }; };
  refused<tutti::value_error>("map", "no inputs",
                              [] { tutti::map_parts([](const arrays& a) { return a[0]; }, {}); });
  refused<tutti::value_error>("map", "no function", map_with({}));
  refused<tutti::shape_error>("map", "of a part of extent",
                              map_with([](const arrays& a) { return sum(a[0]); }));
  refused<tutti::value_error>("map", "never assigned",
                              map_with([](const arrays&) { return array(); }));
  BOOST_CHECK_THROW(map_with([](const arrays&) -> array { throw std::out_of_range("mine"); })(),
                    std::out_of_range);
  BOOST_CHECK_THROW(map_with([](const arrays&) -> array { throw 7; })(), int);
}

BOOST_AUTO_TEST_CASE(copies_between_devices) {
  refused<tutti::value_error>("to", "never assigned", [&] { array().to(group[0]); });
  const array wide = broadcast_to(array::from({1.f}, group[0]), {huge / 8});
  BOOST_TEST(wide.to(group[1]).size() == huge / 8);
  BOOST_CHECK_THROW(wide.to(group[1]).wait(), tutti::error);
}

BOOST_AUTO_TEST_SUITE_END()
