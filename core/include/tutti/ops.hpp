// SPDX-License-Identifier: Apache-2.0
//
// Operations on arrays. Each records a node and returns immediately. Operands broadcast as in NumPy
// and promote as in dtype.hpp; operands on different devices throw device_error with both. Axes may
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
/// a / b truncated towards zero, as integer division in C; floats stay floats. a -
/// truncate_divide(a, b) * b is the remainder with the sign of a, for floats fmod(). Integer
/// division by zero gives 0.
TUTTI_API array truncate_divide(const array& a, const array& b);
/// The result dtype of an operation on these operands: dtypes promote, weak scalars adapt. Throws
/// value_error without operands, dtype_error if no dtype can represent all of them.
TUTTI_API dtype result_type(array_list operands);

/// b where condition (any dtype, as truth value) is true, else c; b and c promote.
TUTTI_API array where(const array& condition, const array& b, const array& c);
/// min(max(a, low), high); a bound that is not given is ignored: clip(a, 0), clip(a, {}, 1).
TUTTI_API array clip(const array& a, const std::optional<array>& low = {},
                     const std::optional<array>& high = {});
/// Angle of a in the complex plane, radians: atan2(imag(a), real(a)).
TUTTI_API array angle(const array& a);
/// Conversion: float to integer truncates and saturates, NaN gives 0; to bool: != 0. Complex
/// numbers can be converted only to complex or bool (otherwise dtype_error: use real(), imag() or
/// abs()).
TUTTI_API array astype(const array& a, dtype type);
/// max(a, 0). The gradient at 0 is 0.
TUTTI_API array relu(const array& a);
/// 1 / (1 + exp(-a)); bool and integers become f32.
TUTTI_API array sigmoid(const array& a);
/// a without its gradient history.
TUTTI_API array stop_gradient(const array& a);

// ---- reductions. `axes` absent: all. keepdims keeps reduced axes with extent 1. Integer and bool
// sums and products are i64 (u64 for unsigned). min, max, argmin, argmax without elements throw
// value_error; min and max propagate NaN.

/// keepdims as an enumeration; a bool can be used as well.
enum class keep_dims : bool { no, yes };

namespace detail {
template <class T>
concept keep_argument = std::same_as<T, bool> || std::same_as<T, keep_dims>;
}  // namespace detail

/// One axis or several in braces, optionally followed by keepdims: sum(a, 1), sum(a, {0, 2}),
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
/// Elements are converted to dtype `type` before they are added or multiplied, which is also the
/// dtype of the result (f16 and bf16 are rounded once, from f32). Throws dtype_error for bool, for
/// floats to integers and for complex numbers to real ones.
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
/// The last two axes swapped. Throws shape_error for fewer than two dimensions.
TUTTI_API array matrix_transpose(const array& a);
TUTTI_API array broadcast_to(const array& a, const shape& to);
/// Inserts axes of extent 1 at the positions `axes` of the result. Throws value_error without axes
/// and for a repeated one.
TUTTI_API array expand_dims(const array& a, const axis_list& axes);
/// Removes axes of extent 1: all of them, or `axes`, which must have it (shape_error).
TUTTI_API array squeeze(const array& a, const axis_list& axes = {});
/// NumPy basic slicing, one slice per axis from the first; missing ones select everything.
TUTTI_API array slice_view(const array& a, std::span<const slice> slices);
/// NumPy's basic indexing: the function of a({...}).
TUTTI_API array slice_view(const array& a, std::initializer_list<axis_index> indices);
TUTTI_API array slice_view(const array& a, std::span<const axis_index> indices);
/// Copy of a with the region that slice_view would select replaced by `update` (broadcast,
/// converted to a's dtype). Throws shape_error if it does not match.
TUTTI_API array slice_update(const array& a, const array& update, std::span<const slice> slices);
TUTTI_API array slice_update(const array& a, const array& update,
                             std::initializer_list<axis_index> indices);
TUTTI_API array slice_update(const array& a, const array& update,
                             std::span<const axis_index> indices);
TUTTI_API array concatenate(array_list arrays, integer axis = 0);
TUTTI_API array stack(array_list arrays, integer axis = 0);
/// A contiguous copy, or a itself if it is contiguous.
TUTTI_API array contiguous(const array& a);
/// The elements' bytes as elements of another dtype of the same size, over the same memory: f32 as
/// i32, c64 as f64. Evaluates a, without waiting. Throws dtype_error where the sizes differ and for
/// bool, which has bytes 0 and 1 only, from another dtype; value_error where a is being
/// differentiated, since bits have no gradient.
TUTTI_API array bit_cast(const array& a, dtype type);

// ---- indexing
/// Elements of a along `axis` at integer `indices` (any shape, each in [-n, n)); the axis is
/// replaced by the shape of indices. Throws index_error with an index that is out of range. Bounds
/// that are known on the host (uploaded indices, arange, argmax) cost nothing; otherwise the call
/// evaluates the indices, unless TUTTI_CHECK_INDICES=off is set in the environment: then indices
/// out of range are clamped.
TUTTI_API array take(const array& a, const array& indices, integer axis = 0);
/// [..., depth] of dtype `type`: 1 at each index, 0 elsewhere; only zeros for an index outside
/// [0, depth).
TUTTI_API array one_hot(const array& indices, std::int64_t depth, dtype type = dtype::f32);

// ---- creation
TUTTI_API array full(const shape& shape, const array& value, dtype type,
                     const device& on = default_device());
TUTTI_API array zeros(const shape& shape, dtype type = dtype::f32,
                      const device& on = default_device());
TUTTI_API array ones(const shape& shape, dtype type = dtype::f32,
                     const device& on = default_device());
/// With a's shape and device, and a's dtype unless another is given.
TUTTI_API array zeros_like(const array& a, std::optional<dtype> type = {});
TUTTI_API array ones_like(const array& a, std::optional<dtype> type = {});
/// An array whose values are unspecified. They are zeros, which use no memory until it is needed.
TUTTI_API array empty(const shape& shape, dtype type = dtype::f32,
                      const device& on = default_device());
TUTTI_API array empty_like(const array& a, std::optional<dtype> type = {});

namespace detail {
template <class T>
concept number = integral_argument<T> || std::floating_point<T>;
/// i32 if all are integers, as for C++ ints in operations; f32 if one is floating.
template <class... T>
inline constexpr dtype range_dtype = (std::floating_point<T> || ...) ? dtype::f32 : dtype::i32;
}  // namespace detail

/// start, start + step, ... before stop. Throws value_error for a step of 0, bounds that are not
/// finite, and values that an integer dtype cannot represent.
TUTTI_API array arange(double start, double stop, double step, dtype type = dtype::f32,
                       const device& on = default_device());
TUTTI_API array arange(std::int64_t start, std::int64_t stop, std::int64_t step,
                       dtype type = dtype::i32, const device& on = default_device());
/// For any numbers: i32 if all of them are integers, otherwise f32, unless `type` is given.
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
