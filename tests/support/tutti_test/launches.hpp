// SPDX-License-Identifier: Apache-2.0
//
// The number of kernels that work needs.
#pragma once

#include <cstdint>

#include "tutti/counters.hpp"

namespace tutti_test {

/// Kernels that f() enqueues; work before it is done.
template <class F>
std::uint64_t launches(F&& f) {
  const auto before = tutti::stats().launches;
  f();
  return tutti::stats().launches - before;
}

}  // namespace tutti_test
