// SPDX-License-Identifier: Apache-2.0
//
// Numbers of one array as text of one width, by the rules of NumPy's array2string.
#pragma once

#include <string>
#include <vector>

#include "tutti/array.hpp"

namespace tutti {

/// The elements of a, row-major, evaluated. Floats have the fewest digits that distinguish them
/// from their neighbours in their dtype, at most `precision` after the point, and exponents if the
/// largest is 1e8 or more (f32: 1e6, f16: 1e3, bf16: 1e2), the smallest below 1e-4, or their ratio
/// exceeds 1000.
std::vector<std::string> formatted(const array& a, int precision);

}  // namespace tutti
