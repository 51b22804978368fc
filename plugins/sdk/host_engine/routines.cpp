// SPDX-License-Identifier: Apache-2.0
//
// Half of the routines of one instruction set, compiled for each set and half (CMakeLists.txt).
// TUTTI_ROUTINE_TABLE is the name of the table.
#include "sdk/host_engine/routines.hpp"

namespace {
#include "sdk/host_engine/host_language.hpp"
// Generated (write_routines.cpp): functions, then the arrays `blocks` and `reductions`.
#include "host_routines.inc"
}  // namespace

namespace tutti::sdk::routines {

const routine_table TUTTI_ROUTINE_TABLE = {blocks, sizeof blocks / sizeof *blocks, reductions,
                                           sizeof reductions / sizeof *reductions};

}  // namespace tutti::sdk::routines
