// SPDX-License-Identifier: Apache-2.0
//
// Sorts, searches, counts and positions of flags: the launches of kernels_cu/sort.cu and
// kernels_cu/lookup.cu.
#include <algorithm>

#include "cuda/operators.hpp"
#include "cuda/ordering_options.hpp"
#include "embedded_kernels.hpp"
#include "sdk/op_info.hpp"
#include "sdk/ordering.hpp"
#include "sdk/validate.hpp"

namespace tutti::cuda {
namespace {

// As tutti_sort_shape in sort.cu.
struct sort_shape {
  int64_t rows, length, chunk, chunks;
  int64_t from_offset, to_offset;
  int64_t index_from_offset, index_to_offset;
  int64_t counts_offset;
  int32_t shift, first, last, descending;
};

// As tutti_lookup_shape in lookup.cu.
struct lookup_shape {
  int64_t rows, length, values;
  int64_t out_offset, in_offset, values_offset;
  int64_t bins, copies, partial_offset;
  int32_t right, reserved;
};

int64_t elements(const tutti_view& view) {
  return static_cast<int64_t>(view.offset / sdk::dtype_size(view.dtype));
}

// Groups of a block hold 16 counts for each thread.
sdk::sort_plan plan(const device_info& info, const tutti_operator_launch& l) {
  return sdk::plan_sort(l, sdk::schedule::gpu, info.properties.compute_units, work_group, 4);
}

sdk::count_plan counting(const device_info& info, const tutti_operator_launch& l) {
  return sdk::plan_count(l, sdk::schedule::gpu, info.properties.compute_units, work_group);
}

uint64_t groups_for(const tutti_device& device, int64_t items) {
  return sdk::groups_for(items, sdk::schedule::gpu, device.info->properties.compute_units,
                         work_group);
}

// Turns places into addresses and offsets.
class sorter {
 public:
  sorter(tutti_stream& stream, const tutti_operator_launch& l)
      : stream_(stream),
        l_(l),
        p_(plan(*stream.device->info, l)),
        options_(sort_options(l.views[1].dtype, p_.payload)),
        workspace_(workspace_on(*stream.device, l, p_.workspace_bytes, "sort")) {
    shape_.rows = p_.rows;
    shape_.length = p_.length;
    shape_.chunk = p_.chunk;
    shape_.chunks = p_.chunks;
    shape_.counts_offset = in_workspace(p_.counts, 4);
    shape_.descending = sdk::sort_params(l).descending != 0;
  }

  void run_pass(uint32_t number) {
    const sdk::sort_pass pass = sdk::pass_of(p_, number);
    shape_.shift = pass.shift;
    shape_.first = pass.first;
    shape_.last = pass.last;
    shape_.from_offset = offset(pass.from, false);
    shape_.to_offset = offset(pass.to, false);
    shape_.index_from_offset = offset(pass.index_from, true);
    shape_.index_to_offset = offset(pass.index_to, true);
    CUdeviceptr from = memory(pass.from), to = memory(pass.to);
    CUdeviceptr index_from = memory(pass.index_from), index_to = memory(pass.index_to);
    void* counts[] = {&from, &workspace_, &shape_};
    run("tutti_sort_counts", p_.groups, counts);
    void* offsets[] = {&workspace_, &shape_};
    run("tutti_sort_offsets", std::min(p_.groups, static_cast<uint64_t>(p_.rows)), offsets);
    void* moves[] = {&from, &to, &index_from, &index_to, &workspace_, &shape_};
    run("tutti_sort_moves", p_.groups, moves);
  }

  const sdk::sort_plan& plan_made() const { return p_; }

