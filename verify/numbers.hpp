// SPDX-License-Identifier: Apache-2.0
//
// Elements of views that are floats or complex numbers with parts of type T.
#pragma once

#include <complex>
#include <cstring>
#include <random>

#include "harness.hpp"
#include "sdk/op_info.hpp"
#include "views.hpp"

namespace tutti::conformance {

using wide = std::complex<long double>;

template <typename T>
std::byte* element(view_spec& v, uint64_t number) {
  const uint64_t size = sdk::dtype_size(v.data.data.dtype);
  return v.data.data.bytes.data() + (v.data.offset + number) * size;
}

template <typename T>
wide number_at(view_spec& v, uint64_t i) {
  T parts[2] = {};
  std::memcpy(parts, element<T>(v, i), sdk::dtype_size(v.data.data.dtype));
  return {parts[0], parts[1]};
}

template <typename T>
void fill(view_spec& v, generator& random) {
  std::uniform_real_distribution<T> pick(-1, 1);
  const uint64_t parts = sdk::dtype_size(v.data.data.dtype) / sizeof(T);
  for (uint64_t i = 0; i < points_of(v.extent); ++i) {
    T values[2] = {pick(random), pick(random)};
    std::memcpy(element<T>(v, i), values, parts * sizeof(T));
  }
}

}  // namespace tutti::conformance
