// SPDX-License-Identifier: Apache-2.0
//
// For libraries that extend the core, as those in libs/ do: what operations check and convert by.
// Applications need none of it.
#pragma once

#include <cstdint>
#include <string_view>

#include "tutti/array.hpp"

namespace tutti::op {

/// a in dtype `type`; a weak scalar becomes an ordinary constant. Throws value_error for a weak
/// integer that an integer dtype cannot hold, dtype_error for a complex value in a real dtype.
TUTTI_API array cast(const array& a, dtype type, std::string_view op);

/// The dtype of a, weak scalars resolved, f32 for integers and bool. Throws dtype_error for complex
/// numbers.
TUTTI_API dtype real_floating_type_of(const array& a, std::string_view op);

/// Rows of x [O,R,N] at indices that are known to lie in [0, R); and the sum of updates [O,I,N]
/// into zeros [O,rows,N].
TUTTI_API array take_rows(const array& x, const array& index);
TUTTI_API array scatter_rows(const array& updates, const array& index, std::int64_t rows);

}  // namespace tutti::op
