// SPDX-License-Identifier: Apache-2.0
//
// A run that saves each step and goes on from the newest checkpoint: FOLDER STEPS [SIGNAL DELAY].
// Prints the bits of its final weights. What it learns does not matter, but that each step depends
// on all before. The signal ends it DELAY microseconds after the first step that it saves: 0 there
// and then, else wherever it is, or at its end.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <thread>

#include "tutti/data.hpp"
#include "tutti/data/checkpoint.hpp"
#include "tutti/nn.hpp"

namespace {

using tutti::array;
namespace nn = tutti::nn;

constexpr std::int64_t examples = 40, width = 6;
using training = nn::trainer<nn::sgd>;

/// Sends the signal; joined when it goes, so that the run does not end without it.
class end_by_signal {
 public:
  end_by_signal(int signal, int delay) : signal_(signal), delay_(delay) {}
  ~end_by_signal() {
    if (thread_.joinable()) thread_.join();
  }
  end_by_signal(const end_by_signal&) = delete;
  end_by_signal& operator=(const end_by_signal&) = delete;

  void saved() {
    if (signal_ == 0 || thread_.joinable()) return;
    if (delay_ == 0) send();
    thread_ = std::thread([this] {
      std::this_thread::sleep_for(std::chrono::microseconds(delay_));
      send();
    });
  }

 private:
  void send() const {
    ::kill(::getpid(), signal_);
    for (;;) ::pause();
  }

  const int signal_, delay_;
  std::thread thread_;
};

void train(const tutti::checkpoints& kept, training& run, std::int64_t steps, end_by_signal& end) {
  const std::vector<array> rows{tutti::random::normal({2}, {examples, width}),
                                tutti::random::normal({3}, {examples, 1})};
  const tutti::data::loader batches(tutti::data::rows_of(rows), {.batch_size = 8, .key = {4}});
  while (run.steps() < steps) {
    const std::int64_t epoch = run.steps() / batches.batches(),
                       first = run.steps() % batches.batches();
    for (tutti::data::batch& b : batches.start(epoch, first)) {
      run.step(b.arrays);
      kept.save({run.steps(), run.arrays(), {}});
      end.saved();
      if (run.steps() == steps) break;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 5) return 2;
  try {
    const tutti::checkpoints kept(argv[1], {.keep = 2});
    training run(
        nn::linear(width, 1, {1}), nn::sgd({.learning_rate = 0.01, .momentum = 0.9}),
        [](const array& y, const std::vector<array>& batch) { return nn::mse(y, batch[1]); });
    if (const auto found = kept.newest()) run.load(found->arrays);
    {
      end_by_signal end(argc == 5 ? std::atoi(argv[3]) : 0, argc == 5 ? std::atoi(argv[4]) : 0);
      train(kept, run, std::atoll(argv[2]), end);
    }
    for (const array& p : run.parameters())
      for (const float w : p.to_vector<float>()) std::printf("%a ", static_cast<double>(w));
    std::printf("\n");
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
