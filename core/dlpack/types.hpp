// SPDX-License-Identifier: Apache-2.0
//
// The words of DLPack and of the library: dtypes, and kinds of devices with the native handles that
// stand for their memory.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "plugin/opened_device.hpp"
#include "runtime/memory/buffer_block.hpp"
#include "tutti/dlpack_structs.h"
#include "tutti/dtype.hpp"

namespace tutti::dlpack {

DLDataType to_dl(dtype type);
/// None where the library has no such dtype.
std::optional<dtype> from_dl(DLDataType type);
/// "float32", "float32x4" for 4 lanes, "code 9 of 8 bits".
std::string describe(DLDataType type);
/// "kDLOpenCL (4)".
std::string describe(DLDeviceType type);

/// Memory of a kind, named by DLPack, by the plugin ABI, and the plugin that usually has it.
struct memory_kind {
  DLDeviceType type;
  tutti_native_kind native;
  const char* backend;
  bool numbered;  ///< belongs to the device of that number alone
};

/// None for memory that no plugin takes.
const memory_kind* kind_of(DLDeviceType type);
/// The kind of a device's memory. None where its plugin gives no handles, or of an unknown kind.
const memory_kind* kind_of(const detail::opened_device& device);

struct release_block {
  void operator()(runtime::buffer_block* block) const { block->release(); }
};
/// A reference to a block.
using block_handle = std::unique_ptr<runtime::buffer_block, release_block>;

}  // namespace tutti::dlpack
