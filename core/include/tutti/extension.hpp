// SPDX-License-Identifier: Apache-2.0
//
// For libraries that extend the core, as those in libs/ do: what operations check and convert by,
// and nodes that no public function makes. `op` is the name that errors begin with. Applications
// need none of it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "tutti/array.hpp"
#include "tutti/indexing.hpp"
#include "tutti/ops.hpp"

namespace tutti::detail {
struct opened_device;
}

namespace tutti::graph {

// ---- sizes. What has passed here needs no checks later.

/// The elements of an array of these extents. Throws shape_error naming `op`, extents and dtype for
/// a negative extent, or where its bytes do not fit 63 bits.
TUTTI_API std::int64_t checked_elements(const shape& extents, dtype type, std::string_view op);
/// Extents put together. Both are not negative; throws shape_error naming `op` and both where the
/// result does not fit.
TUTTI_API std::int64_t extent_sum(std::int64_t a, std::int64_t b, std::string_view op);
TUTTI_API std::int64_t extent_product(std::int64_t a, std::int64_t b, std::string_view op);
/// Row-major strides of a shape.
TUTTI_API shape contiguous_strides(const shape& extents);

/// The dtype that values of dtype t have in registers and scalar arguments: f16 and bf16 are f32.
constexpr dtype compute_dtype(dtype t) {
  return t == dtype::f16 || t == dtype::bf16 ? dtype::f32 : t;
}

// ---- gradients and devices.

/// a without history.
TUTTI_API array detach(const array& a);
/// Whether gradients go through a: it is traced and of a dtype that has them.
TUTTI_API bool is_differentiated(const array& a);
/// The device that operands share, null where all are constants. Where they differ, throws
/// device_error naming both, or with TUTTI_TRANSFER=auto moves them to the first one's.
TUTTI_API const detail::opened_device* common_device(std::span<array> inputs, std::string_view op);
/// Row-major index of each element, i64.
TUTTI_API array iota(const shape& extents, const detail::opened_device* device,
                     std::string_view op = "iota");

}  // namespace tutti::graph

