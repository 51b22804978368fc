// SPDX-License-Identifier: Apache-2.0
//
// Sparse products: the launches of kernels_cl/spmm_shared.cl and spmm_cpu.cl.
#include "sdk/spmm.hpp"

#include <algorithm>
#include <limits>

#include "sdk/device_layer/kernel_options.hpp"
#include "sdk/device_layer/operators.hpp"
#include "sdk/op_info.hpp"

namespace tutti::sdk {
namespace {

constexpr const char* spmm_label = "spmm";

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
  const int64_t largest = l.views[2].dtype == TUTTI_I32 ? std::numeric_limits<int32_t>::max()
                                                        : std::numeric_limits<int64_t>::max();
  g.last_row_of_b = std::min(static_cast<int64_t>(l.views[4].extent[0]) - 1, largest);
  // For the vector kernel, TILE in spmm_shared.cl; otherwise enough work for a group.
  g.tile = g.width == 1 ? 4 * int64_t{device.work_group} : 256;
  g.tiles = (g.rows + g.elements + g.tile - 1) / g.tile;
  return g;
}

// The workspace begins with an even number of carried rows, so that 16-byte numbers may follow.
int64_t carried_count(const spmm_shape& g) { return g.tiles + g.tiles % 2; }

uint64_t groups_on_cpu(const device_description& device, const spmm_shape& g) {
  const int64_t units = std::max(device.compute_units(), 1u);
  const double work = static_cast<double>(g.rows + g.elements) * static_cast<double>(g.width);
  const double most = static_cast<double>(units > 1 ? units * 32 - 1 : 16);
  return static_cast<uint64_t>(std::clamp(work / 16384, 1.0, most));
}

void launch_on_gpu(const device_description& device, const operator_call& l, spmm_shape& g,
                   const std::string& options, std::span<const shape_offset> offsets,
                   operator_launcher& on) {
  constexpr int64_t most_groups = 1 << 20;
  const auto size = static_cast<int64_t>(dtype_size(l.views[0].dtype));
  g.carries_offset = carried_count(g) * 8 / size;
  on.launch({"spmm",
             options,
             g.width == 1 ? "tutti_spmv" : "tutti_spmm",
             spmm_label,
             {operand::view0, operand::view1, operand::view2, operand::view3, operand::view4,
              operand::workspace, operand::workspace},
             &g,
             sizeof g,
             offsets,
             static_cast<uint64_t>(std::min(g.tiles, most_groups)),
             g.tiles == 1});
  if (g.tiles == 1) return;
  const int64_t group = device.work_group, items = g.tiles * g.width;
  const shape_offset carried[] = {offsets[0], offsets[5], offsets[6]};
  on.launch({"spmm",
             options,
             "tutti_spmm_carries",
             spmm_label,
             {operand::view0, operand::workspace, operand::workspace},
             &g,
             sizeof g,
             carried,
             static_cast<uint64_t>(std::min((items + group - 1) / group, most_groups)),
             true});
}

}  // namespace

uint64_t spmm_workspace(const device_description& device, const operator_call& l) {
  if (device.kind == schedule::cpu) return 0;
  const spmm_shape g = describe(device, l);
  return static_cast<uint64_t>(carried_count(g)) * 8 +
         static_cast<uint64_t>(g.tiles * g.width) * dtype_size(l.views[0].dtype);
}

void launch_spmm(const device_description& device, const operator_call& l, operator_launcher& on) {
  spmm_shape g = describe(device, l);
  if (g.rows == 0 || g.width == 0) return;
  const uint32_t size = dtype_size(l.views[0].dtype), index = dtype_size(l.views[1].dtype);
  const std::string options = spmm_options(device, l.views[0].dtype, l.views[1].dtype);
  const shape_offset offsets[] = {{offsetof(spmm_shape, out_offset), operand::view0, size},
                                  {offsetof(spmm_shape, starts_offset), operand::view1, index},
                                  {offsetof(spmm_shape, columns_offset), operand::view2, index},
                                  {offsetof(spmm_shape, values_offset), operand::view3, size},
                                  {offsetof(spmm_shape, b_offset), operand::view4, size},
                                  {offsetof(spmm_shape, carries_offset), operand::workspace, size},
                                  {offsetof(spmm_shape, carried_offset), operand::workspace, 8}};
  if (device.kind != schedule::cpu) return launch_on_gpu(device, l, g, options, offsets, on);
  on.launch({"spmm",
             options,
             g.width == 1 ? "tutti_spmv" : "tutti_spmm",
             spmm_label,
             {operand::view0, operand::view1, operand::view2, operand::view3, operand::view4},
             &g,
             sizeof g,
             std::span(offsets).first(5),
             groups_on_cpu(device, g),
             true});
}

}  // namespace tutti::sdk
