// SPDX-License-Identifier: Apache-2.0
//
// One program on the device and by the host engine, each on copies of the same memory, and their
// outputs bit by bit.
#pragma once

#include <algorithm>
#include <bit>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "sdk/host_engine/host_engine.hpp"
#include "sdk/status.hpp"
#include "tutti_test/paths.hpp"
#include "verify/harness.hpp"

namespace tutti::test {

using namespace tutti::conformance;

inline session& opened() {
  static session s(tutti_test::paths::opencl_plugin, 0, 1);
  return s;
}

/// Register dtypes, then those that are only stored.
inline constexpr uint8_t register_dtypes[] = {
    TUTTI_BOOL, TUTTI_I8,  TUTTI_I16, TUTTI_I32, TUTTI_I64, TUTTI_U8,  TUTTI_U16,
    TUTTI_U32,  TUTTI_U64, TUTTI_F32, TUTTI_F64, TUTTI_C64, TUTTI_C128};

/// An element with any bits of its dtype: for floats one in four a special value, else a number of
/// at most `size`.
void set_random(image& data, uint64_t index, double size, std::mt19937_64& random);
inline void fill_random(operand& o, double size, uint64_t seed) {
  std::mt19937_64 random(seed);
  for (uint64_t i = 0; i < o.data.size(); ++i) set_random(o.data, i, size, random);
}

/// Calls of a pool of two threads.
sdk::host_parallel_for two_threads();

/// Runs `spec` by the host engine as session `s` launches it.
void run_on_host(session& s, const program_spec& spec, const extents& extent,
                 std::vector<operand>& inputs, const std::vector<tutti_scalar>& scalars,
                 std::vector<operand>& outputs, sdk::host_routines set,
                 const sdk::host_parallel_for& parallel = {});

/// The first element whose bits differ, of an image of elements; both NaN counts as equal: which of
/// its bits an operation on two NaNs keeps is the compiler's choice. -1: none.
int64_t first_difference(const image& a, const image& b);

/// On the device and by every set of routines that this processor has, one of them shared among
/// threads.
void compare(const program_spec& spec, const extents& extent, const std::vector<operand>& inputs,
             const std::vector<tutti_scalar>& scalars, const std::vector<operand>& outputs,
             const std::string& what);

}  // namespace tutti::test
