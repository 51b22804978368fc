// SPDX-License-Identifier: Apache-2.0
//
// The other side of DLPack for tests: a producer that counts its deletions, and a consumer that
// reads host memory by strides. Nothing of the library but the structs is used.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tutti/dlpack_structs.h"

namespace tutti_test {

/// 0 to n - 1.
inline std::vector<float> counted(std::size_t n) {
  std::vector<float> values(n);
  std::iota(values.begin(), values.end(), 0.f);
  return values;
}

/// The bytes of all elements, row-major. `base` stands for tensor.data, which need not be an
/// address.
inline std::string elements_of(const DLTensor& t, const void* base) {
  const std::size_t width = t.dtype.bits / 8;
  std::string out;
  const auto walk = [&](auto&& self, int axis, const char* at) -> void {
    if (axis == t.ndim) {
      out.append(at, width);
      return;
    }
    for (std::int64_t i = 0; i < t.shape[axis]; ++i)
      self(self, axis + 1, at + i * t.strides[axis] * static_cast<std::int64_t>(width));
  };
  walk(walk, 0, static_cast<const char*>(base) + t.byte_offset);
  return out;
}

template <class T>
std::vector<T> values_of(const DLTensor& t, const void* base) {
  const std::string bytes = elements_of(t, base);
  std::vector<T> out(bytes.size() / sizeof(T));
  if (!out.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}
template <class T>
std::vector<T> values_of(const DLTensor& t) {
  return values_of<T>(t, t.data);
}

/// What a producer knows of its tensor after handing it over.
struct fate {
  std::atomic<int> deletions{0};
  std::function<void()> at_deletion;
};

/// A tensor of either form; its deleter counts and frees everything but the memory.
template <class Managed>
struct produced {
  Managed tensor{};
  std::vector<std::int64_t> extents, strides;
  fate* end;
};

/// `strides` empty: NULL. The caller changes what it likes before handing it over.
template <class Managed = DLManagedTensorVersioned>
Managed* produce(void* data, DLDataType type, std::vector<std::int64_t> extents,
                 std::vector<std::int64_t> strides, fate& end, DLDevice device = {kDLCPU, 0}) {
  auto* made = new produced<Managed>{{}, std::move(extents), std::move(strides), &end};
  if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) made->tensor.version = {1, 1};
  made->tensor.manager_ctx = made;
  made->tensor.deleter = [](Managed* self) {
    auto* owner = static_cast<produced<Managed>*>(self->manager_ctx);
    fate& told = *owner->end;
    delete owner;
    if (told.at_deletion) told.at_deletion();
    ++told.deletions;
  };
  DLTensor& t = made->tensor.dl_tensor;
  t.data = data;
  t.device = device;
  t.ndim = static_cast<std::int32_t>(made->extents.size());
  t.dtype = type;
  t.shape = made->extents.data();
  t.strides = made->strides.empty() ? nullptr : made->strides.data();
  return &made->tensor;
}

constexpr DLDataType dl_f32 = {kDLFloat, 32, 1};
constexpr DLDataType dl_i32 = {kDLInt, 32, 1};

/// Whether `happens` becomes true within ten seconds.
inline bool eventually(const std::function<bool()>& happens) {
  for (int i = 0; i < 10000; ++i) {
    if (happens()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

struct call_deleter {
  void operator()(DLManagedTensorVersioned* tensor) const { tensor->deleter(tensor); }
};
/// A tensor that this test consumes.
using consumed = std::unique_ptr<DLManagedTensorVersioned, call_deleter>;

}  // namespace tutti_test
