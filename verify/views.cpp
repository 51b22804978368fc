// SPDX-License-Identifier: Apache-2.0
#include "views.hpp"

#include "oracle.hpp"

namespace tutti::conformance {

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
  const uint64_t count = points_of(out.extent);
  for (uint64_t i = 0; i < before.size(); ++i) {
    const bool inside = i >= out.data.offset && i < out.data.offset + count;
    require(inside || out.data.data.get(i) == before.get(i),
            [&] { return "wrote outside its output, at element " + std::to_string(i); });
  }
}

}  // namespace tutti::conformance
