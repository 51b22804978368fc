// SPDX-License-Identifier: Apache-2.0
//
// Work in several threads at once.
#pragma once

#include <cstddef>
#include <exception>
#include <latch>
#include <thread>
#include <vector>

namespace tutti_test {

/// body(0), body(1), ... in `count` threads that begin together, until all are done; then the first
/// exception among theirs is thrown.
template <class F>
void at_once(int count, F&& body) {
  std::latch start(count);
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(count));
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < count; ++t)
      threads.emplace_back([&, t] {
        start.arrive_and_wait();
        try {
          body(t);
        } catch (...) {
          failures[static_cast<std::size_t>(t)] = std::current_exception();
        }
      });
  }
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace tutti_test
