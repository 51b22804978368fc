// SPDX-License-Identifier: Apache-2.0
//
// The first elements of rows, and rows parted at an element: the launches of
// kernels_cl/partition.cl.
#include "embedded_kernels.hpp"
#include "opencl/ordering_launch.hpp"

namespace tutti::opencl {
namespace {

// As tutti_partition_shape in partition.cl.
struct partition_shape {
  int64_t rows, length, chunk, chunks;
  int64_t place;
  int64_t from_offset, to_offset;
  int64_t state_offset, counts_offset, parts_offset;
  int64_t keys_offset, places_offset, sizes_offset, capacity;
  int32_t pass, descending;
};

// A digit of 11 bits keeps its counts in a core's first cache; a group of a GPU shares those of 8.
sdk::partition_plan plan(const device_info& info, const tutti_operator_launch& l) {
  const uint32_t bits = info.kind == sdk::schedule::cpu ? 11 : 8;
  return sdk::plan_partition(l, info.kind, info.properties.compute_units, info.work_group, bits);
}

partition_shape shape_of(const sdk::partition_plan& p, const tutti_operator_launch& l) {
  const auto in_workspace = [&](uint64_t bytes, uint64_t size) {
    return static_cast<int64_t>((l.workspace_offset + bytes) / size);
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
  g.keys_offset = in_workspace(p.keys, p.key_bytes);
  g.places_offset = in_workspace(p.places, 4);
  g.sizes_offset = in_workspace(p.sizes, 4);
  g.capacity = p.capacity;
  g.descending = p.payload && sdk::sort_params(l).descending != 0;
  return g;
}

}  // namespace

uint64_t selection_workspace(tutti_device& device, const tutti_operator_launch& l) {
  return plan(*device.info, l).workspace_bytes;
}

void partition(tutti_stream& stream, const tutti_operator_launch& l, tutti_event** event) {
  const device_info& info = *stream.device->info;
  const sdk::partition_plan p = plan(info, l);
  if (p.groups == 0) return record_empty(stream, event);
  const cl_mem x = l.views[1].buffer->memory, out = l.views[0].buffer->memory;
  const cl_mem work = workspace_on(*stream.device, l, p.workspace_bytes, "partition");
  partition_shape g = shape_of(p, l);
  const std::string options = key_options(info, l.views[1].dtype, p.payload) +
                              " -DBITS=" + std::to_string(p.bits) +
                              " -DWAY=" + std::to_string(static_cast<int>(p.way));
  const auto launch = [&](const char* name, std::initializer_list<cl_mem> memory, uint64_t groups,
                          tutti_event** done) {
    run(stream, kernels::partition_cl, options, name, memory, g, groups, done);
  };
  const uint64_t for_rows = std::min(p.groups, static_cast<uint64_t>(p.rows));
  if (p.way == sdk::selection_way::whole_rows)
    return launch("tutti_partition_rows", {x, out, work, work}, p.groups, event);
  if (p.way == sdk::selection_way::few) {
    launch("tutti_topk_chunks", {x, out, work, work}, p.groups, p.chunks > 1 ? nullptr : event);
    if (p.chunks > 1) launch("tutti_topk_rows", {out, work, work}, for_rows, event);
    return;
  }
  for (uint32_t pass = 0; pass < p.passes; ++pass) {
    g.pass = static_cast<int32_t>(pass);
    launch("tutti_partition_counts", {x, work, work}, p.groups, nullptr);
    launch("tutti_partition_find", {work, work}, for_rows, nullptr);
  }
  launch("tutti_partition_moves", {x, out, work, work}, p.groups, event);
}

}  // namespace tutti::opencl
