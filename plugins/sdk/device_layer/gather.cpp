// SPDX-License-Identifier: Apache-2.0
//
// take and scatter: the launches of kernels_cl/gather_shared.cl.
#include <algorithm>

#include "sdk/device_layer/kernel_options.hpp"
#include "sdk/device_layer/operators.hpp"
#include "sdk/op_info.hpp"
#include "sdk/ordering.hpp"

namespace tutti::sdk {
namespace {

// As tutti_gather in gather_shared.cl.
struct gather_shape {
  int64_t outer, picks, rows, columns;
  int64_t block, blocks;
  int64_t ranges;
  int64_t target_offset, target_stride[3];
  int64_t source_offset, source_stride[3];
  int64_t index_offset;
  int64_t lost_offset, hits_offset;
  int64_t rows_offset, order_offset, parts_offset;
};

gather_shape describe(const operator_call& l, bool take) {
  const tutti_view &target = l.views[0], &source = l.views[1], &index = l.views[2];
  gather_shape g{};
  g.outer = static_cast<int64_t>(target.extent[0]);
  g.columns = static_cast<int64_t>(target.extent[2]);
  g.picks = static_cast<int64_t>(index.extent[0]);
  g.rows = static_cast<int64_t>((take ? source : target).extent[1]);
  for (int d = 0; d < 3; ++d) {
    g.target_stride[d] = target.stride[d];
    g.source_stride[d] = source.stride[d];
  }
  g.ranges = 1;
  return g;
}

// These set blocks and ranges and return the number of groups. Each range reads the whole index.

uint64_t share_on_gpu(gather_shape& g, const device_description& device, bool take) {
  const int64_t units = std::max(device.compute_units(), 1u);
  g.block = 1;
  g.blocks = g.columns;
  if (!take) {
    // Enough groups to keep the device busy, although each one reads the whole index.
    constexpr int64_t groups_of_a_unit = 8;
    g.ranges =
        std::clamp<int64_t>(units * groups_of_a_unit / g.outer, 1, std::max<int64_t>(g.rows, 1));
    return static_cast<uint64_t>(std::clamp<int64_t>(g.outer * g.ranges, 1, units * 32));
  }
  return groups_on(device, g.outer * g.picks * g.columns);
}

uint64_t share_on_cpu(gather_shape& g, const device_description& device, bool take) {
  const int64_t units = std::max(device.compute_units(), 1u);
  g.block = 4096;
  g.blocks = (g.columns + g.block - 1) / g.block;
  const int64_t work = g.outer * g.picks * g.columns;
  const int64_t groups = std::clamp<int64_t>(work / 16384, 1, units > 1 ? units * 32 - 1 : 16);
  if (take) return static_cast<uint64_t>(groups);
  // Many ranges, which all read the index, only pay for wide rows. To search the index takes about
  // as long as to combine single elements in the cache.
  constexpr int64_t elements_in_cache = 1 << 20;
  const int64_t shares = g.outer * g.blocks;
  if (groups > 1 && shares < groups && (g.columns > 1 || g.rows > elements_in_cache)) {
    const int64_t most = g.columns >= 512 ? 4 * units - 1 : units;
    g.ranges = std::clamp<int64_t>(most / shares, 1, g.rows);
  }
  return static_cast<uint64_t>(std::min(groups, shares * g.ranges));
}

// Whether sums of floats over so many updates compensate rounding errors.
bool compensates(const operator_call& l) {
  constexpr uint64_t few = 16;
  return l.kind != TUTTI_OPERATOR_TAKE && combination_of(l) == combination::add &&
         (l.views[0].dtype == TUTTI_F32 || l.views[0].dtype == TUTTI_F64) &&
         l.views[2].extent[0] > few;
}

uint64_t bytes_of_losses(const operator_call& l) {
  const tutti_view& target = l.views[0];
  return target.extent[0] * target.extent[1] * target.extent[2] * dtype_size(target.dtype);
}

// Whether a GPU sorts the picks or finds the last of each row. For twice as many picks, ranges that
// search them take as long as these launches, but far fewer suffice if most picks hit one row.
bool has_many_picks(const device_description& device, const operator_call& l) {
  constexpr uint64_t many = 8192, most = uint64_t{1} << 31;
  const uint64_t picks = l.views[2].extent[0], rows = l.views[0].extent[1];
  return device.kind != schedule::cpu && l.kind != TUTTI_OPERATOR_TAKE && picks >= many &&
         picks < most && rows > 0 && rows < most;
}

// A scatter of many picks on a GPU.
class sorted_scatter {
 public:
  sorted_scatter(const device_description& device, const operator_call& l)
      : device_(device), l_(l), g_(describe(l, false)) {
    const auto picks = static_cast<uint64_t>(g_.picks), rows = static_cast<uint64_t>(g_.rows);
    // A table for sets, unless most of it would stay empty.
    has_table_ = combination_of(l) == combination::set && rows <= 16 * picks;
    if (has_table_) {
      workspace_bytes_ = rows * 4;
      return;
    }
    order_ = plan_order_on(device, g_.picks, rows);
    for (g_.block = 1; g_.block < g_.columns && g_.block < device.work_group;) g_.block *= 2;
    constexpr uint64_t piece = 64;  // PIECE of gather_shared.cl
    pieces_ = (picks + piece - 1) / piece * static_cast<uint64_t>(g_.outer);
    part_bytes_ = dtype_size(l.views[0].dtype) * (compensates(l) ? 2 : 1);
    workspace_bytes_ =
        order_.workspace_bytes + pieces_ * static_cast<uint64_t>(g_.columns) * part_bytes_;
  }

