// SPDX-License-Identifier: Apache-2.0
//
// Searches, counts and positions of flags: the launches of kernels_cl/lookup_shared.cl.
#include "sdk/device_layer/kernel_options.hpp"
#include "sdk/device_layer/operators.hpp"
#include "sdk/op_info.hpp"

namespace tutti::sdk {
namespace {

// As tutti_lookup_shape in lookup_shared.cl.
struct lookup_shape {
  int64_t rows, length, values;
  int64_t out_offset, in_offset, values_offset;
  int64_t bins, copies, partial_offset;
  int32_t right, reserved;
};

void search(const device_description& device, const operator_call& l, operator_launcher& on) {
  lookup_shape g{};
  g.rows = static_cast<int64_t>(l.views[2].extent[0]);
  g.values = static_cast<int64_t>(l.views[2].extent[1]);
  g.length = static_cast<int64_t>(l.views[1].extent[1]);
  g.right = search_params(l).right != 0;
  if (g.rows * g.values == 0) return;
  // A search takes as long as about 16 steps of other work.
  const int64_t weight = device.kind == schedule::cpu ? 16 : 1;
  const std::string options = search_options(device, l.views[1].dtype);
  const uint32_t size = dtype_size(l.views[1].dtype);
  const shape_offset offsets[] = {{offsetof(lookup_shape, out_offset), operand::view0, 8},
                                  {offsetof(lookup_shape, in_offset), operand::view1, size},
                                  {offsetof(lookup_shape, values_offset), operand::view2, size}};
  const launch_series launch{on, "lookup", options, nullptr, &g, sizeof g, offsets};
  launch("tutti_search", {operand::view0, operand::view1, operand::view2},
         groups_on(device, g.rows * g.values * weight), true);
}

void select(const device_description& device, const operator_call& l, operator_launcher& on) {
  lookup_shape g{};
  g.values = static_cast<int64_t>(l.views[1].extent[0]);
  if (g.values == 0) return;
  const std::string options = count_options(device, l.views[1].dtype);
  const shape_offset offsets[] = {
      {offsetof(lookup_shape, out_offset), operand::view0, 8},
      {offsetof(lookup_shape, in_offset), operand::view1, dtype_size(l.views[1].dtype)}};
  const launch_series launch{on, "lookup", options, nullptr, &g, sizeof g, offsets};
  launch("tutti_select", {operand::view0, operand::view1}, groups_on(device, g.values), true);
}

uint64_t count(const device_description& device, const operator_call& l, operator_launcher& on) {
  const count_plan p = plan_count(l, device.kind, device.compute_units(), device.work_group);
  if (p.bins == 0) return 0;
  lookup_shape g{};
  g.values = p.values;
  g.bins = p.bins;
  g.copies = p.copies;
  const std::string options = count_options(device, l.views[1].dtype);
  const shape_offset offsets[] = {
      {offsetof(lookup_shape, out_offset), operand::view0, 8},
      {offsetof(lookup_shape, in_offset), operand::view1, dtype_size(l.views[1].dtype)},
      {offsetof(lookup_shape, partial_offset), operand::workspace, 4}};
  const launch_series launch{on, "lookup", options, nullptr, &g, sizeof g, offsets};
  launch("tutti_count_clear", {operand::workspace}, groups_on(device, p.bins * p.copies), false);
  launch(p.shared ? "tutti_count_shared" : "tutti_count", {operand::workspace, operand::view1},
         p.groups, false);
  launch("tutti_count_sums", {operand::view0, operand::workspace}, groups_on(device, p.bins), true);
  return p.workspace_bytes;
}

uint64_t launch_lookup(const device_description& device, const operator_call& l,
                       operator_launcher& on) {
  if (l.kind == TUTTI_OPERATOR_COUNT) return count(device, l, on);
  l.kind == TUTTI_OPERATOR_SEARCH ? search(device, l, on) : select(device, l, on);
  return 0;
}

}  // namespace

const device_operator search_on_device = {against_ordering, launch_lookup};
const device_operator count_on_device = {against_ordering, launch_lookup};
const device_operator select_on_device = {against_ordering, launch_lookup};

}  // namespace tutti::sdk
