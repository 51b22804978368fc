// SPDX-License-Identifier: Apache-2.0
//
// One thread per core that runs the same function on its share of a range.
#pragma once

#include <cstddef>
#include <functional>

namespace tutti::bench {

/// Number of cores that this process may use.
unsigned cores();

/// Calls body(thread, begin, end) on cores() threads at once, the shares being multiples of
/// `granule` elements, and waits.
void parallel(std::size_t count, std::size_t granule,
              const std::function<void(unsigned, std::size_t, std::size_t)>& body);

}  // namespace tutti::bench
