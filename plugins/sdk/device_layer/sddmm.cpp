// SPDX-License-Identifier: Apache-2.0
//
// Elements of products at sparse positions: the launches of tutti_sddmm in
// kernels_cl/spmm_shared.cl and spmm_cpu.cl.
#include <algorithm>
#include <limits>

#include "sdk/device_layer/kernel_options.hpp"
#include "sdk/device_layer/operators.hpp"
#include "sdk/op_info.hpp"
#include "sdk/spmm.hpp"

namespace tutti::sdk {
namespace {

// As tutti_sddmm_shape in spmm_shared.cl.
struct sddmm_shape {
  int64_t elements, width;
  int64_t last_row_of_a, last_row_of_b;
  int64_t out_offset, rows_offset, columns_offset, a_offset, b_offset;
};

sddmm_shape shape_of_sddmm(const operator_call& l) {
  const int64_t largest = l.views[1].dtype == TUTTI_I32 ? std::numeric_limits<int32_t>::max()
                                                        : std::numeric_limits<int64_t>::max();
  const auto last_row = [&](const tutti_view& v) {
    return std::min(static_cast<int64_t>(v.extent[0]) - 1, largest);
  };
  sddmm_shape g{};
  g.elements = static_cast<int64_t>(l.views[0].extent[0]);
  g.width = static_cast<int64_t>(l.views[3].extent[1]);
  g.last_row_of_a = last_row(l.views[3]);
  g.last_row_of_b = last_row(l.views[4]);
  return g;
}

uint64_t groups_of_sddmm(const device_description& device, const sddmm_shape& g) {
  const auto elements = static_cast<double>(g.elements);
  if (device.kind == schedule::cpu) {
    const int64_t units = std::max(device.compute_units(), 1u);
    const double most = static_cast<double>(units > 1 ? units * 32 - 1 : 16);
    const double work = elements * static_cast<double>(g.width + 1);
    return static_cast<uint64_t>(std::clamp(work / 16384, 1.0, std::min(most, elements)));
  }
  // The number of items per element, as in tutti_sddmm.
  constexpr int64_t most_groups = 1 << 20, most_lanes = 32;
  int64_t lanes = 1;
  while (lanes < most_lanes && lanes < int64_t{device.work_group} && 2 * lanes <= g.width)
    lanes *= 2;
  const int64_t lots = int64_t{device.work_group} / lanes;
  return static_cast<uint64_t>(std::min((g.elements + lots - 1) / lots, most_groups));
}

}  // namespace

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
  const launch_series launch{on, kernel_file::spmm, options, "sddmm", &g, sizeof g, offsets};
  launch("tutti_sddmm", {view0, view1, view2, view3, view4}, groups_of_sddmm(device, g), true);
  return 0;
}

}  // namespace tutti::sdk
