// SPDX-License-Identifier: Apache-2.0
//
// Random bits and checks on which several distributions are based.
#pragma once

#include <initializer_list>
#include <string_view>

#include "tutti/extension.hpp"
#include "tutti/random.hpp"

namespace tutti::random {

/// 53 random bits as an integer in u64, from that word (the upper 27) and the next.
array wide_bits(key from, const shape& extents, std::int64_t stride, std::int64_t first,
                const device& on);
/// Throws value_error with `op` if a finite value exceeds the largest of a floating dtype.
void require_held(std::string_view op, dtype type, std::initializer_list<double> values);
/// Throws shape_error with `op` if words() could not represent the index of an element.
void require_size(const shape& extents, std::string_view op);

}  // namespace tutti::random
