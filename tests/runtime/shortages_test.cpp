// SPDX-License-Identifier: Apache-2.0
//
// What is left behind where the host has no memory or no thread to give: nothing is computed wrong
// later, nothing writes into memory that its owner has back, and the next attempt goes well. And
// that the library's threads leave signals to the application's.
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <tutti/data.hpp>
#include <tutti/data/io.hpp>

#include "faulty_control.hpp"
#include "tutti_test/arrays.hpp"

namespace {

thread_local constinit long allocations_left =
    -1;  // of this thread until one fails; -1: any number
std::atomic<bool> no_threads = false;

std::atomic<long> live_allocations = 0;
std::atomic<long> live_buffers = 0;  // what is aligned is a buffer of the reference device

void* allocate(std::size_t bytes) {
  if (allocations_left >= 0 && allocations_left-- == 0) throw std::bad_alloc();
  if (void* memory = std::malloc(bytes != 0 ? bytes : 1)) return ++live_allocations, memory;
  throw std::bad_alloc();
}

void give_back(void* memory) noexcept {
  if (memory != nullptr) --live_allocations;
  std::free(memory);
}

tutti::device here() { return tutti::devices().at(0); }
tutti::device there() { return tutti::devices().at(1); }

// attempt() with one allocation of this thread after the other failing, and what is to hold after
// each, until nothing fails three times in a row.
void with_each_allocation_failing(
    const std::function<void()>& attempt, const std::function<void()>& after = [] {}) {
  int calm = 0;
  for (int k = 0; k < 2000 && calm < 3; ++k) {
    allocations_left = k;
    try {
      attempt();
    } catch (const std::exception&) {
    }
    calm = allocations_left < 0 ? 0 : calm + 1;
    allocations_left = -1;
    BOOST_TEST_CONTEXT("allocation " << k) after();
  }
  BOOST_TEST(calm == 3);
}

class without_threads {
 public:
  without_threads() { no_threads = true; }
  ~without_threads() { no_threads = false; }
};

// Whether the thread `task` of this process blocks `signal`.
bool blocks(const std::filesystem::path& task, int signal) {
  std::ifstream status(task / "status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("SigBlk:"))
      return (std::stoull(line.substr(7), nullptr, 16) >> (signal - 1) & 1) != 0;
  return false;
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  void* const memory = std::malloc(bytes != 0 ? bytes : 1);
  if (memory != nullptr) ++live_allocations;
  return memory;
}
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { give_back(memory); }
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  const auto step = static_cast<std::size_t>(alignment);
  void* const memory = std::aligned_alloc(step, (bytes + step - 1) / step * step);
  if (memory != nullptr) ++live_buffers;
  return memory;
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  if (void* const memory = operator new(bytes, alignment, std::nothrow)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory, std::align_val_t) noexcept {
  if (memory != nullptr) --live_buffers;
  std::free(memory);
}

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*run)(void*), void* argument) {
  static const auto real =
      reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return no_threads ? EAGAIN : real(thread, attributes, run, argument);
}

// First, since it needs a stream for transfers that nothing was sent over yet.
BOOST_AUTO_TEST_CASE(a_read_of_what_is_there_needs_no_thread) {
  // Whose memory is not read in place.
  const array x = tutti::arange(1000, tutti::dtype::f32, tutti::device("unmapped:0")) * 2.f;
  x.wait();
  std::vector<float> mine(1000);
  {
    const without_threads now;
    x.copy_to(mine.data(), 4000);
  }
  BOOST_TEST(mine[999] == 1998.f);
}

BOOST_AUTO_TEST_CASE(a_copy_that_gets_no_thread_can_be_repeated) {
  const array x = (array::from({1.f, 2.f, 3.f}, here()) + 1.f).eval();
  x.wait();
  const array moved = x.to(there());
  {
    const without_threads now;
    FAILS(out_of_memory, moved.eval(), "no thread");
  }
  BOOST_TEST(moved.to_vector<float>()[2] == 4.f);
}

BOOST_AUTO_TEST_CASE(a_loop_that_gets_no_thread_says_so) {
  const auto body = [](const tutti::chunk& c) -> std::vector<array> {
    return {tutti::zeros({c.size()}, tutti::dtype::f32, c.device)};
  };
  const tutti::device_group group(tutti::devices());
  {
    const without_threads now;
    FAILS(device_error, tutti::parallel_for(group, {0, 10}, body, {}, {}), "no thread for");
  }
  BOOST_CHECK_NO_THROW(tutti::parallel_for(group, {0, 10}, body, {}, {}));
}

// Each allocation of an evaluation fails once. Whatever was in flight then, a copy waits for what
// it copies.
BOOST_AUTO_TEST_CASE(copies_are_right_after_an_evaluation_without_memory) {
  const array x = array::from(std::vector<float>(400000, 1.f), {400000}, here());
  (x * 2.f).to(there()).wait();
  (x * 3.f + 1.f).wait();
  const auto in_flight = [&] { return tutti::sin(tutti::sin(tutti::sin(tutti::sin(x)))).eval(); };
  array slow = in_flight();
  float step = 0;
  with_each_allocation_failing([&] { (x * 2.f).eval(); },
                               [&] {
                                 const array moved = (x * 3.f + ++step).to(there());
                                 BOOST_TEST(tutti::min(moved).item<float>() == 3.f + step);
                                 BOOST_TEST(tutti::max(moved).item<float>() == 3.f + step);
                                 slow.wait();
                                 slow = in_flight();
                               });
}

