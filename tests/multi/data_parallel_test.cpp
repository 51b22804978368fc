// SPDX-License-Identifier: Apache-2.0
//
// Data-parallel training and pipelines against one device that does everything: losses, gradients
// and parameters over several steps, in f64 so that only rounding may differ.
#include "members.hpp"
#include "tutti/nn.hpp"

using tutti::data_parallel_options;
using tutti::sharded;
using tutti::shares;
namespace nn = tutti::nn;

namespace {

constexpr std::int64_t inputs = 5, hidden = 7, classes = 3, rows = 11;
const tolerance rounding{.relative = 1e-12, .absolute = 1e-14};

std::vector<array> parameters_on(const tutti::device& on) {
  std::vector<array> out;
  for (const shape& extents :
       {shape{inputs, hidden}, shape{hidden}, shape{hidden, classes}, shape{classes}})
    out.push_back(put(random_dense(extents, -1, 1, static_cast<std::uint64_t>(extents.size())), on,
                      dtype::f64));
  return out;
}

struct batch {
  dense x, y;
  std::vector<array> on(const tutti::device& d) const {
    return {put(x, d, dtype::f64), put(y, d, dtype::i32)};
  }
};

batch batch_at(int step, std::int64_t count = rows) {
  const auto salt = static_cast<std::uint64_t>(step);
  return {random_dense({count, inputs}, -2, 2, 500 + salt),
          random_integers({count}, 0, classes - 1, 700 + salt)};
}

tutti::data_parallel::loss_function loss() {
  return [](const std::vector<array>& p, const std::vector<array>& b) {
    const array h = tutti::tanh(matmul(b[0], p[0]) + p[1]);
    return nn::cross_entropy(matmul(h, p[2]) + p[3], b[1]);
  };
}

/// The same step on one device.
std::pair<array, std::vector<array>> one_device(const std::vector<array>& parameters,
                                                const std::vector<array>& whole) {
  return tutti::value_and_grad([&](const std::vector<array>& p) { return loss()(p, whole); })(
      parameters);
}

std::vector<array> everything(const tutti::parallel_step& step) {
  std::vector<array> out = all_parts(step.gradients);
  out.push_back(step.loss);
  return out;
}

void check_step(const device_group& group, const data_parallel_options& options,
                const batch& data) {
  const tutti::device alone = group[0];
  const auto [value, gradients] = one_device(parameters_on(alone), data.on(alone));
  const tutti::data_parallel step(loss(), group, options);
  const tutti::parallel_step got = step(replicate(parameters_on(alone), group), data.on(alone));
  tutti::eval(everything(got));
  BOOST_TEST((got.loss.device() == group[0]));
  BOOST_TEST(matches(got.loss, read(value), rounding));
  for (std::size_t p = 0; p < gradients.size(); ++p)
    for (std::size_t m = 0; m < group.size(); ++m) {
      BOOST_TEST((got.gradients[p].parts()[m].device() == group[m]));
      BOOST_TEST(matches(got.gradients[p].parts()[m], read(gradients[p]), rounding));
    }
}

bool same_bits(const sharded& replicas) {
  const auto first = replicas.parts()[0].to_vector<double>();
  for (const array& copy : replicas.parts())
    if (copy.to_vector<double>() != first) return false;
  return true;
}

/// Some steps of Adam over all members and on one; the parameters must stay together.
void check_training(const device_group& group, const data_parallel_options& options) {
  const tutti::device alone = group[0];
  const nn::adam rule({.learning_rate = 0.05, .weight_decay = 0.1});
  std::vector<array> expected = parameters_on(alone);
  std::vector<sharded> parameters = replicate(expected, group);
  nn::adam single = rule;
  tutti::replicated_optimizer<nn::adam> each(group, rule, options.collectives.deterministic);
  each.configure([](nn::adam_options& o) { o.learning_rate = 0.02; });
  single.options.learning_rate = 0.02;
  const tutti::data_parallel step(loss(), group, options);
  for (int i = 0; i < 4; ++i) {
    const batch data = batch_at(i);
    expected = single.step(expected, one_device(expected, data.on(alone)).second);
    const tutti::parallel_step got = step(parameters, data.on(alone));
    parameters = each.step(parameters, got.gradients);
    std::vector<array> pending = all_parts(parameters);
    const std::vector<array> state = each.state();
    pending.insert(pending.end(), state.begin(), state.end());
    pending.push_back(got.loss);
    tutti::eval(pending);
  }
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    BOOST_TEST(matches(parameters[p].gather(alone), read(expected[p]),
                       {.relative = 1e-11, .absolute = 1e-13}));
    if (options.collectives.deterministic || compute_alike(group))
      BOOST_TEST(same_bits(parameters[p]));
  }
}

