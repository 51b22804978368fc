// SPDX-License-Identifier: Apache-2.0
//
// The division of convolutions for CPUs. A stage should fit the L2 cache and be large enough that
// the halo, which is copied twice, is a small part of it.
#include "sdk/device_layer/convolution_plan.hpp"

#include <algorithm>
#include <numeric>

#include "sdk/convolution.hpp"
#include "sdk/op_info.hpp"

namespace tutti::sdk {
namespace {

constexpr int64_t stage_bytes = 256 << 10;      // target
constexpr int64_t most_stage_bytes = 64 << 20;  // larger ones run on the host
constexpr int64_t most_columns = 512;
constexpr int64_t enough_places = 256;  // of a band
constexpr int64_t sums_bytes = 256 << 10;
constexpr int64_t few_outputs = 4;  // vectors along more outputs would be nearly empty
constexpr int64_t few_places = 25;  // of all members: packing the weights would not pay

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t product(const int64_t (&of)[3]) { return of[0] * of[1] * of[2]; }

class cpu_plan {
 public:
  cpu_plan(const device_description& device, int32_t dtype, convolution_plan& plan)
      : plan_(plan),
        g_(plan.shape),
        tile_(convolution_tile_of(device, dtype)),
        bytes_(dtype_size(static_cast<uint8_t>(dtype))),
        units_(std::max<int64_t>(device.compute_units(), 1)) {}

  void make() {
    const bool sums = product(g_.taps) > product(g_.to);
    if (sums) {
      const bool dots = g_.outputs <= few_outputs || g_.batch * product(g_.to) <= few_places;
      plan_.way = dots ? convolution_way::dots : convolution_way::sums;
    }
    for (int d = 0; d < 3; ++d) {
      g_.flat[d] = sums ? g_.taps[d] : g_.to[d];
      g_.flat_step[d] = sums ? g_.dilation[d] : g_.stride[d];
      g_.listed[d] = sums ? g_.to[d] : g_.taps[d];
      g_.listed_step[d] = sums ? g_.stride[d] : g_.dilation[d];
      const int64_t cycle = g_.flat_step[d] / std::gcd(g_.flat_step[d], g_.listed_step[d]);
      g_.slots[d] = d == 0 ? g_.listed[0] : std::max<int64_t>(std::min(g_.listed[d], cycle), 1);
    }
    g_.columns = std::min(g_.flat[2], most_columns);
    g_.pitch = g_.columns + beyond(2);
    if (!fits(1, 1)) return;
    switch (plan_.way) {
      case convolution_way::bands:
        cut_bands();
        break;
      case convolution_way::sums:
        cut_sums();
        break;
      case convolution_way::dots:
        g_.members = 1;
        set_lines(few_lines(), g_.flat[1]);
        cut_dots();
    }
    finish_stage();
    lay_out();
  }

 private:
  // The number of elements that listed positions reach beyond the flat ones.
  int64_t beyond(int d) const {
    return g_.listed[d] == 0 ? 0 : (g_.listed[d] - 1) * g_.listed_step[d] / g_.flat_step[d];
  }
  double size(int64_t lines, int64_t members) const {
    return static_cast<double>(members) * static_cast<double>(product(g_.slots)) *
           static_cast<double>(lines + beyond(1)) * static_cast<double>(g_.pitch) *
           static_cast<double>(bytes_);
  }
  bool fits(int64_t lines, int64_t members) {
    const double table =
        4.0 * static_cast<double>(members) * static_cast<double>(product(g_.listed));
    plan_.fits = size(lines, members) + table <= static_cast<double>(most_stage_bytes);
    return plan_.fits;
  }

  // The number of members staged at once with `lines` lines.
  int64_t members_of(int64_t lines, int64_t count) const {
    const double one = std::max(size(lines, 1), 1.0);
    return std::clamp<int64_t>(static_cast<int64_t>(static_cast<double>(stage_bytes) / one), 1,
                               std::max<int64_t>(count, 1));
  }
  // The number of lines for the members: as many as fit, in equal blocks.
  void set_lines(int64_t least, int64_t most) {
    int64_t lines = least;
    while (lines < most && size(lines + 1, g_.members) <= static_cast<double>(stage_bytes)) ++lines;
    const int64_t blocks = std::max<int64_t>(ceil_div(g_.flat[1], lines), 1);
    g_.lines = std::max<int64_t>(ceil_div(g_.flat[1], blocks), 1);
  }
  int64_t few_lines() const {
    const int64_t lines = ceil_div(enough_places, std::max<int64_t>(g_.columns, 1));
    return std::clamp<int64_t>(lines, 1, std::max<int64_t>(g_.flat[1], 1));
  }

