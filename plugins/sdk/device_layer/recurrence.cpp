// SPDX-License-Identifier: Apache-2.0
//
// Linear recurrences: the launches of kernels_cl/recurrence_shared.cl.
#include <algorithm>
#include <vector>

#include "sdk/device_layer/kernel_options.hpp"
#include "sdk/device_layer/operators.hpp"
#include "sdk/op_info.hpp"
#include "sdk/ordering.hpp"

namespace tutti::sdk {
namespace {

// As tutti_recurrence_shape in recurrence_shared.cl.
struct recurrence_shape {
  int64_t outer, length, inner;
  int64_t chunk, chunks, tile, tiles;
  int64_t out_offset, a_offset, x_offset, carries_offset;
  int32_t reverse, is_reduced;
};

// The lines of one level: of the operands, then of the chunks of the level before. The workspace
// has the latter, each as products (a) and sums (x, and then the results).
using levels = std::vector<recurrence_shape>;

int64_t units_of(const device_description& device) { return std::max(device.compute_units(), 1u); }

int64_t elements_of(const recurrence_shape& g) { return g.outer * g.length * g.inner; }

levels plan_levels(const device_description& device, const operator_call& l) {
  const bool is_cpu = device.kind == schedule::cpu;
  const uint64_t* extent = l.views[0].extent;
  recurrence_shape g{};
  g.outer = static_cast<int64_t>(extent[0]);
  g.length = static_cast<int64_t>(extent[1]);
  g.inner = static_cast<int64_t>(extent[2]);
  g.reverse = scan_params(l).reverse != 0;
  const int64_t units = units_of(device);
  // Wide tiles read whole pieces of rows; each unit gets one.
  constexpr int64_t narrowest = 16, widest = 256;  // WIDEST
  g.tile = is_cpu ? std::clamp(g.inner / units, narrowest, widest) : 1;
  g.tiles = (g.inner + g.tile - 1) / g.tile;
  // Chunks double the reads, so two threads gain nothing from them.
  const int64_t wanted = is_cpu ? (units > 2 ? units : 1) : units * device.work_group * 4;
  const int64_t shortest = is_cpu ? 4096 : 64;
  levels all;
  for (int64_t place = 0; elements_of(g) > 0;) {
    const bool divides = g.outer * g.tiles < wanted && g.length > shortest;
    g.chunk = !divides ? g.length : is_cpu ? std::max(shortest, g.length / wanted) : shortest;
    g.chunks = (g.length + g.chunk - 1) / g.chunk;
    all.push_back(g);
    if (!divides) break;
    g.length = g.chunks;
    g.reverse = 0;
    g.is_reduced = 1;
    g.a_offset = place;
    g.x_offset = g.out_offset = place + elements_of(g);
    place += 2 * elements_of(g);
  }
  return all;
}

uint64_t launch_recurrence(const device_description& device, const operator_call& l,
                           operator_launcher& on) {
  using enum operand;
  const levels all = plan_levels(device, l);
  const uint32_t size = dtype_size(l.views[0].dtype);
  const std::string options = number_options(device, l.views[0].dtype);
  // The memory is that of out (or products), a, x and the carries (or sums) of the shape.
  const auto run = [&](const char* kernel, const recurrence_shape& g,
                       std::initializer_list<operand> memory, bool last) {
    constexpr size_t fields[] = {
        offsetof(recurrence_shape, out_offset), offsetof(recurrence_shape, a_offset),
        offsetof(recurrence_shape, x_offset), offsetof(recurrence_shape, carries_offset)};
    std::vector<shape_offset> offsets;
    for (const operand o : memory) offsets.push_back({fields[offsets.size()], o, size});
    const int64_t work = g.outer * g.chunks * g.tiles, items = device.group_size();
    const int64_t most = device.kind == schedule::cpu ? 32 * units_of(device) : 1 << 20;
    const int64_t groups = std::min((work + items - 1) / items, most);
    on.launch({"recurrence", options, kernel, "linear_recurrence", memory, &g, sizeof g, offsets,
               static_cast<uint64_t>(groups), last});
  };
  for (size_t k = 0; k + 1 < all.size(); ++k) {
    recurrence_shape g = all[k];
    g.out_offset = all[k + 1].a_offset;
    g.carries_offset = all[k + 1].x_offset;
    const operand a = k == 0 ? view1 : workspace;
    const operand x = k == 0 ? view2 : workspace;
    run("tutti_recurrence_chunks", g, {workspace, a, x, workspace}, false);
  }
  for (size_t k = all.size(); k-- > 0;) {
    recurrence_shape g = all[k];
    const bool is_first = k == 0, carries = k + 1 < all.size();
    g.carries_offset = carries ? all[k + 1].x_offset : 0;
    const operand a = is_first ? view1 : workspace;
    const operand x = is_first ? view2 : workspace;
    // Without carries the kernel reads none, but drivers require a buffer.
    run("tutti_recurrence", g, {is_first ? view0 : workspace, a, x, carries ? workspace : x},
        is_first);
  }
  const bool has_levels = all.size() > 1;
  const int64_t numbers = has_levels ? all.back().x_offset + elements_of(all.back()) : 0;
  return static_cast<uint64_t>(numbers) * size;
}

}  // namespace

const device_operator recurrence_on_device = {against_numbers, launch_recurrence};

}  // namespace tutti::sdk
