// SPDX-License-Identifier: Apache-2.0
//
// The state of the process, as set by exit.cpp and by the C library's fork.
#include "base/process.hpp"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "tutti/error.hpp"
#include "tutti/plugin.h"

namespace tutti::base {
namespace {

constinit std::atomic<bool> exiting = false;
constinit std::atomic<bool> has_waited = false;
std::thread::id exiting_thread;  // written once, before the flag is set
constinit std::atomic<bool> forked = false;

constexpr std::chrono::seconds time_to_be_gone{2};

[[noreturn]] void refuse(std::string_view op, const char* why) {
  throw device_error(std::string(op) + ": " + why, TUTTI_ERROR_INVALID_ARGUMENT);
}

}  // namespace

void note_plugin_loaded() {
  [[maybe_unused]] static const int registered =
      pthread_atfork(nullptr, nullptr, [] { forked.store(true, std::memory_order_relaxed); });
}

void note_exit() noexcept {
  static constinit std::atomic<bool> is_noted = false;
  if (is_noted.exchange(true, std::memory_order_relaxed)) return;
  exiting_thread = std::this_thread::get_id();
  exiting.store(true, std::memory_order_release);
}

void note_exit_waited() noexcept {
  has_waited.store(true, std::memory_order_release);
  has_waited.notify_all();
}

bool is_exiting() noexcept { return exiting.load(std::memory_order_acquire); }
bool is_fork() noexcept { return forked.load(std::memory_order_relaxed); }

void require_computing(std::string_view op) {
  if (is_fork()) [[unlikely]]
    refuse(op,
           "this process was forked from one that had loaded Tutti's plugins; drivers do not "
           "survive fork(): compute in the parent, or start a new program (exec), or fork before "
           "the first use of a device");
  if (is_exiting()) [[unlikely]] {
    // A thread that is not joined and does not catch the exception would call std::terminate() in a
    // process that is about to exit normally. So it waits first, however long the exit takes.
    if (std::this_thread::get_id() != exiting_thread) {
      has_waited.wait(false, std::memory_order_acquire);
      std::this_thread::sleep_for(time_to_be_gone);
    }
    refuse(op, "the process is exiting, so nothing can be computed any more");
  }
}

void keep_for_ever(void* object) noexcept {
  try {
    static auto* const mutex = new std::mutex;
    static auto* const all = new std::vector<void*>;
    const std::lock_guard lock(*mutex);
    all->push_back(object);
  } catch (const std::exception&) {  // out of memory: it is kept
  }
}

const char* lasting(const std::string& text) {
  static auto* const mutex = new std::mutex;
  static auto* const all = new std::set<std::string>;
  const std::lock_guard lock(*mutex);
  return all->insert(text).first->c_str();
}

}  // namespace tutti::base
