// SPDX-License-Identifier: Apache-2.0
//
// Sorts, searches, counts and positions of flags: the launches of kernels_cl/sort.cl and
// kernels_cl/lookup.cl.
#include "embedded_kernels.hpp"
#include "opencl/ordering_launch.hpp"
#include "opencl/type_names.hpp"
#include "sdk/ordering.hpp"

namespace tutti::opencl {
namespace {

// As tutti_sort_shape in sort.cl.
struct sort_shape {
  int64_t rows, length, chunk, chunks;
  int64_t from_offset, to_offset;
  int64_t index_from_offset, index_to_offset;
  int64_t counts_offset;
  int64_t stage_offset, stage_size;
  int32_t shift, first, last, descending;
};

// As tutti_lookup_shape in lookup.cl.
struct lookup_shape {
  int64_t rows, length, values;
  int64_t out_offset, in_offset, values_offset;
  int64_t bins, copies, partial_offset;
  int32_t right, reserved;
};

// A digit of 11 bits keeps its counts in a core's first cache; groups of a GPU hold 16 counts for
// each work-item.
sdk::sort_plan plan(const device_info& info, const tutti_operator_launch& l) {
  const uint32_t bits = info.kind == sdk::schedule::cpu ? 11 : 4;
  return sdk::plan_sort(l, info.kind, info.properties.compute_units, info.work_group, bits);
}

sdk::count_plan counting(const device_info& info, const tutti_operator_launch& l) {
  return sdk::plan_count(l, info.kind, info.properties.compute_units, info.work_group);
}

std::string sort_options(const device_info& info, const sdk::sort_plan& p, int32_t dtype) {
  return key_options(info, dtype, p.payload) + " -DBITS=" + std::to_string(p.bits) +
         " -DWIDE=" + (p.key_bytes == 8 ? "1" : "0") + " -DWHOLE=" + (p.whole_rows ? "1" : "0");
}

// Turns places into buffers and offsets.
class sorter {
 public:
  sorter(tutti_stream& stream, const tutti_operator_launch& l)
      : stream_(stream),
        l_(l),
        p_(plan(*stream.device->info, l)),
        options_(sort_options(*stream.device->info, p_, l.views[1].dtype)) {
    workspace_ = workspace_on(*stream.device, l, p_.workspace_bytes, "sort");
    shape_.rows = p_.rows;
    shape_.length = p_.length;
    shape_.chunk = p_.chunk;
    shape_.chunks = p_.chunks;
    shape_.counts_offset = in_workspace(p_.counts, 4);
    shape_.stage_offset = in_workspace(p_.stage, 4);
    shape_.stage_size = static_cast<int64_t>(p_.stage_bytes / 4);
    shape_.descending = sdk::sort_params(l).descending != 0;
  }

  void run_rows(tutti_event** event) {
    shape_.from_offset = offset(sdk::sort_place::x, false);
    shape_.to_offset = offset(sdk::sort_place::out, false);
    shape_.index_to_offset = offset(sdk::sort_place::out, true);
    const cl_mem out = memory(sdk::sort_place::out);
    run(stream_, kernels::sort_cl, options_, "tutti_sort_rows",
        {memory(sdk::sort_place::x), out, out, workspace_}, shape_, p_.groups, event);
  }

  void run_pass(uint32_t number, tutti_event** event) {
    const sdk::sort_pass pass = sdk::pass_of(p_, number);
    shape_.shift = pass.shift;
    shape_.first = pass.first;
    shape_.last = pass.last;
    shape_.from_offset = offset(pass.from, false);
    shape_.to_offset = offset(pass.to, false);
    shape_.index_from_offset = offset(pass.index_from, true);
    shape_.index_to_offset = offset(pass.index_to, true);
    run(stream_, kernels::sort_cl, options_, "tutti_sort_counts", {memory(pass.from), workspace_},
        shape_, p_.groups, nullptr);
    run(stream_, kernels::sort_cl, options_, "tutti_sort_offsets", {workspace_}, shape_,
        std::min(p_.groups, static_cast<uint64_t>(p_.rows)), nullptr);
    run(stream_, kernels::sort_cl, options_, "tutti_sort_moves",
        {memory(pass.from), memory(pass.to), memory(pass.index_from), memory(pass.index_to),
         workspace_, workspace_},
        shape_, p_.groups, event);
  }

