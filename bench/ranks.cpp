// SPDX-License-Identifier: Apache-2.0
//
// tutti-bench-ranks, for `mpirun -n 2`: measures what MPI's messages between two ranks take,
// compares the all-reduce of a job with MPI's own, and a training step on all ranks with one on
// rank 0 alone, each on the processors that mpirun assigned.
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

// Half the time of a message to the other rank and back, and the time of a sum in memory.
void measure_messages(const tutti::job& job, int elements) {
  const std::vector<float> ones(static_cast<std::size_t>(elements), 1.0F);
  std::vector<float> other(ones.size());
  const auto pass = [&](int from) {
    if (job.rank() == from)
      MPI_Send(ones.data(), elements, MPI_FLOAT, 1 - from, 0, MPI_COMM_WORLD);
    else
      MPI_Recv(other.data(), elements, MPI_FLOAT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  };
  std::vector<double> messages, sums;
  for (int i = 0; i < runs; ++i) {
    job.barrier();
    messages.push_back(seconds([&] { pass(0), pass(1); }, 10) / 2);
    sums.push_back(seconds(
        [&] { MPI_Reduce_local(ones.data(), other.data(), elements, MPI_FLOAT, MPI_SUM); }, 10));
  }
  const double bytes = elements * 4.0;
  if (job.rank() == 0)
    fmt::print("message of {:.0f} KB: {:.2f} us ({:.2f} GB/s), its sum {:.2f} us ({:.2f} GB/s)\n",
               bytes / 1e3, median(messages) * 1e6, bytes / median(messages) / 1e9,
               median(sums) * 1e6, bytes / median(sums) / 1e9);
}

void measure_all_reduce(const tutti::job& job, int elements) {
  const std::vector<float> ones(static_cast<std::size_t>(elements), 1.0F);
  std::vector<float> sums(ones.size());
  const array value = array::from(ones);
  std::vector<double> own, peer;
  for (int i = 0; i < runs; ++i) {
    job.barrier();
    own.push_back(seconds([&] { job.all_reduce(value).wait(); }));
    job.barrier();
    peer.push_back(seconds([&] {
      MPI_Allreduce(ones.data(), sums.data(), elements, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    }));
  }
  if (job.rank() == 0)
    fmt::print("all-reduce of {} KB, {} ranks: {:.4g} ms, MPI_Allreduce {:.4g} ms, ratio {:.2f}\n",
               elements / 250, job.size(), median(own) * 1e3, median(peer) * 1e3,
               median(peer) / median(own));
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
    constexpr int sizes[] = {16 << 20, 1000 * 1000, 250 * 1000, 1000, 1};
    for (const int elements : sizes) measure_all_reduce(job, elements);
    if (job.size() == 2)
      for (const int elements : sizes) measure_messages(job, elements);
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