  // Returns the size of the workspace in bytes.
  uint64_t run(operator_launcher& on) {
    using enum operand;
    const int64_t updates = g_.outer * g_.picks;
    if (has_table_) {
      launch(on, "tutti_scatter_begin", {view2, workspace}, groups_on(device_, g_.picks));
      launch(on, "tutti_scatter_last", {view2, workspace}, groups_on(device_, g_.picks));
      launch(on, "tutti_scatter_sets", {view0, view1, view2, workspace},
             groups_on(device_, updates * g_.columns), true);
      return workspace_bytes_;
    }
    g_.rows_offset = static_cast<int64_t>(order_.keys[1] / 4);
    launch(on, "tutti_scatter_rows", {view2, workspace}, groups_on(device_, g_.picks));
    launch_order(device_, order_, on);
    const sort_place sorted = pass_of(order_, order_.passes - 1).to;
    g_.rows_offset = static_cast<int64_t>(place_offset(order_, sorted, false) / 4);
    g_.order_offset = static_cast<int64_t>(place_offset(order_, sorted, true) / 4);
    g_.parts_offset = static_cast<int64_t>(order_.workspace_bytes / part_bytes_);
    launch(on, "tutti_scatter_runs", {view0, view1, workspace, workspace, workspace},
           groups_on(device_, updates * g_.block));
    const uint64_t most = uint64_t{32} * std::max(device_.compute_units(), 1u);
    launch(on, "tutti_scatter_parts", {view0, workspace, workspace}, std::min(pieces_, most), true);
    return workspace_bytes_;
  }

 private:
  void launch(operator_launcher& on, const char* name, std::initializer_list<operand> memory,
              uint64_t groups, bool last = false) {
    const int32_t dtype = l_.views[0].dtype, index = l_.views[2].dtype;
    const std::string options =
        scatter_options(device_, dtype, index, combination_of(l_), compensates(l_));
    const shape_offset offsets[] = {
        {offsetof(gather_shape, target_offset), operand::view0, dtype_size(dtype)},
        {offsetof(gather_shape, source_offset), operand::view1, dtype_size(dtype)},
        {offsetof(gather_shape, index_offset), operand::view2, dtype_size(index)},
        {offsetof(gather_shape, rows_offset), operand::workspace, 4},
        {offsetof(gather_shape, order_offset), operand::workspace, 4},
        {offsetof(gather_shape, parts_offset), operand::workspace, std::max(part_bytes_, 1u)}};
    on.launch({"gather", options, name, "scatter", memory, &g_, sizeof g_, offsets, groups, last});
  }

  const device_description& device_;
  const operator_call& l_;
  gather_shape g_;
  bool has_table_ = false;
  sort_plan order_{};
  uint64_t pieces_ = 0, workspace_bytes_ = 0;
  uint32_t part_bytes_ = 0;
};

const char* against_gather(const device_description& device, const operator_call& l) {
  if (l.kind != TUTTI_OPERATOR_TAKE) return against_scatter(l, device.properties.computed_dtypes);
  return l.views[0].dtype <= TUTTI_F64 ? nullptr : "take: complex numbers come as their parts";
}

uint64_t launch_gather(const device_description& device, const operator_call& l,
                       operator_launcher& on) {
  using enum operand;
  const bool take = l.kind == TUTTI_OPERATOR_TAKE, compensated = compensates(l);
  gather_shape g = describe(l, take);
  if (g.outer == 0 || g.picks == 0 || g.columns == 0) return 0;
  if (has_many_picks(device, l)) return sorted_scatter(device, l).run(on);
  const bool cpu = device.kind == schedule::cpu;
  const uint64_t groups = cpu ? share_on_cpu(g, device, take) : share_on_gpu(g, device, take);
  const int32_t dtype = l.views[0].dtype, index = l.views[2].dtype;
  const std::string options =
      take ? take_options(device, dtype, index)
           : scatter_options(device, dtype, index, combination_of(l), compensated);
  const uint32_t size = dtype_size(dtype);
  const shape_offset offsets[] = {{offsetof(gather_shape, target_offset), view0, size},
                                  {offsetof(gather_shape, source_offset), view1, size},
                                  {offsetof(gather_shape, index_offset), view2, dtype_size(index)},
                                  {offsetof(gather_shape, lost_offset), workspace, size},
                                  {offsetof(gather_shape, hits_offset), workspace, 4}};
  launch_series launch{on, "gather", options, take ? "take" : "scatter", &g, sizeof g, offsets};
  if (!compensated) {
    launch.offsets = launch.offsets.first(3);
    launch(take ? "tutti_take" : "tutti_scatter", {view0, view1, view2}, groups, true);
    return 0;
  }
  const uint64_t wide = cpu && g.columns == 1 ? 2 : 1;  // sums of f32 in double
  g.hits_offset = static_cast<int64_t>((wide * bytes_of_losses(l) + 3) / 4);
  launch("tutti_scatter", {view0, view1, view2, workspace}, groups, true);
  const int64_t hits = cpu && g.columns > 1 ? g.outer * g.blocks * g.rows : 0;
  return 4 * static_cast<uint64_t>(g.hits_offset + hits);
}

}  // namespace

const device_operator take_on_device = {against_gather, launch_gather};
const device_operator scatter_add_on_device = {against_gather, launch_gather};
const device_operator scatter_on_device = {against_gather, launch_gather};

}  // namespace tutti::sdk
