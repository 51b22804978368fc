// SPDX-License-Identifier: Apache-2.0
//
// Devices as applications use them: a cheap handle, its properties, and the lists of selected and
// of existing devices. TUTTI_DEVICE selects devices: see docs/settings.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/export.hpp"

namespace tutti {

class device;

namespace detail {
struct opened_device;
/// The opened device of a handle; opens it at the first call. Throws device_error.
TUTTI_INTERNAL_API const opened_device& get(const device& handle);
}  // namespace detail

enum class device_type { cpu = 1, gpu = 2, accelerator = 3 };

/// "cpu", "gpu" or "accelerator".
TUTTI_API std::string_view to_string(device_type type) noexcept;

struct pci_address {
  uint32_t domain = 0, bus = 0, device = 0, function = 0;
  friend bool operator==(const pci_address&, const pci_address&) = default;
};

struct device_properties {
  std::string description;  ///< the vendor's name for the device
  std::string vendor;
  std::string driver;    ///< name and version
  std::string schedule;  ///< the schedule of its kernels: "cpu", "gpu" or another name
  device_type type = device_type::cpu;
  uint32_t compute_units = 0;
  uint64_t memory_bytes = 0;
  uint64_t max_allocation_bytes = 0;
  uint32_t stored_dtypes = 0;    ///< bit 1 << d for each dtype number d that arrays can have
  uint32_t computed_dtypes = 0;  ///< the same for dtypes in which the device computes
  bool unified_memory = false;   ///< device memory is host memory
  std::optional<std::array<uint8_t, 16>> uuid;
  std::optional<pci_address> pci;
};

/// A device of a loaded plugin. Copying is free; handles stay valid until the process exits.
class TUTTI_API device {
 public:
  /// Looks up a device by an item of the TUTTI_DEVICE syntax: "opencl:0", "cuda", "auto",
  /// "opencl:name~Radeon". If an item matches several devices, the first one is returned.
  /// Throws value_error (syntax), plugin_error (cannot be loaded) or device_error (no such device).
  explicit device(std::string_view spec);

  /// Name of the plugin: "opencl".
  const std::string& backend() const noexcept;
  /// Index among the plugin's devices.
  uint32_t index() const noexcept;
  /// "opencl:0".
  const std::string& name() const noexcept;
  const device_properties& properties() const noexcept;

  friend bool operator==(const device& a, const device& b) noexcept { return a.state_ == b.state_; }

  explicit device(detail::opened_device* state) noexcept : state_(state) {}

 private:
  friend const detail::opened_device& detail::get(const device& handle);
  friend struct std::hash<device>;
  detail::opened_device* state_;
};

/// name().
TUTTI_API std::ostream& operator<<(std::ostream& out, const device& d);

/// The devices of TUTTI_DEVICE (default: auto), in order; never empty. Read once, at first use.
/// Throws as device(spec) does, and if a device is named twice.
TUTTI_API const std::vector<device>& devices();

/// The first of devices(): where arrays are created by default.
TUTTI_API device default_device();

/// All devices of all plugins that can be found and loaded, independently of TUTTI_DEVICE.
TUTTI_API std::vector<device> all_devices();

}  // namespace tutti

template <>
struct std::hash<tutti::device> {
  size_t operator()(const tutti::device& d) const noexcept {
    return std::hash<const void*>()(d.state_);
  }
};
