// SPDX-License-Identifier: Apache-2.0
//
// take and scatters: the launch of kernels_cl/gather.cl.
#include <algorithm>

#include "embedded_kernels.hpp"
#include "opencl/operators.hpp"
#include "sdk/op_info.hpp"
#include "sdk/validate_operator.hpp"

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

// Sums and products of signed integers wrap as those of unsigned ones.
const char* element_type(int32_t dtype, bool has_order) {
  static constexpr const char* modular[] = {"",      "",       "uchar",  "ushort", "uint", "ulong",
                                            "uchar", "ushort", "uint",   "ulong",  "",     "",
                                            "float", "double", "float2", "double2"};
  static constexpr const char* ordered[] = {"", "", "char", "short", "int", "long"};
  return has_order && dtype <= TUTTI_I64 ? ordered[dtype] : modular[dtype];
}

std::string build_options(const device_info& info, const tutti_operator_launch& l, bool take) {
  static constexpr const char* by_size[] = {"", "uchar", "ushort", "", "uint", "", "", "", "ulong"};
  const int32_t dtype = l.views[0].dtype;
  const sdk::combination how = sdk::combination_of(l);
  const uint32_t size = sdk::dtype_size(dtype);
  const bool moves = take || how == sdk::combination::set;
  const std::string type =
      moves ? by_size[size] : element_type(dtype, how >= sdk::combination::min);
  const bool narrow = sdk::is_integer(static_cast<uint8_t>(dtype)) && size < 4;
  const bool wide_float = dtype == TUTTI_F64 || dtype == TUTTI_C128;
  const uint32_t group = info.kind == sdk::schedule::cpu ? 1 : info.work_group;
  return std::string(base_options) + " -DT=" + type +
         " -DINDEX=" + (l.views[2].dtype == TUTTI_I32 ? "int" : "long") +
         " -DWIDE=" + (narrow ? "uint" : type) + " -DIS_F64=" + (!moves && wide_float ? "1" : "0") +
         " -DIS_COMPLEX=" + (dtype >= TUTTI_C64 ? "1" : "0") +
         " -DCOMBINE=" + std::to_string(static_cast<int>(how)) +
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
  const char* against = sdk::against_scatter(launch, info.properties.computed_dtypes);
  if (take) against = dtype <= TUTTI_F64 ? nullptr : "take: complex numbers come as their parts";
  if (against != nullptr) *reason = against;
  return against == nullptr;
}

void gather(tutti_stream& stream, const tutti_operator_launch& launch, tutti_event** event) {
  tutti_device& device = *stream.device;
  const bool take = launch.kind == TUTTI_OPERATOR_TAKE;
  geometry g = describe(launch);
  if (g.outer == 0 || g.picks == 0 || g.columns == 0) return record_empty(stream, event);
  const size_t groups = share(g, *device.info, take);
  shared_kernel& kernel =
      device.kernel(kernels::gather_cl, build_options(*device.info, launch, take),
                    take ? "tutti_take" : "tutti_scatter");
  const std::lock_guard lock(kernel.mutex);
  for (cl_uint n = 0; n < 3; ++n) {
    set_argument(kernel.kernel.get(), n, launch.views[n].buffer->memory);
  }
  set_argument(kernel.kernel.get(), 3, g);
  const size_t group = device.info->kind == sdk::schedule::cpu ? 1 : device.info->work_group;
  enqueue(stream.queue, kernel.kernel.get(), groups, group, event, take ? "take" : "scatter");
}

}  // namespace tutti::opencl
