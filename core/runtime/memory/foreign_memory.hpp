// SPDX-License-Identifier: Apache-2.0
//
// Memory of other owners, as blocks: never written to, never pooled, and returned to its owner when
// the work that uses it is done.
#pragma once

#include <cstdint>
#include <string_view>

#include "plugin/raii.hpp"
#include "runtime/memory/buffer_block.hpp"
#include "tutti/array.hpp"

namespace tutti::runtime {

/// A block for `buffer`, which wraps foreign memory; with one reference.
buffer_block* adopt(const detail::opened_device& device, plugins::buffer_handle buffer,
                    std::uint64_t bytes);
/// An array whose values are in `block` from `offset` (elements) on. Takes the caller's reference
/// to the block, even if it throws; `op` names the public call in messages.
array array_over(buffer_block* block, std::int64_t offset, dtype type, const shape& extents,
                 const detail::opened_device* device, std::string_view op);

/// Releases the buffer of such a block without references: immediately if its work is known to be
/// done, otherwise in a separate thread.
void give_back(buffer_block* block) noexcept;

}  // namespace tutti::runtime
