// SPDX-License-Identifier: Apache-2.0
//
// The capabilities that a plugin declares, compared with everything that exists.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness.hpp"

namespace tutti::conformance {

struct ability {
  std::string name;
  uint32_t has = 0;    // TUTTI_DTYPE_BIT set
  uint32_t whole = 0;  // the same for the dtypes for which it is defined
};

struct abilities {
  uint32_t stored_dtypes, computed_dtypes;
  std::vector<ability> operations;  // the rows of op_table.def
  std::vector<ability> reductions;
  std::vector<ability> operators;      // tutti_operator
  std::vector<std::string> optional;   // the optional tables and functions that exist
  std::vector<std::string> lacks;      // and those that do not
  std::vector<std::string> languages;  // for kernels of applications
};

/// Queries the device. Throws `failure` if a queried function fails.
abilities abilities_of(const session& s);

}  // namespace tutti::conformance
