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
#include "tutti/ops.hpp"

namespace {

using tutti::array;
using tutti::dtype;

constexpr std::int64_t examples = 40, width = 6;

struct run_state {
  array weights = tutti::random::normal({1}, {width});
  array momentum = tutti::zeros({width});
  std::int64_t step = 0;
};

void learn(run_state& s, const tutti::data::batch& b) {
  const array error = tutti::matmul(b.arrays[0], s.weights) - b.arrays[1];
  const array slope = tutti::matmul(b.arrays[0].T(), error);
  s.momentum = 0.9f * s.momentum + slope;
  s.weights = s.weights - 0.001f * s.momentum;
  ++s.step;
}

run_state resumed(const tutti::checkpoints& kept) {
  run_state s;
  if (const auto found = kept.newest()) {
    s.weights = found->arrays.at("weights");
    s.momentum = found->arrays.at("momentum");
    s.step = std::stoll(found->metadata.at("step"));
  }
  return s;
}

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

void train(const tutti::checkpoints& kept, run_state& s, std::int64_t steps, end_by_signal& end) {
  const std::vector<array> rows{tutti::random::normal({2}, {examples, width}),
                                tutti::random::normal({3}, {examples})};
  const tutti::data::loader batches(tutti::data::rows_of(rows), {.batch_size = 8, .key = {4}});
  while (s.step < steps) {
    const std::int64_t epoch = s.step / batches.batches(), first = s.step % batches.batches();
    for (tutti::data::batch& b : batches.start(epoch, first)) {
      learn(s, b);
      kept.save({s.step,
                 {{"weights", s.weights}, {"momentum", s.momentum}},
                 {{"step", std::to_string(s.step)}}});
      end.saved();
      if (s.step == steps) break;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 5) return 2;
  try {
    const tutti::checkpoints kept(argv[1], {.keep = 2});
    run_state s = resumed(kept);
    {
      end_by_signal end(argc == 5 ? std::atoi(argv[3]) : 0, argc == 5 ? std::atoi(argv[4]) : 0);
      train(kept, s, std::atoll(argv[2]), end);
    }
    for (const float w : s.weights.to_vector<float>()) std::printf("%a ", static_cast<double>(w));
    std::printf("\n");
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
