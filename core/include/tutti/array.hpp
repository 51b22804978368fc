// SPDX-License-Identifier: Apache-2.0
//
// The array: a handle with value semantics on an immutable node of a lazy graph. Operations
// (ops.hpp) are only recorded; they are computed by eval(), or when a value is read. The bytes of
// an array fit into 63 bits: a call whose result would be larger throws shape_error.
#pragma once

#include <complex>
#include <concepts>
#include <cstddef>
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
#include "tutti/slicing.hpp"

namespace tutti {

namespace graph {
class node;
}  // namespace graph

namespace detail {
/// Reference-counted pointer to a graph node (defined in core/graph).
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
  ~node_ref() {
    if (node_ != nullptr) release();
  }
  graph::node* get() const { return node_; }
  graph::node* operator->() const { return node_; }
  graph::node& operator*() const { return *node_; }
  explicit operator bool() const { return node_ != nullptr; }
  friend bool operator==(const node_ref&, const node_ref&) = default;

 private:
  void release() noexcept;

  graph::node* node_ = nullptr;
};

template <class T>
concept arithmetic = std::is_arithmetic_v<T>;

[[noreturn]] TUTTI_API void throw_ragged(std::size_t first, std::size_t other);

/// Nested braces, as a row-major list and its extents.
template <class T>
struct nested_values {
  // std::vector<bool> has no memory to copy from.
  std::vector<std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>> data;
  shape extents;

  template <class Nested>
  explicit nested_values(std::initializer_list<Nested> list) {
    add(list, 0);
  }

 private:
  void add(const T& value, int) { data.push_back(value); }
  template <class Nested>
  void add(std::initializer_list<Nested> list, int axis) {
    if (axis == extents.rank()) extents.push_back(integer(list.size()));
    if (extents[axis] != integer(list.size()))
      throw_ragged(static_cast<std::size_t>(extents[axis]), list.size());
    for (const Nested& inner : list) add(inner, axis + 1);
  }
};
}  // namespace detail

class TUTTI_API array {
 public:
  /// An invalid handle: every use except assignment and valid() throws value_error.
  array() = default;
  array(const array&) = default;
  array(array&&) noexcept = default;
  ~array() = default;
  array& operator=(const array&) & = default;
  array& operator=(array&&) & noexcept = default;
  // The results of a[i], a({...}) and a.T() are temporary values: assigning to them would have no
  // effect.
  array& operator=(const array&) && = delete;  // to set elements: a.set({1, {2, 5}}, values)

  /// A weak 0-d scalar: in an operation it takes the dtype of the other operand where the kinds
  /// allow (bool < integer < float < complex), as Python scalars do. Alone it is bool, i32 (i64 for
  /// C++ types of 64 bits), f32 (also for double: use full() for f64) or c64.
  ///
  template <detail::arithmetic T>
  array(T value) : array(make_weak(value)) {}
  template <std::floating_point T>
  array(std::complex<T> value)
      : array(
            weak_complex({static_cast<double>(value.real()), static_cast<double>(value.imag())})) {}

  /// Copies host values, row-major. Throws shape_error if data.size() != shape.size().
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
    return from(std::span<const T>(data.begin(), data.size()), {data.size()}, on);
  }
  /// 2-d and 3-d, of real numbers: array::from({{1, 2}, {3, 4}}). Throws shape_error for rows of
  /// different lengths. (In from<std::complex<float>>({{1, 2}}) the inner braces are one number.)
  template <detail::arithmetic T>
  static array from(std::initializer_list<std::initializer_list<T>> rows,
                    const tutti::device& on = default_device()) {
    const detail::nested_values<T> values(rows);
    return from_bytes(values.data.data(), values.data.size(), dtype_of<T>, values.extents, on);
  }
  template <detail::arithmetic T>
  static array from(std::initializer_list<std::initializer_list<std::initializer_list<T>>> planes,
                    const tutti::device& on = default_device()) {
    const detail::nested_values<T> values(planes);
    return from_bytes(values.data.data(), values.data.size(), dtype_of<T>, values.extents, on);
  }
  /// `count` elements of dtype `type` at `data`.
  static array from_bytes(const void* data, std::size_t count, tutti::dtype type,
                          const tutti::shape& shape, const tutti::device& on = default_device());
  /// From all of these bytes. Throws shape_error if their number does not match the shape.
  static array from_bytes(std::span<const std::byte> bytes, tutti::dtype type,
                          const tutti::shape& shape, const tutti::device& on = default_device());

  bool valid() const { return static_cast<bool>(node_); }
  const tutti::shape& shape() const;
  int ndim() const { return shape().rank(); }
  std::int64_t dim(integer axis) const;  ///< throws index_error
  std::int64_t size() const;
  std::size_t nbytes() const { return static_cast<std::size_t>(size()) * size_of(dtype()); }
  tutti::dtype dtype() const;
  tutti::device device() const;  ///< for a constant without a device: the default device

  /// Enqueues the work that computes this array; does not wait.
  const array& eval() const;
  /// eval(), then waits. Throws device_error with the name of the operation if the work failed.
  const array& wait() const;

  /// The value of an array with one element, converted if the kinds allow it: float and double read
  /// every real dtype, std::complex every dtype, integer types read integers and bool. Throws
  /// shape_error for other sizes, dtype_error for other kinds (use astype() first), value_error for
  /// an integer that T cannot represent.
  template <class T = double>
  T item() const {
    T value;
    item_into(&value, dtype_of<T>);
    return value;
  }
  /// All elements, row-major, after wait(). Throws dtype_error if T does not match the dtype,
  /// out_of_memory if host memory does not suffice.
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
  /// Copies all nbytes() row-major bytes. Throws value_error if `bytes` differs from nbytes().
  void copy_to(void* host, std::size_t bytes) const;

  array astype(tutti::dtype type) const;
  array reshape(const tutti::shape& shape) const;  ///< one extent may be -1
  array flatten() const { return reshape({-1}); }
  array transpose() const;                          ///< all axes reversed
  array transpose(const tutti::shape& axes) const;  ///< a permutation
  array T() const { return transpose(); }
  array operator[](std::int64_t index) const;  ///< drops the first axis
  /// NumPy's basic indexing, a view: a({1, {2, 5}}) is a[1, 2:5] in NumPy; axes that are not given
  /// are kept completely. Throws index_error for an integer out of range or more indices than axes.
  array operator()(std::initializer_list<axis_index> indices) const;
  /// The same without outer braces: a(1, slice{2, 5}), a(all(), 0).
  template <class... Index>
  requires(sizeof...(Index) > 0 && (std::convertible_to<const Index&, axis_index> && ...)) array
  operator()(const Index&... indices) const {
    return (*this)(std::initializer_list<axis_index>{axis_index(indices)...});
  }
