// SPDX-License-Identifier: Apache-2.0
//
// The array: a value-semantic handle on an immutable node of a lazy graph. Operations (ops.hpp)
// only record; work happens at eval(), or when a value is read. The bytes of an array fit 63 bits:
// a call whose result would be larger throws shape_error.
#pragma once

#include <complex>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tutti/device.hpp"
#include "tutti/dtype.hpp"
#include "tutti/error.hpp"
#include "tutti/host_memory.hpp"
#include "tutti/shape.hpp"

namespace tutti {

namespace graph {
class node;
}  // namespace graph

namespace detail {
/// Counted reference to a graph node (defined in core/graph).
class TUTTI_API node_ref {
 public:
  node_ref() = default;
  explicit node_ref(graph::node* adopted) : node_(adopted) {}
  node_ref(const node_ref& other);
  node_ref(node_ref&& other) noexcept : node_(other.node_) { other.node_ = nullptr; }
  node_ref& operator=(node_ref other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~node_ref();
  graph::node* get() const { return node_; }
  graph::node* operator->() const { return node_; }
  graph::node& operator*() const { return *node_; }
  explicit operator bool() const { return node_ != nullptr; }
  friend bool operator==(const node_ref&, const node_ref&) = default;

 private:
  graph::node* node_ = nullptr;
};

template <class T>
concept arithmetic = std::is_arithmetic_v<T>;
}  // namespace detail

/// One step of NumPy basic slicing: start, stop, step; an absent bound is open. Negative bounds
/// count from the end; steps may be negative, not zero.
struct slice {
  std::optional<std::int64_t> start{};
  std::optional<std::int64_t> stop{};
  std::int64_t step = 1;
};

class TUTTI_API array {
 public:
  /// An invalid handle: every use but assignment and valid() throws value_error.
  array() = default;

  /// A weak 0-d scalar: in an operation it takes the other operand's dtype where the kinds allow
  /// (bool < integer < float < complex), as Python scalars do; by itself it is bool, i32 (i64 where
  /// the C++ type is 64 bits wide), f32 (f64 for double standing alone is f32 as well: use full())
  /// or c64.
  template <detail::arithmetic T>
  array(T value) : array(make_weak(value)) {}
  template <std::floating_point T>
  array(std::complex<T> value)
      : array(
            weak_complex({static_cast<double>(value.real()), static_cast<double>(value.imag())})) {}

  /// Copies host values, row-major. Throws shape_error where data.size() != shape.size().
  template <class T>
  static array from(std::span<const T> data, const tutti::shape& shape,
                    const tutti::device& on = default_device()) {
    return from_bytes(data.data(), data.size(), dtype_of<T>, shape, on);
  }
  template <class T>
  static array from(const std::vector<T>& data, const tutti::shape& shape,
                    const tutti::device& on = default_device()) {
    if constexpr (std::is_same_v<T, bool>) {
      const std::vector<unsigned char> bytes(data.begin(), data.end());
      return from_bytes(bytes.data(), bytes.size(), tutti::dtype::boolean, shape, on);
    } else {
      return from(std::span<const T>(data), shape, on);
    }
  }
  /// 1-d.
  template <class T>
  static array from(const std::vector<T>& data, const tutti::device& on = default_device()) {
    return from(data, {static_cast<std::int64_t>(data.size())}, on);
  }
  template <class T>
  static array from(std::initializer_list<T> data, const tutti::device& on = default_device()) {
    return from(std::span<const T>(data.begin(), data.size()),
                {static_cast<std::int64_t>(data.size())}, on);
  }
  /// `count` elements of dtype `type` at `data`.
  static array from_bytes(const void* data, std::size_t count, tutti::dtype type,
                          const tutti::shape& shape, const tutti::device& on = default_device());

  bool valid() const { return static_cast<bool>(node_); }
  const tutti::shape& shape() const;
  int ndim() const { return shape().rank(); }
  std::int64_t dim(std::int64_t axis) const;  ///< throws index_error
  std::int64_t size() const;
  std::size_t nbytes() const { return static_cast<std::size_t>(size()) * size_of(dtype()); }
  tutti::dtype dtype() const;
  tutti::device device() const;  ///< of a constant that is on none yet: the default device

