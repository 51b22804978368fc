// SPDX-License-Identifier: Apache-2.0
//
// For libraries that extend the core, such as those in libs/: argument checks and conversions of
// operations, and nodes that no public function creates. `op` is the name at the beginning of error
// messages. Applications do not need this header.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "tutti/array.hpp"
#include "tutti/convolution.hpp"
#include "tutti/indexing.hpp"
#include "tutti/ops.hpp"
#include "tutti/random.hpp"

namespace tutti::detail {
struct opened_device;
}

namespace tutti::graph {

// ---- sizes, which need no further checks after these functions.

/// The number of elements of an array with these extents. Throws shape_error with `op`, extents and
/// dtype for a negative extent, or if the bytes do not fit into 63 bits.
TUTTI_API std::int64_t checked_elements(const shape& extents, dtype type, std::string_view op);
/// The sum of two extents, which must not be negative; throws shape_error with `op` and both if it
/// overflows.
TUTTI_API std::int64_t extent_sum(std::int64_t a, std::int64_t b, std::string_view op);
TUTTI_API std::int64_t extent_product(std::int64_t a, std::int64_t b, std::string_view op);
/// Row-major strides of a shape.
TUTTI_API shape contiguous_strides(const shape& extents);

/// The dtype of registers and scalar arguments for values of dtype t: f32 for f16 and bf16.
constexpr dtype compute_dtype(dtype t) {
  return t == dtype::f16 || t == dtype::bf16 ? dtype::f32 : t;
}

// ---- gradients and devices.

/// a without gradient history.
TUTTI_API array detach(const array& a);
/// Whether gradients flow through a: it is traced and its dtype has gradients.
TUTTI_API bool is_differentiated(const array& a);
/// The common device of the operands, null if all are constants. If they differ, throws
/// device_error naming both, or with TUTTI_TRANSFER=auto moves them to the device of the first one.
TUTTI_API const detail::opened_device* common_device(std::span<array> inputs, std::string_view op);
/// Row-major index of each element, i64.
TUTTI_API array iota(const shape& extents, const detail::opened_device* device,
                     std::string_view op = "iota");

}  // namespace tutti::graph

