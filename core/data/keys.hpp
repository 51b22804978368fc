// SPDX-License-Identifier: Apache-2.0
//
// One of many keys that come from another one, without making the others.
#pragma once

#include <cstdint>

#include "semantics/host_math.hpp"
#include "tutti/random.hpp"

namespace tutti::data {

/// Entry `index` of random::split(from, ...), also beyond what an int counts.
inline random::key key_at(random::key from, std::int64_t index) {
  const auto i = static_cast<std::uint64_t>(index);
  const auto block = host::philox_block(
      {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i >> 32), 0, 1},
      {static_cast<std::uint32_t>(from.value), static_cast<std::uint32_t>(from.value >> 32)});
  return {block[0] | std::uint64_t{block[1]} << 32};
}

}  // namespace tutti::data
