// SPDX-License-Identifier: Apache-2.0
//
// Descriptions of operators, and which of them a plugin has for which dtypes.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <span>
#include <vector>

#include "tutti/plugin.h"

namespace tutti::conformance {

inline tutti_view_desc contiguous_view(int32_t dtype, std::initializer_list<uint64_t> extents) {
  tutti_view_desc v{};
  v.dtype = dtype;
  v.rank = static_cast<uint32_t>(extents.size());
  std::copy(extents.begin(), extents.end(), v.extent);
  int64_t stride = 1;
  for (uint32_t d = v.rank; d-- > 0; stride *= static_cast<int64_t>(v.extent[d])) {
    v.stride[d] = stride;
  }
  return v;
}

inline int real_part_of(int dtype) {
  return dtype == TUTTI_C64 ? TUTTI_F32 : dtype == TUTTI_C128 ? TUTTI_F64 : dtype;
}

inline int complex_of(int dtype) {
  return dtype == TUTTI_F32 ? TUTTI_C64 : dtype == TUTTI_F64 ? TUTTI_C128 : dtype;
}

/// Results of the operators that views_of() describes.
inline uint32_t outputs_of(int kind) {
  return kind == TUTTI_OPERATOR_LU || kind == TUTTI_OPERATOR_QR ? 2 : 1;
}

/// Views of an operator over elements of `dtype`, its parameters all zero, or 1 of a convolution.
inline std::vector<tutti_view_desc> views_of(int kind, int dtype) {
  switch (kind) {
    case TUTTI_OPERATOR_SCAN:
      return {contiguous_view(dtype, {2, 6, 5}), contiguous_view(dtype, {2, 6, 5})};
    case TUTTI_OPERATOR_SORT:
    case TUTTI_OPERATOR_PARTITION:
      return {contiguous_view(dtype, {2, 6}), contiguous_view(dtype, {2, 6})};
    case TUTTI_OPERATOR_ARGSORT:
      return {contiguous_view(TUTTI_I64, {2, 6}), contiguous_view(dtype, {2, 6})};
    case TUTTI_OPERATOR_TOPK:
      return {contiguous_view(TUTTI_I64, {2, 3}), contiguous_view(dtype, {2, 6})};
    case TUTTI_OPERATOR_SEARCH:
      return {contiguous_view(TUTTI_I64, {2, 6}), contiguous_view(dtype, {2, 5}),
              contiguous_view(dtype, {2, 6})};
    case TUTTI_OPERATOR_COUNT:
    case TUTTI_OPERATOR_SELECT:
      return {contiguous_view(TUTTI_I64, {3}), contiguous_view(dtype, {6})};
    case TUTTI_OPERATOR_CHOLESKY:
      return {contiguous_view(dtype, {2, 4, 4}), contiguous_view(dtype, {2, 4, 4})};
    case TUTTI_OPERATOR_TRIANGULAR_SOLVE:
      return {contiguous_view(dtype, {2, 4, 3}), contiguous_view(dtype, {2, 4, 4}),
              contiguous_view(dtype, {2, 4, 3})};
    case TUTTI_OPERATOR_LU:
      return {contiguous_view(dtype, {2, 4, 3}), contiguous_view(TUTTI_I64, {2, 4}),
              contiguous_view(dtype, {2, 4, 3})};
    case TUTTI_OPERATOR_QR:
      return {contiguous_view(dtype, {2, 4, 3}), contiguous_view(dtype, {2, 3, 3}),
              contiguous_view(dtype, {2, 4, 3})};
    case TUTTI_OPERATOR_EIGH:
    case TUTTI_OPERATOR_SVD:
      return {contiguous_view(real_part_of(dtype), {2, 4}), contiguous_view(dtype, {2, 4, 4})};
    case TUTTI_OPERATOR_EIG:
      return {contiguous_view(complex_of(dtype), {2, 4}), contiguous_view(dtype, {2, 4, 4})};
    case TUTTI_OPERATOR_FFT:  // of six points, from real numbers or complex ones
      return {contiguous_view(complex_of(dtype), {2, dtype <= TUTTI_F64 ? 4u : 6u, 5}),
              contiguous_view(dtype, {2, 6, 5})};
    case TUTTI_OPERATOR_MATMUL:
      return {contiguous_view(dtype, {2, 3, 5}), contiguous_view(dtype, {2, 3, 4}),
              contiguous_view(dtype, {2, 4, 5})};
    case TUTTI_OPERATOR_CONVOLUTION:
      return {contiguous_view(dtype, {2, 1, 3, 1, 4, 5}),
              contiguous_view(dtype, {2, 1, 2, 1, 5, 6}),
              contiguous_view(dtype, {1, 3, 2, 1, 2, 2})};
    case TUTTI_OPERATOR_SPMM:
      return {contiguous_view(dtype, {3, 5}), contiguous_view(TUTTI_I64, {4}),
              contiguous_view(TUTTI_I64, {6}), contiguous_view(dtype, {6}),
              contiguous_view(dtype, {4, 5})};
    case TUTTI_OPERATOR_SDDMM:
      return {contiguous_view(dtype, {6}), contiguous_view(TUTTI_I64, {6}),
              contiguous_view(TUTTI_I64, {6}), contiguous_view(dtype, {3, 5}),
              contiguous_view(dtype, {4, 5})};
    default:
      return {contiguous_view(dtype, {2, 6, 5}), contiguous_view(dtype, {2, 6, 5}),
              contiguous_view(TUTTI_I64, {6})};
  }
}

/// An operator over `views`, outputs first; they and `params` are pointed to.
inline tutti_operator_desc describe(int32_t kind, std::span<const tutti_view_desc> views,
                                    const void* params) {
  tutti_operator_desc d{};
  d.struct_size = sizeof d;
  d.kind = kind;
  d.output_count = outputs_of(kind);
  d.input_count = static_cast<uint32_t>(views.size()) - d.output_count;
  d.view_size = sizeof views[0];
  d.views = views.data();
  d.params = params;
  return d;
}

/// Whether the plugin has the operator for elements of `dtype`.
inline bool claims(const tutti_plugin_api& api, tutti_device* device, int kind, int dtype) {
  const std::vector<tutti_view_desc> views = views_of(kind, dtype);
  tutti_scan_params scan{};  // larger than those of others, which begin alike
  scan.struct_size = sizeof scan;
  const tutti_convolution_params ones{sizeof ones,           {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {}, 0,
                                      TUTTI_ACTIVATION_NONE, 0,         0};
  const tutti_fft_params fft{sizeof fft, dtype <= TUTTI_F64 ? TUTTI_FFT_REAL : TUTTI_FFT_COMPLEX, 0,
                             6, 1};
  const void* const params = kind == TUTTI_OPERATOR_CONVOLUTION ? static_cast<const void*>(&ones)
                             : kind == TUTTI_OPERATOR_FFT       ? static_cast<const void*>(&fft)
                                                                : &scan;
  const tutti_operator_desc d = describe(kind, views, params);
  int32_t support = TUTTI_SUPPORT_NO;
  const char* reason = nullptr;
  tutti_status* const failed = api.op->supports(device, &d, &support, &reason);
  if (failed != nullptr) failed->release(failed);
  return failed == nullptr && support != TUTTI_SUPPORT_NO;
}

}  // namespace tutti::conformance
