// SPDX-License-Identifier: Apache-2.0
//
// Conversions between DLPack and the library: dtypes, and kinds of devices with their native
// handles.
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
/// Nothing if the library has no such dtype.
std::optional<dtype> from_dl(DLDataType type);
/// "float32", "float32x4" for 4 lanes, "code 9 of 8 bits".
std::string describe(DLDataType type);
/// "kDLOpenCL (4)".
std::string describe(DLDeviceType type);

/// A kind of memory in DLPack and in the plugin ABI, and the plugin that usually supports it.
struct memory_kind {
  DLDeviceType type;
  tutti_native_kind native;
  const char* backend;
  bool numbered;  ///< belongs to the device with that number only
};

/// Nothing for memory that no plugin supports.
const memory_kind* kind_of(DLDeviceType type);
/// The kind of a device's memory. Nothing if its plugin has no native handles, or an unknown kind.
const memory_kind* kind_of(const detail::opened_device& device);

struct release_block {
  void operator()(runtime::buffer_block* block) const { block->release(); }
};
/// A reference to a block.
using block_handle = std::unique_ptr<runtime::buffer_block, release_block>;

}  // namespace tutti::dlpack