template <class Optimizer>
void load(Optimizer& into, const Optimizer& from) {
  if constexpr (requires { from.steps(); })
    into.load_state(from.state(), from.steps());
  else
    into.load_state(from.state());
}

/// A run that is stopped and goes on from what it saved, and one that is not.
template <class Optimizer>
void check_resuming(const device_group& group, const Optimizer& rule) {
  const tutti::device alone = group[0];
  const tutti::data_parallel step(loss(), group, {});
  const auto train = [&](std::vector<sharded> parameters,
                         tutti::replicated_optimizer<Optimizer>& optimizer, int from, int to) {
    for (int i = from; i < to; ++i) {
      const auto got = step(parameters, batch_at(i).on(alone));
      parameters = optimizer.step(parameters, got.gradients);
      for (const sharded& p : parameters) p.eval();
    }
    return parameters;
  };
  tutti::replicated_optimizer<Optimizer> straight(group, rule);
  const auto expected = train(replicate(parameters_on(alone), group), straight, 0, 4);

  tutti::replicated_optimizer<Optimizer> before(group, rule);
  std::vector<array> saved;
  for (const sharded& p : train(replicate(parameters_on(alone), group), before, 0, 2))
    saved.push_back(p.gather(alone));
  Optimizer one = rule;
  load(one, before.first());
  tutti::replicated_optimizer<Optimizer> after(group, one);
  const auto resumed = train(replicate(saved, group), after, 2, 4);
  for (std::size_t p = 0; p < expected.size(); ++p)
    BOOST_TEST(matches(resumed[p].gather(alone), read(expected[p].gather(alone)),
                       {.relative = 1e-11, .absolute = 1e-13}));
}

