// SPDX-License-Identifier: Apache-2.0
//
// Elements of strided operator views.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sdk/host_layer/host_operator.hpp"

namespace tutti::sdk {

/// Element access of a rank 3 view (rank 1: the first index only).
template <typename S>
class accessor {
 public:
  explicit accessor(const host_view& view) : base_(view.data), stride_(view.stride) {}

  auto get(uint64_t i, uint64_t j, uint64_t k) const { return S::load(at(i, j, k)); }
  auto get(uint64_t i) const { return S::load(base_ + signed_index(i) * stride_[0] * S::bytes); }
  void set(uint64_t i, uint64_t j, uint64_t k, typename S::value value) const {
    S::store(at(i, j, k), value);
  }

 private:
  static int64_t signed_index(uint64_t i) { return static_cast<int64_t>(i); }
  std::byte* at(uint64_t i, uint64_t j, uint64_t k) const {
    return base_ + (signed_index(i) * stride_[0] + signed_index(j) * stride_[1] +
                    signed_index(k) * stride_[2]) *
                       S::bytes;
  }

  std::byte* base_;
  const int64_t* stride_;
};

}  // namespace tutti::sdk
