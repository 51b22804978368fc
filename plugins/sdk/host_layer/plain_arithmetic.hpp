// SPDX-License-Identifier: Apache-2.0
//
// The floating-point mode of kernels, for application threads in any mode.
#pragma once

namespace tutti::sdk {

/// During its lifetime, this thread rounds to nearest and keeps denormal numbers.
class plain_arithmetic {
 public:
  plain_arithmetic();
  ~plain_arithmetic();
  plain_arithmetic(plain_arithmetic&&) = delete;

 private:
  unsigned before_ = 0;
};

}  // namespace tutti::sdk
