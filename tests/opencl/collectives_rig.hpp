// SPDX-License-Identifier: Apache-2.0
//
// All devices of the opencl plugin with a communicator, for the experiments of `tutti verify`.
#pragma once

#include <boost/test/unit_test.hpp>
#include <deque>
#include <functional>
#include <numeric>
#include <thread>

#include "tutti_test/collective_calls.hpp"
#include "tutti_test/paths.hpp"
#include "verify/collective_trials.hpp"
#include "verify/oracle.hpp"

namespace tutti::test {

using namespace tutti::conformance;
using kind = trial_kind;
using array = collective_array;

struct rig : collective_rig {
  explicit rig(uint32_t most = 64) : collective_rig(tutti_test::paths::opencl_plugin, most) {}
};

}  // namespace tutti::test
