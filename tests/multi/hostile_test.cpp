// SPDX-License-Identifier: Apache-2.0
//
// What makes no sense, given to the functions for several devices: counts that are negative or
// huge, nothing where a function is expected, strangers among the members, values that do not fit
// each other, extents near 2^62, weights that are no numbers, callables that throw. Each is refused
// with the name of the function and the values, and what follows computes as if nothing had been.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>

#include "loops.hpp"
#include "members.hpp"
#include "tutti/multi.hpp"
#include "tutti/nn.hpp"
#include "tutti/parallel.hpp"

using namespace tutti_test;
using tutti::array;
using tutti::device_group;
using tutti::dtype;
using tutti::loop_options;
using tutti::loop_policy;
using tutti::sharded;
using tutti::shares;
namespace collective = tutti::collective;

namespace {

using arrays = std::vector<array>;
constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t huge = std::int64_t{1} << 62;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

/// f throws E; the message begins with the name and contains the part.
template <class E, class F>
void refused(const std::string& name, const std::string& part, F&& f) {
  BOOST_TEST_CONTEXT(name << ", " << part) {
    try {
      f();
      BOOST_ERROR("nothing was thrown");
    } catch (const E& e) {
      const std::string message = e.what();
      BOOST_TEST(message.starts_with(name + ": "), message);
      BOOST_TEST((message.find(part) != std::string::npos), message);
    } catch (const std::exception& e) {
      BOOST_ERROR("another type: " << e.what());
    }
  }
}

/// A group, a device outside of it, and after each case a computation that everything takes part
/// in.
struct fixture {
  device_group group = first_devices(tutti::devices().size() - 1);
  tutti::device stranger = tutti::devices().back();
  std::size_t count = group.size();

  ~fixture() {
    const arrays sums = collective::all_reduce(group, each(2));
    for (const array& a : sums)
      BOOST_TEST(matches(a, {{3}, std::vector<double>(3, 2.0 * static_cast<double>(count))}));
    collector seen({0, 40});
    tutti::parallel_for(group, {0, 40}, squares, seen.sink());
    BOOST_TEST(seen.complete());
  }

