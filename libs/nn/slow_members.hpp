// SPDX-License-Identifier: Apache-2.0
//
// Which kinds of devices to work with, decided by measured steps.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "tutti/export.hpp"

namespace tutti::nn {

using kinds = std::vector<std::size_t>;

/// Leaves out one of `kept` after the other, but for the first, each time that without which a step
/// takes least, as long as it takes less than with it.
TUTTI_INTERNAL_API kinds fastest_kinds(kinds kept,
                                       const std::function<double(const kinds&)>& seconds_of);

}  // namespace tutti::nn
