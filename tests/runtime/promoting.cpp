// SPDX-License-Identifier: Apache-2.0
//
// A program whose work is to be compiled in the background; compilers_test.cpp looks at what it
// says and how it ends.
//   promoting fails N       N programs, by a compiler that refuses each
//   promoting hangs N       by one that does not return
//   promoting sleeps N      by one that takes 0.3 s for each
//   promoting in_order N    of which all but the first wait in line while they are launched, the
//   k-th
//                           k times
//   promoting no_threads N  where no thread can be had for the compiler
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <iostream>
#include <string>
#include <thread>
#include <tutti/tutti.hpp>

#include "faulty_control.hpp"

namespace {

std::atomic<bool> no_threads = false;
std::atomic<int> refused = 0;

// Each n is a program of its own: what is added and what is multiplied are the digits of n.
bool is_right(int n) {
  tutti::array x = tutti::arange(4, tutti::dtype::f32);
  double expected = 3;
  for (int digit = 0; digit < 11; ++digit) {
    const bool adds = (n >> digit & 1) != 0;
    x = adds ? x + 3.f : x * 2.f;
    expected = adds ? expected + 3 : expected * 2;
  }
  return x.to_vector<float>()[3] == static_cast<float>(expected);
}

template <class Condition>
void wait_until(Condition&& holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!holds() && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

int launches_of(const std::string& what, int n) { return what == "in_order" && n > 0 ? n : 1; }

background_compiler compiler_for(const std::string& what) {
  if (what == "fails") return background_compiler::fails;
  if (what == "sleeps") return background_compiler::sleeps;
  return what == "no_threads" ? background_compiler::compiles : background_compiler::hangs;
}

}  // namespace

// Found before the C library's, where it is visible.
extern "C" __attribute__((visibility("default"))) int pthread_create(
    pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* argument) {
  static const auto real =
      reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  if (!no_threads) return real(thread, attributes, run, argument);
  ++refused;
  return EAGAIN;
}

int main(int, char** argv) {
  const std::string what = argv[1];
  const int count = std::stoi(argv[2]);
  int right = is_right(2047) ? 0 : -count;  // while nothing is worth a compiler
  no_threads = what == "no_threads";
  tutti_test::compile_in_background_as(compiler_for(what), 300);
  for (int n = 0; n < count; ++n) {
    bool all = true;
    for (int k = 0; k < launches_of(what, n); ++k) all = is_right(n) && all;
    right += all ? 1 : 0;
    if (n == 0 && what == "in_order")
      wait_until([] { return tutti_test::compilations_begun() == 1; });
  }
  std::cout << right << " right\n";
  if (what == "fails") wait_until([&] { return tutti_test::compilations_begun() == count; });
  if (what == "in_order") {
    tutti_test::compile_in_background_as(background_compiler::compiles);
    wait_until([&] { return tutti_test::launches_of_compiled().size() == std::size_t(count); });
    std::cout << "order";
    for (const int launches : tutti_test::launches_of_compiled()) std::cout << ' ' << launches;
    std::cout << '\n';
    right = 0;
    for (int n = 0; n < count; ++n) right += is_right(n) ? 1 : 0;
    std::cout << right << " right when compiled\n";
  }
  if (what == "no_threads") std::cout << "no thread " << refused << " times\n";
  std::cout << tutti_test::compilations_begun() << " begun" << std::endl;
  return 0;
}