  /// Enqueues the work that this array needs; does not wait.
  const array& eval() const;
  /// eval(), then waits. Throws device_error, naming the op, where the work failed.
  const array& wait() const;

  /// The value of an array with one element. Throws shape_error otherwise, dtype_error where T is
  /// not its dtype's C++ type (double reads every real dtype).
  template <class T = double>
  T item() const;
  /// All elements, row-major, after wait(). Throws dtype_error where T's dtype differs,
  /// out_of_memory where the host has no room for them.
  template <class T>
  std::vector<T> to_vector() const {
    require_dtype(dtype_of<T>, "to_vector");
    if constexpr (std::is_same_v<T, bool>) {  // std::vector<bool> has no memory to copy to
      auto bytes = detail::host_vector<unsigned char>("to_vector", nbytes());
      copy_to(bytes.data(), bytes.size());
      return {bytes.begin(), bytes.end()};
    } else {
      auto out = detail::host_vector<T>("to_vector", static_cast<std::uint64_t>(size()));
      copy_to(out.data(), out.size() * sizeof(T));
      return out;
    }
  }
  /// Copies all nbytes() row-major bytes. Throws value_error where `bytes` differs from nbytes().
  void copy_to(void* host, std::size_t bytes) const;

  array astype(tutti::dtype type) const;
  array reshape(const tutti::shape& shape) const;  ///< one extent may be -1
  array flatten() const { return reshape({-1}); }
  array transpose() const;                          ///< all axes reversed
  array transpose(const tutti::shape& axes) const;  ///< a permutation
  array T() const { return transpose(); }
  array operator[](std::int64_t index) const;                   ///< drops the first axis
  array operator()(std::initializer_list<slice> slices) const;  ///< basic slicing, a view
  /// On another device; itself where it is there already. Lazy and differentiable. The copy starts
  /// when the value is computed and nobody waits for it but its readers; they throw device_error
  /// (TUTTI_ERROR_TIMEOUT) where it is not done within TUTTI_TIMEOUT seconds. Throws dtype_error
  /// where that device cannot hold the dtype.
  array to(const tutti::device& on) const;

  array& operator+=(const array& other);
  array& operator-=(const array& other);
  array& operator*=(const array& other);
  array& operator/=(const array& other);

  /// For the library itself.
  explicit array(detail::node_ref node) : node_(std::move(node)) {}
  const detail::node_ref& node() const { return node_; }

 private:
  template <class T>
  static array make_weak(T value) {
    if constexpr (std::is_same_v<T, bool>)
      return weak_bool(value);
    else if constexpr (std::is_floating_point_v<T>)
      return weak_float(static_cast<double>(value));
    else if constexpr (std::is_signed_v<T>)
      return weak_int(static_cast<std::int64_t>(value), sizeof(T) > 4);
    else
      return weak_uint(static_cast<std::uint64_t>(value), sizeof(T) > 4);
  }
  static array weak_bool(bool value);
  static array weak_int(std::int64_t value, bool wide);
  static array weak_uint(std::uint64_t value, bool wide);
  static array weak_float(double value);
  static array weak_complex(std::complex<double> value);
  void require_dtype(tutti::dtype type, std::string_view op) const;
  double item_as_double() const;
  void item_bytes(void* out, tutti::dtype type) const;

  detail::node_ref node_;
};

template <class T>
T array::item() const {
  if constexpr (std::is_same_v<T, double>) {
    return item_as_double();
  } else {
    T value;
    item_bytes(&value, dtype_of<T>);
    return value;
  }
}

/// Evaluates several arrays as one graph, so that shared work is done once and fused.
TUTTI_API void eval(std::span<const array> arrays);
TUTTI_API void eval(std::initializer_list<array> arrays);

/// NumPy-like text: values, shape, dtype. Evaluates.
TUTTI_API std::ostream& operator<<(std::ostream& out, const array& a);

}  // namespace tutti
