// SPDX-License-Identifier: Apache-2.0
//
// Shapes of sparse products and of products at sparse positions.
#include "sdk/spmm.hpp"

#include "sdk/validate_operator.hpp"

namespace tutti::sdk {

void check_sparse(const operator_call& call) {
  const bool product = call.kind == TUTTI_OPERATOR_SPMM;
  const uint64_t places = call.views[2].extent[0], columns = call.views[4].extent[1];
  const bool has_rows = call.views[4].extent[0] > 0 && (product || call.views[3].extent[0] > 0);
  require(has_rows || places == 0 || columns == 0, call,
          "elements in rows of which there are none");
}

double spmm_work(const operator_call& call) {
  const tutti_view& out = call.views[0];
  return static_cast<double>(call.views[2].extent[0]) * static_cast<double>(out.extent[1]);
}

double sddmm_work(const operator_call& call) {
  return static_cast<double>(call.views[0].extent[0]) *
         static_cast<double>(call.views[3].extent[1]);
}

}  // namespace tutti::sdk
