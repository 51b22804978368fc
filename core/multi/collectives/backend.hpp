// SPDX-License-Identifier: Apache-2.0
//
// Collectives by the plugin of the members, where they are all of one and it offers them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "graph/collective.hpp"
#include "tutti/collective.hpp"

namespace tutti::multi {

/// The ABI's number.
tutti_reduction code_of(collective::reduction with);

/// The flat results, `elements` each, of the collective of `values`, which agree. Nothing where the
/// members' plugin does not offer it, where the caller chose an algorithm or an order, where
/// gradients have to pass, or where libraries differ from what Tutti promises (NaN in min and max).
std::optional<std::vector<array>> by_backend(const device_group& group,
                                             const std::vector<array>& values,
                                             tutti_collective kind, collective::reduction with,
                                             std::int64_t elements, const collective::options& how,
                                             std::string_view op);

}  // namespace tutti::multi
