// SPDX-License-Identifier: Apache-2.0
//
// The order in which `auto` prefers devices, by what they say of themselves alone.
#pragma once

#include <string>

#include "plugin/opened_device.hpp"

namespace tutti::detail {

/// Taken where nothing else is left, and then with a warning.
TUTTI_INTERNAL_API bool is_last_resort(const opened_device& d);

/// Whether `a` is preferred to `b`. In this order: what is no last resort; GPUs, accelerators,
/// CPUs; of those that are no CPUs, memory of their own; the speed class; the memory, in powers of
/// two; the compute units. Equal devices stay as they were found.
TUTTI_INTERNAL_API bool ranks_before(const opened_device& a, const opened_device& b);

/// What the order looks at: "gpu, memory of its own, native speed, 16.0 GiB, 80 units".
TUTTI_INTERNAL_API std::string rank_text(const opened_device& d);

/// Whether one piece of hardware is seen twice: the same uuid or PCI address.
TUTTI_INTERNAL_API bool same_hardware(const opened_device& a, const opened_device& b);

}  // namespace tutti::detail
