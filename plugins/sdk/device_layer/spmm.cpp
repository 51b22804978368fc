// SPDX-License-Identifier: Apache-2.0
//
// Sparse products, and elements of products at sparse positions: the launches of
// kernels_cl/spmm_shared.cl and spmm_cpu.cl.
#include "sdk/spmm.hpp"

#include <algorithm>
#include <limits>

#include "sdk/device_layer/kernel_options.hpp"
#include "sdk/device_layer/operators.hpp"
#include "sdk/op_info.hpp"

namespace tutti::sdk {
namespace {

// Of a matrix; at most the largest number of the dtype of indices.
int64_t last_row(const tutti_view& matrix, int32_t index) {
  const int64_t largest = index == TUTTI_I32 ? std::numeric_limits<int32_t>::max()
                                             : std::numeric_limits<int64_t>::max();
  return std::min(static_cast<int64_t>(matrix.extent[0]) - 1, largest);
}

// As tutti_spmm_shape in spmm_shared.cl.
struct spmm_shape {
  int64_t rows, width, elements;
  int64_t last_row_of_b;
  int64_t tiles, tile;
  int64_t out_offset, starts_offset, columns_offset, values_offset, b_offset;
  int64_t carries_offset, carried_offset;
};

spmm_shape describe(const device_description& device, const operator_call& l) {
  spmm_shape g{};
  g.rows = static_cast<int64_t>(l.views[0].extent[0]);
  g.width = static_cast<int64_t>(l.views[0].extent[1]);
  g.elements = static_cast<int64_t>(l.views[2].extent[0]);
  g.last_row_of_b = last_row(l.views[4], l.views[2].dtype);
  // For the vector kernel, TILE in spmm_shared.cl; otherwise enough work for a group.
  g.tile = g.width == 1 ? 4 * int64_t{device.work_group} : 256;
  g.tiles = (g.rows + g.elements + g.tile - 1) / g.tile;
  return g;
}

// The workspace begins with an even number of carried rows, so that 16-byte numbers may follow.
int64_t carried_count(const spmm_shape& g) { return g.tiles + g.tiles % 2; }

uint64_t groups_on_cpu(const device_description& device, int64_t items, int64_t steps) {
  const int64_t units = std::max(device.compute_units(), 1u);
  const double most = static_cast<double>(units > 1 ? units * 32 - 1 : 16);
  const double work = static_cast<double>(items) * static_cast<double>(steps);
  return static_cast<uint64_t>(std::clamp(work / 16384, 1.0, most));
}

// Returns the size of the workspace in bytes.
uint64_t launch_on_gpu(const device_description& device, uint64_t size, spmm_shape& g,
                       launch_series launch) {
  using enum operand;
  constexpr int64_t most_groups = 1 << 20;
  const uint64_t carried_bytes = static_cast<uint64_t>(carried_count(g)) * 8;
  g.carries_offset = static_cast<int64_t>(carried_bytes / size);
  launch(g.width == 1 ? "tutti_spmv" : "tutti_spmm",
         {view0, view1, view2, view3, view4, workspace, workspace},
         static_cast<uint64_t>(std::min(g.tiles, most_groups)), g.tiles == 1);
  if (g.tiles > 1) {
    const int64_t group = device.work_group, items = g.tiles * g.width;
    const shape_offset carried[] = {launch.offsets[0], launch.offsets[5], launch.offsets[6]};
    launch.offsets = carried;
    launch("tutti_spmm_carries", {view0, workspace, workspace},
           static_cast<uint64_t>(std::min((items + group - 1) / group, most_groups)), true);
  }
  return carried_bytes + static_cast<uint64_t>(g.tiles * g.width) * size;
}

// As tutti_sddmm_shape in spmm_shared.cl.
struct sddmm_shape {
  int64_t elements, width;
  int64_t last_row_of_a, last_row_of_b;
  int64_t out_offset, rows_offset, columns_offset, a_offset, b_offset;
};

sddmm_shape shape_of_sddmm(const operator_call& l) {
  sddmm_shape g{};
  g.elements = static_cast<int64_t>(l.views[0].extent[0]);
  g.width = static_cast<int64_t>(l.views[3].extent[1]);
  g.last_row_of_a = last_row(l.views[3], l.views[1].dtype);
  g.last_row_of_b = last_row(l.views[4], l.views[1].dtype);
  return g;
}

uint64_t groups_of_sddmm(const device_description& device, const sddmm_shape& g) {
  if (device.kind == schedule::cpu)
    return std::min(groups_on_cpu(device, g.elements, g.width + 1),
                    static_cast<uint64_t>(g.elements));
  // The number of items per element, as in tutti_sddmm.
  constexpr int64_t most_groups = 1 << 20, most_lanes = 32;
  int64_t lanes = 1;
  while (lanes < most_lanes && lanes < int64_t{device.work_group} && 2 * lanes <= g.width)
    lanes *= 2;
  const int64_t lots = int64_t{device.work_group} / lanes;
  return static_cast<uint64_t>(std::min((g.elements + lots - 1) / lots, most_groups));
}

uint64_t launch_spmm(const device_description& device, const operator_call& l,
                     operator_launcher& on) {
  using enum operand;
  spmm_shape g = describe(device, l);
  if (g.rows == 0 || g.width == 0) return 0;
  const uint32_t size = dtype_size(l.views[0].dtype), index = dtype_size(l.views[1].dtype);
  const std::string options = spmm_options(device, l.views[0].dtype, l.views[1].dtype);
  const shape_offset offsets[] = {{offsetof(spmm_shape, out_offset), view0, size},
                                  {offsetof(spmm_shape, starts_offset), view1, index},
                                  {offsetof(spmm_shape, columns_offset), view2, index},
                                  {offsetof(spmm_shape, values_offset), view3, size},
                                  {offsetof(spmm_shape, b_offset), view4, size},
                                  {offsetof(spmm_shape, carries_offset), workspace, size},
                                  {offsetof(spmm_shape, carried_offset), workspace, 8}};
  launch_series launch{on, "spmm", options, "spmm", &g, sizeof g, offsets};
  if (device.kind != schedule::cpu) return launch_on_gpu(device, size, g, launch);
  launch.offsets = launch.offsets.first(5);
  launch(g.width == 1 ? "tutti_spmv" : "tutti_spmm", {view0, view1, view2, view3, view4},
         groups_on_cpu(device, g.rows + g.elements, g.width), true);
  return 0;
}

uint64_t launch_sddmm(const device_description& device, const operator_call& l,
                      operator_launcher& on) {
  using enum operand;
  const sddmm_shape g = shape_of_sddmm(l);
  if (g.elements == 0) return 0;
  const uint32_t size = dtype_size(l.views[0].dtype), index = dtype_size(l.views[1].dtype);
  const shape_offset offsets[] = {{offsetof(sddmm_shape, out_offset), view0, size},
                                  {offsetof(sddmm_shape, rows_offset), view1, index},
                                  {offsetof(sddmm_shape, columns_offset), view2, index},
                                  {offsetof(sddmm_shape, a_offset), view3, size},
                                  {offsetof(sddmm_shape, b_offset), view4, size}};
  const std::string options = spmm_options(device, l.views[0].dtype, l.views[1].dtype);
  const launch_series launch{on, "spmm", options, "sddmm", &g, sizeof g, offsets};
  launch("tutti_sddmm", {view0, view1, view2, view3, view4}, groups_of_sddmm(device, g), true);
  return 0;
}

}  // namespace

const device_operator spmm_on_device = {against_numbers, launch_spmm};
const device_operator sddmm_on_device = {against_numbers, launch_sddmm};

}  // namespace tutti::sdk
