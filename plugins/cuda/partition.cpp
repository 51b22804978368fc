// SPDX-License-Identifier: Apache-2.0
//
// The first elements of rows, and rows parted at an element: the launches of
// kernels_cu/partition.cu.
#include <algorithm>

#include "cuda/operators.hpp"
#include "cuda/ordering_options.hpp"
#include "embedded_kernels.hpp"
#include "sdk/op_info.hpp"
#include "sdk/ordering.hpp"

namespace tutti::cuda {
namespace {

// As tutti_partition_shape in partition.cu.
struct partition_shape {
  int64_t rows, length, chunk, chunks;
  int64_t place;
  int64_t from_offset, to_offset;
  int64_t state_offset, counts_offset, parts_offset;
  int32_t pass, descending;
};

sdk::partition_plan plan(const device_info& info, const tutti_operator_launch& l) {
  return sdk::plan_partition(l, sdk::schedule::gpu, info.properties.compute_units, work_group, 8);
}

partition_shape shape_of(const sdk::partition_plan& p, const tutti_operator_launch& l) {
  const auto in_workspace = [&](uint64_t bytes, uint64_t size) {
    return static_cast<int64_t>((l.workspace_offset + bytes) / size);
  };
  const auto elements = [](const tutti_view& view) {
    return static_cast<int64_t>(view.offset / sdk::dtype_size(view.dtype));
  };
  partition_shape g{};
  g.rows = p.rows;
  g.length = p.length;
  g.chunk = p.chunk;
  g.chunks = p.chunks;
  g.place = p.place;
  g.from_offset = elements(l.views[1]);
  g.to_offset = elements(l.views[0]);
  g.state_offset = in_workspace(p.state, 8);
  g.counts_offset = in_workspace(p.counts, 4);
  g.parts_offset = in_workspace(p.parts, 4);
  g.descending = p.payload && sdk::sort_params(l).descending != 0;
  return g;
}

}  // namespace

uint64_t selection_workspace(tutti_device& device, const tutti_operator_launch& l) {
  return plan(*device.info, l).workspace_bytes;
}

void partition(tutti_stream& stream, const tutti_operator_launch& l) {
  const sdk::partition_plan p = plan(*stream.device->info, l);
  if (p.groups == 0) return;
  CUdeviceptr out = l.views[0].buffer->memory, x = l.views[1].buffer->memory;
  CUdeviceptr work = workspace_on(*stream.device, l, p.workspace_bytes, "partition");
  partition_shape g = shape_of(p, l);
  const auto options = sort_options(l.views[1].dtype, p.payload);
  const auto run = [&](const char* name, uint64_t groups, void** arguments) {
    launch(stream, stream.device->kernel(kernels::partition_cu, options, name), groups, work_group,
           arguments, name);
  };
  for (uint32_t pass = 0; pass < p.passes; ++pass) {
    g.pass = static_cast<int32_t>(pass);
    void* counts[] = {&x, &work, &work, &g};
    run("tutti_partition_counts", p.groups, counts);
    void* find[] = {&work, &work, &g};
    run("tutti_partition_find", std::min(p.groups, static_cast<uint64_t>(p.rows)), find);
  }
  void* moves[] = {&x, &out, &work, &work, &g};
  run("tutti_partition_moves", p.groups, moves);
}

}  // namespace tutti::cuda