#ifdef __cpp_multidimensional_subscript
  /// With C++23 subscripts: a[1, 2].
  template <class... Index>
  requires(sizeof...(Index) > 1 && (std::convertible_to<const Index&, axis_index> && ...)) array
  operator[](const Index&... indices) const {
    return (*this)(indices...);
  }
#endif
  /// Sets the elements selected by (*this)(indices) to `values`, which are broadcast and converted
  /// to this dtype: *this = slice_update(*this, values, indices). Copies of this array, its views
  /// and arrays of which it is a view keep their values.
  array& set(std::initializer_list<axis_index> indices, const array& values) &;
  array& set(std::initializer_list<axis_index>, const array&) && = delete;  // of a temporary array
  /// This array on another device; the array itself if it is already there. Lazy and
  /// differentiable. The copy starts when the value is computed, and only its readers wait for it;
  /// they throw device_error (TUTTI_ERROR_TIMEOUT) if it does not finish within TUTTI_TIMEOUT
  /// seconds. Throws dtype_error if the other device cannot store the dtype.
  array to(const tutti::device& on) const;

  array& operator+=(const array& other) &;
  array& operator-=(const array& other) &;
  array& operator*=(const array& other) &;
  array& operator/=(const array& other) &;
  array& operator+=(const array&) && = delete;  // to set elements: a.set({1}, a[1] + values)
  array& operator-=(const array&) && = delete;  // to set elements: a.set({1}, a[1] - values)
  array& operator*=(const array&) && = delete;  // to set elements: a.set({1}, a[1] * values)
  array& operator/=(const array&) && = delete;  // to set elements: a.set({1}, a[1] / values)

  /// For internal use.
  explicit array(detail::node_ref node) : node_(std::move(node)) {}
  const detail::node_ref& node() const& { return node_; }
  detail::node_ref node() && { return std::move(node_); }

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
  void item_into(void* out, tutti::dtype wanted) const;

  detail::node_ref node_;
};

/// Arrays given to a function: a list in braces, a span, or a contiguous range such as a vector.
/// Like a span, it refers to them.
struct array_list : std::span<const array> {
  using span::span;
  array_list(std::span<const array> arrays) : span(arrays) {}
  array_list(std::initializer_list<array> arrays) : span(arrays.begin(), arrays.size()) {}
};

/// Evaluates several arrays as one graph, so that common work is done once and fused. Does not
/// wait.
TUTTI_API void eval(array_list arrays);

namespace detail {
template <class T>
concept arrays = std::same_as<T, array> || std::convertible_to<const T&, std::span<const array>>;
inline void append(std::vector<array>& all, const array& one) { all.push_back(one); }
inline void append(std::vector<array>& all, std::span<const array> more) {
  all.insert(all.end(), more.begin(), more.end());
}
}  // namespace detail

/// Arrays and lists of arrays together: eval(parameters, optimizer.state(), loss).
template <detail::arrays First, detail::arrays... More>
requires(sizeof...(More) > 0 || std::same_as<First, array>) void eval(const First& first,
                                                                      const More&... more) {
  std::vector<array> all;
  detail::append(all, first);
  (detail::append(all, more), ...);
  eval(std::span<const array>(all));
}

/// Waits for all work that has been enqueued, on all devices and between them, or on one device.
/// Failures are thrown when a value is read, not here.
///
/// Operations are only recorded, and eval() only enqueues work: both take almost no time. To
/// measure work, evaluate and wait before and after it, and ignore the first iteration, which may
/// compile:
///
///     tutti::eval(inputs);
///     tutti::synchronize();
///     const auto start = std::chrono::steady_clock::now();
///     tutti::eval(f(inputs));
///     tutti::synchronize();
///     const auto time = std::chrono::steady_clock::now() - start;
TUTTI_API void synchronize();
TUTTI_API void synchronize(const device& on);

/// How arrays are printed; the names and values are those of NumPy's set_printoptions.
struct print_options {
  int precision = 6;              ///< digits after the point, at most
  std::int64_t threshold = 1000;  ///< arrays with more elements are summarised
  std::int64_t edgeitems = 3;     ///< elements shown at both ends of each axis of a summary
  int linewidth = 75;             ///< characters per line before a row is wrapped
};

/// The values as NumPy prints them: aligned, with the fewest digits that distinguish neighbouring
/// numbers, and exponents for large and small ones. Evaluates the array; of a summary only the part
/// shown is read. Throws value_error for a negative option.
TUTTI_API std::string to_string(const array& a, const print_options& options = {});

/// to_string() with the stream's precision, then dtype and shape.
TUTTI_API std::ostream& operator<<(std::ostream& out, const array& a);

}  // namespace tutti