  void cut_bands() {
    const int64_t planes = g_.groups * g_.batch * g_.flat[0] * ceil_div(g_.flat[2], g_.columns);
    const int64_t wanted = 4 * units_;  // units of work
    g_.members = members_of(few_lines(), g_.channels);
    int64_t most = g_.flat[1];
    if (g_.members < g_.channels) most = few_lines();
    if (planes < wanted) most = std::clamp<int64_t>(g_.flat[1] * planes / wanted, 1, most);
    set_lines(std::min(few_lines(), most), most);
    g_.blocks[0] = ceil_div(g_.flat[1], g_.lines);
    g_.blocks[1] = ceil_div(g_.flat[2], g_.columns);
    g_.rows_at_once = along_channels() ? 2 * tile_.lanes : tile_.rows;
    const int64_t panels = ceil_div(g_.outputs, g_.rows_at_once), places = planes * g_.blocks[0];
    g_.blocks[2] = std::clamp<int64_t>(ceil_div(wanted, places), 1, panels);
    units_of_work_ = places * g_.blocks[2];
  }

  // Whether vectors along output channels have fewer unused elements than vectors along positions.
  bool along_channels() const {
    const int64_t width = 2 * tile_.lanes, positions = g_.lines * g_.columns;
    const auto whole = [](int64_t count, int64_t unit) { return ceil_div(count, unit) * unit; };
    const auto rows = static_cast<double>(whole(g_.outputs, tile_.rows));
    const auto channels = static_cast<double>(whole(g_.outputs, width));
    return static_cast<double>(whole(positions, tile_.rows)) * channels * 1.1 <
           static_cast<double>(whole((g_.lines - 1) * g_.pitch + g_.columns, width)) * rows;
  }

  void cut_sums() {
    g_.rows_at_once = 2 * tile_.lanes;
    const int64_t panels = ceil_div(g_.outputs, g_.rows_at_once);
    const int64_t row = product(g_.to) * g_.rows_at_once * bytes_;
    const int64_t wanted = 2 * units_, planes = g_.groups * g_.batch;
    const int64_t room = std::max<int64_t>(sums_bytes / std::max<int64_t>(row, 1), 1);
    g_.members =
        std::min(members_of(few_lines(), g_.batch), std::max<int64_t>(ceil_div(planes, wanted), 1));
    g_.members = std::min(g_.members, room);
    const int64_t blocks = g_.groups * ceil_div(g_.batch, g_.members);
    const int64_t least = ceil_div(panels, std::max<int64_t>(room / g_.members, 1));
    g_.blocks[2] = std::clamp<int64_t>(ceil_div(wanted, blocks), least, panels);
    set_lines(few_lines(), g_.flat[1]);
    units_of_work_ = blocks * g_.blocks[2];
  }

  void cut_dots() {
    const int64_t planes = g_.groups * g_.batch;
    g_.blocks[2] = std::clamp<int64_t>(ceil_div(4 * units_, planes), 1, g_.outputs);
    units_of_work_ = planes * g_.blocks[2];
  }

  void finish_stage() {
    g_.line_count = g_.lines + beyond(1);
    g_.member_size = product(g_.slots) * g_.line_count * g_.pitch;
    fits(g_.lines, g_.members);
  }