  const sdk::sort_plan& plan_made() const { return p_; }

 private:
  int64_t in_workspace(uint64_t bytes, uint64_t size) const {
    return static_cast<int64_t>((l_.workspace_offset + bytes) / size);
  }
  cl_mem memory(sdk::sort_place place) const {
    if (place == sdk::sort_place::x) return l_.views[1].buffer->memory;
    return place == sdk::sort_place::out ? l_.views[0].buffer->memory : workspace_;
  }
  // In keys, or in places of 4 bytes.
  int64_t offset(sdk::sort_place place, bool index) const {
    const uint64_t size = index ? 4 : p_.key_bytes;
    if (place == sdk::sort_place::x) return elements(l_.views[1]);
    if (place == sdk::sort_place::out) return static_cast<int64_t>(l_.views[0].offset / size);
    return in_workspace(sdk::place_offset(p_, place, index), size);
  }

  tutti_stream& stream_;
  const tutti_operator_launch& l_;
  const sdk::sort_plan p_;
  const std::string options_;
  cl_mem workspace_ = nullptr;
  sort_shape shape_{};
};

void sort(tutti_stream& stream, const tutti_operator_launch& l, tutti_event** event) {
  sorter work(stream, l);
  if (work.plan_made().groups == 0) return record_empty(stream, event);
  if (work.plan_made().whole_rows) return work.run_rows(event);
  const uint32_t passes = work.plan_made().passes;
  for (uint32_t n = 0; n < passes; ++n) work.run_pass(n, n + 1 == passes ? event : nullptr);
}

std::string lookup_options(const device_info& info, const tutti_operator_launch& l) {
  const int32_t dtype = l.views[1].dtype;
  const bool searches = l.kind == TUTTI_OPERATOR_SEARCH;
  return std::string(base_options) + " -DSEARCH=" + (searches ? "1" : "0") +
         " -DT=" + stored_name(dtype) + " -DKIND=" + std::to_string(half_kind(dtype)) +
         " -DSAME_NAN=" + (dtype >= TUTTI_F16 ? "1" : "0") +
         " -DINDEX=" + (dtype == TUTTI_I32 ? "int" : "long") +
         " -DIS_F64=" + (searches && dtype == TUTTI_F64 ? "1" : "0") + group_option(info);
}

void search(tutti_stream& stream, const tutti_operator_launch& l, tutti_event** event) {
  const device_info& info = *stream.device->info;
  lookup_shape g{};
  g.rows = static_cast<int64_t>(l.views[2].extent[0]);
  g.values = static_cast<int64_t>(l.views[2].extent[1]);
  g.length = static_cast<int64_t>(l.views[1].extent[1]);
  g.out_offset = elements(l.views[0]);
  g.in_offset = elements(l.views[1]);
  g.values_offset = elements(l.views[2]);
  g.right = sdk::search_params(l).right != 0;
  if (g.rows * g.values == 0) return record_empty(stream, event);
  const uint64_t groups = sdk::groups_for(g.rows * g.values * 16, info.kind,
                                          info.properties.compute_units, info.work_group);
  const cl_mem values = l.views[2].buffer->memory;
  run(stream, kernels::lookup_cl, lookup_options(info, l), "tutti_search",
      {l.views[0].buffer->memory, l.views[1].buffer->memory, values}, g, groups, event);
}

void select(tutti_stream& stream, const tutti_operator_launch& l, tutti_event** event) {
  const device_info& info = *stream.device->info;
  lookup_shape g{};
  g.values = static_cast<int64_t>(l.views[1].extent[0]);
  g.out_offset = elements(l.views[0]);
  g.in_offset = elements(l.views[1]);
  if (g.values == 0) return record_empty(stream, event);
  const uint64_t groups =
      sdk::groups_for(g.values, info.kind, info.properties.compute_units, info.work_group);
  run(stream, kernels::lookup_cl, lookup_options(info, l), "tutti_select",
      {l.views[0].buffer->memory, l.views[1].buffer->memory}, g, groups, event);
}

void count(tutti_stream& stream, const tutti_operator_launch& l, tutti_event** event) {
  const device_info& info = *stream.device->info;
  const sdk::count_plan p = counting(info, l);
  if (p.bins == 0) return record_empty(stream, event);
  const cl_mem partial = workspace_on(*stream.device, l, p.workspace_bytes, "count");
  lookup_shape g{};
  g.values = p.values;
  g.bins = p.bins;
  g.copies = p.copies;
  g.out_offset = elements(l.views[0]);
  g.in_offset = elements(l.views[1]);
  g.partial_offset = static_cast<int64_t>(l.workspace_offset / 4);
  const std::string options = lookup_options(info, l);
  const auto groups = [&](int64_t items) {
    return sdk::groups_for(items, info.kind, info.properties.compute_units, info.work_group);
  };
  run(stream, kernels::lookup_cl, options, "tutti_count_clear", {partial}, g,
      groups(p.bins * p.copies), nullptr);
  run(stream, kernels::lookup_cl, options, "tutti_count", {partial, l.views[1].buffer->memory}, g,
      p.groups, nullptr);
  run(stream, kernels::lookup_cl, options, "tutti_count_sums", {l.views[0].buffer->memory, partial},
      g, groups(p.bins), event);
}

}  // namespace

bool ordering_supported(const device_info& info, const tutti_operator_launch& l,
                        const char** reason) {
  for (uint32_t n = 0; n < l.view_count; ++n) {
    if (l.views[n].dtype != TUTTI_F64 || info.has_f64) continue;
    *reason = "this device has no f64";
    return false;
  }
  // Places and counts have 32 bits.
  const bool counts = l.kind != TUTTI_OPERATOR_SCAN && l.kind != TUTTI_OPERATOR_SEARCH;
  if (counts && l.views[1].extent[l.views[1].rank - 1] >= uint64_t{1} << 31) {
    *reason = "rows of 2^31 elements and more";
    return false;
  }
  return true;
}

uint64_t ordering_workspace(tutti_device& device, const tutti_operator_launch& l) {
  switch (l.kind) {
    case TUTTI_OPERATOR_SCAN:
      return scan_workspace(device, l);
    case TUTTI_OPERATOR_SORT:
    case TUTTI_OPERATOR_ARGSORT:
      return plan(*device.info, l).workspace_bytes;
    case TUTTI_OPERATOR_COUNT:
      return counting(*device.info, l).workspace_bytes;
    case TUTTI_OPERATOR_TOPK:
    case TUTTI_OPERATOR_PARTITION:
      return selection_workspace(device, l);
    default:
      return 0;
  }
}

void order(tutti_stream& stream, const tutti_operator_launch& l, tutti_event** event) {
  switch (l.kind) {
    case TUTTI_OPERATOR_SCAN:
      return scan(stream, l, event);
    case TUTTI_OPERATOR_SEARCH:
      return search(stream, l, event);
    case TUTTI_OPERATOR_COUNT:
      return count(stream, l, event);
    case TUTTI_OPERATOR_SELECT:
      return select(stream, l, event);
    case TUTTI_OPERATOR_TOPK:
    case TUTTI_OPERATOR_PARTITION:
      return partition(stream, l, event);
    default:
      return sort(stream, l, event);
  }
}

}  // namespace tutti::opencl
