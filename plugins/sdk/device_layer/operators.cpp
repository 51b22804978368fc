// SPDX-License-Identifier: Apache-2.0
//
// Which of the operators a launch is.
#include "sdk/device_layer/operators.hpp"

#include "sdk/op_info.hpp"
#include "sdk/ordering.hpp"
#include "sdk/status.hpp"
#include "sdk/validate.hpp"

namespace tutti::sdk {
namespace {

bool supports_ordering(const device_description& device, const tutti_operator_launch& l,
                       const char** reason) {
  const bool has_f64 = device.properties.computed_dtypes & TUTTI_DTYPE_BIT(TUTTI_F64);
  for (uint32_t n = 0; n < l.view_count; ++n) {
    if (l.views[n].dtype != TUTTI_F64 || has_f64) continue;
    *reason = "this device has no f64";
    return false;
  }
  // Places and counts have 32 bits.
  const bool counts = l.kind != TUTTI_OPERATOR_SCAN && l.kind != TUTTI_OPERATOR_SEARCH;
  if (counts && l.views[1].extent[l.views[1].rank - 1] >= uint64_t{1} << 31) {
    *reason = "rows of 2^31 elements and more";
    return false;
  }
  return true;
}

}  // namespace

bool supports_operator(const device_description& device, const tutti_operator_launch& l,
                       const char** reason) {
  return is_ordering(l.kind) ? supports_ordering(device, l, reason)
                             : supports_gather(device, l, reason);
}

uint64_t operator_workspace(const device_description& device, const tutti_operator_launch& l) {
  switch (l.kind) {
    case TUTTI_OPERATOR_SCAN:
      return scan_workspace(device, l);
    case TUTTI_OPERATOR_SORT:
    case TUTTI_OPERATOR_ARGSORT:
      return sort_workspace(device, l);
    case TUTTI_OPERATOR_COUNT:
      return lookup_workspace(device, l);
    case TUTTI_OPERATOR_TOPK:
    case TUTTI_OPERATOR_PARTITION:
      return partition_workspace(device, l);
    default:
      return 0;
  }
}

void launch_operator(const device_description& device, const tutti_operator_launch& l,
                     operator_launcher& on) {
  switch (l.kind) {
    case TUTTI_OPERATOR_SCAN:
      return launch_scan(device, l, on);
    case TUTTI_OPERATOR_SORT:
    case TUTTI_OPERATOR_ARGSORT:
      return launch_sort(device, l, on);
    case TUTTI_OPERATOR_SEARCH:
    case TUTTI_OPERATOR_COUNT:
    case TUTTI_OPERATOR_SELECT:
      return launch_lookup(device, l, on);
    case TUTTI_OPERATOR_TOPK:
    case TUTTI_OPERATOR_PARTITION:
      return launch_partition(device, l, on);
    default:
      return launch_gather(device, l, on);
  }
}

void validate_workspace(const tutti_operator_launch& l, uint64_t bytes, uint64_t buffer_bytes,
                        const char* what) {
  if (l.workspace_bytes < bytes) {
    throw_invalid(std::string(what) + ": workspace of " + std::to_string(l.workspace_bytes) +
                  " bytes, needs " + std::to_string(bytes));
  }
  validate_span(what, l.workspace_offset, bytes, buffer_bytes);
}

int64_t view_elements(const tutti_view& view) {
  return static_cast<int64_t>(view.offset / dtype_size(view.dtype));
}

}  // namespace tutti::sdk
