// SPDX-License-Identifier: Apache-2.0
//
// Operations on arrays. Each records a node and returns at once. Operands broadcast as in NumPy and
// promote as in dtype.hpp; operands on different devices throw device_error naming both. Axes may
// be negative; an axis out of range throws index_error.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tutti/array.hpp"
#include "tutti/elementwise.hpp"

namespace tutti {

// ---- operators on arrays: the functions of elementwise.hpp
inline array operator+(const array& a, const array& b) { return add(a, b); }
inline array operator-(const array& a, const array& b) { return subtract(a, b); }
inline array operator*(const array& a, const array& b) { return multiply(a, b); }
/// True division: integers become f32.
inline array operator/(const array& a, const array& b) { return divide(a, b); }
/// Python's remainder: the sign of b.
inline array operator%(const array& a, const array& b) { return remainder(a, b); }
inline array operator-(const array& a) { return negative(a); }
/// a itself; bool throws dtype_error.
TUTTI_API array positive(const array& a);
inline array operator+(const array& a) { return positive(a); }
inline array operator==(const array& a, const array& b) { return equal(a, b); }
inline array operator!=(const array& a, const array& b) { return not_equal(a, b); }
inline array operator<(const array& a, const array& b) { return less(a, b); }
inline array operator<=(const array& a, const array& b) { return less_equal(a, b); }
inline array operator>(const array& a, const array& b) { return greater(a, b); }
inline array operator>=(const array& a, const array& b) { return greater_equal(a, b); }
inline array operator&(const array& a, const array& b) { return bitwise_and(a, b); }
inline array operator|(const array& a, const array& b) { return bitwise_or(a, b); }
inline array operator^(const array& a, const array& b) { return bitwise_xor(a, b); }
inline array operator~(const array& a) { return bitwise_not(a); }
inline array operator!(const array& a) { return logical_not(a); }

/// 1 / a; integers become f32.
TUTTI_API array reciprocal(const array& a);
/// a / b without its fraction, as integers divide in C; floats stay floats. a - truncate_divide(a,
/// b) * b is the remainder with the sign of a, for floats fmod(). Integer division by zero gives 0.
TUTTI_API array truncate_divide(const array& a, const array& b);
/// The dtype that an operation on these operands has: dtypes promote, weak scalars adapt. Throws
/// value_error for none, dtype_error where no dtype holds them all.
TUTTI_API dtype result_type(std::span<const array> operands);
TUTTI_API dtype result_type(std::initializer_list<array> operands);

/// b where condition (any dtype, as truth value) is true, else c; b and c promote.
TUTTI_API array where(const array& condition, const array& b, const array& c);
/// min(max(a, low), high), without a bound that is not given: clip(a, 0), clip(a, {}, 1).
TUTTI_API array clip(const array& a, const std::optional<array>& low = {},
                     const std::optional<array>& high = {});
/// Angle of a in the complex plane, radians: atan2(imag(a), real(a)).
TUTTI_API array angle(const array& a);
/// Conversion: float to integer truncates and saturates, NaN gives 0; to bool: != 0. Complex
/// numbers become complex or bool only (dtype_error otherwise: take real(), imag() or abs()).
TUTTI_API array astype(const array& a, dtype type);
/// max(a, 0). The gradient at 0 is 0.
TUTTI_API array relu(const array& a);
/// 1 / (1 + exp(-a)); bool and integers become f32.
TUTTI_API array sigmoid(const array& a);
/// a without its history for gradients.
TUTTI_API array stop_gradient(const array& a);

// ---- reductions. `axes` absent: all. keepdims keeps reduced axes with extent 1. Integer and bool
// sums and products are i64 (u64 for unsigned). min, max, argmin, argmax of no elements throw
// value_error; NaN wins in min and max.

/// keepdims in words; a bool does as well.
enum class keep_dims : bool { no, yes };

namespace detail {
template <class T>
concept keep_argument = std::same_as<T, bool> || std::same_as<T, keep_dims>;
}  // namespace detail

/// One axis or several in braces, then whether they stay: sum(a, 1), sum(a, {0, 2}),
/// sum(a, {1, true}), sum(a, {{0, 2}, true}). A bool is never an axis.
struct reduce_options {
  std::optional<std::vector<std::int64_t>> axes{};
  bool keepdims = false;
  reduce_options() = default;
  template <std::convertible_to<integer> T, detail::keep_argument K = keep_dims>
  reduce_options(T axis, K keep = K{})
      : axes(std::vector<std::int64_t>{integer(axis)}), keepdims(static_cast<bool>(keep)) {}
  reduce_options(std::initializer_list<integer> list)
      : axes(std::vector<std::int64_t>(list.begin(), list.end())) {}
  template <detail::keep_argument K>
  reduce_options(std::initializer_list<integer> list, K keep)
      : axes(std::vector<std::int64_t>(list.begin(), list.end())),
        keepdims(static_cast<bool>(keep)) {}
  template <detail::keep_argument K = keep_dims>
  reduce_options(std::vector<std::int64_t> list, K keep = K{})
      : axes(std::move(list)), keepdims(static_cast<bool>(keep)) {}
};
TUTTI_API array sum(const array& a, const reduce_options& options = {});
TUTTI_API array prod(const array& a, const reduce_options& options = {});
/// Elements become of dtype `type` before they are added up or multiplied, and the result has it
/// (of f16 and bf16 it is rounded once, from f32). Throws dtype_error for bool, for floats into
/// integers and for complex numbers into real ones.
TUTTI_API array sum(const array& a, const reduce_options& options, std::optional<dtype> type);
TUTTI_API array prod(const array& a, const reduce_options& options, std::optional<dtype> type);
TUTTI_API array min(const array& a, const reduce_options& options = {});
TUTTI_API array max(const array& a, const reduce_options& options = {});
TUTTI_API array mean(const array& a, const reduce_options& options = {});  ///< integers become f32
TUTTI_API array any(const array& a, const reduce_options& options = {});
TUTTI_API array all(const array& a, const reduce_options& options = {});
/// Population variance (divisor n - correction), two passes over the data. Throws value_error for a
/// correction that is NaN.
TUTTI_API array var(const array& a, const reduce_options& options = {}, double correction = 0);
template <std::same_as<bool> T>
array var(const array&, const reduce_options&, T keepdims) = delete;  // var(a, {axis, true})
/// log(sum(exp(a))) without overflow.
TUTTI_API array logsumexp(const array& a, const reduce_options& options = {});
/// i64 index of the first smallest / largest element along one axis; without axis, of the flattened
/// array. Throws value_error for several axes.
TUTTI_API array argmin(const array& a, const reduce_options& options = {});
TUTTI_API array argmin(const array& a, std::optional<integer> axis, bool keepdims);
TUTTI_API array argmax(const array& a, const reduce_options& options = {});
TUTTI_API array argmax(const array& a, std::optional<integer> axis, bool keepdims);
/// exp(a) / sum(exp(a)) along `axis`, without overflow.
TUTTI_API array softmax(const array& a, integer axis = -1);
TUTTI_API array log_softmax(const array& a, integer axis = -1);

// ---- products
/// Matrix product over the last two axes, leading axes broadcast; 1-d operands as in NumPy.
/// Transposed views cost no copy.
TUTTI_API array matmul(const array& a, const array& b);

// ---- shape: views wherever the memory allows
/// One extent may be -1. Throws shape_error where the sizes differ.
TUTTI_API array reshape(const array& a, const shape& to);
TUTTI_API array transpose(const array& a, const shape& axes);
TUTTI_API array swapaxes(const array& a, integer axis1, integer axis2);
/// The last two axes changed round. Throws shape_error for less than two dimensions.
TUTTI_API array matrix_transpose(const array& a);
TUTTI_API array broadcast_to(const array& a, const shape& to);
/// New axes of extent 1 at the places `axes` of the result. Throws value_error for none and for one
/// named twice.
TUTTI_API array expand_dims(const array& a, const axis_list& axes);
/// Drops axes of extent 1: all of them, or `axes`, which must have it (shape_error).
TUTTI_API array squeeze(const array& a, const axis_list& axes = {});
/// NumPy basic slicing, one slice an axis from the first; missing ones take everything.
TUTTI_API array slice_view(const array& a, std::span<const slice> slices);
/// NumPy's basic indexing: what a({...}) gives.
TUTTI_API array slice_view(const array& a, std::initializer_list<axis_index> indices);
TUTTI_API array slice_view(const array& a, std::span<const axis_index> indices);
/// Copy of a with the region that slice_view would show replaced by `update` (broadcast, in a's
/// dtype). Throws shape_error where it does not fit.
TUTTI_API array slice_update(const array& a, const array& update, std::span<const slice> slices);
TUTTI_API array slice_update(const array& a, const array& update,
                             std::initializer_list<axis_index> indices);
TUTTI_API array slice_update(const array& a, const array& update,
                             std::span<const axis_index> indices);
TUTTI_API array concatenate(std::span<const array> arrays, integer axis = 0);
TUTTI_API array concatenate(std::initializer_list<array> arrays, integer axis = 0);
TUTTI_API array stack(std::span<const array> arrays, integer axis = 0);
TUTTI_API array stack(std::initializer_list<array> arrays, integer axis = 0);
/// A contiguous copy, or a itself where it is contiguous already.
TUTTI_API array contiguous(const array& a);
/// The elements' bytes as elements of another dtype of the same size, over the same memory: f32 as
/// i32, c64 as f64. Evaluates a, without waiting. Throws dtype_error where the sizes differ and for
/// bool, which has bytes 0 and 1 only, from another dtype; value_error where a is being
/// differentiated, since bits have no gradient.
TUTTI_API array bit_cast(const array& a, dtype type);

// ---- indexing
/// Elements of a along `axis` at integer `indices` (any shape, each in [-n, n)); the axis is
/// replaced by the shape of indices. Throws index_error naming an index that is out of range.
/// Bounds known on the host (uploaded indices, arange, argmax) cost nothing; otherwise the call
/// evaluates the indices, unless the environment has TUTTI_CHECK_INDICES=off: then those outside
/// are clamped.
TUTTI_API array take(const array& a, const array& indices, integer axis = 0);
/// [..., depth] of dtype `type`: 1 at each index, 0 elsewhere; only 0 where an index is outside
/// [0, depth).
TUTTI_API array one_hot(const array& indices, std::int64_t depth, dtype type = dtype::f32);

// ---- creation
TUTTI_API array full(const shape& shape, const array& value, dtype type,
                     const device& on = default_device());
TUTTI_API array zeros(const shape& shape, dtype type = dtype::f32,
                      const device& on = default_device());
TUTTI_API array ones(const shape& shape, dtype type = dtype::f32,
                     const device& on = default_device());
/// With a's shape and device, and its dtype where none is given.
TUTTI_API array zeros_like(const array& a, std::optional<dtype> type = {});
TUTTI_API array ones_like(const array& a, std::optional<dtype> type = {});
/// An array whose values nobody relies on. They are zeros, which take no memory until it is needed.
TUTTI_API array empty(const shape& shape, dtype type = dtype::f32,
                      const device& on = default_device());
TUTTI_API array empty_like(const array& a, std::optional<dtype> type = {});

namespace detail {
template <class T>
concept number = integral_argument<T> || std::floating_point<T>;
/// i32 for integers alone, as a C++ int in an operation is; f32 where one is floating.
template <class... T>
inline constexpr dtype range_dtype = (std::floating_point<T> || ...) ? dtype::f32 : dtype::i32;
}  // namespace detail

/// start, start + step, ... before stop. Throws value_error for a step of 0, bounds that are not
/// finite, and values that an integer dtype cannot hold.
TUTTI_API array arange(double start, double stop, double step, dtype type = dtype::f32,
                       const device& on = default_device());
TUTTI_API array arange(std::int64_t start, std::int64_t stop, std::int64_t step,
                       dtype type = dtype::i32, const device& on = default_device());
/// Of any numbers: i32 where all of them are integers, else f32, unless `type` says otherwise.
template <detail::number Start, detail::number Stop, detail::number Step>
array arange(Start start, Stop stop, Step step, dtype type = detail::range_dtype<Start, Stop, Step>,
             const device& on = default_device()) {
  if constexpr (detail::range_dtype<Start, Stop, Step> == dtype::i32)
    return arange(std::int64_t{integer(start)}, std::int64_t{integer(stop)},
                  std::int64_t{integer(step)}, type, on);
  else
    return arange(static_cast<double>(start), static_cast<double>(stop), static_cast<double>(step),
                  type, on);
}
template <detail::number Start, detail::number Stop>
array arange(Start start, Stop stop, dtype type = detail::range_dtype<Start, Stop>,
             const device& on = default_device()) {
  return arange(start, stop, 1, type, on);
}
template <detail::number Stop>
array arange(Stop stop, dtype type = detail::range_dtype<Stop>,
             const device& on = default_device()) {
  return arange(0, stop, 1, type, on);
}
TUTTI_API array eye(std::int64_t n, dtype type = dtype::f32, const device& on = default_device());
/// [rows, columns] with ones on the diagonal that starts `offset` columns to the right. Throws
/// value_error for a negative extent.
TUTTI_API array eye(std::int64_t rows, std::int64_t columns, std::int64_t offset = 0,
                    dtype type = dtype::f32, const device& on = default_device());

}  // namespace tutti
