// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic as kernels have it, in threads of an application, which may be in any mode.
#pragma once

namespace tutti::sdk {

/// While it lives, this thread rounds to nearest and keeps denormal numbers.
class plain_arithmetic {
 public:
  plain_arithmetic();
  ~plain_arithmetic();
  plain_arithmetic(const plain_arithmetic&) = delete;
  plain_arithmetic& operator=(const plain_arithmetic&) = delete;

 private:
  unsigned before_ = 0;
};

}  // namespace tutti::sdk
