// SPDX-License-Identifier: Apache-2.0
#include "op/scales.hpp"

namespace tutti::op {

array binary_exponents(const array& amounts) {
  const array top = stop_gradient(amounts);
  const array usable = (top > 0) & isfinite(top);
  const double most = top.dtype() == dtype::f64 ? 1000 : 120;
  return clip(floor(log2(where(usable, top, 1))), -most, most);
}

array largest_along_last(const array& x) {
  return max(abs(stop_gradient(x)), {-1, keep_dims::yes});
}

array scaled_lines(const array& x) {
  if (x.dim(-1) == 0) return x;
  return x / exp2(binary_exponents(largest_along_last(x)));
}

}  // namespace tutti::op
