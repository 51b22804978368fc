// SPDX-License-Identifier: Apache-2.0
//
// Statistics in addition to the reductions of ops.hpp: deviations, norms, counts, weighted means.
// Axes as in reduce_options. Integers and bool become f32, f16 and bf16 are computed in f32.
#pragma once

#include <concepts>

#include "tutti/ops.hpp"

namespace tutti {

/// The number of elements that are not zero, i64; NaN is not zero.
TUTTI_API array count_nonzero(const array& a, const reduce_options& options = {});
/// sqrt(var(a)): standard deviation with divisor n - correction. The gradient is 0 if all elements
/// are equal. Throws value_error for a correction that is NaN.
TUTTI_API array stddev(const array& a, const reduce_options& options = {}, double correction = 0);
template <std::same_as<bool> T>
array stddev(const array&, const reduce_options&, T keepdims) = delete;  // stddev(a, {axis, true})
/// Vector norm (sum |a|^p)^(1/p) over the axes. Infinity gives the largest |a|, minus infinity the
/// smallest, 0 the number of nonzero elements. For p below 0 the norm is 0 if an element is 0, and
/// infinite without elements. Over two axes, p = 2 is the Frobenius norm of matrices; norms by
/// singular values are in linalg.hpp. Elements are divided by a power of two near the largest |a|
/// (for p below 0 the smallest), so that their powers do not all overflow or underflow. The
/// gradient is sign(a) (|a| / norm)^(p-1), and 0 where the norm is 0 and, for p below 1, where an
/// element is 0. Throws value_error if p is NaN, and for infinite p without elements.
TUTTI_API array norm(const array& a, double p = 2, const reduce_options& options = {});
/// sum(a * weights) / sum(weights). Weights have a's shape, or are a vector along the one axis of
/// `options`. Throws shape_error for other weights. If they sum to 0 the result is NaN or
/// infinite.
TUTTI_API array average(const array& a, const array& weights, const reduce_options& options = {});

}  // namespace tutti
