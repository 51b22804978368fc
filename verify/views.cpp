// SPDX-License-Identifier: Apache-2.0
#include "views.hpp"

#include "oracle.hpp"

namespace tutti::conformance {

view_spec packed_view(uint8_t dtype, const extents& extent) {
  view_spec v;
  v.extent = extent;
  v.data = packed(dtype, extent);
  return v;
}

void fill(view_spec& v, double low, double high, generator& random) {
  const uint8_t dtype = v.data.data.dtype;
  for (uint64_t i = 0; i < v.data.data.size(); ++i) {
    v.data.data.set(i, random_value(sdk::register_dtype(dtype), low, high, random));
  }
}

uint64_t at(const view_spec& v, uint64_t i, uint64_t j, uint64_t k) {
  const auto& stride = v.data.stride;
  return static_cast<uint64_t>(
      static_cast<int64_t>(v.data.offset) + static_cast<int64_t>(i) * stride[0] +
      static_cast<int64_t>(j) * stride[1] + static_cast<int64_t>(k) * stride[2]);
}

void check_guards(const view_spec& out, const image& before) {
  const uint64_t size = sdk::dtype_size(before.dtype);
  const uint64_t begin = out.data.offset * size, end = begin + points_of(out.extent) * size;
  for (uint64_t at = 0; at < before.bytes.size(); ++at)
    require((at >= begin && at < end) || out.data.data.bytes[at] == before.bytes[at],
            "wrote outside its output, at byte {}", at);
}

}  // namespace tutti::conformance
