// SPDX-License-Identifier: Apache-2.0
//
// Shapes and parameters of convolutions.
#include "sdk/convolution.hpp"

#include <cstdlib>
#include <string>

#include "sdk/status.hpp"
#include "sdk/validate_operator.hpp"

namespace tutti::sdk {
namespace {

constexpr uint32_t rank = 3 + spatial_axes;
constexpr int64_t farthest = int64_t{1} << 62;

// Whether (extent - 1) * step, added to `sum`, stays below 2^62.
bool adds_up(uint64_t extent, int64_t step, int64_t& sum) {
  if (extent == 0) return true;
  int64_t way = 0;
  return !__builtin_mul_overflow(extent - 1, step, &way) &&
         !__builtin_add_overflow(sum, way, &sum) && sum < farthest;
}

void check_axis(const operator_call& call, const tutti_convolution_params& p, int axis) {
  require(p.stride[axis] >= 1 && p.dilation[axis] >= 1 && p.input_dilation[axis] >= 1, call,
          "a stride or dilation below 1");
  require(p.padding[axis] > -farthest && p.padding[axis] < farthest, call, "padding beyond 2^62");
  int64_t last = std::abs(p.padding[axis]), end = 0;
  require(adds_up(call.views[0].extent[3 + axis], p.stride[axis], last) &&
              adds_up(call.views[2].extent[3 + axis], p.dilation[axis], last) &&
              adds_up(call.views[1].extent[3 + axis], p.input_dilation[axis], end),
          call, "positions beyond 2^62");
}

}  // namespace

tutti_convolution_params convolution_params(const operator_call& call) {
  return read_struct(static_cast<const tutti_convolution_params*>(call.params),
                     "convolution parameters");
}

void check_convolution(const operator_call& call) {
  const tutti_convolution_params p = convolution_params(call);
  require((p.has_bias != 0) == (call.view_count == 4), call,
          "has_bias and the number of views differ");
  for (uint32_t n = 0; n < call.view_count; ++n)
    for (uint32_t d = 0; d < call.views[n].rank; ++d)
      require(call.views[n].stride[d] >= 0, call, "a negative stride");
  for (int axis = 0; axis < spatial_axes; ++axis) check_axis(call, p, axis);
  if (p.activation != TUTTI_ACTIVATION_NONE && p.activation != TUTTI_ACTIVATION_RELU)
    throw_unsupported("convolution: activation ", p.activation, " is unknown");
}

double convolution_work(const operator_call& call) {
  double work = 1;
  for (uint32_t d = 0; d < rank; ++d) work *= static_cast<double>(call.views[0].extent[d]);
  for (uint32_t d = 2; d < rank; ++d) work *= static_cast<double>(call.views[2].extent[d]);
  return work;
}

}  // namespace tutti::sdk
