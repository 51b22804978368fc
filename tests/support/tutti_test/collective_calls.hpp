// SPDX-License-Identifier: Apache-2.0
//
// The collective group of a plugin, a function for each kind: as `tutti verify` calls it.
#pragma once

#include "verify/collective_calls.hpp"

namespace tutti_test {

using tutti::conformance::collective_calls;

}  // namespace tutti_test
