// SPDX-License-Identifier: Apache-2.0
//
// The same for parallel loops, training over several devices and pipelines: counts that are
// negative or huge, nothing where a function is expected, callables that throw.
#include "hostile.hpp"
#include "tutti/nn.hpp"

using namespace hostile;
using tutti::loop_options;
using tutti::loop_policy;
namespace collective = tutti::collective;

namespace {

const auto one_more = [](const tutti::chunk& c) -> arrays {
  return {tutti::arange(c.begin, c.end, dtype::i64, c.device) + 1};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(loops_and_training, fixture)

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
  refused<tutti::value_error>(name, "unknown policy 9",
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
  refused<tutti::value_error>(name, "no loss function",
                              [&] { data_parallel(data_parallel::loss_function(), group); });
  for (const std::int64_t n : {std::int64_t{0}, std::int64_t{-1}, least})
    refused<tutti::value_error>(name, "accumulate = " + text(n), made({.accumulate = n}));
  refused<tutti::value_error>(name, "bucket_bytes = 0", made({.bucket_bytes = 0}));
  refused<tutti::value_error>(name, "is not positive",
                              made({.collectives = {.time_limit = not_a_number}}));
  refused<tutti::value_error>(
      name, "unknown algorithm 9",
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
  using tutti::nn::pipeline;
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

BOOST_AUTO_TEST_SUITE_END()
