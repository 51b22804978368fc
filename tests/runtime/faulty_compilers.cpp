// SPDX-License-Identifier: Apache-2.0
#include "faulty_compilers.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "faulty_plugin.hpp"
#include "tutti/plugin.h"

namespace {

// What the core waits for before it asks for a compilation, and more.
constexpr uint64_t launch_ns = 200'000'000;

struct work_state {
  uint64_t launches = 0;
  bool is_compiled = false;
};

// Never destroyed: a thread that hangs is still there when the process ends.
struct compiler_state {
  std::mutex mutex;
  std::condition_variable changed;
  std::unordered_map<const void*, work_state> work;
  background_compiler how = background_compiler::idle;
  int milliseconds = 0;
  int begun = 0;
  std::vector<int> launches_of_done;
};

compiler_state& now() {
  static auto* const state = new compiler_state;
  return *state;
}

tutti_status* refused() {
  auto* s = static_cast<tutti_status*>(std::calloc(1, sizeof(tutti_status)));
  s->struct_size = sizeof *s;
  s->code = TUTTI_ERROR_COMPILE;
  s->message = "will not compile in the background, as told";
  s->release = [](tutti_status* self) { std::free(self); };
  return s;
}

int32_t begins_on_host(tutti_device*) { return 1; }

template <class T>
int32_t is_on_host(T* work) {
  return faulty::is_on_host(work) ? 1 : 0;
}

template <class T>
uint64_t cost(T* work) {
  const std::lock_guard lock(now().mutex);
  const work_state& w = now().work[work];
  return now().how == background_compiler::idle || w.is_compiled ? 0 : w.launches * launch_ns;
}

template <class T>
tutti_status* promote(T* work) {
  compiler_state& state = now();
  std::unique_lock lock(state.mutex);
  ++state.begun;
  if (state.how == background_compiler::fails) return refused();
  if (state.how == background_compiler::sleeps) {
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::milliseconds(state.milliseconds));
    lock.lock();
  }
  state.changed.wait(lock, [&] { return state.how != background_compiler::hangs; });
  state.work[work].is_compiled = true;
  state.launches_of_done.push_back(static_cast<int>(state.work[work].launches));
  return nullptr;
}

// Compilations that wait for each other.
struct meeting {
  std::mutex mutex;
  std::condition_variable changed;
  int wanted = 0, there = 0, most = 0;
};

meeting& together() {
  static auto* const all = new meeting;
  return *all;
}

// The host's statistics are no matter here.
int32_t ran_on_host(tutti_event*) { return 0; }

}  // namespace

namespace faulty {

bool is_tiered() {
  static const bool set = std::getenv("TUTTI_FAULTY_TIERED") != nullptr;
  return set;
}

const tutti_tier_api& tier() {
  static const tutti_tier_api api = {sizeof api,
                                     begins_on_host,
                                     ::is_on_host<tutti_program>,
                                     ::is_on_host<tutti_plan>,
                                     cost<tutti_program>,
                                     cost<tutti_plan>,
                                     promote<tutti_program>,
                                     promote<tutti_plan>,
                                     ran_on_host,
                                     nullptr,
                                     nullptr};
  return api;
}

void launched(const void* work) {
  if (!is_tiered()) return;
  const std::lock_guard lock(now().mutex);
  ++now().work[work].launches;
}

bool is_on_host(const void* work) {
  const std::lock_guard lock(now().mutex);
  return !now().work[work].is_compiled;
}

void released(const void* work) {
  if (!is_tiered()) return;
  const std::lock_guard lock(now().mutex);
  now().work.erase(work);
}

void compile_beside_others() {
  meeting& m = together();
  std::unique_lock lock(m.mutex);
  if (m.wanted == 0) return;
  m.most = std::max(m.most, ++m.there);
  m.changed.notify_all();
  m.changed.wait_for(lock, std::chrono::seconds(5), [&] { return m.most >= m.wanted; });
  --m.there;
}

}  // namespace faulty

extern "C" TUTTI_PLUGIN_EXPORT void tutti_faulty_compile_as(background_compiler how,
                                                            int milliseconds) {
  const std::lock_guard lock(now().mutex);
  now().how = how;
  now().milliseconds = milliseconds;
  now().changed.notify_all();
}

extern "C" TUTTI_PLUGIN_EXPORT int tutti_faulty_compilations_begun() {
  const std::lock_guard lock(now().mutex);
  return now().begun;
}

extern "C" TUTTI_PLUGIN_EXPORT int tutti_faulty_compiled(int* launches, int room) {
  const std::lock_guard lock(now().mutex);
  const std::vector<int>& done = now().launches_of_done;
  std::copy_n(done.begin(), std::min<size_t>(done.size(), static_cast<size_t>(room)), launches);
  return static_cast<int>(done.size());
}

extern "C" TUTTI_PLUGIN_EXPORT int tutti_faulty_compile_together(int count) {
  const std::lock_guard lock(together().mutex);
  together().wanted = count;
  return together().most;
}
