// SPDX-License-Identifier: Apache-2.0
//
// Common steps of the functions of tutti/linalg.hpp before the conversion to [B,M,N]: checks,
// dtypes, batches.
#pragma once

#include <string_view>

#include "op/operands.hpp"

namespace tutti::op {

/// a in the dtype of the computation, with at least two dimensions. Throws as linalg.hpp states.
array as_matrices(const array& a, std::string_view op);
/// The same, square.
array as_square(const array& a, std::string_view op);
/// Throws shape_error unless a, which is an operand of as_matrices(), is square.
void require_square(const array& a, std::string_view op);

/// The extents before the last `last` ones.
shape batch_of(const array& a, int last = 2);
/// batch, rows, columns; and batch, length.
shape joined(const shape& batch, std::int64_t rows, std::int64_t columns);
shape joined(const shape& batch, std::int64_t length);

/// a as [B,M,N], and a [B,...] with the batch unfolded.
array folded(const array& a);
array unfolded(const array& a, const shape& batch);

/// Zeros of a's dtype and device, without elements.
array nothing_like(const array& a, const shape& extents);

/// Identities [..., n, n] for the batch of a.
array identities(const array& a, std::int64_t n);

}  // namespace tutti::op
