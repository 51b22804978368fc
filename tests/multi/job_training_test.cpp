// SPDX-License-Identifier: Apache-2.0
//
// Training over the ranks of a job: what they find together is what one process finds alone.
#include "thread_job.hpp"
#include "tutti/data.hpp"
#include "tutti/nn.hpp"
#include "tutti_test/arrays.hpp"

namespace {

using namespace tutti;

double distance(const array& a, const array& b) {
  return a.size() == 0 ? 0 : max(abs(a - b)).item();
}

host_array examples(std::int64_t rows, std::int64_t columns, std::uint64_t seed) {
  return host_array::of(random::normal({seed}, {rows, columns}).astype(dtype::f64));
}

nn::sequential network() {
  const auto keys = random::split({5}, 2);
  return nn::sequential({nn::linear(7, 9, keys[0], {}, dtype::f64), nn::activate(tutti::tanh),
                         nn::linear(9, 3, keys[1], {}, dtype::f64)});
}

// One epoch of 13 rows in batches of 4, of which the last one has fewer rows than some jobs have
// ranks. Goes on from `saved` if there is something; appends the losses.
io::named_arrays trained(const std::optional<job>& j, int epoch, const io::named_arrays& saved,
                         std::vector<array>& losses) {
  const data::loader batches(data::rows_of({examples(13, 7, 1), examples(13, 3, 2)}),
                             {.batch_size = 4, .key = {9}, .job = j});
  nn::trainer run(
      network(), nn::adam({.learning_rate = 0.01}),
      [](const array& output, const std::vector<array>& batch) {
        return nn::mse(output, batch[1]);
      },
      {.group = j ? device_group(*j) : device_group(), .parallel = {.bucket_bytes = 200}});
  if (!saved.empty()) run.load(saved);
  for (data::batch& b : batches.start(epoch)) losses.push_back(run.step(b.arrays));
  return run.arrays();
}

// Losses, and everything that later steps depend on, after an epoch by the ranks of `first` and one
// by those of `second`.
std::vector<array> trained(const std::optional<job>& first, const std::optional<job>& second) {
  std::vector<array> out;
  const io::named_arrays saved = trained(first, 0, {}, out);
  for (const auto& [name, values] : trained(second, 1, saved, out)) out.push_back(values);
  return out;
}

void require_equal(const std::vector<array>& together, const std::vector<array>& alone) {
  require(together.size() == alone.size(), "as many losses and parameters");
  for (std::size_t i = 0; i < alone.size(); ++i)
    require(distance(together[i], alone[i]) < 1e-12, "value " + std::to_string(i));
}

}  // namespace

BOOST_AUTO_TEST_CASE(ranks_train_to_the_weights_of_one_process) {
  const std::vector<array> alone = trained({}, {});
  on_ranks([&](const job& j) {
    const std::vector<array> together = trained(j, j);
    require_equal(together, alone);
    for (const array& mine : together) {
      const array first = j.broadcast(mine);
      require(distance(first, mine) == 0, "all ranks have the same bits");
    }
  });
}

BOOST_AUTO_TEST_CASE(another_number_of_ranks_goes_on) {
  const std::vector<array> alone = trained({}, {});
  on_ranks([&](const job& j) {
    require_equal(trained(j, {}), alone);
    require_equal(trained({}, j), alone);
  });
}

BOOST_AUTO_TEST_CASE(ranks_share_each_batch) {
  const auto items = data::rows_of({examples(13, 2, 3)});
  for (const bool shuffle : {false, true}) {
    data::loader_options options{.batch_size = 5, .shuffle = shuffle, .key = {4}, .workers = 1};
    std::vector<std::vector<std::int64_t>> alone;
    for (data::batch& b : data::loader(items, options).start(2)) alone.push_back(b.indices);
    on_ranks([&](const job& j) {
      data::loader_options own = options;
      own.job = j;
      std::size_t number = 0;
      for (data::batch& b : data::loader(items, own).start(2)) {
        const std::vector<std::int64_t> all =
            j.all_gather(array::from(b.indices)).to_vector<std::int64_t>();
        require(all == alone[number++], "batch " + std::to_string(b.number));
        const auto rows = static_cast<std::int64_t>(b.indices.size());
        require(rows == 0 ? b.arrays.empty() : b.arrays[0].dim(0) == rows, "rows of their own");
        require(rows >= static_cast<std::int64_t>(all.size()) / j.size(), "equal parts");
      }
      require(number == alone.size(), "as many batches");
    });
  }
}

