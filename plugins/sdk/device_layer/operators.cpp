// SPDX-License-Identifier: Apache-2.0
//
// Dispatches operators by kind.
#include "sdk/device_layer/operators.hpp"

#include <cstring>
#include <string>

#include "sdk/op_info.hpp"
#include "sdk/ordering.hpp"
#include "sdk/status.hpp"
#include "sdk/validate.hpp"
#include "sdk/validate_operator.hpp"

namespace tutti::sdk {

// Backends compute these by other means: backend::matmul, backend::matrices.
const device_operator matmul_on_device{}, cholesky_on_device{}, triangular_solve_on_device{};
const device_operator lu_on_device{}, qr_on_device{}, eigh_on_device{}, svd_on_device{};
const device_operator eig_on_device{};

namespace {

device_operator functions_of(int32_t kind) {
  switch (kind) {
#define TUTTI_OPERATOR(number, NAME, name, ...) \
  case TUTTI_OPERATOR_##NAME:                   \
    return name##_on_device;
#include "tutti/operator.def"
#undef TUTTI_OPERATOR
  }
  return {};
}

}  // namespace

const char* against_operator(const device_description& device, const operator_call& l) {
  const device_operator found = functions_of(l.kind);
  return found.against != nullptr ? found.against(device, l)
                                  : "there are no kernels for this operator";
}

uint64_t launch_operator(const device_description& device, const operator_call& l,
                         operator_launcher& on) {
  const device_operator found = functions_of(l.kind);
  if (found.launch != nullptr) return found.launch(device, l, on);
  const char* const name = operator_name(l.kind);
  throw_unsupported(name != nullptr ? name : "an unknown operator",
                    ": there are no kernels for it");
}

const char* against_ordering(const device_description& device, const operator_call& l) {
  const bool has_f64 = device.properties.computed_dtypes & TUTTI_DTYPE_BIT(TUTTI_F64);
  for (uint32_t n = 0; n < l.view_count; ++n)
    if (l.views[n].dtype == TUTTI_F64 && !has_f64) return "this device has no f64";
  // Positions and counts have 32 bits.
  const bool counts = l.kind != TUTTI_OPERATOR_SCAN && l.kind != TUTTI_OPERATOR_SEARCH;
  if (counts && l.views[1].extent[l.views[1].rank - 1] >= uint64_t{1} << 31)
    return "rows of 2^31 elements and more";
  return nullptr;
}

const char* against_numbers(const device_description& device, const operator_call& l) {
  const auto dtype = static_cast<uint8_t>(l.views[0].dtype);
  const uint32_t real = is_complex(dtype) ? part_dtype(dtype) : dtype;
  const bool computes = (device.properties.computed_dtypes & TUTTI_DTYPE_BIT(real)) != 0;
  return computes ? nullptr : "this device does not compute in that dtype";
}

uint64_t groups_on(const device_description& device, int64_t items) {
  return groups_for(items, device.kind, device.compute_units(), device.work_group);
}

void validate_workspace(const operator_memory& given, uint64_t bytes, uint64_t buffer_bytes,
                        uint64_t alignment, const char* what) {
  if (given.workspace_bytes < bytes) {
    throw_invalid(what, ": workspace of ", given.workspace_bytes, " bytes, needs ", bytes);
  }
  if (given.workspace.offset % alignment != 0) {
    throw_invalid(what, ": workspace at byte ", given.workspace.offset, ", no multiple of ",
                  alignment);
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