  /// [3] on each member, all alike.
  arrays each(double value, dtype type = dtype::f32) const {
    arrays out;
    for (const tutti::device& d : group)
      out.push_back((tutti::full({3}, value, dtype::f32, d) + 0).astype(type));
    tutti::eval(out);
    return out;
  }
  /// The same array for each member: a constant is on every device.
  arrays constants(const array& a) const { return arrays(count, a); }
  /// Constants, which take no memory, on each member.
  arrays ones(const tutti::shape& extents) const {
    arrays out;
    for (const tutti::device& d : group) out.push_back(tutti::ones(extents, dtype::u8, d));
    return out;
  }
  /// Views of one element, which take no memory, on each member.
  arrays views(const tutti::shape& extents) const {
    arrays out;
    for (const array& a : each(1, dtype::u8)) out.push_back(broadcast_to(a({{0, 1}}), extents));
    return out;
  }
  std::vector<sharded> replicas() const { return {replicate(array::from({1.f, 2.f}), group)}; }
};

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

std::string text(std::int64_t value) { return std::to_string(value); }

const auto one_more = [](const tutti::chunk& c) -> arrays {
  return {tutti::arange(c.begin, c.end, dtype::i64, c.device) + 1};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(hostile, fixture)

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
          c.name, "no algorithm of number " + text(number),
          with({.how = {.algorithm = static_cast<collective::algorithm>(number)}}));
    if (c.reduces) {
      for (const int number : {-1, 5, 1 << 30})
        refused<tutti::value_error>(c.name, "no reduction of number " + text(number),
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

BOOST_AUTO_TEST_CASE(options_of_loops) {
  const auto with = [&](const loop_options& o, tutti::index_range range = {0, 20}) {
    return [&, o, range] { tutti::parallel_for(group, range, one_more, {}, o); };
  };
  const std::string name = "parallel_for";
  refused<tutti::value_error>(name, "there is no body", [&] {
    tutti::parallel_for(group, {0, 20}, {}, {});
  });
  refused<tutti::value_error>(name, "[9, 3)", with({}, {9, 3}));
  refused<tutti::value_error>(name, "too long", with({}, {least, most}));
  for (const std::int64_t grain : {std::int64_t{0}, std::int64_t{-1}, least})
    refused<tutti::value_error>(name, "grain is " + text(grain), with({.grain = grain}));
  for (const int depth : {0, -1, std::numeric_limits<int>::min()})
    refused<tutti::value_error>(name, "depth is " + text(depth), with({.depth = depth}));
  for (const double limit : {0.0, -1.0, not_a_number})
    refused<tutti::value_error>(name, "time_limit is", with({.time_limit = limit}));
  refused<tutti::value_error>(name, "no policy of number 9",
                              with({.policy = static_cast<loop_policy>(9)}));
  const auto weighted = [&](std::vector<double> weights) {
    weights.resize(count, 1);
    return with({.policy = loop_policy::weighted, .weights = weights});
  };
  refused<tutti::value_error>(name, "weight 0 is -1", weighted({-1}));
  refused<tutti::value_error>(name, "weight 1 is nan", weighted({1, not_a_number}));
  refused<tutti::value_error>(name, "weight 0 is inf", weighted({infinite}));
  refused<tutti::value_error>(name, "weights sum to inf", weighted({1.7e308, 1.7e308}));
  refused<tutti::value_error>(
      name, std::to_string(count + 1) + " weights for " + std::to_string(count),
      with({.policy = loop_policy::weighted, .weights = std::vector<double>(count + 1, 1)}));
}

// Options at the ends of what is allowed give right results.
BOOST_AUTO_TEST_CASE(loops_with_odd_options) {
  std::vector<double> uneven(count, 0), tiny(count, 5e-324);
  uneven[0] = 1e308;
  uneven[1] = 5e307;
  const std::vector<loop_options> all = {
      {.grain = most},
      {.depth = std::numeric_limits<int>::max()},
      {.time_limit = infinite},
      {.policy = loop_policy::weighted, .weights = uneven},
      {.policy = loop_policy::weighted, .weights = tiny},
      {.policy = loop_policy::work_stealing, .grain = huge, .time_limit = 1e300},
  };
  for (const loop_options& o : all) {
    collector seen({-10, 20});
    const auto report = tutti::parallel_for(group, {-10, 20}, squares, seen.sink(), o);
    BOOST_TEST(seen.complete());
    if (o.weights == uneven) BOOST_TEST(report.devices[1].items == 10);
  }
}

BOOST_AUTO_TEST_CASE(loops_whose_functions_throw) {
  for (const loop_policy policy : {loop_policy::static_equal, loop_policy::weighted,
                                   loop_policy::dynamic, loop_policy::work_stealing}) {
    for (const tutti::index_range range :
         {tutti::index_range{0, most}, tutti::index_range{least, -1}, tutti::index_range{0, 9}}) {
      const auto run = [&](const tutti::chunk_body& body, const tutti::chunk_sink& sink) {
        tutti::parallel_for(group, range, body, sink, {.policy = policy});
      };
      BOOST_CHECK_THROW(
          run([](const tutti::chunk&) -> arrays { throw std::out_of_range("mine"); }, {}),
          std::out_of_range);
      BOOST_CHECK_THROW(run([](const tutti::chunk&) -> arrays { throw 7; }, {}), int);
      BOOST_CHECK_THROW(run([](const tutti::chunk&) { return arrays(); },
                            [](const auto&, const auto&) { throw std::out_of_range("mine"); }),
                        std::out_of_range);
      refused<tutti::value_error>("parallel_for", "not valid",
                                  [&] { run([](const tutti::chunk&) { return arrays(1); }, {}); });
      refused<tutti::shape_error>("add", "[2] and [3]", [&] {
        run([](const tutti::chunk&) { return arrays{tutti::ones({2}) + tutti::ones({3})}; }, {});
      });
    }
  }
}

BOOST_AUTO_TEST_CASE(maps_of_rows) {
  const array x = array::from(std::vector<float>(12, 1), {4, 3}, group[0]);
  using function = std::function<array(const array&)>;
  const auto with = [&](const array& input, const function& f) {
    return [&, input, f] { tutti::parallel_map(group, input, f); };
  };
  const function same = [](const array& rows) { return rows; };
  const std::string name = "parallel_map";
  refused<tutti::value_error>(name, "no function", with(x, {}));
  refused<tutti::value_error>(name, "no inputs", [&] {
    tutti::parallel_map(group, std::span<const array>(), [](const arrays& a) { return a[0]; });
  });
  refused<tutti::shape_error>(name, "0-d", with(1, same));
  refused<tutti::shape_error>(name, "[4,3] and [5]", [&] {
    const arrays both{x, tutti::ones({5})};
    tutti::parallel_map(group, both, [](const arrays& a) { return a[0]; });
  });
  refused<tutti::shape_error>(name, "f made an array of shape []",
                              with(x, [](const array& rows) { return sum(rows); }));
  refused<tutti::out_of_memory>(name, "", with(tutti::ones({huge}, dtype::u8), same));
  BOOST_CHECK_THROW(with(array(), same)(), tutti::value_error);
  BOOST_CHECK_THROW(with(x, [](const array&) { return array(); })(), tutti::value_error);
  BOOST_CHECK_THROW(with(x, [](const array&) -> array { throw 7; })(), int);
  BOOST_TEST(matches(tutti::parallel_map(group, x, [](const array& rows) { return rows + 1; }),
                     {{4, 3}, std::vector<double>(12, 2)}));
}

BOOST_AUTO_TEST_CASE(data_parallel_steps) {
  using tutti::data_parallel;
  const data_parallel::loss_function loss = [](const arrays& p, const arrays& b) {
    return mean(square(p[0] * b[0]));
  };
  const std::string name = "data_parallel";
  const auto made = [&](const tutti::data_parallel_options& o) {
    return [&, o] { data_parallel(loss, group, o); };
  };
  refused<tutti::value_error>(name, "no loss function", [&] { data_parallel({}, group); });
  for (const std::int64_t n : {std::int64_t{0}, std::int64_t{-1}, least})
    refused<tutti::value_error>(name, "accumulate = " + text(n), made({.accumulate = n}));
  refused<tutti::value_error>(name, "bucket_bytes = 0", made({.bucket_bytes = 0}));
  refused<tutti::value_error>(name, "is not positive",
                              made({.collectives = {.time_limit = not_a_number}}));
  refused<tutti::value_error>(
      name, "no algorithm of number 9",
      made({.collectives = {.algorithm = static_cast<collective::algorithm>(9)}}));

  const auto p = replicas();
  const array x = array::from({{1.f, 2.f}, {3.f, 4.f}}, group[0]);
  const data_parallel step(loss, group, {.batches = {}});
  const auto with = [&](const std::vector<sharded>& parameters, const arrays& batch) {
    return [&, parameters, batch] { step(parameters, batch); };
  };
  refused<tutti::value_error>(name, "no parameters", with({}, {x}));
  refused<tutti::value_error>(name, "parameter 0 is not replicated", with({shard(x, group)}, {x}));
  refused<tutti::value_error>(name, "parameter 0 is not replicated",
                              with({replicate(x, first_devices(1))}, {x}));
  refused<tutti::value_error>(name, "no arrays in the batch", with(p, {}));
  refused<tutti::shape_error>(name, "[2,2] and []", with(p, {x, 1}));
  refused<tutti::shape_error>(name, "no rows", with(p, {x({{0, 0}})}));
  refused<tutti::value_error>(name, "not split by rows",
                              [&] { step(p, std::vector<sharded>{replicate(x, group)}); });
  refused<tutti::value_error>("shares", std::to_string(count + 1) + " weights for", [&] {
    data_parallel(loss, group, {.batches = std::vector<double>(count + 1, 1)})(p, arrays{x});
  });
  const auto losing = [&](const data_parallel::loss_function& f) {
    return [&, f] { data_parallel(f, group, {.batches = {}})(p, arrays{x}); };
  };
  BOOST_CHECK_THROW(losing([](auto&, auto& b) { return b[0]; })(), tutti::error);
  BOOST_CHECK_THROW(losing([](auto&, auto&) { return array(); })(), tutti::value_error);
  BOOST_CHECK_THROW(losing([](auto&, auto&) -> array { throw 7; })(), int);

  // More pieces than rows are as many as rows.
  const double expected = mean(square(array::from({1.f, 2.f}, group[0]) * x)).item();
  for (const std::int64_t n : {std::int64_t{1}, most}) {
    const auto got = data_parallel(loss, group, {.batches = {}, .accumulate = n})(p, arrays{x});
    BOOST_TEST(got.loss.item() == expected, boost::test_tools::tolerance(1e-6));
  }
}

BOOST_AUTO_TEST_CASE(pipelines) {
  using tutti::pipeline;
  const pipeline::stage twice = [](const arrays& p, const array& x) { return x * p[0]; };
  const std::vector<pipeline::stage> stages(count, twice);
  const std::string name = "pipeline";
  for (const std::int64_t n : {std::int64_t{0}, std::int64_t{-1}, least})
    refused<tutti::value_error>(name, text(n) + " micro-batches",
                                [&] { pipeline(stages, group, n); });
  for (const std::size_t n : {std::size_t{0}, count + 1})
    refused<tutti::value_error>(name, std::to_string(n) + " stages for", [&] {
      pipeline(std::vector<pipeline::stage>(n, twice), group, 1);
    });
  std::vector<pipeline::stage> holes = stages;
  holes[1] = nullptr;
  refused<tutti::value_error>(name, "no function of stage 1", [&] { pipeline(holes, group, 1); });

  std::vector<arrays> own, wrong;
  for (const tutti::device& d : group) {
    own.push_back({array::from({2.f}, d)});
    wrong.push_back({array::from({2.f}, stranger)});
  }
  const array x = array::from({{1.f}, {2.f}, {3.f}}, group[0]);
  const pipeline network(stages, group, 2);
  refused<tutti::value_error>(name, "parameters of 0 stages", [&] { network({}, x); });
  refused<tutti::device_error>(name, "a parameter of stage 0 is on " + stranger.name(),
                               [&] { network(wrong, x); });
  refused<tutti::shape_error>(name, "no rows", [&] { network(own, x({{0, 0}})); });
  refused<tutti::shape_error>(name, "no rows", [&] { network(own, 1); });
  refused<tutti::value_error>(name, "no loss function",
                              [&] { network.value_and_grad({}, own, x, x); });
  refused<tutti::shape_error>(name, "[3,1], target [2,1]", [&] {
    network.value_and_grad(tutti::nn::mse, own, x, x({{0, 2}}));
  });
  refused<tutti::out_of_memory>(name, "", [&] {
    pipeline(stages, group, most)(own, broadcast_to(x({{0, 1}}), {huge / 8, 1}));
  });
  BOOST_CHECK_THROW(pipeline(std::vector<pipeline::stage>(
                                 count, [](const arrays&, const array&) -> array { throw 7; }),
                             group, 2)(own, x),
                    int);
  BOOST_CHECK_THROW(pipeline(std::vector<pipeline::stage>(
                                 count, [](const arrays&, const array&) { return array(); }),
                             group, 2)(own, x),
                    tutti::value_error);
  const double factor = std::pow(2.0, static_cast<double>(count));
  for (const std::int64_t n : {std::int64_t{1}, most})
    BOOST_TEST(
        matches(pipeline(stages, group, n)(own, x), {{3, 1}, {factor, 2 * factor, 3 * factor}}));
}

BOOST_AUTO_TEST_CASE(optimizers_of_replicas) {
  tutti::replicated_optimizer<tutti::nn::sgd> optimizer(group, tutti::nn::sgd());
  const auto p = replicas();
  refused<tutti::value_error>("sgd", "1 parameters but 0 gradients",
                              [&] { optimizer.step(p, {}); });
  refused<tutti::shape_error>("sgd", "parameter 0 has shape [2]",
                              [&] { optimizer.step(p, {replicate(tutti::ones({3}), group)}); });
  refused<tutti::index_error>("parts_at", "member 1 of", [&] {
    optimizer.step({replicate(tutti::ones({2}), first_devices(1))}, p);
  });
}

BOOST_AUTO_TEST_CASE(copies_between_devices) {
  refused<tutti::value_error>("to", "never assigned", [&] { array().to(group[0]); });
  const array wide = broadcast_to(array::from({1.f}, group[0]), {huge / 8});
  BOOST_TEST(wide.to(group[1]).size() == huge / 8);
  BOOST_CHECK_THROW(wide.to(group[1]).wait(), tutti::error);
}

BOOST_AUTO_TEST_SUITE_END()
