// SPDX-License-Identifier: Apache-2.0
//
// take and scatters: the launch of kernels_cu/gather.cu.
#include <algorithm>

#include "cuda/operators.hpp"
#include "cuda/ordering_options.hpp"
#include "embedded_kernels.hpp"
#include "sdk/op_info.hpp"
#include "sdk/validate_operator.hpp"

namespace tutti::cuda {
namespace {

// As tutti_gather in gather.cu.
struct geometry {
  int64_t outer, picks, rows, columns;
  int64_t ranges;
  int64_t target_offset, target_stride[3];
  int64_t source_offset, source_stride[3];
  int64_t index_offset;
};

int64_t elements(const tutti_view& view) {
  return static_cast<int64_t>(view.offset / sdk::dtype_size(view.dtype));
}

geometry describe(const tutti_operator_launch& l) {
  const tutti_view &target = l.views[0], &source = l.views[1], &index = l.views[2];
  geometry g{};
  g.outer = static_cast<int64_t>(target.extent[0]);
  g.columns = static_cast<int64_t>(target.extent[2]);
  g.picks = static_cast<int64_t>(index.extent[0]);
  const bool take = l.kind == TUTTI_OPERATOR_TAKE;
  g.rows = static_cast<int64_t>((take ? source : target).extent[1]);
  g.target_offset = elements(target);
  g.source_offset = elements(source);
  g.index_offset = elements(index);
  for (int d = 0; d < 3; ++d) {
    g.target_stride[d] = target.stride[d];
    g.source_stride[d] = source.stride[d];
  }
  g.ranges = 1;
  return g;
}

// Fills in the ranges; returns the number of groups.
uint64_t share(geometry& g, const device_info& info, bool take) {
  // Every range reads the whole index: as many as keep the device busy, not more.
  const int64_t units = info.properties.compute_units;
  if (!take) g.ranges = std::clamp<int64_t>(units * 512 / (g.outer * g.columns), 1, g.rows);
  const int64_t items = g.outer * (take ? g.picks : g.ranges) * g.columns;
  const int64_t groups = (items + work_group - 1) / work_group;
  return static_cast<uint64_t>(std::clamp<int64_t>(groups, 1, units * 32));
}

}  // namespace

bool gather_supported(const device_info& info, const tutti_operator_launch& launch,
                      const char** reason) {
  const int32_t dtype = launch.views[0].dtype;
  const bool take = launch.kind == TUTTI_OPERATOR_TAKE;
  const char* against = sdk::against_scatter(launch, info.properties.computed_dtypes);
  if (take) against = dtype <= TUTTI_F64 ? nullptr : "take: complex numbers come as their parts";
  if (against != nullptr) *reason = against;
  return against == nullptr;
}

void gather(tutti_stream& stream, const tutti_operator_launch& l, tutti_event** event) {
  tutti_device& device = *stream.device;
  const bool take = l.kind == TUTTI_OPERATOR_TAKE;
  geometry g = describe(l);
  if (g.outer == 0 || g.picks == 0 || g.columns == 0) return record_empty(stream, event);
  const uint64_t groups = share(g, *device.info, take);
  const int32_t dtype = l.views[0].dtype, index = l.views[2].dtype;
  const std::vector<std::string> options =
      take ? take_options(dtype, index) : scatter_options(dtype, index, sdk::combination_of(l));
  const CUfunction kernel =
      device.kernel(kernels::gather_cu, options, take ? "tutti_take" : "tutti_scatter");
  CUdeviceptr pointers[3];
  for (int n = 0; n < 3; ++n) pointers[n] = l.views[n].buffer->memory;
  void* arguments[] = {&pointers[0], &pointers[1], &pointers[2], &g};
  event_recorder recorder(stream, event);
  launch(stream, kernel, groups, work_group, arguments, take ? "take" : "scatter");
  recorder.finish();
}

}  // namespace tutti::cuda
