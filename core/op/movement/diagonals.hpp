// SPDX-License-Identifier: Apache-2.0
//
// Diagonals of matrices, for the public functions and for their gradient.
#pragma once

#include "tutti/array.hpp"

namespace tutti::op {

/// [..., rows, columns] with the values [..., n] on a diagonal and zeros elsewhere.
array spread_diagonal(const array& values, std::int64_t rows, std::int64_t columns,
                      std::int64_t offset);

}  // namespace tutti::op