 private:
  void run(const char* name, uint64_t groups, void** arguments) {
    launch(stream_, stream_.device->kernel(kernels::sort_cu, options_, name), groups, work_group,
           arguments, name);
  }
  int64_t in_workspace(uint64_t bytes, uint64_t size) const {
    return static_cast<int64_t>((l_.workspace_offset + bytes) / size);
  }
  CUdeviceptr memory(sdk::sort_place place) const {
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
  const std::vector<std::string> options_;
  CUdeviceptr workspace_;
  sort_shape shape_{};
};

void sort(tutti_stream& stream, const tutti_operator_launch& l) {
  sorter work(stream, l);
  if (work.plan_made().groups == 0) return;
  for (uint32_t n = 0; n < work.plan_made().passes; ++n) work.run_pass(n);
}

void search(tutti_stream& stream, const tutti_operator_launch& l) {
  lookup_shape g{};
  g.rows = static_cast<int64_t>(l.views[2].extent[0]);
  g.values = static_cast<int64_t>(l.views[2].extent[1]);
  g.length = static_cast<int64_t>(l.views[1].extent[1]);
  g.out_offset = elements(l.views[0]);
  g.in_offset = elements(l.views[1]);
  g.values_offset = elements(l.views[2]);
  g.right = sdk::search_params(l).right != 0;
  if (g.rows * g.values == 0) return;
  CUdeviceptr pointers[3];
  for (int n = 0; n < 3; ++n) pointers[n] = l.views[n].buffer->memory;
  void* arguments[] = {&pointers[0], &pointers[1], &pointers[2], &g};
  const CUfunction kernel =
      stream.device->kernel(kernels::lookup_cu, lookup_options(l.views[1].dtype), "tutti_search");
  launch(stream, kernel, groups_for(*stream.device, g.rows * g.values), work_group, arguments,
         "search");
}

void select(tutti_stream& stream, const tutti_operator_launch& l) {
  lookup_shape g{};
  g.values = static_cast<int64_t>(l.views[1].extent[0]);
  g.out_offset = elements(l.views[0]);
  g.in_offset = elements(l.views[1]);
  if (g.values == 0) return;
  CUdeviceptr out = l.views[0].buffer->memory, in = l.views[1].buffer->memory;
  void* arguments[] = {&out, &in, &g};
  const CUfunction kernel =
      stream.device->kernel(kernels::lookup_cu, lookup_options(l.views[1].dtype), "tutti_select");
  launch(stream, kernel, groups_for(*stream.device, g.values), work_group, arguments, "select");
}

void count(tutti_stream& stream, const tutti_operator_launch& l) {
  tutti_device& device = *stream.device;
  const sdk::count_plan p = counting(*device.info, l);
  if (p.bins == 0) return;
  CUdeviceptr partial = workspace_on(device, l, p.workspace_bytes, "count");
  lookup_shape g{};
  g.values = p.values;
  g.bins = p.bins;
  g.copies = p.copies;
  g.out_offset = elements(l.views[0]);
  g.in_offset = elements(l.views[1]);
  g.partial_offset = static_cast<int64_t>(l.workspace_offset / 4);
  CUdeviceptr out = l.views[0].buffer->memory, in = l.views[1].buffer->memory;
  const auto run = [&](const char* name, uint64_t groups, void** arguments) {
    const auto options = lookup_options(l.views[1].dtype);
    launch(stream, device.kernel(kernels::lookup_cu, options, name), groups, work_group, arguments,
           name);
  };
  void* cleared[] = {&partial, &g};
  run("tutti_count_clear", groups_for(device, p.bins * p.copies), cleared);
  void* counted[] = {&partial, &in, &g};
  run("tutti_count", p.groups, counted);
  void* summed[] = {&out, &partial, &g};
  run("tutti_count_sums", groups_for(device, p.bins), summed);
}

}  // namespace

bool ordering_supported(const tutti_operator_launch& l, const char** reason) {
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
  event_recorder recorder(stream, event);
  switch (l.kind) {
    case TUTTI_OPERATOR_SCAN:
      scan(stream, l);
      break;
    case TUTTI_OPERATOR_SEARCH:
      search(stream, l);
      break;
    case TUTTI_OPERATOR_COUNT:
      count(stream, l);
      break;
    case TUTTI_OPERATOR_SELECT:
      select(stream, l);
      break;
    case TUTTI_OPERATOR_TOPK:
    case TUTTI_OPERATOR_PARTITION:
      partition(stream, l);
      break;
    default:
      sort(stream, l);
  }
  recorder.finish();
}

CUdeviceptr workspace_on(const tutti_device& device, const tutti_operator_launch& l, uint64_t bytes,
                         const char* what) {
  if (bytes == 0) return 0;
  const CUdeviceptr memory = memory_on(device, l.workspace, what);
  if (l.workspace_bytes < bytes) {
    sdk::throw_invalid(std::string(what) + ": workspace of " + std::to_string(l.workspace_bytes) +
                       " bytes, needs " + std::to_string(bytes));
  }
  sdk::validate_span(what, l.workspace_offset, bytes, l.workspace->bytes);
  return memory;
}

}  // namespace tutti::cuda
