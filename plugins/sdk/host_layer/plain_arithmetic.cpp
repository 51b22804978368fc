// SPDX-License-Identifier: Apache-2.0
#include "sdk/host_layer/plain_arithmetic.hpp"

#include <cfenv>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tutti::sdk {

#if defined(__x86_64__)
plain_arithmetic::plain_arithmetic() : before_(_mm_getcsr()) {
  constexpr unsigned masked_and_nearest = 0x1f80;
  if ((before_ & 0xffc0u) != masked_and_nearest) _mm_setcsr(masked_and_nearest);
}

plain_arithmetic::~plain_arithmetic() {
  constexpr unsigned flags = 0x3f;
  if (((_mm_getcsr() ^ before_) & ~flags) != 0) _mm_setcsr(before_);
}
#else
plain_arithmetic::plain_arithmetic() : before_(static_cast<unsigned>(std::fegetround())) {
  if (before_ != FE_TONEAREST) std::fesetround(FE_TONEAREST);
}

plain_arithmetic::~plain_arithmetic() {
  if (before_ != FE_TONEAREST) std::fesetround(static_cast<int>(before_));
}
#endif

}  // namespace tutti::sdk