// Evaluations of each kind, each of whose allocations fails once, over and over: in the long run
// neither the device's memory nor the host's gets more.
BOOST_AUTO_TEST_CASE(nothing_is_lost_by_evaluations_without_memory) {
  const array x = array::from(std::vector<float>(4000, 1.5f), {40, 100}, here());
  const array where = array::from(std::vector<std::int32_t>(40, 3), {40}, here());
  const std::vector<std::function<array()>> kinds{
      [&] { return x * 2.f + 1.f; },
      [&] { return tutti::sum(x * 3.f, 1); },
      [&] { return tutti::sum(x); },
      [&] {
        return tutti::concatenate({x + 1.f, x, x, x, x}, 1);
      },
      [&] {
        array y = x + 2.f;
        y.set({3}, x[2]);
        return y;
      },
      [&] { return tutti::sort(x, 1); },
      [&] { return tutti::matmul(x, x.T()); },
      [&] { return tutti::take(x, where, 0); },
      [&] { return tutti::cumsum(x, 1); },
      [&] { return tutti::grad([](const array& a) { return tutti::sum(a * a); })(x); },
  };
  const auto pass = [&] {
    for (const auto& kind : kinds) with_each_allocation_failing([&] { kind().eval(); });
    (x + 1.f).wait();
  };
  pass();
  pass();
  const long buffers = live_buffers, allocations = live_allocations;
  constexpr int passes = 10;
  for (int i = 0; i < passes; ++i) pass();
  // A thread of a stream may still hold a few; each thing that is lost is lost in each pass.
  BOOST_TEST(live_buffers < buffers + passes);
  BOOST_TEST(live_allocations < allocations + passes);
}

// Nor by saving, which leaves no half of a file.
BOOST_AUTO_TEST_CASE(saving_without_memory_leaves_nothing_behind) {
  const tutti_test::temporary_folder folder;
  const array x = array::from(std::vector<float>(40, 1.5f), {4, 10}, here());
  const tutti::io::named_arrays right{{"a", x}, {"b", x}};
  const std::vector<std::function<void(const std::filesystem::path&)>> ways{
      [&](const auto& path) {
        tutti::io::save_safetensors(path, right, {{"of", "a test"}});
      },
      [&](const auto& path) { tutti::io::save_npy(path, x); },
      [&](const auto& path) { tutti::io::save_npz(path, right); },
  };
  for (const auto& way : ways) {
    const std::filesystem::path path = folder / "file";
    with_each_allocation_failing([&] { way(path); },
                                 [&] {
                                   const bool exists = std::filesystem::exists(path);
                                   BOOST_TEST(folder.file_count() == (exists ? 1u : 0u));
                                   std::filesystem::remove(path);
                                 });
  }
}

// Loading ends with an exception as well, and never with the process.
BOOST_AUTO_TEST_CASE(loading_without_memory_throws) {
  const tutti_test::temporary_folder folder;
  const array x = array::from(std::vector<float>(40, 1.5f), {4, 10}, here());
  tutti::io::save_safetensors(folder / "a.safetensors", {{"a", x}, {"b", x}}, {{"of", "a test"}});
  tutti::io::save_npy(folder / "a.npy", x);
  tutti::io::save_npz(folder / "a.npz", {{"a", x}});
  std::ofstream(folder / "a.csv") << "1,2\n3,4\n";
  const std::vector<std::function<void()>> ways{
      [&] { tutti::io::load_safetensors(folder / "a.safetensors", here()); },
      [&] { tutti::io::load_npy(folder / "a.npy", here()); },
      [&] { tutti::io::load_npz(folder / "a.npz", here()); },
      [&] { tutti::io::read_csv(folder / "a.csv"); },
  };
  for (const auto& way : ways) with_each_allocation_failing(way);
}

// The failure that waiting finds is thrown at the next look where there was no memory to keep it.
BOOST_AUTO_TEST_CASE(a_failure_is_not_forgotten_where_there_is_no_memory_for_it) {
  const array x = array::from({1.f, 2.f}, there()) + 1.f;
  x.wait();
  const auto failing = [&] {
    tutti_test::arm(fault_run, 1);
    return (x * 2.f).eval();
  };
  array y = failing();
  with_each_allocation_failing([&] { BOOST_CHECK_THROW(y.wait(), std::exception); },
                               [&] {
                                 BOOST_CHECK_THROW(y.to_vector<float>(), tutti::device_error);
                                 BOOST_TEST((x * 2.f).to_vector<float>()[1] == 6.f);
                                 y = failing();
                               });
  tutti_test::disarm_all();
}

// A signal that the application blocks in its own threads, to wait for it, would go to one of
// these. The cases above have started threads of streams, of copies and of loops.
BOOST_AUTO_TEST_CASE(threads_of_the_library_take_no_signals) {
  array x = array::from({1.f, 2.f}, here()) + 1.f;
  x.to(there()).wait();
  const std::string main = std::to_string(getpid());
  int others = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == main) continue;
    ++others;
    BOOST_TEST(blocks(task, SIGTERM), task.path());
    BOOST_TEST(blocks(task, SIGUSR1), task.path());
    BOOST_TEST(!blocks(task, SIGSEGV), task.path());
  }
  BOOST_TEST(others > 0);
  BOOST_TEST(!blocks(std::filesystem::path("/proc/self/task") / main, SIGTERM));
}
