// SPDX-License-Identifier: Apache-2.0
#include "plugin/properties.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>

#include "base/one_line.hpp"
#include "base/process.hpp"
#include "plugin/raii.hpp"
#include "tutti/error.hpp"

namespace tutti::plugins {
namespace {

[[noreturn]] void refuse(const opened_device& d, const std::string& why) {
  throw device_error(fmt::format("{}: cannot be used: {}", d.name, why), TUTTI_ERROR_INTERNAL, 0,
                     false, d.name);
}

void require_some(const opened_device& d, uint64_t value, const char* property) {
  if (value == 0) refuse(d, fmt::format("the plugin reports {} 0", property));
}

/// A text of a plugin; `otherwise` if it has no visible characters.
std::string text_of(const char* raw, const char* property, const char* otherwise,
                    opened_device& d) {
  const std::string_view given = raw != nullptr ? raw : "";
  std::string text = base::one_line(given);
  if (text.find_first_not_of(' ') == std::string::npos) {
    if (*otherwise != '\0') d.remarks.push_back(fmt::format("the plugin reports no {}", property));
    return otherwise;
  }
  if (text != given)
    d.remarks.push_back(
        fmt::format("its {} has {} bytes and is not shown as it is", property, given.size()));
  return text;
}

device_type type_of(const opened_device& d) {
  switch (d.limits.type) {
    case TUTTI_DEVICE_CPU:
      return device_type::cpu;
    case TUTTI_DEVICE_GPU:
      return device_type::gpu;
    case TUTTI_DEVICE_ACCELERATOR:
      return device_type::accelerator;
    default:
      refuse(d, fmt::format("the plugin reports type {}, which is none of {} (cpu), {} (gpu) and "
                            "{} (accelerator)",
                            d.limits.type, +TUTTI_DEVICE_CPU, +TUTTI_DEVICE_GPU,
                            +TUTTI_DEVICE_ACCELERATOR));
  }
}

void check_limits(opened_device& d) {
  tutti_device_properties& p = d.limits;
  require_some(d, p.compute_units, "compute_units");
  require_some(d, p.memory_bytes, "memory_bytes");
  require_some(d, p.max_allocation_bytes, "max_allocation_bytes");
  require_some(d, p.max_inputs, "max_inputs");
  require_some(d, p.max_outputs, "max_outputs");
  require_some(d, p.max_instructions, "max_instructions");
  if (!std::has_single_bit(p.alignment))
    refuse(d, fmt::format("the plugin reports alignment {}, which is not a power of two",
                          p.alignment));
  if (p.max_allocation_bytes > p.memory_bytes) {
    d.remarks.push_back(
        fmt::format("its max_allocation_bytes {} are more than its memory_bytes {}, "
                    "which is used instead",
                    p.max_allocation_bytes, p.memory_bytes));
    p.max_allocation_bytes = p.memory_bytes;
  }
}

void check_dtypes(opened_device& d, uint32_t& set, const char* property) {
  constexpr uint32_t known = 2 * TUTTI_DTYPE_BIT(TUTTI_C128) - TUTTI_DTYPE_BIT(TUTTI_BOOL);
  if ((set & ~known) != 0) {
    d.remarks.push_back(
        fmt::format("its {} {:#x} have bits that this library does not know and "
                    "ignores",
                    property, set));
    set &= known;
  }
  if ((set & TUTTI_DTYPE_BIT(TUTTI_F32)) == 0)
    refuse(d, fmt::format("the plugin reports {} {:#x}, without f32", property, set));
}

/// These identify a card that two plugins see, so placeholders for "unknown" must not be used.
void read_identity(opened_device& d) {
  const tutti_device_properties& raw = d.limits;
  const auto is_zero = [](uint8_t byte) { return byte == 0; };
  if (raw.has_uuid != 0 && !std::all_of(std::begin(raw.uuid), std::end(raw.uuid), is_zero))
    std::copy_n(raw.uuid, 16, d.properties.uuid.emplace().begin());
  if (raw.has_pci == 0) return;
  if (raw.pci_bus > 0xff || raw.pci_device > 0x1f || raw.pci_function > 7)
    d.remarks.push_back(
        fmt::format("its pci address {:x}:{:x}:{:x}.{:x} is none, and does not count",
                    raw.pci_domain, raw.pci_bus, raw.pci_device, raw.pci_function));
  else
    d.properties.pci = pci_address{raw.pci_domain, raw.pci_bus, raw.pci_device, raw.pci_function};
}

}  // namespace

tutti_device_properties ask_properties(const plugin& p, uint32_t index, const std::string& name) {
  tutti_device_properties raw{};
  raw.struct_size = sizeof raw;
  check(p.device.properties(index, &raw), name + ": read the properties");
  // An invalid pointer is dereferenced here, where the plugin that it belongs to is known.
  for (const char** text : {&raw.name, &raw.vendor, &raw.driver, &raw.schedule, &raw.cache_key})
    if (*text != nullptr) *text = base::lasting(*text);
  return raw;
}

void read_properties(const tutti_device_properties& given, opened_device& d) {
  tutti_device_properties& raw = d.limits;
  raw = given;
  device_properties& out = d.properties;
  out.type = type_of(d);
  check_limits(d);
  check_dtypes(d, raw.stored_dtypes, "stored_dtypes");
  check_dtypes(d, raw.computed_dtypes, "computed_dtypes");
  read_identity(d);
  out.description = text_of(raw.name, "name", "no name", d);
  out.vendor = text_of(raw.vendor, "vendor", "", d);
  out.driver = text_of(raw.driver, "driver", "", d);
  out.schedule = text_of(raw.schedule, "schedule", "", d);
  out.compute_units = raw.compute_units;
  out.memory_bytes = raw.memory_bytes;
  out.max_allocation_bytes = raw.max_allocation_bytes;
  out.stored_dtypes = raw.stored_dtypes;
  out.computed_dtypes = raw.computed_dtypes;
  out.unified_memory = raw.unified_memory != 0;
  d.title = fmt::format("{} ({})", d.name, out.description);
}

}  // namespace tutti::plugins
