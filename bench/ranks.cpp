// SPDX-License-Identifier: Apache-2.0
//
// tutti-bench-ranks, for `mpirun -n 2`: compares the all-reduce of a job with MPI's own, and a
// training step on all ranks with one on rank 0 alone, each on the processors that mpirun assigned.
#include <fmt/format.h>
#include <mpi.h>

#include <cstdio>
#include <exception>
#include <optional>
#include <tutti/nn.hpp>
#include <tutti/tutti.hpp>
#include <vector>

#include "timing.hpp"

namespace {

using tutti::array, tutti::bench::median, tutti::bench::seconds;

constexpr int runs = 9;

void measure_all_reduce(const tutti::job& job) {
  const std::vector<float> ones(std::size_t{16} << 20, 1.0F);
  std::vector<float> sums(ones.size());
  const array value = array::from(ones);
  std::vector<double> own, peer;
  for (int i = 0; i < runs; ++i) {
    job.barrier();
    own.push_back(seconds([&] { job.all_reduce(value).wait(); }));
    job.barrier();
    peer.push_back(seconds([&] {
      MPI_Allreduce(ones.data(), sums.data(), static_cast<int>(ones.size()), MPI_FLOAT, MPI_SUM,
                    MPI_COMM_WORLD);
    }));
  }
  if (job.rank() == 0)
    fmt::print("all-reduce of 64 MB, {} ranks: {:.1f} ms, MPI_Allreduce {:.1f} ms, ratio {:.2f}\n",
               job.size(), median(own) * 1e3, median(peer) * 1e3, median(peer) / median(own));
}

/// The median step time of a perceptron 784-500-10 with 2048 rows over the ranks of the job.
double step_seconds(const std::optional<tutti::job>& job) {
  namespace nn = tutti::nn;
  const std::int64_t rows = 2048 / (job ? job->size() : 1);
  const auto keys = tutti::random::split({5}, 4);
  const nn::sequential model(
      {nn::linear(784, 500, keys[0]), nn::activate(tutti::tanh), nn::linear(500, 10, keys[1])});
  nn::trainer run(
      model, nn::adam(),
      [](const array& y, const std::vector<array>& batch) { return nn::mse(y, batch[1]); },
      {.group = job ? tutti::device_group({tutti::default_device()}, *job)
                    : tutti::device_group({tutti::default_device()})});
  const std::vector<array> batch{tutti::random::normal(keys[2], {rows, 784}),
                                 tutti::random::normal(keys[3], {rows, 10})};
  std::vector<double> steps;
  for (int i = 0; i < 10 + 5 * runs; ++i) steps.push_back(seconds([&] { run.step(batch).wait(); }));
  return median({steps.begin() + 10, steps.end()});
}

}  // namespace

int main() {
  try {
    const tutti::job job;
    measure_all_reduce(job);
    const double alone = job.rank() == 0 ? step_seconds({}) : 0;
    job.barrier();
    const double together = step_seconds(job);
    if (job.rank() == 0)
      fmt::print(
          "perceptron step, 2048 rows: {:.1f} ms on {} ranks, {:.1f} ms on one, ratio {:.2f}\n",
          together * 1e3, job.size(), alone * 1e3, alone / together);
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "tutti-bench-ranks: {}\n", e.what());
    return 1;
  }
}
