// SPDX-License-Identifier: Apache-2.0
//
// nn::trainer against the loop written out by hand, saving and resuming, and what it refuses.
#include "networks.hpp"
#include "tutti/data/checkpoint.hpp"

namespace trainer_test {

namespace random = tutti::random;

namespace {

constexpr random::key key{5};

nn::layer network(std::int64_t hidden = 6) {
  return nn::sequential({nn::linear(4, hidden, {1}), nn::batch_norm(hidden),
                         nn::activate(tutti::tanh), nn::dropout(0.25), nn::linear(hidden, 3, {2})});
}

list batch_at(std::uint64_t step, std::int64_t rows = 9) {
  return {upload_as<float>(random_dense({rows, 4}, -1, 1, 10 + step)),
          upload_as<std::int32_t>(random_integers({rows}, 0, 2, 50 + step))};
}

array loss(const array& output, const list& batch) { return nn::cross_entropy(output, batch[1]); }

template <class Optimizer>
nn::trainer<Optimizer> run_of(const nn::layer& model, const Optimizer& optimizer) {
  return nn::trainer(model, optimizer, loss, {.key = key});
}

bool same(const list& a, const list& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (read(a[i]).values != read(b[i]).values) return false;
  return true;
}

/// Saves a run after three steps, goes on in another one, and compares with one that never stopped.
template <class Optimizer>
void check_resumed(const Optimizer& optimizer) {
  const temporary_folder folder;
  nn::trainer straight = run_of(network(), optimizer);
  for (std::uint64_t i = 0; i < 3; ++i) straight.step(batch_at(i));
  const tutti::checkpoints kept(folder.path());
  kept.save({straight.steps(), straight.arrays(), {}});
  nn::trainer resumed = run_of(network(), optimizer);
  resumed.load(kept.newest()->arrays);
  BOOST_TEST(resumed.steps() == 3);
  for (std::uint64_t i = 3; i < 6; ++i) {
    straight.step(batch_at(i));
    resumed.step(batch_at(i));
  }
  BOOST_TEST(same(straight.parameters(), resumed.parameters()));
  BOOST_TEST(same(straight.state(), resumed.state()));
}

}  // namespace

BOOST_AUTO_TEST_CASE(trainer_takes_the_steps_of_the_loop) {
  const nn::layer model = network();
  nn::trainer run = run_of(model, nn::adam({.learning_rate = 0.05}));
  nn::adam optimizer({.learning_rate = 0.05});
  list parameters = model.parameters(), state = model.state();
  for (std::uint64_t i = 0; i < 5; ++i) {
    const list batch = batch_at(i);
    const nn::training_result r =
        nn::loss_and_gradients(model, parameters, state, batch[0],
                               nn::training(random::fold_in(key, static_cast<std::int64_t>(i))),
                               [&](const array& y) { return loss(y, batch); });
    parameters = optimizer.step(parameters, r.gradients);
    state = r.state;
    BOOST_TEST(run.step(batch).item() == r.loss.item());
    if (i == 2) {
      optimizer.options.learning_rate = 0.01;
      run.configure([](auto& options) { options.learning_rate = 0.01; });
    }
  }
  BOOST_TEST(run.steps() == 5);
  BOOST_TEST(same(run.parameters(), parameters));
  BOOST_TEST(same(run.state(), state));
  const array x = batch_at(9)[0];
  BOOST_TEST(same({run(x)}, {model.apply(parameters, state, x).value}));
}

BOOST_AUTO_TEST_CASE(trainer_clips_gradients) {
  const nn::layer model = nn::linear(4, 3, {1});
  const list batch = batch_at(0);
  const auto step =
      tutti::value_and_grad([&](const list& p) { return loss(model.apply(p, batch[0]), batch); });
  const list gradients = step(model.parameters()).second;
  for (const double most : {0.01, 100.0}) {
    nn::trainer run(model, nn::sgd({.learning_rate = 1}), loss, {.clip_norm = most});
    run.step(batch);
    const list expected =
        nn::sgd({.learning_rate = 1})
            .step(model.parameters(), nn::clip_by_norm(gradients, most).gradients);
    for (std::size_t i = 0; i < gradients.size(); ++i)
      BOOST_TEST(
          matches(run.parameters()[i], read(expected[i]), {.relative = 1e-5, .absolute = 1e-6}));
  }
}

BOOST_AUTO_TEST_CASE(trainer_goes_on_as_if_never_stopped) {
  check_resumed(nn::adam({.learning_rate = 0.05}));
  check_resumed(nn::sgd({.learning_rate = 0.05, .momentum = 0.9, .nesterov = true}));
  check_resumed(nn::sgd({.learning_rate = 0.05}));
  check_resumed(nn::rmsprop());
}

BOOST_AUTO_TEST_CASE(trainer_loads_all_or_nothing) {
  nn::trainer run = run_of(network(), nn::adam());
  run.step(batch_at(0));
  const tutti::io::named_arrays good = run.arrays();
  const list parameters = run.parameters();
  const auto refused = [&](const tutti::io::named_arrays& from, const char* why) {
    FAILS(error, run.load(from), why);
    BOOST_TEST(run.steps() == 1);
    BOOST_TEST(same(run.parameters(), parameters));
  };
  const auto without = [&](const char* name) {
    auto out = good;
    out.erase(name);
    return out;
  };
  auto extra = good;
  extra["other"] = array::from({1.0F});
  auto early = good;
  early["steps"] = array::from(std::vector<std::int64_t>{-1});
  nn::trainer wider = run_of(network(7), nn::adam());
  wider.step(batch_at(0));
  refused({}, "trainer::load: \"steps\" is missing");
  refused(without("steps"), "trainer::load: \"steps\" is missing");
  refused(without("model.0.weight"), "trainer::load: 0.weight is missing");
  refused(without("state.1.running_var"), "trainer::load: 1.running_var is missing");
  refused(without("optimizer.0"), "trainer::load: optimizer.0 is missing");
  refused(extra, "trainer::load: unknown name other");
  refused(early, "trainer::load: steps = -1");
  refused(wider.arrays(), "trainer::load: 0.");
  run.load(good);
  run.step(batch_at(1));
  BOOST_TEST(run.steps() == 2);
}

BOOST_AUTO_TEST_CASE(trainer_refuses) {
  const nn::layer model = network();
  FAILS(value_error, nn::trainer(nn::activate(tutti::tanh), nn::adam(), loss), "no parameters");
  FAILS(value_error, nn::trainer(model, nn::adam(), {}), "loss is empty");
  FAILS(value_error, nn::trainer(model, nn::adam(), loss, {.ahead = -1}), "ahead = -1");
  FAILS(value_error, nn::trainer(model, nn::adam(), loss, {.clip_norm = 0}), "clip_norm = 0");
  nn::trainer run = run_of(model, nn::adam());
  const list batch = batch_at(0), other = batch_at(0, 8);
  FAILS(value_error, nn::trainer(model, nn::adam(), loss, {.parallel = {.accumulate = 0}}),
        "trainer: accumulate = 0");
  FAILS(value_error, run.step({}), "trainer::step: no arrays in the batch");
  FAILS(shape_error, run.step({batch[0], other[1]}), "trainer::step: rows of the batch differ");
  FAILS(shape_error, run.step({batch[0]({{}, {0, 2}}), batch[1]}), "");
  // Functions of the application's loss keep their names.
  const auto step_of = [&](nn::batch_loss of) { nn::trainer(model, nn::adam(), of).step(batch); };
  FAILS(shape_error, step_of([](const array& y, const list&) { return y; }),
        "trainer::step: the function's value must have one element, got shape [");
  FAILS(dtype_error, step_of([](const array& y, const list&) { return count_nonzero(y); }),
        "trainer::step: the loss must be floating, got i64");
  FAILS(shape_error,
        step_of([](const array& y, const list&) { return mean(y + tutti::ones({99})); }),
        "add: shapes do not broadcast");
  BOOST_TEST(run.steps() == 0);
  BOOST_TEST(same(run.parameters(), model.parameters()));
  BOOST_TEST(std::isfinite(run.step(batch).item()));
}

BOOST_AUTO_TEST_CASE(folded_keys_are_those_of_split) {
  const auto keys = random::split({77}, 5);
  for (std::int64_t i = 0; i < 5; ++i)
    BOOST_TEST(random::fold_in({77}, i).value == keys[static_cast<std::size_t>(i)].value);
  BOOST_TEST(random::fold_in({77}, std::int64_t{1} << 40).value != keys[0].value);
  FAILS(value_error, random::fold_in({77}, -1), "index -1");
}

}  // namespace trainer_test
