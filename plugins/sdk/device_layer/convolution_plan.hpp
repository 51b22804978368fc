// SPDX-License-Identifier: Apache-2.0
//
// The division of convolutions: for CPUs the stages, the order of addition and the workspace
// (kernels_cl/convolution_cpu.cl); for GPUs the number of parts of the sums.
#pragma once

#include <cstdint>
#include <vector>

#include "sdk/device_layer/description.hpp"
#include "sdk/operator_call.hpp"

namespace tutti::sdk {

/// As tutti_convolution_shape in convolution_shared.cl.
struct convolution_shape {
  int64_t batch, groups, outputs, channels;
  int64_t to[3], from[3], taps[3];
  int64_t stride[3], dilation[3], spread[3], padding[3];
  int64_t out_offset, out_stride[6];
  int64_t in_offset, in_stride[6];
  int64_t weight_offset, weight_stride[6];
  int64_t bias_offset, bias_stride[2];
  int32_t has_bias, relu;
  int64_t parts;
  // Flat axes are traversed, listed ones are offsets: positions and taps of bands, taps and
  // positions of sums and dots. A stage has, for each of `members` planes, the listed slices, slots
  // of equal remainder of lines and columns, and `line_count` lines of `pitch` elements in each.
  int64_t flat[3], flat_step[3], listed[3], listed_step[3];
  int64_t slots[3], lines, columns, line_count, pitch, members, member_size;
  int64_t blocks[3];     // of lines, of columns (bands), of output channels
  int64_t rows_at_once;  // output channels in a panel of packed weights; 0: no packing
  int64_t packed_offset, table_offset, stage_offset, stage_size, sums_offset;
};

/// The kernels of CPUs.
enum class convolution_way { bands, sums, dots };

struct convolution_plan {
  convolution_shape shape{};
  convolution_way way = convolution_way::bands;
  bool each = false;  // the GPU kernel for few channels
  uint64_t groups = 0, pack_groups = 0;
  uint64_t workspace_bytes = 0;
  bool fits = true;  // false: a stage would be too large
};

/// Plans a checked call whose result has elements; the plans run in this order and share one
/// workspace. If there are zeros between the elements of x, the output positions that meet the same
/// taps form a convolution of their own without these zeros.
std::vector<convolution_plan> plan_convolution(const device_description& device,
                                               const operator_call& call);

/// The build parameters of GPU kernels: output channels per tile, axes after leading axes of a
/// single element, and whether there are zeros between the elements of x.
struct convolution_form {
  int64_t rows;
  int axes;
  bool spreads;
};
convolution_form convolution_form_of(const convolution_shape& g);

/// The rows of a CPU tile and the lanes of its vectors.
struct convolution_tile {
  int64_t lanes, rows;
};
convolution_tile convolution_tile_of(const device_description& device, int32_t dtype);

}  // namespace tutti::sdk
