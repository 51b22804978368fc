// SPDX-License-Identifier: Apache-2.0
//
// What a plugin says that its device can do, beside what there is to be done.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness.hpp"

namespace tutti::conformance {

struct ability {
  std::string name;
  uint32_t has = 0;    // TUTTI_DTYPE_BIT set
  uint32_t whole = 0;  // the same, of the dtypes that it is defined for
};

struct abilities {
  uint32_t stored_dtypes, computed_dtypes;
  std::vector<ability> operations;  // the rows of op_table.def
  std::vector<ability> reductions;
  std::vector<ability> operators;      // tutti_operator
  std::vector<std::string> optional;   // what of the optional tables and functions is there
  std::vector<std::string> lacks;      // and what is not
  std::vector<std::string> languages;  // of the application's own kernels
};

/// Asks the device. Throws `failure` where a function that is asked fails.
abilities abilities_of(const session& s);

}  // namespace tutti::conformance
