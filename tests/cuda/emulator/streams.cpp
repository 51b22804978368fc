// SPDX-License-Identifier: Apache-2.0
//
// The order in which queued work runs.
#include "streams.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <thread>
#include <vector>

namespace tutti_emulator {
namespace {

std::vector<CUstream>& streams() {
  static auto* const all = new std::vector<CUstream>;
  return *all;
}

std::map<int, CUresult>& errors() {
  static auto* const all = new std::map<int, CUresult>;
  return *all;
}

void forget_ended() {
  std::vector<CUstream> kept;
  for (CUstream s : streams()) {
    if (s->is_destroyed && s->queue.empty()) {
      delete s;
    } else {
      kept.push_back(s);
    }
  }
  streams().swap(kept);
}

}  // namespace

std::mutex& lock() {
  static auto* const one = new std::mutex;
  return *one;
}

double now_ms() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(since).count();
}

CUstream new_stream(int device) {
  ++alive;
  streams().push_back(new CUstream_st{device, false, {}});
  return streams().back();
}

void destroy(CUstream stream) {
  --alive;
  stream->is_destroyed = true;
  forget_ended();
}

bool is_known(CUstream stream) {
  const auto& all = streams();
  return std::find(all.begin(), all.end(), stream) != all.end() && !stream->is_destroyed;
}

void enqueue(CUstream stream, operation work) { stream->queue.push_back(std::move(work)); }

CUresult device_error(int device) {
  const auto found = errors().find(device);
  return found == errors().end() ? CUDA_SUCCESS : found->second;
}

// What is queued there is not done any more.
void end_device(int device, const fault& why) {
  errors().emplace(device, report(why));
  for (CUstream s : streams())
    if (s->device == device) s->queue.clear();
}

bool step() {
  static std::mt19937 random(seed() + 1);
  std::vector<CUstream> ready;
  for (CUstream s : streams()) {
    if (s->queue.empty()) continue;
    const operation& first = s->queue.front();
    if (first.is_ready == nullptr || first.is_ready()) ready.push_back(s);
  }
  if (ready.empty()) return false;
  CUstream chosen = ready[random() % ready.size()];
  const operation work = std::move(chosen->queue.front());
  chosen->queue.pop_front();
  const fault found = work.run();
  if (found.code != CUDA_SUCCESS) end_device(chosen->device, found);
  forget_ended();
  return true;
}

void run_until(std::unique_lock<std::mutex>& held, const std::function<bool()>& reached) {
  while (!reached()) {
    if (step()) continue;
    held.unlock();
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    held.lock();
  }
}

void run_all(std::unique_lock<std::mutex>& held, int device) {
  run_until(held, [device] {
    return std::all_of(streams().begin(), streams().end(),
                       [&](CUstream s) { return s->device != device || s->queue.empty(); });
  });
}

}  // namespace tutti_emulator