  // The workspace: packed weights, a stage and sums for each group, the table of offsets.
  void lay_out() {
    const int64_t panels = g_.rows_at_once > 0 ? ceil_div(g_.outputs, g_.rows_at_once) : 0;
    const int64_t packed = g_.groups * panels * g_.rows_at_once * g_.channels * product(g_.taps);
    const int64_t table = g_.members * product(g_.listed) + tile_.rows + g_.lines * g_.columns;
    const int64_t line = 64 / bytes_;
    plan_.groups = static_cast<uint64_t>(std::min(units_of_work_, 4 * units_));
    plan_.pack_groups =
        static_cast<uint64_t>(std::clamp<int64_t>((packed + table) / 16384, 1, 4 * units_));
    const auto groups = static_cast<int64_t>(plan_.groups);
    const auto aligned = [&](int64_t count) { return ceil_div(count, line) * line; };
    int64_t stage = g_.members * g_.member_size + 2 * tile_.lanes, sums = 0;
    const int64_t rows = ceil_div(g_.members * product(g_.to), tile_.rows) * tile_.rows;
    if (plan_.way == convolution_way::dots) {
      stage = aligned(stage) + g_.lines * ceil_div(g_.columns, tile_.lanes) * tile_.lanes;
      sums = rows * ceil_div(g_.outputs, g_.blocks[2]);
    } else if (plan_.way == convolution_way::sums) {
      sums = rows * ceil_div(panels, g_.blocks[2]) * g_.rows_at_once;
    }
    g_.stage_size = aligned(stage);
    g_.stage_offset = aligned(packed);
    g_.sums_offset = g_.stage_offset + groups * g_.stage_size;
    const int64_t end = aligned(g_.sums_offset + groups * sums) * bytes_;
    g_.table_offset = end / 4;
    plan_.workspace_bytes = static_cast<uint64_t>(end + 4 * table);
  }

