// SPDX-License-Identifier: Apache-2.0
#include "plugin/ranking.hpp"

#include <fmt/format.h>

#include <cmath>
#include <tuple>

namespace tutti::plugins {
namespace {

int type_rank(device_type type) {
  return type == device_type::gpu ? 0 : type == device_type::accelerator ? 1 : 2;
}

bool has_own_memory(const opened_device& d) {
  return d.properties.type != device_type::cpu && !d.properties.unified_memory;
}

/// A plugin without a speed class must not rank above one with a class. A class that this library
/// does not know counts as none.
int speed_rank(const opened_device& d) {
  const auto speed = d.limits.speed_class;
  return speed == TUTTI_SPEED_NATIVE ? 0 : speed == TUTTI_SPEED_PORTABLE ? 1 : 2;
}

const char* speed_text(const opened_device& d) {
  switch (d.limits.speed_class) {
    case TUTTI_SPEED_NATIVE:
      return "native speed";
    case TUTTI_SPEED_PORTABLE:
      return "portable speed";
    case TUTTI_SPEED_PLAIN:
      return "plain loops";
    default:
      return "unknown speed";
  }
}

/// Cards of one model differ by some MiB.
long size_rank(uint64_t bytes) { return -std::lround(std::log2(static_cast<double>(bytes))); }

auto key(const opened_device& d) {
  return std::tuple(is_last_resort(d), type_rank(d.properties.type), !has_own_memory(d),
                    speed_rank(d), size_rank(d.properties.memory_bytes),
                    -static_cast<int64_t>(d.properties.compute_units));
}

}  // namespace

bool is_last_resort(const opened_device& d) { return d.limits.speed_class == TUTTI_SPEED_PLAIN; }

bool ranks_before(const opened_device& a, const opened_device& b) { return key(a) < key(b); }

std::string rank_text(const opened_device& d) {
  const device_properties& p = d.properties;
  return fmt::format("{}, {}{}, {:.1f} GiB, {} unit{}", to_string(p.type),
                     has_own_memory(d) ? "memory of its own, " : "", speed_text(d),
                     static_cast<double>(p.memory_bytes) / (1 << 30), p.compute_units,
                     p.compute_units == 1 ? "" : "s");
}

bool same_hardware(const opened_device& a, const opened_device& b) {
  const auto& x = a.properties;
  const auto& y = b.properties;
  return (x.uuid && x.uuid == y.uuid) || (x.pci && x.pci == y.pci);
}

}  // namespace tutti::plugins
