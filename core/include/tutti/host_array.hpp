// SPDX-License-Identifier: Apache-2.0
//
// Elements in host memory, with dtype and extents: used for decoded files and to assemble batches,
// before one upload converts them to an array. Does not use any device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tutti/array.hpp"
#include "tutti/device.hpp"
#include "tutti/dtype.hpp"
#include "tutti/export.hpp"
#include "tutti/shape.hpp"

namespace tutti {

/// A value, row-major: copies have their own elements.
class TUTTI_API host_array {
 public:
  /// [0] of f32.
  host_array() : extents_{0} {}
  /// Zeros. Throws shape_error for negative extents and sizes that no array can have, out_of_memory
  /// if host memory does not suffice.
  host_array(tutti::dtype type, const tutti::shape& extents);

  /// Throws shape_error if values.size() != shape.size().
  template <class T>
  static host_array from(std::span<const T> values, const tutti::shape& extents) {
    return from_bytes(values.data(), values.size(), dtype_of<T>, extents);
  }
  template <class T>
  static host_array from(const std::vector<T>& values, const tutti::shape& extents) {
    return from(std::span<const T>(values), extents);
  }
  /// One element, of rank 0.
  template <class T>
  static host_array scalar(T value) {
    return from(std::span<const T>(&value, 1), tutti::shape{});
  }
  /// `count` elements of dtype `type` at `data`.
  static host_array from_bytes(const void* data, std::size_t count, tutti::dtype type,
                               const tutti::shape& extents);
  /// The elements of an array, which is evaluated.
  static host_array of(const array& a);

  tutti::dtype dtype() const { return type_; }
  const tutti::shape& shape() const { return extents_; }
  std::int64_t size() const { return extents_.size(); }

  std::span<const std::byte> bytes() const { return bytes_; }
  std::span<std::byte> bytes() { return bytes_; }
  /// The elements. Throws dtype_error if T does not match their dtype.
  template <class T>
  std::span<const T> values() const {
    require(dtype_of<T>);
    return {reinterpret_cast<const T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }
  template <class T>
  std::span<T> values() {
    require(dtype_of<T>);
    return {reinterpret_cast<T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }

  /// The same elements on a device.
  array to(const device& on = default_device()) const;
  /// The same elements with other extents, of which one may be -1. Throws shape_error if their
  /// number differs.
  host_array reshape(const tutti::shape& extents) &&;

 private:
  void require(tutti::dtype type) const;

  tutti::dtype type_ = tutti::dtype::f32;
  tutti::shape extents_;
  std::vector<std::byte> bytes_;
};

}  // namespace tutti