namespace tutti::op {

using device_pointer = const detail::opened_device*;

/// Throws value_error naming `op` for an invalid handle.
TUTTI_API const shape& extents_of(const array& a, std::string_view op);
/// Null for a constant, which can be used on every device.
TUTTI_API device_pointer device_of(const array& a);
/// Whether the device of a (for a constant the default device) stores this dtype.
TUTTI_API bool device_stores(const array& a, dtype type);
/// Whether both handles refer to the same node.
TUTTI_API bool is_same(const array& a, const array& b);

// ---- dtypes. Weak scalars are converted to ordinary constants.

/// a in dtype `type`; a weak scalar becomes an ordinary constant. Throws value_error for a weak
/// integer that an integer dtype cannot represent, dtype_error for a complex value and a real
/// dtype.
TUTTI_API array cast(const array& a, dtype type, std::string_view op);
/// The dtype of a; floating_type_of converts integers and bool to f32.
TUTTI_API dtype type_of(const array& a, std::string_view op);
TUTTI_API dtype floating_type_of(const array& a, std::string_view op);
/// The same, but complex dtypes throw dtype_error.
TUTTI_API dtype real_type_of(const array& a, std::string_view op);
TUTTI_API dtype real_floating_type_of(const array& a, std::string_view op);
/// The promoted dtype of operands: for numbers, where bool throws dtype_error, and for floats.
TUTTI_API dtype numeric_type_of(array_list operands, std::string_view op);
TUTTI_API dtype floating_type_of(array_list operands, std::string_view op);
TUTTI_API dtype real_floating_type_of(array_list operands, std::string_view op);
/// The dtype of sums and products of a: `wanted`, or a's own, or i64 or u64 for integers. Throws
/// dtype_error for bool, for floats in integers and for complex numbers in real dtypes.
TUTTI_API dtype accumulator_type(const array& a, std::optional<dtype> wanted, std::string_view op);
/// Whether the integer dtype `type` can represent `value`.
TUTTI_API bool holds(dtype type, std::int64_t value);

// ---- creating and moving elements.

/// Zeros without memory, for results without elements and as a neutral element.
TUTTI_API array zeros_on(const shape& extents, dtype type, device_pointer device,
                         std::string_view op = "zeros");
/// Host numbers in a floating dtype, converted to f32 first unless it is f64.
TUTTI_API array numbers_on(const device& on, const std::vector<double>& values,
                           const shape& extents, dtype type);
/// View of `count` elements of an axis, every `step`th from `start` on, which a must have.
TUTTI_API array slice_along(const array& a, int axis, std::int64_t start, std::int64_t count,
                            std::int64_t step = 1);
/// The part [start, stop) of one axis; negative positions count from the end.
TUTTI_API array part_along(const array& a, int axis, std::optional<std::int64_t> start,
                           std::optional<std::int64_t> stop);
/// a with extents [outer, length, inner], changed to `length` elements along the second axis:
/// truncated, or padded with zeros at the end.
TUTTI_API array fitted3(const array& a, std::int64_t length);

/// The extents before and after axis `axis` of a shape.
struct TUTTI_API along {
  int axis;
  std::int64_t outer = 1, length = 0, inner = 1;
  along(const shape& extents, std::int64_t given, std::string_view op);
};
/// a as a contiguous array [outer, length, inner].
TUTTI_API array around_axis(const array& a, const along& at);
/// a with `axis` moved to the end, contiguous, as [rows, length]; and the inverse, which restores
/// the extents of a with `length` elements along the axis.
TUTTI_API array as_rows(const array& a, std::int64_t axis);
TUTTI_API array from_rows(const array& rows, const shape& extents, int axis);

/// The binary exponents of `amounts`, f32 or f64, as such numbers: 0 if one is 0, infinite or NaN,
/// and limited so that 2^exponent and its reciprocal are normal. No gradient.
TUTTI_API array binary_exponents(const array& amounts);

// ---- windows over spatial axes.

/// `given`, one number or one for each of `spatial` axes, as one for each. Throws value_error with
/// `what` for another number of values or one below `least`.
TUTTI_API shape axis_values(const shape& given, int spatial, std::int64_t least, const char* what,
                            const char* label);
/// For each spatial axis; places: the number of windows.
struct TUTTI_API window_geometry {
  int spatial = 0;
  shape window, stride, dilation, before, after, places;
  shape beyond;  // part of `after` that an incomplete last window needs
  bool has_padding() const;
};
/// Throws value_error for numbers out of range, shape_error if a window is empty or longer than the
/// padded extent. With ceil_mode a last window that begins within x or the padding before it counts
/// even if it ends beyond.
TUTTI_API window_geometry resolve_windows(const shape& extents, const shape& window,
                                          const per_axis& stride, const window_padding& padding,
                                          const per_axis& dilation, const char* label,
                                          bool ceil_mode = false);
/// a with the padding of g around its axes from `first` on.
TUTTI_API array padded(const array& a, const window_geometry& g, int first, pad_mode mode,
                       const array& value);

// ---- indices.

/// Indices as i32 or i64, whichever can represent every value of their dtype. Throws dtype_error
/// if they are not integers.
TUTTI_API array index_values(const array& indices, std::string_view op);
/// The given integer indices mapped to [0, extent); negative ones count from the end. Throws
/// index_error with `op`, an index out of range, its axis and the shape `of`, as take() does.
TUTTI_API array checked_indices(const array& given, std::int64_t extent, int axis, const shape& of,
                                std::string_view op = "take");
/// Known bounds of the integer values of a, which need not be attained: those of a whole buffer
/// hold for its views. Empty if they are not known on the host.
TUTTI_API std::optional<std::pair<std::int64_t, std::int64_t>> known_range(const array& a);
TUTTI_API void set_known_range(const array& a, std::pair<std::int64_t, std::int64_t> bounds);
/// The smallest and the largest integer of a, which must have elements: known, or evaluated from
/// `values`, which is the result of index_values() for a.
TUTTI_API std::pair<std::int64_t, std::int64_t> exact_range(const array& a, const array& values);
/// The number of occurrences of each number of [0, bins) in `index`, i32 or i64: [bins].
TUTTI_API array count_numbers(const array& index, std::int64_t bins, std::string_view op);

/// The sums of the first 1 to n elements of a [n], stored as dtype `type`; a may be bool.
TUTTI_API array running_sum(const array& a, dtype type, std::string_view op);

/// Rows of x [O,R,N] at indices that are known to be in [0, R); and the sum of updates [O,I,N]
/// into zeros [O,rows,N].
TUTTI_API array take_rows(const array& x, const array& index);
TUTTI_API array scatter_rows(const array& updates, const array& index, std::int64_t rows);
/// base [O,R,N] combined with updates [O,I,N] in the rows of such indices. Except for setting, the
/// dtype must be one in which devices compute.
TUTTI_API array scatter_into(const array& base, const array& updates, const array& index,
                             scatter_mode mode);

// ---- operators of sparse matrices, without gradients. Indices have one dtype, i32 or i64, and
// are in range; `label` must stay valid.

/// Compressed rows (starts [M + 1], columns [count], values [count]) times b [K, N]: [M, N].
TUTTI_API array sparse_product(const array& starts, const array& columns, const array& values,
                               const array& b, const char* label);
/// The products of row rows[k] of x [M, N] and row columns[k] of y [K, N]: [count].
TUTTI_API array sampled_products(const array& rows, const array& columns, const array& x,
                                 const array& y, const char* label);
/// The first position of each of 1 to `count` in `numbers`, which ascend from 1 in steps of at most
/// 1: i64 [count].
TUTTI_API array first_positions(const array& numbers, std::int64_t count, std::string_view op);

}  // namespace tutti::op

namespace tutti::random {

/// Word `first + stride * i` of the stream of `from` for element i of `extents`, u32. Throws
/// shape_error for extents that no array can have.
TUTTI_API array words(key from, const shape& extents, std::int64_t stride, std::int64_t first,
                      const device& on);
/// Uniform in (0, 1], f32 from the upper 24 bits of a word, or f64 from 53 bits of two.
TUTTI_API array unit_above_zero(key from, const shape& extents, dtype compute, const device& on);
/// The position with which permutation() swaps position i, from the last one down.
TUTTI_API std::int64_t swap_partner(key from, std::int64_t i);
/// Throws dtype_error naming `op` unless the dtype is floating.
TUTTI_API void require_floating(dtype type, std::string_view op);

}  // namespace tutti::random
