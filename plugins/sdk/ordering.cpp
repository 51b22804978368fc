// SPDX-License-Identifier: Apache-2.0
//
// Checks of scans, sorts and their kin.
#include "sdk/ordering.hpp"

#include <algorithm>
#include <string>

#include "sdk/op_info.hpp"
#include "sdk/status.hpp"

namespace tutti::sdk {
namespace {

std::string shapes(const operator_call& l) {
  std::string text;
  for (uint32_t n = 0; n < l.view_count; ++n) {
    const tutti_view& view = l.views[n];
    text += n > 0 ? ", " : "";
    text += std::string(dtype_name(view.dtype)) + " [";
    for (uint32_t d = 0; d < view.rank; ++d) {
      text += (d > 0 ? "," : "") + std::to_string(view.extent[d]);
    }
    text += "]";
  }
  return text;
}

class ordering_checker {
 public:
  ordering_checker(const operator_call& launch, const char* name) : l_(launch), name_(name) {}

  void require(bool good, const char* what) const {
    if (!good) throw_invalid(std::string(name_) + ": " + what + ": " + shapes(l_));
  }
  const tutti_view& view(uint32_t n) const { return l_.views[n]; }
  bool same_extents(uint32_t a, uint32_t b) const {
    return view(a).rank == view(b).rank &&
           std::equal(view(a).extent, view(a).extent + view(a).rank, view(b).extent);
  }
  void require_ranks(uint32_t rank) const {
    for (uint32_t n = 0; n < l_.view_count; ++n) require(view(n).rank == rank, "wrong ranks");
  }
  void require_contiguous() const {
    for (uint32_t n = 0; n < l_.view_count; ++n) {
      const uint64_t* const extent = view(n).extent;
      if (std::find(extent, extent + view(n).rank, 0) != extent + view(n).rank) continue;
      int64_t step = 1;
      for (uint32_t d = view(n).rank; d-- > 0;) {
        require(view(n).extent[d] == 1 || view(n).stride[d] == step, "a view is not contiguous");
        step *= static_cast<int64_t>(view(n).extent[d]);
      }
    }
  }

 private:
  const operator_call& l_;
  const char* name_;
};

bool is_real(int32_t d) { return d >= TUTTI_BOOL && d <= TUTTI_F64; }
bool is_float(int32_t d) { return d >= TUTTI_F16 && d <= TUTTI_F64; }
bool is_index(int32_t d) { return d == TUTTI_I32 || d == TUTTI_I64; }

void check_scan(const operator_call& l, const ordering_checker& c) {
  c.require_ranks(3);
  c.require(c.same_extents(0, 1), "extents differ");
  const int32_t out = c.view(0).dtype, x = c.view(1).dtype;
  c.require(is_real(out) && is_real(x) && (is_float(out) || !is_float(x)), "dtypes do not convert");
  const tutti_scan_params p = scan_params(l);
  const bool summing = p.scan == TUTTI_SCAN_SUM || p.scan == TUTTI_SCAN_PROD;
  c.require(!summing || out != TUTTI_BOOL, "bool has no sums");
  c.require(p.scan != TUTTI_SCAN_LOGSUMEXP || is_float(out), "logsumexp of what is no float");
}

void check_search(const operator_call& l, const ordering_checker& c) {
  c.require_ranks(2);
  search_params(l);
  c.require(c.view(0).dtype == TUTTI_I64, "the result is not i64");
  c.require(is_real(c.view(1).dtype) && c.view(1).dtype == c.view(2).dtype, "dtypes differ");
  c.require(c.same_extents(0, 2), "values and result differ");
  c.require(c.view(0).extent[0] == c.view(1).extent[0], "rows differ");
}

void check_selection(const operator_call& l, const ordering_checker& c) {
  c.require_ranks(2);
  c.require(is_real(c.view(1).dtype), "dtype has no order");
  if (l.kind == TUTTI_OPERATOR_PARTITION) {
    c.require(c.same_extents(0, 1), "extents differ");
    c.require(c.view(0).dtype == c.view(1).dtype, "dtypes differ");
    const uint64_t kth = partition_params(l).kth, length = c.view(1).extent[1];
    c.require(kth < length || length == 0, "kth is beyond the row");
    return;
  }
  sort_params(l);
  c.require(c.view(0).dtype == TUTTI_I64, "the result is not i64");
  c.require(c.view(0).extent[0] == c.view(1).extent[0], "rows differ");
  c.require(c.view(0).extent[1] <= c.view(1).extent[1], "more results than elements");
}

}  // namespace

bool is_ordering(int32_t kind) {
  return kind >= TUTTI_OPERATOR_SCAN && kind <= TUTTI_OPERATOR_PARTITION;
}

void check_ordering(const operator_call& l, const char* name) {
  const ordering_checker c(l, name);
  c.require_contiguous();
  switch (l.kind) {
    case TUTTI_OPERATOR_SCAN:
      return check_scan(l, c);
    case TUTTI_OPERATOR_SORT:
    case TUTTI_OPERATOR_ARGSORT:
      c.require_ranks(2);
      sort_params(l);
      c.require(c.same_extents(0, 1), "extents differ");
      c.require(is_real(c.view(1).dtype), "dtype has no order");
      if (l.kind == TUTTI_OPERATOR_SORT)
        c.require(c.view(0).dtype == c.view(1).dtype, "dtypes differ");
      else
        c.require(c.view(0).dtype == TUTTI_I64, "the result is not i64");
      return;
    case TUTTI_OPERATOR_SEARCH:
      return check_search(l, c);
    case TUTTI_OPERATOR_TOPK:
    case TUTTI_OPERATOR_PARTITION:
      return check_selection(l, c);
    default:
      c.require_ranks(1);
      c.require(c.view(0).dtype == TUTTI_I64, "the result is not i64");
      c.require(is_index(c.view(1).dtype), "the operand is not i32 or i64");
  }
}

tutti_scan_params scan_params(const operator_call& l) {
  const auto p = read_struct(static_cast<const tutti_scan_params*>(l.params), "scan parameters");
  if (p.scan < TUTTI_SCAN_SUM || p.scan > TUTTI_SCAN_LOGSUMEXP)
    throw_unsupported("scan: kind " + std::to_string(p.scan) + " is unknown");
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
