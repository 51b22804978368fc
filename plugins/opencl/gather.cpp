// SPDX-License-Identifier: Apache-2.0
//
// take and scatter_add: the launch of kernels_cl/gather.cl.
#include <algorithm>

#include "embedded_kernels.hpp"
#include "opencl/operators.hpp"
#include "sdk/op_info.hpp"

namespace tutti::opencl {
namespace {

// As tutti_gather in gather.cl.
struct geometry {
  int64_t outer, picks, rows, columns;
  int64_t block, blocks;
  int64_t ranges;
  int64_t target_offset, target_stride[3];
  int64_t source_offset, source_stride[3];
  int64_t index_offset;
};

int64_t elements(const tutti_view& view) {
  return static_cast<int64_t>(view.offset / sdk::dtype_size(view.dtype));
}

geometry describe(const tutti_operator_launch& l) {
  const tutti_view &target = l.views[0], &source = l.views[1], &index = l.views[2];
  geometry g{};
  g.outer = static_cast<int64_t>(target.extent[0]);
  g.columns = static_cast<int64_t>(target.extent[2]);
  g.picks = static_cast<int64_t>(index.extent[0]);
  const bool take = l.kind == TUTTI_OPERATOR_TAKE;
  g.rows = static_cast<int64_t>((take ? source : target).extent[1]);
  g.target_offset = elements(target);
  g.source_offset = elements(source);
  g.index_offset = elements(index);
  for (int d = 0; d < 3; ++d) {
    g.target_stride[d] = target.stride[d];
    g.source_stride[d] = source.stride[d];
  }
  g.ranges = 1;
  return g;
}

std::string build_options(const device_info& info, const tutti_operator_launch& l, bool take) {
  static constexpr const char* by_size[] = {"", "uchar", "ushort", "", "uint", "", "", "", "ulong"};
  static constexpr const char* by_dtype[] = {"",      "",      "uchar",  "ushort", "uint",
                                             "ulong", "uchar", "ushort", "uint",   "ulong",
                                             "",      "",      "float",  "double"};
  const int32_t dtype = l.views[0].dtype;
  const char* type = take ? by_size[sdk::dtype_size(dtype)] : by_dtype[dtype];
  const uint32_t group = info.kind == sdk::schedule::cpu ? 1 : info.work_group;
  return std::string(base_options) + " -DT=" + type +
         " -DINDEX=" + (l.views[2].dtype == TUTTI_I32 ? "int" : "long") +
         " -DIS_F64=" + (!take && dtype == TUTTI_F64 ? "1" : "0") +
         " -DTAKE_ONLY=" + (take ? "1" : "0") + " -DGROUP=" + std::to_string(group);
}

// Fills in blocks and ranges; returns the number of groups.
size_t share(geometry& g, const device_info& info, bool take) {
  const int64_t units = std::max(info.properties.compute_units, 1u);
  if (info.kind == sdk::schedule::gpu) {
    g.block = 1;
    g.blocks = g.columns;
    if (!take) g.ranges = std::clamp<int64_t>(8192 / (g.outer * g.columns), 1, g.rows);
    const int64_t items = g.outer * (take ? g.picks : g.ranges) * g.blocks;
    const int64_t group = info.work_group;
    return static_cast<size_t>(std::clamp<int64_t>((items + group - 1) / group, 1, units * 32));
  }
  g.block = 4096;
  g.blocks = (g.columns + g.block - 1) / g.block;
  const int64_t work = g.outer * g.picks * g.columns;
  const int64_t groups = std::clamp<int64_t>(work / 16384, 1, units > 1 ? units * 32 - 1 : 16);
  if (take) return static_cast<size_t>(groups);
  // Every range reads the whole index, so that many ranges are worth it for wide rows only.
  const int64_t shares = g.outer * g.blocks;
  if (groups > 1 && shares < groups) {
    const int64_t most = g.columns >= 512 ? 4 * units - 1 : units;
    g.ranges = std::clamp<int64_t>(most / shares, 1, g.rows);
  }
  return static_cast<size_t>(std::min(groups, shares * g.ranges));
}

}  // namespace

bool gather_supported(const device_info& info, const tutti_operator_launch& launch,
                      const char** reason) {
  const int32_t dtype = launch.views[0].dtype;
  const bool take = launch.kind == TUTTI_OPERATOR_TAKE;
  if (take && dtype <= TUTTI_F64) return true;
  const bool real = dtype >= TUTTI_I8 && dtype <= TUTTI_F64;
  if (!take && real && (info.properties.computed_dtypes & TUTTI_DTYPE_BIT(dtype))) return true;
  *reason = take ? "take: no complex numbers yet" : "scatter_add: only dtypes that compute";
  return false;
}

void gather(tutti_stream& stream, const tutti_operator_launch& launch, tutti_event** event) {
  tutti_device& device = *stream.device;
  const bool take = launch.kind == TUTTI_OPERATOR_TAKE;
  geometry g = describe(launch);
  if (g.outer == 0 || g.picks == 0 || g.columns == 0) return record_empty(stream, event);
  const size_t groups = share(g, *device.info, take);
  shared_kernel& kernel =
      device.kernel(kernels::gather_cl, build_options(*device.info, launch, take),
                    take ? "tutti_take" : "tutti_scatter_add");
  const std::lock_guard lock(kernel.mutex);
  for (cl_uint n = 0; n < 3; ++n) {
    set_argument(kernel.kernel.get(), n, launch.views[n].buffer->memory);
  }
  set_argument(kernel.kernel.get(), 3, g);
  const size_t group = device.info->kind == sdk::schedule::cpu ? 1 : device.info->work_group;
  enqueue(stream.queue, kernel.kernel.get(), groups, group, event, take ? "take" : "scatter_add");
}

}  // namespace tutti::opencl
