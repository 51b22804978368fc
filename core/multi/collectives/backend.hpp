// SPDX-License-Identifier: Apache-2.0
//
// Collectives of the members' plugin, if all members belong to one plugin that provides them.
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
/// "sum"
std::string_view name_of(collective::reduction with);

/// The flat results, `elements` each, of the collective of `values`, which match. Nothing if the
/// members' plugin does not provide it, if the caller selected an algorithm or an order, if
/// gradients are needed, or if the library differs from what Tutti guarantees (NaN in min and max).
std::optional<std::vector<array>> by_backend(const device_group& group,
                                             const std::vector<array>& values,
                                             tutti_collective kind, collective::reduction with,
                                             std::int64_t elements, const collective::options& how,
                                             std::string_view op);

}  // namespace tutti::multi