  convolution_plan& plan_;
  convolution_shape& g_;
  convolution_tile tile_;
  int64_t bytes_, units_;
  int64_t units_of_work_ = 0;
};

convolution_shape shape_of(const operator_call& call) {
  const tutti_convolution_params p = convolution_params(call);
  const tutti_view &out = call.views[0], &x = call.views[1], &w = call.views[2];
  convolution_shape g{};
  g.batch = static_cast<int64_t>(out.extent[0]);
  g.groups = static_cast<int64_t>(out.extent[1]);
  g.outputs = static_cast<int64_t>(out.extent[2]);
  g.channels = static_cast<int64_t>(x.extent[2]);
  for (int d = 0; d < 3; ++d) {
    g.to[d] = static_cast<int64_t>(out.extent[3 + d]);
    g.from[d] = static_cast<int64_t>(x.extent[3 + d]);
    g.taps[d] = static_cast<int64_t>(w.extent[3 + d]);
    g.stride[d] = p.stride[d];
    g.dilation[d] = p.dilation[d];
    g.spread[d] = p.input_dilation[d];
    g.padding[d] = p.padding[d];
  }
  std::copy_n(out.stride, 6, g.out_stride);
  std::copy_n(x.stride, 6, g.in_stride);
  std::copy_n(w.stride, 6, g.weight_stride);
  for (int d = 3; p.flipped != 0 && d < 6; ++d) {
    g.weight_offset += (g.taps[d - 3] - 1) * g.weight_stride[d];
    g.weight_stride[d] = -g.weight_stride[d];
  }
  g.has_bias = p.has_bias != 0;
  g.relu = p.activation == TUTTI_ACTIVATION_RELU;
  if (g.has_bias != 0) std::copy_n(call.views[3].stride, 2, g.bias_stride);
  return g;
}

// The positions of an axis that meet the same taps: one of `phases` interleaved sets.
constexpr int64_t most_phases = 64;

int64_t phases_of(const convolution_shape& g, int axis) {
  return std::min(g.spread[axis] / std::gcd(g.stride[axis], g.spread[axis]), g.to[axis]);
}

// Keeps positions r + cycle p' of the axis. Of the taps that meet elements of x, k0 is the first,
// and the others follow at distance `step`.
void keep_phase(convolution_shape& g, int axis, int64_t r) {
  const int64_t spread = g.spread[axis], cycle = spread / std::gcd(g.stride[axis], spread);
  const int64_t step = spread / std::gcd(g.dilation[axis], spread);
  const int64_t start = r * g.stride[axis] - g.padding[axis];
  int64_t k0 = 0;
  const int64_t last = std::min(step, g.taps[axis]);
  while (k0 < last && (start + k0 * g.dilation[axis]) % spread != 0) ++k0;
  g.to[axis] = (g.to[axis] - r + cycle - 1) / cycle;
  g.out_offset += r * g.out_stride[3 + axis];
  g.out_stride[3 + axis] *= cycle;
  g.stride[axis] = g.stride[axis] * cycle / spread;
  g.padding[axis] = k0 < last ? -(start + k0 * g.dilation[axis]) / spread : 0;
  g.taps[axis] = k0 < last ? (g.taps[axis] - k0 + step - 1) / step : 0;
  g.weight_offset += k0 < last ? k0 * g.weight_stride[3 + axis] : 0;
  g.weight_stride[3 + axis] *= step;
  g.dilation[axis] = g.dilation[axis] * step / spread;
  g.spread[axis] = 1;
}

std::vector<convolution_shape> without_spread(const convolution_shape& all) {
  std::vector<convolution_shape> parts = {all};
  if (product(all.spread) == 1) return parts;
  int64_t count = 1;
  for (int axis = 0; axis < 3; ++axis) count *= std::min(phases_of(all, axis), most_phases + 1);
  if (count > most_phases) return parts;
  for (int axis = 0; axis < 3; ++axis) {
    std::vector<convolution_shape> next;
    for (const convolution_shape& part : parts)
      for (int64_t r = 0; r < phases_of(all, axis); ++r)
        keep_phase(next.emplace_back(part), axis, r);
    parts = std::move(next);
  }
  return parts;
}

// One launch of items or tiles as in convolution_shared.cl. If they are too few to keep the device
// busy, as for gradients of weights, each sum is divided into parts.
void plan_on_gpu(const device_description& device, int32_t dtype, convolution_plan& plan) {
  constexpr int64_t most_groups = 1 << 20;
  constexpr int64_t places_together = 4;  // as TOGETHER in convolution_shared.cl
  constexpr int64_t groups_of_a_unit = 4, least_steps = 16, tile_depth = 16;
  convolution_shape& g = plan.shape;
  const int64_t units = std::max(device.compute_units(), 1u), group = device.work_group;
  const int64_t places = g.batch * product(g.to), all = places * g.groups * g.outputs;
  const int64_t lines = g.channels * g.taps[0] * g.taps[1];
  int64_t groups = 0, most_parts = 0;
  plan.each = g.outputs <= few_outputs;
  if (plan.each) {
    const int64_t items = all / g.to[2] * ((g.to[2] + places_together - 1) / places_together);
    groups = (items + group - 1) / group;
    most_parts = std::min(lines, lines * g.taps[2] / least_steps);
  } else {
    const int64_t rows = convolution_form_of(g).rows, columns = group / 2;
    groups = g.groups * ((g.outputs + rows - 1) / rows) * ((places + columns - 1) / columns);
    most_parts = lines * g.taps[2] / (tile_depth * least_steps);
  }
  g.parts =
      std::clamp<int64_t>(units * groups_of_a_unit / groups, 1, std::max<int64_t>(most_parts, 1));
  plan.groups = static_cast<uint64_t>(std::min(groups * g.parts, most_groups));
  if (g.parts == 1) return;
  plan.workspace_bytes =
      static_cast<uint64_t>(g.parts * all) * dtype_size(static_cast<uint8_t>(dtype));
}

}  // namespace

convolution_form convolution_form_of(const convolution_shape& g) {
  const auto is_single = [&](int axis) {
    return g.to[axis] == 1 && g.from[axis] == 1 && g.taps[axis] == 1 && g.padding[axis] == 0;
  };
  int axes = spatial_axes;
  while (axes > 1 && is_single(spatial_axes - axes)) --axes;
  return {g.outputs > 32 ? 64 : 32, axes, product(g.spread) > 1};
}

convolution_tile convolution_tile_of(const device_description& device, int32_t dtype) {
  const int64_t bytes = dtype_size(static_cast<uint8_t>(dtype));
  const int64_t lanes = std::clamp<int64_t>(device.vector_bytes / bytes, 2, 16);
  return {lanes, device.vector_bytes >= 64 ? 8 : device.vector_bytes >= 32 ? 6 : 4};
}

std::vector<convolution_plan> plan_convolution(const device_description& device,
                                               const operator_call& call) {
  std::vector<convolution_plan> plans;
  for (const convolution_shape& part : without_spread(shape_of(call))) {
    convolution_plan& plan = plans.emplace_back();
    plan.shape = part;
    if (device.kind == schedule::cpu)
      cpu_plan(device, call.views[0].dtype, plan).make();
    else
      plan_on_gpu(device, call.views[0].dtype, plan);
  }
  return plans;
}

}  // namespace tutti::sdk
