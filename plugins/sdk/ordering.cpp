// SPDX-License-Identifier: Apache-2.0
//
// Checks of scans, sorts and related operators.
#include "sdk/ordering.hpp"

#include <string>

#include "sdk/status.hpp"
#include "sdk/validate_operator.hpp"

namespace tutti::sdk {
namespace {

bool is_real(int32_t d) { return d >= TUTTI_BOOL && d <= TUTTI_F64; }
bool is_float(int32_t d) { return d >= TUTTI_F16 && d <= TUTTI_F64; }

void check_scan(const operator_call& l) {
  const int32_t out = l.views[0].dtype, x = l.views[1].dtype;
  require(is_real(x) && (is_float(out) || !is_float(x)), l, "dtypes do not convert");
  const tutti_scan_params p = scan_params(l);
  const bool summing = p.scan == TUTTI_SCAN_SUM || p.scan == TUTTI_SCAN_PROD;
  require(!summing || out != TUTTI_BOOL, l, "bool has no sums");
  require(p.scan != TUTTI_SCAN_LOGSUMEXP || is_float(out), l, "logsumexp of what is no float");
}

}  // namespace

bool is_ordering(int32_t kind) {
  return kind >= TUTTI_OPERATOR_SCAN && kind <= TUTTI_OPERATOR_PARTITION;
}

void check_ordering(const operator_call& l) {
  if (l.kind == TUTTI_OPERATOR_SCAN) return check_scan(l);
  if (l.kind == TUTTI_OPERATOR_TOPK)
    require(l.views[0].extent[1] <= l.views[1].extent[1], l, "more results than elements");
  if (l.kind != TUTTI_OPERATOR_PARTITION) return;
  const uint64_t kth = partition_params(l).kth, length = l.views[1].extent[1];
  require(kth < length || length == 0, l, "kth is beyond the row");
}

tutti_scan_params scan_params(const operator_call& l) {
  const auto p = read_struct(static_cast<const tutti_scan_params*>(l.params), "scan parameters");
  if (p.scan < TUTTI_SCAN_SUM || p.scan > TUTTI_SCAN_LOGSUMEXP)
    throw_unsupported("scan: kind ", p.scan, " is unknown");
  return p;
}

tutti_sort_params sort_params(const operator_call& l) {
  return read_struct(static_cast<const tutti_sort_params*>(l.params), "sort parameters");
}

tutti_search_params search_params(const operator_call& l) {
  return read_struct(static_cast<const tutti_search_params*>(l.params), "search parameters");
}

tutti_partition_params partition_params(const operator_call& l) {
  return read_struct(static_cast<const tutti_partition_params*>(l.params), "partition parameters");
}

}  // namespace tutti::sdk
