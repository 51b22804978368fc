// SPDX-License-Identifier: Apache-2.0
//
// Low-discrepancy sequences, which fill the unit cube more evenly than random points. Computed
// element by element: the same bits on every device, and any part of a sequence separately.
#pragma once

#include <cstdint>
#include <optional>

#include "tutti/random.hpp"

namespace tutti::random {

inline constexpr std::int64_t most_sobol_dimensions = 10;

/// Points first, ..., first + count - 1 of the Sobol sequence: [count, dimensions] in [0, 1), f32
/// (the upper 24 of 32 bits) or f64. In the order of Antonov and Saleev (1979), with the primitive
/// polynomials and initial direction numbers that S. Joe and F. Kuo published ("Constructing Sobol
/// sequences with better two-dimensional projections", 2008), for up to 10 dimensions. Blocks of
/// 2^k points from a multiple of 2^k on have one point in each of 2^k intervals of every
/// coordinate. With a key, each coordinate is shifted digit by digit (exclusive or) by 32 random
/// bits, which keeps that. Throws value_error for other dimensions, a negative count, and points
/// beyond 2^32.
TUTTI_API array sobol(std::int64_t count, std::int64_t dimensions, std::int64_t first = 0,
                      std::optional<key> shift = {}, dtype type = dtype::f32,
                      const device& on = default_device());
/// Points of the Halton sequence: coordinate d is the radical inverse of the index in the base of
/// the d-th prime (van der Corput, 1935; J. H. Halton, 1960), rounded once from f64 if the device
/// supports it. Beyond about 8 dimensions neighbouring coordinates are correlated for many points.
/// Throws as sobol(), for more than 100 dimensions.
TUTTI_API array halton(std::int64_t count, std::int64_t dimensions, std::int64_t first = 0,
                       dtype type = dtype::f32, const device& on = default_device());

}  // namespace tutti::random
