// SPDX-License-Identifier: Apache-2.0
//
// Sorts and sorting permutations: the launches of kernels_cl/sort_shared.cl.
#include <algorithm>

#include "sdk/device_layer/kernel_options.hpp"
#include "sdk/device_layer/operators.hpp"

namespace tutti::sdk {
namespace {

// As tutti_sort_shape in sort_shared.cl.
struct sort_shape {
  int64_t rows, length, chunk, chunks;
  int64_t from_offset, to_offset;
  int64_t index_from_offset, index_to_offset;
  int64_t counts_offset;
  int64_t stage_offset, stage_size;
  int32_t shift, first, last, descending;
};

// The counts of 11-bit digits fit a core's L1 cache; GPU groups hold 16 counts per work-item.
uint32_t bits_on(const device_description& device) { return device.kind == schedule::cpu ? 11 : 4; }

operand memory_of(sort_place place) {
  if (place == sort_place::x) return operand::view1;
  return place == sort_place::out ? operand::view0 : operand::workspace;
}

// Maps positions in the plan to operands and offsets.
class sorter {
 public:
  sorter(const device_description& device, const sort_plan& p, int32_t dtype, bool descending,
         operator_launcher& on)
      : p_(p), on_(on), options_(sort_options(device, p, dtype)) {
    shape_.rows = p.rows;
    shape_.length = p.length;
    shape_.chunk = p.chunk;
    shape_.chunks = p.chunks;
    shape_.counts_offset = in_workspace(p.counts, 4);
    shape_.stage_offset = in_workspace(p.stage, 4);
    shape_.stage_size = static_cast<int64_t>(p.stage_bytes / 4);
    shape_.descending = descending;
  }

  void run_rows() {
    using enum operand;
    pass_.from = sort_place::x;
    pass_.to = pass_.index_to = sort_place::out;
    launch("tutti_sort_rows", {view1, view0, view0, workspace}, p_.groups, true);
  }

  void run_pass(uint32_t number) {
    using enum operand;
    const sort_pass& pass = pass_ = pass_of(p_, number);
    shape_.shift = pass.shift;
    shape_.first = pass.first;
    shape_.last = pass.last;
    shape_.from_offset = offset(pass.from, false);
    shape_.to_offset = offset(pass.to, false);
    shape_.index_from_offset = offset(pass.index_from, true);
    shape_.index_to_offset = offset(pass.index_to, true);
    const operand from = memory_of(pass.from);
    launch("tutti_sort_counts", {from, workspace}, p_.groups, false);
    launch("tutti_sort_offsets", {workspace}, std::min(p_.groups, static_cast<uint64_t>(p_.rows)),
           false);
    launch("tutti_sort_moves",
           {from, memory_of(pass.to), memory_of(pass.index_from), memory_of(pass.index_to),
            workspace, workspace},
           p_.groups, pass.last);
  }

 private:
  void launch(const char* name, std::initializer_list<operand> memory, uint64_t groups, bool last) {
    const uint32_t key = p_.key_bytes;
    const shape_offset offsets[] = {
        {offsetof(sort_shape, from_offset), memory_of(pass_.from), key},
        {offsetof(sort_shape, to_offset), memory_of(pass_.to), key},
        {offsetof(sort_shape, index_from_offset), memory_of(pass_.index_from), 4},
        {offsetof(sort_shape, index_to_offset), memory_of(pass_.index_to), 4},
        {offsetof(sort_shape, counts_offset), operand::workspace, 4},
        {offsetof(sort_shape, stage_offset), operand::workspace, 4}};
    on_.launch(
        {"sort", options_, name, name, memory, &shape_, sizeof shape_, offsets, groups, last});
  }
  static int64_t in_workspace(uint64_t bytes, uint64_t size) {
    return static_cast<int64_t>(bytes / size);
  }
  // The offset in keys, or in 4-byte positions.
  int64_t offset(sort_place place, bool index) const {
    if (place == sort_place::x || place == sort_place::out) return 0;
    return in_workspace(place_offset(p_, place, index), index ? 4 : p_.key_bytes);
  }

  const sort_plan& p_;
  operator_launcher& on_;
  const std::string options_;
  sort_pass pass_{};
  sort_shape shape_{};
};

uint64_t launch_sort(const device_description& device, const operator_call& l,
                     operator_launcher& on) {
  const sort_plan p =
      plan_sort(l, device.kind, device.compute_units(), device.work_group, bits_on(device));
  if (p.groups == 0) return 0;
  sorter work(device, p, l.views[1].dtype, sort_params(l).descending != 0, on);
  if (p.whole_rows) work.run_rows();
  for (uint32_t n = 0; n < p.passes && !p.whole_rows; ++n) work.run_pass(n);
  return p.workspace_bytes;
}

}  // namespace

const device_operator sort_on_device = {against_ordering, launch_sort};
const device_operator argsort_on_device = {against_ordering, launch_sort};

sort_plan plan_order_on(const device_description& device, int64_t length, uint64_t limit) {
  return plan_order(length, limit, device.compute_units(), device.work_group, bits_on(device));
}

void launch_order(const device_description& device, const sort_plan& p, operator_launcher& on) {
  sorter work(device, p, TUTTI_U32, false, on);
  for (uint32_t n = 0; n < p.passes; ++n) work.run_pass(n);
}

}  // namespace tutti::sdk
