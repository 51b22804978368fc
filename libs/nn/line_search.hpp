// SPDX-License-Identifier: Apache-2.0
//
// A line search for the strong Wolfe conditions, on numbers of the host.
#pragma once

#include <functional>

#include "tutti/export.hpp"

namespace tutti::nn::detail {

/// The loss at one length along a direction, and its derivative by the length.
struct line_point {
  double length = 0;
  double loss = 0;
  double slope = 0;
};

/// A length where the loss has fallen by 1e-4 of what the slope at 0 promised and the slope is at
/// most 0.9 of that there in amount (J. Nocedal, S. Wright, "Numerical Optimization", 2006,
/// algorithms 3.5 and 3.6, with cubic interpolation, eq. 3.59, held within the bracket). After
/// `most` evaluations the best point seen, which may be `start`. Losses that are not finite count
/// as too long. Losses that differ by less than `noise` times that of the start are taken for
/// equal, and of such points slopes decide alone (the approximate conditions of W. Hager, H. Zhang,
/// "A new conjugate gradient method with guaranteed descent and an efficient line search", 2005).
TUTTI_INTERNAL_API line_point strong_wolfe(const std::function<line_point(double length)>& evaluate,
                                           const line_point& start, double first, int most,
                                           double noise = 0);

}  // namespace tutti::nn::detail
