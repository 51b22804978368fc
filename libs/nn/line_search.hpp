// SPDX-License-Identifier: Apache-2.0
//
// A line search for the strong Wolfe conditions on host numbers.
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

/// A length where the loss has decreased by 1e-4 of the decrease predicted by the slope at 0 and
/// the absolute slope is at most 0.9 of that at 0 (J. Nocedal, S. Wright, "Numerical Optimisation",
/// 2006, algorithms 3.5 and 3.6, with cubic interpolation, eq. 3.59, kept within the bracket).
/// After `most` evaluations, the best point seen, which may be `start`. Lengths with a loss that is
/// not finite count as too long. Losses that differ by less than `noise` times the loss at `start`
/// count as equal, and only the slopes decide (the approximate conditions of W. Hager, H. Zhang, "A
/// new conjugate gradient method with guaranteed descent and an efficient line search", 2005).
TUTTI_INTERNAL_API line_point strong_wolfe(const std::function<line_point(double length)>& evaluate,
                                           const line_point& start, double first, int most,
                                           double noise = 0);

}  // namespace tutti::nn::detail
