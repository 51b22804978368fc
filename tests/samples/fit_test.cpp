// SPDX-License-Identifier: Apache-2.0
//
// The loop of samples that train: a run that is cut off at any step goes on to the same weights.
#include "common/fit.hpp"

#include "tutti_test/arrays.hpp"

namespace fit_test {

namespace nn = tutti::nn;
using tutti::host_array;

namespace {

constexpr std::int64_t rows = 22;

/// A run over 22 rows in batches of 4, so six steps an epoch; cut off after `steps` of them.
struct training {
  host_array x = host_array::of(tutti::random::normal({1}, {rows, 3}));
  host_array labels = host_array::of(tutti::random::integers({2}, {rows}, 0, 2, tutti::dtype::i64));
  tutti::data::loader batches{tutti::data::rows_of({x, labels}), {.batch_size = 4, .key = {3}}};
  nn::sequential model{{nn::linear(3, 8, {4}), nn::batch_norm(8), nn::activate(tutti::tanh),
                        nn::dropout(0.2), nn::linear(8, 2, {5})}};
  nn::trainer<nn::adam> run{model, nn::adam(), samples::cross_entropy, {.key = {6}}};
  int finite_steps = 1000;  // then the loss is multiplied
  double otherwise = NAN;

  std::vector<samples::epoch_result> operator()(const std::filesystem::path& out, bool resume,
                                                int steps = 1000, std::uint64_t seed = 1,
                                                std::int64_t epochs = 3) {
    CLI::App app;
    samples::common_options o(app);
    o.epochs = epochs;
    o.seed = seed;
    o.out = out;
    o.resume = resume;
    o.json = true;  // nothing on standard output
    samples::training_run hooks(run);
    hooks.step = [&, inner = hooks.step](const std::vector<array>& batch) {
      if (steps-- == 0) throw std::runtime_error("cut off");
      const array loss = inner(batch);
      return finite_steps-- > 0 ? loss : loss * otherwise;
    };
    return samples::fit(
        hooks, o,
        {.batches = batches,
         .rate = nn::cosine_schedule(0.05, 18),
         .test = [&] { return samples::evaluate(run, x, labels, samples::cross_entropy, 7); },
         .seconds_between_checkpoints = 0,
         .seconds_between_epochs = 0});
  }

  std::vector<double> weights() const {
    std::vector<double> out;
    for (const array& p : run.parameters())
      for (const double v : tutti_test::read(p).values) out.push_back(v);
    return out;
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(cut_off_anywhere_it_ends_the_same) {
  const tutti_test::temporary_folder outside;
  training straight;
  const auto expected = straight(outside / "straight", false);
  BOOST_TEST(expected.size() == 3u);
  BOOST_TEST(expected.back().test.accuracy >= 0.5);
  for (const int steps : {0, 1, 5, 6, 9, 17}) {
    const auto out = outside / std::to_string(steps);
    training first, second;
    BOOST_CHECK_THROW(first(out, false, steps), std::runtime_error);
    const auto got = second(out, true);
    BOOST_TEST(second.run.steps() == 18);
    BOOST_TEST(second.weights() == straight.weights(), same);
    BOOST_TEST_REQUIRE(got.size() == 3u);
    for (std::size_t i = 0; i < 3; ++i) {
      BOOST_TEST(got[i].epoch == expected[i].epoch);
      BOOST_TEST(got[i].loss == expected[i].loss);
      BOOST_TEST(got[i].test.loss == expected[i].test.loss);
    }
  }
  // Without resuming, what an earlier run has left does not count.
  training anew;
  anew(outside / "9", false);
  BOOST_TEST(anew.weights() == straight.weights(), same);
}

BOOST_AUTO_TEST_CASE(what_it_cannot_go_on_from_is_refused) {
  const tutti_test::temporary_folder outside;
  training run;
  tutti::checkpoints(outside / "a/checkpoints").save({3, {{"w", tutti::ones({2})}}, {}});
  FAILS(io_error, run(outside / "a", true), "no text");
  run(outside / "b", false);
  FAILS(io_error, training()(outside / "b", true, 1000, 2), "the run there has seed 1, this one 2");
  FAILS(value_error, training()(outside / "b", true, 1000, 1, 2), "is at step 18, beyond 2 epochs");
  training other;
  other.run = nn::trainer(nn::linear(3, 2, {1}), nn::adam(), samples::cross_entropy);
  FAILS(io_error, other(outside / "b", true), "is of another model");
  for (const tutti::checkpoint_file& file : tutti::checkpoints(outside / "b/checkpoints").list())
    std::filesystem::resize_file(file.path, 100);
  FAILS(io_error, training()(outside / "b", true), "all checkpoints are damaged");
}

BOOST_AUTO_TEST_CASE(other_data_have_another_checksum) {
  const auto of = [](std::vector<float> values) {
    return samples::checksum(std::as_bytes(std::span(values)));
  };
  BOOST_TEST(of({1, 2, 3}) == of({1, 2, 3}));
  for (const auto& other : {std::vector<float>{}, {1, 2}, {1, 3, 2}, {1, 2, NAN}, {1, 2, 3, 0}})
    BOOST_TEST(of({1, 2, 3}) != of(other));
}

BOOST_AUTO_TEST_CASE(an_earlier_run_stays_until_there_is_a_checkpoint) {
  const tutti_test::temporary_folder outside;
  const auto folder = outside / "run/checkpoints";
  training()(outside / "run", false);
  tutti::io::write_file(folder / "notes.txt", "mine");
  BOOST_CHECK_THROW(training()(outside / "run", false, 0, 2), std::runtime_error);
  BOOST_TEST(tutti::checkpoints(folder).newest()->step == 18);
  BOOST_CHECK_THROW(training()(outside / "run", false, 5, 2), std::runtime_error);
  BOOST_TEST(tutti::checkpoints(folder).newest()->step == 5);
  BOOST_TEST(std::filesystem::exists(folder / "notes.txt"));
  // No checkpoint of step 1 can be written: a folder has the name that it takes first.
  const auto taken = folder / "checkpoint-0000000000000000001.tutti";
  std::filesystem::create_directory(taken);
  BOOST_CHECK_THROW(training()(outside / "run", false), tutti::io_error);
  std::filesystem::remove(taken);
  BOOST_TEST(tutti::checkpoints(folder).newest()->step == 5);
}

// Weights that are no numbers take no sound checkpoint's place.
BOOST_AUTO_TEST_CASE(a_run_that_diverges_says_so_and_keeps_its_checkpoint) {
  const tutti_test::temporary_folder outside;
  training run, tested;
  run.finite_steps = 8;
  FAILS(value_error, run(outside / "run", false),
        "training diverged: the loss is nan by step 9 of 18; a lower --learning-rate may help");
  BOOST_TEST(tutti::checkpoints(outside / "run/checkpoints").newest()->step == 8);
  training large;
  large.finite_steps = 12;
  large.otherwise = 100;
  FAILS(value_error, large(outside / "large", false), "at the last step, and was 0.");
  tested.x = host_array::from(std::vector<float>(3 * rows, INFINITY), {rows, 3});
  FAILS(value_error, tested(outside / "tested", false),
        "the loss of the test is nan by step 6 of 18");
}

}  // namespace fit_test
