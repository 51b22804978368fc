// SPDX-License-Identifier: Apache-2.0
//
// Memory that others own, as blocks: never written to, never pooled, and given back to its owner
// when the work that uses it is done.
#pragma once

#include <cstdint>
#include <string_view>

#include "plugin/raii.hpp"
#include "runtime/memory/buffer_block.hpp"
#include "tutti/array.hpp"

namespace tutti::runtime {

/// A block over `buffer`, which wraps foreign memory; with one reference.
buffer_block* adopt(const detail::opened_device& device, detail::buffer_handle buffer,
                    std::uint64_t bytes);
/// An array whose values lie in `block` from `offset` (elements) on. Takes over the caller's
/// reference to the block, also when it throws; `op` names the public call in messages.
array array_over(buffer_block* block, std::int64_t offset, dtype type, const shape& extents,
                 const detail::opened_device* device, std::string_view op);

/// Releases the buffer of such a block, which has no references any more: at once where its work is
/// known to be done, else from a thread of its own.
void give_back(buffer_block* block) noexcept;

}  // namespace tutti::runtime
