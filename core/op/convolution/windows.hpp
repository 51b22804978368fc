// SPDX-License-Identifier: Apache-2.0
//
// Positions of windows over spatial axes, for convolutions and pooling.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "op/operands.hpp"
#include "tutti/convolution.hpp"

namespace tutti::op {

/// For messages.
inline std::string text(std::int64_t n) { return std::to_string(n); }

/// For each spatial axis; places: the number of windows.
struct window_geometry {
  int spatial = 0;
  shape window, stride, dilation, before, after, places;
  shape beyond;  // part of `after` that an incomplete last window needs
  bool has_padding() const;
};

/// `given`, one number or one for each of `spatial` axes, as one for each. Throws value_error with
/// `what` for another number of values or one below `least`.
shape axis_values(const shape& given, int spatial, std::int64_t least, const char* what,
                  const char* label);

/// Throws value_error for numbers out of range, shape_error if a window is empty or longer than the
/// padded extent. With ceil_mode a last window that begins within x or the padding before it counts
/// even if it ends beyond.
window_geometry resolve_windows(const shape& extents, const shape& window, const per_axis& stride,
                                const window_padding& padding, const per_axis& dilation,
                                const char* label, bool ceil_mode = false);

/// a with the padding around its axes from `first` on.
array padded(const array& a, const window_geometry& g, int first, pad_mode mode,
             const array& value);

}  // namespace tutti::op
