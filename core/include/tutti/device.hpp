// SPDX-License-Identifier: Apache-2.0
//
// Devices as an application sees them: a cheap handle, its properties, and the lists of what was
// selected and of what exists. TUTTI_DEVICE selects; docs: README, "How devices are chosen".
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
/// The opened device behind a handle; opens it on the first call. Throws device_error.
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
  std::string description;  ///< the vendor's name of the device
  std::string vendor;
  std::string driver;    ///< name and version
  std::string schedule;  ///< how kernels are laid out there: "cpu", "gpu" or another word
  device_type type = device_type::cpu;
  uint32_t compute_units = 0;
  uint64_t memory_bytes = 0;
  uint64_t max_allocation_bytes = 0;
  uint32_t stored_dtypes = 0;    ///< bit 1 << d for each dtype number d that arrays may have
  uint32_t computed_dtypes = 0;  ///< the same for what arithmetic runs in
  bool unified_memory = false;   ///< device memory is host memory
  std::optional<std::array<uint8_t, 16>> uuid;
  std::optional<pci_address> pci;
};

/// A device of a loaded plugin. Copying is free; handles stay valid until the process exits.
class TUTTI_API device {
 public:
  /// Looks one device up by an item of the TUTTI_DEVICE grammar: "opencl:0", "cuda", "auto",
  /// "opencl:name~Radeon". An item that matches several devices gives the first of them.
  /// Throws value_error (grammar), plugin_error (not loadable) or device_error (not there).
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

/// What TUTTI_DEVICE selects (auto where unset), in order; never empty. Read once, at first use.
/// Throws as device(spec) does, and on the same device named twice.
TUTTI_API const std::vector<device>& devices();

/// The first of devices(): where arrays live unless told otherwise.
TUTTI_API device default_device();

/// Every device of every plugin that can be found and loaded, whatever TUTTI_DEVICE says.
TUTTI_API std::vector<device> all_devices();

}  // namespace tutti

template <>
struct std::hash<tutti::device> {
  size_t operator()(const tutti::device& d) const noexcept {
    return std::hash<const void*>()(d.state_);
  }
};
