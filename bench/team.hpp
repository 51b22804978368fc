// SPDX-License-Identifier: Apache-2.0
//
// One thread per core, each running the same function on its share of a range.
#pragma once

#include <cstddef>
#include <functional>

namespace tutti::bench {

/// The number of cores available to this process.
unsigned cores();

/// Calls body(thread, begin, end) on cores() threads concurrently, with shares that are multiples
/// of `granule` elements, and waits.
void parallel(std::size_t count, std::size_t granule,
              const std::function<void(unsigned, std::size_t, std::size_t)>& body);

}  // namespace tutti::bench