std::vector<double> uneven(std::size_t members) {
  std::vector<double> out;
  for (std::size_t m = 0; m < members; ++m) out.push_back(m == 1 ? 0.0 : 1.0 + double(m));
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(data_parallel_training)

BOOST_AUTO_TEST_CASE(a_step_equals_one_device) {
  for (const device_group& group : groups()) {
    for (const shares& by : {shares::equal(), shares(uneven(group.size()))})
      for (const std::int64_t accumulate : {1, 3})
        check_step(group, {.batches = by, .accumulate = accumulate}, batch_at(0));
    check_step(group, {}, batch_at(1));
    check_step(group, {.batches = shares::equal()}, batch_at(2, 2));  // members without rows
  }
}

BOOST_AUTO_TEST_CASE(buckets_change_nothing) {
  const device_group group = largest_group();
  for (const std::size_t bytes : {1, 100, 300, 100000})
    check_step(group, {.batches = shares::equal(), .bucket_bytes = bytes}, batch_at(3));
  for (const auto a : {tutti::collective::algorithm::ring, tutti::collective::algorithm::tree})
    check_step(group,
               {.batches = shares::equal(), .collectives = {.algorithm = a, .deterministic = true}},
               batch_at(4));
}

BOOST_AUTO_TEST_CASE(training_equals_one_device) {
  for (const device_group& group : groups())
    for (const bool deterministic : {false, true})
      check_training(group, {.batches = shares(uneven(group.size())),
                             .collectives = {.deterministic = deterministic}});
}

BOOST_AUTO_TEST_CASE(training_goes_on_from_what_was_saved) {
  for (const device_group& group : groups()) {
    check_resuming(group, nn::adam({.learning_rate = 0.05}));
    check_resuming(group, nn::sgd({.learning_rate = 0.05, .momentum = 0.9}));
  }
}

BOOST_AUTO_TEST_CASE(batches_that_are_split_already) {
  const device_group group = largest_group();
  const batch data = batch_at(5);
  const std::vector<array> here = data.on(group[0]);
  const auto parameters = replicate(parameters_on(group[0]), group);
  const tutti::data_parallel step(loss(), group, {.batches = shares::equal()});
  const tutti::parallel_step split =
      step(parameters, std::vector<sharded>{shard(here[0], group), shard(here[1], group)});
  const auto [value, gradients] = one_device(parameters_on(group[0]), here);
  BOOST_TEST(matches(split.loss, read(value), rounding));
  BOOST_TEST(matches(split.gradients[0].gather(group[0]), read(gradients[0]), rounding));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(pipelines)

namespace {

std::vector<tutti::nn::pipeline::stage> stages(std::size_t count) {
  std::vector<tutti::nn::pipeline::stage> out;
  for (std::size_t i = 0; i < count; ++i)
    out.push_back([](const std::vector<array>& p, const array& x) {
      return tutti::tanh(matmul(x, p[0]) + p[1]);
    });
  return out;
}

std::vector<std::vector<array>> stage_parameters(const device_group& group, bool all_on_first) {
  std::vector<std::vector<array>> out;
  for (std::size_t i = 0; i < group.size(); ++i) {
    const tutti::device on = group[all_on_first ? 0 : i];
    out.push_back({put(random_dense({4, 4}, -1, 1, 900 + i), on, dtype::f64),
                   put(random_dense({4}, -1, 1, 950 + i), on, dtype::f64)});
  }
  return out;
}

array through_all(const std::vector<std::vector<array>>& parameters, array x) {
  for (const auto& p : parameters) x = stages(1)[0](p, x);
  return x;
}

}  // namespace

BOOST_AUTO_TEST_CASE(micro_batches_pass_all_stages) {
  for (const device_group& group : groups()) {
    const array x = put(random_dense({7, 4}, -1, 1, 9), group[0], dtype::f64);
    const dense expected = read(through_all(stage_parameters(group, true), x));
    for (const std::int64_t micro_batches : {1, 3, 9}) {
      const tutti::nn::pipeline network(stages(group.size()), group, micro_batches);
      const array got = network(stage_parameters(group, false), x);
      BOOST_TEST((got.device() == group[group.size() - 1]));
      BOOST_TEST(matches(got, expected, rounding));
    }
  }
}

BOOST_AUTO_TEST_CASE(gradients_are_those_of_the_whole_batch) {
  for (const device_group& group : groups()) {
    const array x = put(random_dense({7, 4}, -1, 1, 9), group[0], dtype::f64);
    const array target = put(random_dense({7, 4}, -1, 1, 10), group[0], dtype::f64);
    const auto here = stage_parameters(group, true);
    std::vector<array> flat;
    for (const auto& p : here) flat.insert(flat.end(), p.begin(), p.end());
    const auto [value, gradients] = tutti::value_and_grad([&](const std::vector<array>& p) {
      std::vector<std::vector<array>> by_stage;
      for (std::size_t i = 0; i < p.size(); i += 2) by_stage.push_back({p[i], p[i + 1]});
      return nn::mse(through_all(by_stage, x), target);
    })(flat);
    for (const std::int64_t micro_batches : {1, 3}) {
      const tutti::nn::pipeline network(stages(group.size()), group, micro_batches);
      const auto [got, by_stage] =
          network.value_and_grad(nn::mse, stage_parameters(group, false), x, target);
      BOOST_TEST(matches(got, read(value), rounding));
      for (std::size_t i = 0; i < group.size(); ++i)
        for (std::size_t k = 0; k < 2; ++k) {
          BOOST_TEST((by_stage[i][k].device() == group[i]));
          BOOST_TEST(matches(by_stage[i][k], read(gradients[2 * i + k]), rounding));
        }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

// Gradients pass between devices: those of one device that does everything.
BOOST_AUTO_TEST_SUITE(gradients_across_devices)

BOOST_AUTO_TEST_CASE(of_sharded_work) {
  const device_group group = largest_group();
  const array x = put(random_dense({7, 4}, -1, 1, 1), group[0], dtype::f64);
  const array w = put(random_dense({4, 6}, -1, 1, 2), group[0], dtype::f64);
  const auto compare = [&](auto&& over_group, auto&& alone) {
    const auto [got, gradients] = tutti::value_and_grad(over_group)({x, w});
    const auto [value, expected] = tutti::value_and_grad(alone)({x, w});
    BOOST_TEST(matches(got, read(value), rounding));
    for (std::size_t i = 0; i < 2; ++i) {
      BOOST_TEST((gradients[i].device() == group[0]));
      BOOST_TEST(matches(gradients[i], read(expected[i]), rounding));
    }
  };
  const auto product = [](const std::vector<array>& a) {
    return sum(tutti::tanh(matmul(a[0], a[1])));
  };
  compare(
      [&](const std::vector<array>& a) {
        const sharded y = matmul(replicate(a[0], group), shard(a[1], group, 1));
        return sum(map(tutti::tanh, y)).gather(group[0]);
      },
      product);
  compare(
      [&](const std::vector<array>& a) {
        const sharded y = matmul(shard(a[0], group, 1), shard(a[1], group, 0));
        return sum(tutti::tanh(y.gather(group[0])));
      },
      product);
}

BOOST_AUTO_TEST_SUITE_END()
