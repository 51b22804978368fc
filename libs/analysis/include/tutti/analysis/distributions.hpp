// SPDX-License-Identifier: Apache-2.0
//
// Random numbers of further distributions, from keys as in random.hpp.
#pragma once

#include <cstdint>
#include <span>

#include "tutti/random.hpp"

namespace tutti::random {

/// Exponential with mean `scale`: -scale log u, with the u of normal()'s radius, of word i (f64:
/// words 2i and 2i + 1); so at most 17 scale in f32, 37 scale in f64. Throws value_error unless the
/// scale is positive and finite, dtype_error for a dtype that is not floating.
TUTTI_API array exponential(key from, const shape& shape, double scale = 1, dtype type = dtype::f32,
                            const device& on = default_device());
/// Gamma with shape parameter `concentration`, times scale (G. Marsaglia, W. W. Tsang, "A simple
/// method for generating gamma variables", TOMS 2000; below 1 with their power of a uniform
/// number). The rejection runs until every element is accepted, so the call evaluates: about
/// log20(elements) passes. Throws value_error unless both are positive and finite.
TUTTI_API array gamma(key from, const shape& shape, double concentration, double scale = 1,
                      dtype type = dtype::f32, const device& on = default_device());
/// Poisson numbers, the same on every device: drawn from a table, made on the host, of all values
/// with a probability above 1e-18 (A. J. Walker's alias method, TOMS 1977), about 18 sqrt(mean) +
/// 40 entries. Throws value_error unless 0 <= mean <= 1e9.
TUTTI_API array poisson(key from, const shape& shape, double mean, dtype type = dtype::i32,
                        const device& on = default_device());

enum class replacement : bool { no, yes };
/// Indices into n items, i64, the same on every device: each as integers() or, without replacement,
/// the last shape.size() entries of permutation() in reverse. Throws value_error for n < 1, and
/// without replacement for more than n draws.
TUTTI_API array choice(key from, std::int64_t n, const shape& shape,
                       replacement replace = replacement::yes, const device& on = default_device());
/// Index i with probability weights[i] / sum, to within 2^-32 / weights.size(), by the alias
/// method. Without replacement, each draw is among the remaining indices, by their weights: those
/// with the smallest -log(u) / weight, chosen on the host (P. S. Efraimidis, P. G. Spirakis,
/// "Weighted random sampling with a reservoir", Information Processing Letters 97, 2006). Throws
/// value_error for weights that are negative or not finite, or whose sum is not positive, and
/// without replacement if fewer weights than draws are positive.
TUTTI_API array choice(key from, std::span<const double> weights, const shape& shape,
                       replacement replace = replacement::yes, const device& on = default_device());

}  // namespace tutti::random
