// SPDX-License-Identifier: Apache-2.0
//
// Statistics beside the reductions of ops.hpp: deviations, norms, counts, weighted means. Axes as
// in reduce_options. Integers and bool become f32, f16 and bf16 are computed in f32.
#pragma once

#include <concepts>

#include "tutti/ops.hpp"

namespace tutti {

/// How many elements are not zero, i64; NaN is not zero.
TUTTI_API array count_nonzero(const array& a, const reduce_options& options = {});
/// sqrt(var(a)): standard deviation with divisor n - correction. The gradient where all elements
/// are equal is 0. Throws value_error for a correction that is NaN.
TUTTI_API array stddev(const array& a, const reduce_options& options = {}, double correction = 0);
template <std::same_as<bool> T>
array stddev(const array&, const reduce_options&, T keepdims) = delete;  // stddev(a, {axis, true})
/// Vector norm (sum |a|^p)^(1/p) over the axes; infinity gives the largest |a|, minus infinity the
/// smallest, 0 how many are not zero; for p below 0 a norm is 0 where an element is, and infinite
/// where there are no elements. Over two axes, p = 2 is the Frobenius norm of matrices; norms by
/// singular values are not here. Powers are taken after a division by a power of two near the
/// largest |a| (the smallest, for p below 0), so that they neither overflow nor vanish together.
/// The gradient is sign(a) (|a| / norm)^(p-1), and 0 where the norm is 0 and, for p below 1, where
/// an element is. Throws value_error for a p of NaN, and for infinite p where there are no
/// elements.
TUTTI_API array norm(const array& a, double p = 2, const reduce_options& options = {});
/// sum(a * weights) / sum(weights). Weights have a's shape, or are a vector along the one axis of
/// `options`. Throws shape_error for other weights. Where they sum to 0 the result is NaN or
/// infinite.
TUTTI_API array average(const array& a, const array& weights, const reduce_options& options = {});

}  // namespace tutti
