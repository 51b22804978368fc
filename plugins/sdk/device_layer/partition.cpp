// SPDX-License-Identifier: Apache-2.0
//
// The first elements of sorted rows, and rows partitioned at an element: the launches of
// kernels_cl/partition_shared.cl.
#include <algorithm>

#include "sdk/device_layer/kernel_options.hpp"
#include "sdk/device_layer/operators.hpp"
#include "sdk/op_info.hpp"

namespace tutti::sdk {
namespace {

// As tutti_partition_shape in partition_shared.cl.
struct partition_shape {
  int64_t rows, length, chunk, chunks;
  int64_t place;
  int64_t from_offset, to_offset;
  int64_t state_offset, counts_offset, parts_offset;
  int64_t keys_offset, places_offset, sizes_offset, capacity;
  int32_t pass, descending;
};

// The counts of 11-bit digits fit a core's L1 cache; a GPU group shares the counts of 8-bit digits.
uint32_t bits_of_selection(const device_description& device) {
  return device.kind == schedule::cpu ? 11 : 8;
}

partition_shape shape_of(const partition_plan& p, const operator_call& l) {
  const auto in_workspace = [](uint64_t bytes, uint64_t size) {
    return static_cast<int64_t>(bytes / size);
  };
  partition_shape g{};
  g.rows = p.rows;
  g.length = p.length;
  g.chunk = p.chunk;
  g.chunks = p.chunks;
  g.place = p.place;
  g.state_offset = in_workspace(p.state, 8);
  g.counts_offset = in_workspace(p.counts, 4);
  g.parts_offset = in_workspace(p.parts, 4);
  g.keys_offset = in_workspace(p.keys, p.key_bytes);
  g.places_offset = in_workspace(p.places, 4);
  g.sizes_offset = in_workspace(p.sizes, 4);
  g.capacity = p.capacity;
  g.descending = p.payload && sort_params(l).descending != 0;
  return g;
}

uint64_t launch_partition(const device_description& device, const operator_call& l,
                          operator_launcher& on) {
  using enum operand;
  const partition_plan p = plan_partition(l, device.kind, device.compute_units(), device.work_group,
                                          bits_of_selection(device));
  if (p.groups == 0) return 0;
  partition_shape g = shape_of(p, l);
  const std::string options = partition_options(device, p, l.views[1].dtype);
  const uint32_t size = dtype_size(l.views[1].dtype), to_size = dtype_size(l.views[0].dtype);
  const shape_offset offsets[] = {{offsetof(partition_shape, from_offset), view1, size},
                                  {offsetof(partition_shape, to_offset), view0, to_size},
                                  {offsetof(partition_shape, state_offset), workspace, 8},
                                  {offsetof(partition_shape, counts_offset), workspace, 4},
                                  {offsetof(partition_shape, parts_offset), workspace, 4},
                                  {offsetof(partition_shape, keys_offset), workspace, size},
                                  {offsetof(partition_shape, places_offset), workspace, 4},
                                  {offsetof(partition_shape, sizes_offset), workspace, 4}};
  const launch_series launch{on, "partition", options, nullptr, &g, sizeof g, offsets};
  const uint64_t for_rows = std::min(p.groups, static_cast<uint64_t>(p.rows));
  switch (p.way) {
    case selection_way::whole_rows:
      launch("tutti_partition_rows", {view1, view0, workspace, workspace}, p.groups, true);
      break;
    case selection_way::few:
      launch("tutti_topk_chunks", {view1, view0, workspace, workspace}, p.groups, p.chunks == 1);
      if (p.chunks > 1) launch("tutti_topk_rows", {view0, workspace, workspace}, for_rows, true);
      break;
    case selection_way::passes:
      for (uint32_t pass = 0; pass < p.passes; ++pass) {
        g.pass = static_cast<int32_t>(pass);
        launch("tutti_partition_counts", {view1, workspace, workspace}, p.groups, false);
        launch("tutti_partition_find", {workspace, workspace}, for_rows, false);
      }
      launch("tutti_partition_moves", {view1, view0, workspace, workspace}, p.groups, true);
  }
  return p.workspace_bytes;
}

}  // namespace

const device_operator topk_on_device = {against_ordering, launch_partition};
const device_operator partition_on_device = {against_ordering, launch_partition};

}  // namespace tutti::sdk
