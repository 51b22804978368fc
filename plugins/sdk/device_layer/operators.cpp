// SPDX-License-Identifier: Apache-2.0
//
// Which of the operators a launch is.
#include "sdk/device_layer/operators.hpp"

#include <cstring>
#include <string>

#include "sdk/op_info.hpp"
#include "sdk/status.hpp"
#include "sdk/validate.hpp"
#include "sdk/validate_operator.hpp"

namespace tutti::sdk {
namespace {

bool supports_ordering(const device_description& device, const operator_call& l,
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

[[noreturn]] void throw_without_kernels(const operator_call& l) {
  const char* const name = operator_name(l.kind);
  throw_unsupported(std::string(name != nullptr ? name : "an unknown operator") +
                    ": there are no kernels for it");
}

}  // namespace

bool supports_operator(const device_description& device, const operator_call& l,
                       const char** reason) {
  switch (l.kind) {
    case TUTTI_OPERATOR_TAKE:
    case TUTTI_OPERATOR_SCATTER_ADD:
    case TUTTI_OPERATOR_SCATTER:
      return supports_gather(device, l, reason);
    case TUTTI_OPERATOR_SCAN:
    case TUTTI_OPERATOR_SORT:
    case TUTTI_OPERATOR_ARGSORT:
    case TUTTI_OPERATOR_SEARCH:
    case TUTTI_OPERATOR_COUNT:
    case TUTTI_OPERATOR_SELECT:
    case TUTTI_OPERATOR_TOPK:
    case TUTTI_OPERATOR_PARTITION:
      return supports_ordering(device, l, reason);
    case TUTTI_OPERATOR_CONVOLUTION:
      return supports_convolution(device, l, reason);
    case TUTTI_OPERATOR_FFT:
      return supports_fourier(device, l, reason);
    case TUTTI_OPERATOR_SPMM:
      return supports_spmm(device, l, reason);
    case TUTTI_OPERATOR_SDDMM:
      return supports_sddmm(device, l, reason);
    default:
      *reason = "there are no kernels for this operator";
      return false;
  }
}

uint64_t operator_workspace(const device_description& device, const operator_call& l) {
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
    case TUTTI_OPERATOR_CONVOLUTION:
      return convolution_workspace(device, l);
    case TUTTI_OPERATOR_FFT:
      return fourier_workspace(device, l);
    case TUTTI_OPERATOR_SPMM:
      return spmm_workspace(device, l);
    case TUTTI_OPERATOR_SEARCH:
    case TUTTI_OPERATOR_SELECT:
    case TUTTI_OPERATOR_SDDMM:
      return 0;
    case TUTTI_OPERATOR_TAKE:
    case TUTTI_OPERATOR_SCATTER_ADD:
    case TUTTI_OPERATOR_SCATTER:
      return gather_workspace(device, l);
    default:
      throw_without_kernels(l);
  }
}

void launch_operator(const device_description& device, const operator_call& l,
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
    case TUTTI_OPERATOR_CONVOLUTION:
      return launch_convolution(device, l, on);
    case TUTTI_OPERATOR_FFT:
      return launch_fourier(device, l, on);
    case TUTTI_OPERATOR_SPMM:
      return launch_spmm(device, l, on);
    case TUTTI_OPERATOR_SDDMM:
      return launch_sddmm(device, l, on);
    case TUTTI_OPERATOR_TAKE:
    case TUTTI_OPERATOR_SCATTER_ADD:
    case TUTTI_OPERATOR_SCATTER:
      return launch_gather(device, l, on);
    default:
      throw_without_kernels(l);
  }
}

void validate_workspace(const operator_memory& given, uint64_t bytes, uint64_t buffer_bytes,
                        uint64_t alignment, const char* what) {
  if (given.workspace_bytes < bytes) {
    throw_invalid(std::string(what) + ": workspace of " + std::to_string(given.workspace_bytes) +
                  " bytes, needs " + std::to_string(bytes));
  }
  if (given.workspace.offset % alignment != 0) {
    throw_invalid(std::string(what) + ": workspace at byte " +
                  std::to_string(given.workspace.offset) + ", no multiple of " +
                  std::to_string(alignment));
  }
  validate_span(what, given.workspace.offset, bytes, buffer_bytes);
}

prepared_launch::prepared_launch(const kernel_launch& from)
    : memory(from.memory),
      shape(static_cast<const std::byte*>(from.shape),
            static_cast<const std::byte*>(from.shape) + from.shape_bytes),
      offsets(from.offsets.begin(), from.offsets.end()),
      groups(from.groups),
      last(from.last),
      label(from.label) {
  if (shape.size() > sizeof(filled_shape))
    throw plugin_error(TUTTI_ERROR_INTERNAL, std::string(label) + ": a shape of " +
                                                 std::to_string(shape.size()) + " bytes");
}

void prepared_launch::shape_at(const operator_memory& where, filled_shape& to) const {
  std::memcpy(to.bytes, shape.data(), shape.size());
  for (const shape_offset& o : offsets) {
    const tutti_range& range =
        o.of == operand::workspace ? where.workspace : where.operands[static_cast<size_t>(o.of)];
    int64_t value = 0;
    std::memcpy(&value, to.bytes + o.field, sizeof value);
    value += static_cast<int64_t>(range.offset / o.unit);
    std::memcpy(to.bytes + o.field, &value, sizeof value);
  }
}

}  // namespace tutti::sdk
