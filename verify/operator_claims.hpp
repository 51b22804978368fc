// SPDX-License-Identifier: Apache-2.0
//
// Descriptions of operators, and which of them a plugin has for which dtypes.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <span>
#include <vector>

#include "semantics/operator_rows.hpp"
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

/// Views of an operator for elements of `dtype`, without optional ones.
inline std::vector<tutti_view_desc> views_of(int kind, int dtype) {
  return host::least_views(*host::find_operator(kind), dtype, [](char) { return uint64_t{4}; });
}

/// The number of required outputs.
inline uint32_t outputs_of(int kind) {
  const host::operator_row* const row = host::find_operator(kind);
  uint32_t count = 0;
  for (uint32_t n = 0; row != nullptr && n < row->outputs; ++n)
    if (!row->views[n].is_optional) ++count;
  return row == nullptr ? 1 : count;
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

/// Parameters of any operator, with space after them.
union any_params {
  uint64_t struct_size;
  tutti_convolution_params convolution;
  tutti_fft_params fft;
  unsigned char bytes[160];
};

/// The parameters for views_of(): zeros, and ones for a convolution.
inline any_params params_of(int kind, int dtype) {
  any_params params{};
  if (kind == TUTTI_OPERATOR_CONVOLUTION)
    params.convolution = {0, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {}, 0, TUTTI_ACTIVATION_NONE, 0, 0};
  if (kind == TUTTI_OPERATOR_FFT && dtype <= TUTTI_F64)
    params.fft = {0, TUTTI_FFT_REAL, 0, 6, 1};
  else if (kind == TUTTI_OPERATOR_FFT)
    params.fft = {0, TUTTI_FFT_COMPLEX, 0, 4, 1};
  params.struct_size = host::find_operator(kind)->params_size;
  return params;
}

/// Whether the plugin supports the operator for elements of `dtype`.
inline bool claims(const tutti_plugin_api& api, tutti_device* device, int kind, int dtype) {
  const std::vector<tutti_view_desc> views = views_of(kind, dtype);
  const any_params params = params_of(kind, dtype);
  const tutti_operator_desc d = describe(kind, views, params.struct_size != 0 ? &params : nullptr);
  int32_t support = TUTTI_SUPPORT_NO;
  const char* reason = nullptr;
  tutti_status* const failed = api.op->supports(device, &d, &support, &reason);
  if (failed != nullptr) failed->release(failed);
  return failed == nullptr && support != TUTTI_SUPPORT_NO;
}

}  // namespace tutti::conformance
