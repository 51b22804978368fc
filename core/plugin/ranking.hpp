// SPDX-License-Identifier: Apache-2.0
//
// The order in which `auto` prefers devices, based only on their properties.
#pragma once

#include <string>

#include "plugin/opened_device.hpp"

namespace tutti::plugins {

/// Used only if nothing else is left, and then with a warning.
TUTTI_INTERNAL_API bool is_last_resort(const opened_device& d);

/// Whether `a` is preferred to `b`. In this order: devices that are not a last resort; GPUs,
/// accelerators, CPUs; for those that are not CPUs, dedicated memory; the speed class; the memory,
/// in powers of two; the compute units. Equal devices keep their order.
TUTTI_INTERNAL_API bool ranks_before(const opened_device& a, const opened_device& b);

/// The properties that determine the order: "gpu, memory of its own, native speed, 16.0 GiB, 80
/// units".
TUTTI_INTERNAL_API std::string rank_text(const opened_device& d);

/// Whether both are the same hardware: the same uuid or PCI address.
TUTTI_INTERNAL_API bool same_hardware(const opened_device& a, const opened_device& b);

}  // namespace tutti::plugins