namespace tutti::op {

using device_pointer = const detail::opened_device*;

/// Throws value_error naming `op` for an invalid handle.
TUTTI_API const shape& extents_of(const array& a, std::string_view op);
/// Null for a constant, which fits every device.
TUTTI_API device_pointer device_of(const array& a);
/// Whether the device of a, or the default device for a constant, stores this dtype.
TUTTI_API bool device_stores(const array& a, dtype type);
/// Whether both are the same node.
TUTTI_API bool is_same(const array& a, const array& b);

// ---- dtypes. Weak scalars are resolved.

/// a in dtype `type`; a weak scalar becomes an ordinary constant. Throws value_error for a weak
/// integer that an integer dtype cannot hold, dtype_error for a complex value in a real dtype.
TUTTI_API array cast(const array& a, dtype type, std::string_view op);
/// The dtype of a alone; floating_type_of turns integers and bool into f32.
TUTTI_API dtype type_of(const array& a, std::string_view op);
TUTTI_API dtype floating_type_of(const array& a, std::string_view op);
/// The same, where complex throws dtype_error.
TUTTI_API dtype real_type_of(const array& a, std::string_view op);
TUTTI_API dtype real_floating_type_of(const array& a, std::string_view op);
/// The dtype that operands promote to: of numbers, where bool throws dtype_error, and floating.
TUTTI_API dtype numeric_type_of(std::span<const array> operands, std::string_view op);
TUTTI_API dtype floating_type_of(std::span<const array> operands, std::string_view op);
/// The dtype that sums and products of a have: `wanted`, else a's own, else i64 or u64. Throws
/// dtype_error for bool, for floats in integers and for complex numbers in real ones.
TUTTI_API dtype accumulator_type(const array& a, std::optional<dtype> wanted, std::string_view op);
/// Whether the integer dtype `type` has `value`.
TUTTI_API bool holds(dtype type, std::int64_t value);

// ---- making and moving elements.

/// Zeros without memory, for results of no elements and as a neutral element.
TUTTI_API array zeros_on(const shape& extents, dtype type, device_pointer device,
                         std::string_view op = "zeros");
/// Numbers of the host in a floating dtype, by way of f32 where that is not f64.
TUTTI_API array numbers_on(const device& on, const std::vector<double>& values,
                           const shape& extents, dtype type);
/// Region of a that starts at `starts` and takes `extents` elements in `steps`; a view.
TUTTI_API array strided_slice(const array& a, const shape& starts, const shape& extents,
                              const shape& steps);
/// Extents [outer, length, inner] of a with `length` elements along the second axis: cut, or with
/// zeros behind.
TUTTI_API array fitted3(const array& a, std::int64_t length);

/// The extents around axis `axis` of a shape.
struct TUTTI_API along {
  int axis;
  std::int64_t outer = 1, length = 0, inner = 1;
  along(const shape& extents, std::int64_t given, std::string_view op);
};
/// a as a contiguous array [outer, length, inner].
TUTTI_API array around_axis(const array& a, const along& at);
/// a with `axis` moved to the end, contiguous, as [rows, length], and back to the extents of a with
/// `length` elements along the axis.
TUTTI_API array as_rows(const array& a, std::int64_t axis);
TUTTI_API array from_rows(const array& rows, const shape& extents, int axis);

// ---- indices.

/// Indices as i32 or i64, whichever holds every value of their dtype. Throws dtype_error for what
/// is no integer.
TUTTI_API array index_values(const array& indices, std::string_view op);
/// Integer indices in [0, extent) of those given, of which negative ones count from the end. Throws
/// index_error naming `op`, one outside, its axis and the shape `of`, as take() tells.
TUTTI_API array checked_indices(const array& given, std::int64_t extent, int axis, const shape& of,
                                std::string_view op = "take");
/// Known bounds of the integer values of a, which need not be among them: those of a whole buffer
/// hold for its views. Nothing where they are not known on the host.
TUTTI_API std::optional<std::pair<std::int64_t, std::int64_t>> known_range(const array& a);
TUTTI_API void set_known_range(const array& a, std::pair<std::int64_t, std::int64_t> bounds);
/// The smallest and the largest integer of a, which has elements: known, or evaluated from
/// `values`, which is a as index_values() gives it.
TUTTI_API std::pair<std::int64_t, std::int64_t> exact_range(const array& a, const array& values);
/// How often each number of [0, bins) occurs in `index`, i32 or i64: [bins].
TUTTI_API array count_numbers(const array& index, std::int64_t bins, std::string_view op);

/// The sums of the first 1 to n elements of a [n], stored as dtype `type`; a may be of bool.
TUTTI_API array running_sum(const array& a, dtype type, std::string_view op);

/// Rows of x [O,R,N] at indices that are known to lie in [0, R); and the sum of updates [O,I,N]
/// into zeros [O,rows,N].
TUTTI_API array take_rows(const array& x, const array& index);
TUTTI_API array scatter_rows(const array& updates, const array& index, std::int64_t rows);
/// base [O,R,N] with updates [O,I,N] combined into the rows of such indices. But for setting, the
/// dtype must be one that devices compute in.
TUTTI_API array scatter_into(const array& base, const array& updates, const array& index,
                             scatter_mode mode);

// ---- operators of sparse matrices. Without gradients; indices are of one dtype, i32 or i64, and
// in range; `label` stays valid.

/// Compressed rows (starts [M + 1], columns [count], values [count]) times b [K, N]: [M, N].
TUTTI_API array sparse_product(const array& starts, const array& columns, const array& values,
                               const array& b, const char* label);
/// The products of row rows[k] of x [M, N] with row columns[k] of y [K, N]: [count].
TUTTI_API array sampled_products(const array& rows, const array& columns, const array& x,
                                 const array& y, const char* label);
/// The first position of each of 1 to `count` in `numbers`, which ascend from 1 in steps of at most
/// 1: i64 [count].
TUTTI_API array first_positions(const array& numbers, std::int64_t count, std::string_view op);

}  // namespace tutti::op
