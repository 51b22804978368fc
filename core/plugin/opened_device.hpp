// SPDX-License-Identifier: Apache-2.0
//
// The object of a tutti::device handle: a device of a loaded plugin, opened on first use. Exists
// until the process exits; static destructors do not call drivers.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "plugin/plugin.hpp"
#include "semantics/offered.hpp"
#include "tutti/device.hpp"

namespace tutti::plugins {

/// What the programs of a device may contain: TUTTI_DTYPE_BIT sets by opcode and by
/// tutti_reduction.
struct offered_programs {
  std::vector<uint32_t> opcodes, reductions;

  /// `dtypes` are those of the result and of the operands, in registers.
  bool has(uint16_t opcode, std::span<const uint8_t> dtypes) const {
    return opcode < opcodes.size() && host::is_offered(opcodes[opcode], dtypes);
  }
  bool reduces(tutti_reduction reduction, uint8_t accumulator) const {
    return reduction < reductions.size() &&
           host::is_offered(reductions[reduction], {&accumulator, 1});
  }
};

class device_proof;

}  // namespace tutti::plugins

namespace tutti::detail {

struct TUTTI_INTERNAL_API opened_device {
  const plugins::plugin* plugin = nullptr;
  uint32_t index = 0;
  std::string name;   ///< "opencl:0"
  std::string title;  ///< "opencl:0 (vendor's name)", for messages
  device_properties properties;
  tutti_device_properties limits{};  ///< from the plugin, zero if not provided
  std::vector<std::string> remarks;  ///< corrected properties, for `tutti doctor`
  tutti_device* handle = nullptr;    ///< set once detail::get() has returned, as is what follows
  plugins::offered_programs programs;

  /// A slot for the executor's data of this device.
  mutable std::once_flag context_once;
  mutable std::shared_ptr<void> context;

  /// The result of its checks (plugin/proof/proof.hpp); null: it is trusted.
  std::shared_ptr<plugins::device_proof> proof;

  /// Opens the device unless it is open. Throws device_error; a later call tries again.
  void open();

 private:
  std::atomic<bool> is_open_{false};
  std::mutex opening_;
};

}  // namespace tutti::detail

namespace tutti::plugins {
using detail::opened_device;
}