BOOST_AUTO_TEST_CASE(state_is_the_mean_over_ranks) {
  on_ranks([](const job& j) {
    // Rank r has r rows, each of value r; the state is their mean, and a count of steps.
    const std::int64_t rows = j.rank();
    const device_group group(j);
    const data_parallel gradient(
        [](const std::vector<array>& p, const std::vector<array>& state,
           const std::vector<array>& batch, random::key) {
          return loss_and_state{mean(p[0] * batch[0]), {mean(batch[0]), state[1] + 1}};
        },
        group);
    std::vector<array> batch;
    if (rows > 0) batch.push_back(full({rows, 1}, static_cast<double>(rows), dtype::f32));
    const auto parameters = replicate(std::vector<array>{ones({1})}, group);
    const auto state = replicate(std::vector<array>{zeros({}), zeros({}, dtype::i32)}, group);
    if (j.size() == 1) return;
    const parallel_step step = gradient(parameters, state, batch, {});
    double sum = 0, count = 0;
    for (int r = 0; r < j.size(); ++r) {
      sum += r * r;
      count += r;
    }
    require(std::abs(step.loss.item() - sum / count) < 1e-6, "loss");
    require(std::abs(step.gradients[0].parts()[0].item() - sum / count) < 1e-6, "gradient");
    require(std::abs(step.state[0].parts()[0].item() - sum / count) < 1e-6, "state");
    require(step.state[1].parts()[0].item<int>() == 1, "the count");
  });
}

BOOST_AUTO_TEST_CASE(a_step_without_a_rank_is_named) {
  tutti_test::run_ranks(
      2,
      [](const job& j) {
        const nn::sequential model = nn::perceptron({3, 2}, {1}, relu);
        nn::trainer run(model, nn::sgd(),
                        [](const array& y, const std::vector<array>&) { return mean(y); },
                        {.group = device_group(j)});
        if (j.rank() == 1) return;
        try {
          run.step({ones({4, 3})});
          throw std::runtime_error("nothing was thrown");
        } catch (const device_error& e) {
          require(std::string(e.what()).starts_with("trainer::step (data_parallel): rank 1 "),
                  e.what());
        }
      },
      0.2);
}

BOOST_AUTO_TEST_CASE(other_buckets_are_refused) {
  on_ranks([](const job& j) {
    const device_group group(j);
    const auto step = [&](std::uint64_t bucket_bytes) {
      const data_parallel gradient(
          [](const std::vector<array>& p, const std::vector<array>& b) { return sum(p[0] * b[0]); },
          group, {.bucket_bytes = bucket_bytes});
      return gradient(replicate(std::vector<array>{ones({1})}, group), std::vector{ones({1, 1})});
    };
    if (j.size() == 1) return;
    try {
      step(j.rank() == 0 ? 8 : 64);
      throw std::runtime_error("nothing was thrown");
    } catch (const value_error& e) {
      require(std::string(e.what()) ==
                  "data_parallel: bucket_bytes = 8 on rank 0 and bucket_bytes = 64 on rank 1",
              e.what());
    }
    require(step(8).loss.item() == 1, "the job goes on");
  });
}

BOOST_AUTO_TEST_CASE(no_rows_at_all_are_refused) {
  on_ranks([](const job& j) {
    const device_group group(j);
    const data_parallel gradient(
        [](const std::vector<array>& p, const std::vector<array>&) { return sum(p[0]); }, group);
    try {
      gradient(replicate(std::vector<array>{ones({1})}, group), std::vector<array>());
    } catch (const error& e) {
      return require(std::string(e.what()).find("data_parallel: no") == 0, e.what());
    }
    throw std::runtime_error("nothing was thrown");
  });
}
