// SPDX-License-Identifier: Apache-2.0
//
// Models with state and random layers on several devices: batch norm, dropout, nn::trainer.
#include "members.hpp"
#include "tutti/nn.hpp"

namespace stateful_parallel_test {

using tutti::shares;
namespace nn = tutti::nn;
using list = std::vector<array>;

namespace {

constexpr std::int64_t inputs = 5, classes = 3, rows = 11;
constexpr double momentum = 0.1;
const tolerance rounding{.relative = 1e-12, .absolute = 1e-14};

dense rows_at(std::uint64_t step) { return random_dense({rows, inputs}, -2, 2, 500 + step); }

list batch_at(std::uint64_t step, const tutti::device& on) {
  return {put(rows_at(step), on, dtype::f64),
          put(random_integers({rows}, 0, classes - 1, 700 + step), on, dtype::i32)};
}

nn::layer normed_on(const tutti::device& on) {
  return nn::sequential({nn::batch_norm(inputs, {.momentum = momentum}, dtype::f64, on),
                         nn::linear(inputs, classes, {3}, {}, dtype::f64, on)});
}

tutti::data_parallel::stateful_function step_of(const nn::layer& model) {
  return [model](const list& p, const list& s, const list& b, tutti::random::key key) {
    nn::applied done = model.apply(p, s, b[0], nn::training(key));
    return tutti::loss_and_state{nn::cross_entropy(done.value, b[1]), done.state};
  };
}

void evaluate(const tutti::parallel_step& step) {
  list all = all_parts(step.gradients);
  for (const array& a : all_parts(step.state)) all.push_back(a);
  all.push_back(step.loss);
  tutti::eval(all);
}

/// Running mean of the columns after one batch of these rows, from 0 on.
std::vector<double> running_mean(const dense& x, std::int64_t first, std::int64_t last) {
  std::vector<double> out(static_cast<std::size_t>(inputs));
  for (std::int64_t row = first; row < last; ++row)
    for (std::int64_t c = 0; c < inputs; ++c)
      out[static_cast<std::size_t>(c)] += momentum *
                                          x.values[static_cast<std::size_t>(row * inputs + c)] /
                                          static_cast<double>(last - first);
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(state_is_the_mean_over_members) {
  for (const device_group& group : groups()) {
    const nn::layer model = normed_on(group[0]);
    const tutti::data_parallel step(step_of(model), group, {.batches = shares::equal()});
    const tutti::parallel_step got =
        step(replicate(model.parameters(), group), replicate(model.state(), group),
             batch_at(1, group[0]), {1});
    evaluate(got);
    const std::vector<std::int64_t> cuts = shares::equal().boundaries(rows, group);
    std::vector<double> expected(static_cast<std::size_t>(inputs));
    for (std::size_t m = 0; m < group.size(); ++m) {
      const std::vector<double> own = running_mean(rows_at(1), cuts[m], cuts[m + 1]);
      const double share = static_cast<double>(cuts[m + 1] - cuts[m]) / rows;
      for (std::size_t c = 0; c < own.size(); ++c) expected[c] += share * own[c];
    }
    BOOST_TEST(got.state.size() == 2u);
    for (const array& copy : got.state[0].parts())
      BOOST_TEST(matches(copy, dense{{inputs}, expected}, rounding));
  }
}

BOOST_AUTO_TEST_CASE(members_drop_by_keys_of_their_own) {
  const device_group group = largest_group();
  const nn::layer model = nn::linear(inputs, classes, {3}, {}, dtype::f64, group[0]);
  list dropped;
  const tutti::data_parallel step(
      [&](const list& p, const list&, const list& b, tutti::random::key key) {
        // Ones, so that what is left shows which were dropped: 8 of each member's part.
        const array left = nn::dropout(0.5).apply({}, ones_like(b[0]), nn::training(key));
        dropped.push_back(left({{0, 2}, {0, 4}}));
        return tutti::loss_and_state{nn::cross_entropy(model.apply(p, b[0] * left), b[1]), {}};
      },
      group, {.batches = shares::equal()});
  const auto run = [&] {
    const tutti::parallel_step got =
        step(replicate(model.parameters(), group), {}, batch_at(2, group[0]), {9});
    evaluate(got);
    return read(got.loss).values[0];
  };
  const double first = run();
  for (std::size_t m = 1; m < group.size(); ++m)
    BOOST_TEST((read(dropped[m]).values != read(dropped[0]).values));
  BOOST_TEST(run() == first);
}

BOOST_AUTO_TEST_CASE(trainer_on_a_group_is_that_of_one_device) {
  const auto train = [&](const device_group& on) {
    const nn::sequential model =
        nn::perceptron({inputs, 7, classes}, {4}, tutti::tanh, {}, dtype::f64, on[0]);
    nn::trainer run(model, nn::adam({.learning_rate = 0.05}),
                    [](const array& y, const list& b) { return nn::cross_entropy(y, b[1]); },
                    {.group = on, .parallel = {.batches = shares::equal()}});
    std::vector<double> out;
    for (std::uint64_t i = 0; i < 4; ++i)
      out.push_back(run.step(batch_at(i, on[0])).item<double>());
    for (const array& p : run.parameters())
      for (const double v : read(p).values) out.push_back(v);
    return out;
  };
  const std::vector<double> alone = train(first_devices(1)), together = train(largest_group());
  BOOST_TEST(alone.size() == together.size());
  for (std::size_t i = 0; i < alone.size(); ++i)
    BOOST_TEST(std::abs(alone[i] - together[i]) < 1e-10);
}

BOOST_AUTO_TEST_CASE(trainer_of_a_group_goes_on) {
  const device_group group = largest_group();
  const auto run_of = [&] {
    return nn::trainer(normed_on(group[0]), nn::adam({.learning_rate = 0.05}),
                       [](const array& y, const list& b) { return nn::cross_entropy(y, b[1]); },
                       {.group = group, .parallel = {.batches = shares::equal()}});
  };
  auto straight = run_of(), resumed = run_of();
  straight.step(batch_at(0, group[0]));
  resumed.load(straight.arrays());
  straight.step(batch_at(1, group[0]));
  resumed.step(batch_at(1, group[0]));
  for (std::size_t i = 0; i < straight.parameters().size(); ++i)
    BOOST_TEST(matches(resumed.parameters()[i], read(straight.parameters()[i]), {}));
  for (std::size_t i = 0; i < straight.state().size(); ++i)
    BOOST_TEST(matches(resumed.state()[i], read(straight.state()[i]), {}));
}

BOOST_AUTO_TEST_CASE(wrong_state) {
  const device_group group = largest_group();
  const nn::layer model = normed_on(group[0]);
  // By measured speed one row may be left for a device, of which batch_norm knows no variance.
  const tutti::data_parallel_options options{.batches = shares::equal()};
  const tutti::data_parallel step(step_of(model), group, options);
  const auto parameters = replicate(model.parameters(), group);
  const auto state = replicate(model.state(), group);
  const list batch = batch_at(1, group[0]);
  FAILS(value_error, step(parameters, {}, batch, {1}), "state");
  const tutti::data_parallel forgetful(
      [&](const list& p, const list& s, const list& b, tutti::random::key key) {
        return tutti::loss_and_state{step_of(model)(p, s, b, key).loss, {}};
      },
      group, options);
  FAILS(value_error, forgetful(parameters, state, batch, {1}), "0 arrays of state for 2");
  FAILS(value_error, tutti::data_parallel(tutti::data_parallel::stateful_function(), group),
        "loss function");
}

}  // namespace stateful_parallel_test
