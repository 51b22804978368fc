// SPDX-License-Identifier: Apache-2.0
//
// Shapes of sparse products and of products at sparse places.
#include "sdk/spmm.hpp"

#include <algorithm>
#include <string>

#include "sdk/op_info.hpp"
#include "sdk/status.hpp"
#include "sdk/validate_operator.hpp"

namespace tutti::sdk {
namespace {

void require(bool good, const operator_call& call, const char* name, const char* what) {
  if (!good) throw_invalid(std::string(name) + ": " + what + shapes_of(call));
}

}  // namespace

void check_spmm(const operator_call& call, const char* name) {
  const tutti_view &out = call.views[0], &starts = call.views[1], &columns = call.views[2],
                   &values = call.views[3], &b = call.views[4];
  require(out.rank == 2 && starts.rank == 1 && columns.rank == 1 && values.rank == 1 && b.rank == 2,
          call, name, "wrong ranks");
  require(starts.dtype == TUTTI_I32 || starts.dtype == TUTTI_I64, call, name,
          "starts are neither i32 nor i64");
  require(columns.dtype == starts.dtype, call, name, "starts and columns differ in dtype");
  require(values.dtype == out.dtype && b.dtype == out.dtype, call, name, "dtypes differ");
  if (out.dtype < TUTTI_F32)
    throw_unsupported(std::string(name) + ": not defined for these dtypes" + shapes_of(call));
  require(starts.extent[0] == out.extent[0] + 1, call, name,
          "starts are not one more than rows of the result");
  require(columns.extent[0] == values.extent[0], call, name, "columns and values differ in number");
  require(b.extent[1] == out.extent[1], call, name, "columns of the result and of b differ");
  require(b.extent[0] > 0 || columns.extent[0] == 0 || b.extent[1] == 0, call, name,
          "elements in columns of which there are none");
  require(std::all_of(call.views, call.views + call.view_count, is_contiguous), call, name,
          "a view is not contiguous");
}

double spmm_work(const operator_call& call) {
  const tutti_view& out = call.views[0];
  return static_cast<double>(call.views[2].extent[0]) * static_cast<double>(out.extent[1]);
}

void check_sddmm(const operator_call& call, const char* name) {
  const tutti_view &out = call.views[0], &rows = call.views[1], &columns = call.views[2],
                   &a = call.views[3], &b = call.views[4];
  require(out.rank == 1 && rows.rank == 1 && columns.rank == 1 && a.rank == 2 && b.rank == 2, call,
          name, "wrong ranks");
  require(rows.dtype == TUTTI_I32 || rows.dtype == TUTTI_I64, call, name,
          "rows are neither i32 nor i64");
  require(columns.dtype == rows.dtype, call, name, "rows and columns differ in dtype");
  require(a.dtype == out.dtype && b.dtype == out.dtype, call, name, "dtypes differ");
  if (out.dtype < TUTTI_F32)
    throw_unsupported(std::string(name) + ": not defined for these dtypes" + shapes_of(call));
  require(rows.extent[0] == out.extent[0] && columns.extent[0] == out.extent[0], call, name,
          "rows, columns and elements differ in number");
  require(a.extent[1] == b.extent[1], call, name, "columns of a and of b differ");
  require((a.extent[0] > 0 && b.extent[0] > 0) || out.extent[0] == 0 || a.extent[1] == 0, call,
          name, "elements in rows of which there are none");
  require(std::all_of(call.views, call.views + call.view_count, is_contiguous), call, name,
          "a view is not contiguous");
}

double sddmm_work(const operator_call& call) {
  return static_cast<double>(call.views[0].extent[0]) *
         static_cast<double>(call.views[3].extent[1]);
}

}  // namespace tutti::sdk
