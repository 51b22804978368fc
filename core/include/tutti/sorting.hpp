// SPDX-License-Identifier: Apache-2.0
//
// Cumulative operations, sorting and searching, sets and counting. The order is that of `less`,
// with NaN after everything else; false comes before true. Axes may be negative; an axis out of
// range throws index_error.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "tutti/ops.hpp"

namespace tutti {

// ---- cumulative: same shape as a; without axis, along the flattened array (1-d). NaN propagates
// from its position on. Rounding errors of sums and products of floats grow with the number of
// elements; f16 and bf16 are computed in f32.

struct scan_options {
  std::optional<integer> axis{};
  bool exclusive = false;       ///< without the element itself: starts with the neutral element
  bool reverse = false;         ///< from the last element to the first
  std::optional<dtype> type{};  ///< of the result of cumsum and cumprod
  scan_options() = default;
  template <std::convertible_to<integer> T>
  scan_options(T along, bool without_itself = false, bool backwards = false,
               std::optional<dtype> result = {})
      : axis(integer(along)), exclusive(without_itself), reverse(backwards), type(result) {}
};

/// Integers and bool become i64 (u64 for unsigned) unless options.type is given; they wrap. Throws
/// dtype_error for floats to integers and complex numbers to real ones. Products of complex numbers
/// are a linear_recurrence, with its limits.
TUTTI_API array cumsum(const array& a, const scan_options& options = {});
TUTTI_API array cumprod(const array& a, const scan_options& options = {});
/// The largest or smallest element so far, in a's dtype. NaN is propagated. Neutral elements are
/// the limits of the dtype.
TUTTI_API array cummax(const array& a, const scan_options& options = {});
TUTTI_API array cummin(const array& a, const scan_options& options = {});
/// log(cumsum(exp(a))) without overflow; integers become f32.
TUTTI_API array logcumsumexp(const array& a, const scan_options& options = {});
/// A linear recurrence along `axis`: y[n] = a[n] y[n-1] + x[n], from y[0] = x[0]; a[0] is not used.
/// In reverse y[n] = a[n] y[n+1] + x[n], from the last element. a and x broadcast and promote; bool
/// and integers become f32; f16 and bf16 are computed in f32. With a constant a = 1 - alpha and
/// alpha x it is exponential smoothing. 0-d operands throw index_error.
///
/// Long lines are divided into chunks (G. E. Blelloch, "Prefix sums and their applications", 1990):
/// by GPUs from 65 elements on, by `cpu` with three threads or more from 4,097 on, where there are
/// few lines. Where products of a overflow within a chunk, or a is infinite, what follows a y other
/// than 0 may then be infinite or NaN; an infinite y becomes NaN where they underflow.
TUTTI_API array linear_recurrence(const array& a, const array& x, integer axis = -1,
                                  bool reverse = false);
/// cumsum and cumprod as in the Python array API standard: with include_initial the neutral element
/// comes first and the axis is longer by one. Without axis, a must be 1-d.
TUTTI_API array cumulative_sum(const array& a, std::optional<integer> axis = {},
                               std::optional<dtype> type = {}, bool include_initial = false);
TUTTI_API array cumulative_prod(const array& a, std::optional<integer> axis = {},
                                std::optional<dtype> type = {}, bool include_initial = false);
/// Differences of neighbours along `axis`, n times: extent N - n, at least 0; integers wrap. For
/// bool: where they differ. Arrays to prepend and append have a's shape except for that axis; a
/// scalar is one value in each row; dtypes promote.
TUTTI_API array diff(const array& a, int n = 1, integer axis = -1,
                     const std::optional<array>& prepend = {},
                     const std::optional<array>& append = {});

// ---- sorting
enum class order : bool { ascending, descending };

/// Sorted along `axis`. Zeros of different signs may be swapped; sign and payload of a NaN are not
/// kept.
TUTTI_API array sort(const array& a, integer axis = -1, order by = order::ascending);
/// i64 positions along `axis` that sort a; equal elements keep their order.
TUTTI_API array argsort(const array& a, integer axis = -1, order by = order::ascending);

/// i64 positions along `axis` that sort by the last key, equal ones by the previous key, and so on:
/// NumPy's lexsort. Throws value_error without keys, shape_error if their shapes differ.
TUTTI_API array lexsort(array_list keys, integer axis = -1);

struct sorted_values {
  array values;
  array indices;  ///< i64
};
/// The k largest (smallest) elements along `axis` in descending (ascending) order, and their
/// positions; the first of equal ones. NaN comes last in both orders. A few of a long row are
/// selected without sorting it. Throws value_error unless 0 <= k <= the extent.
TUTTI_API sorted_values topk(const array& a, std::int64_t k, integer axis = -1,
                             bool largest = true);
/// As NumPy's partition: the element at `kth` is that of the sorted order, no element before it is
/// greater, and no element after it is less.
TUTTI_API array partition(const array& a, std::int64_t kth, integer axis = -1);

/// Elements of a at i64 or i32 `indices`, each in [-n, n), along `axis`; a and indices have the
/// same shape except for that axis, whose extent is that of indices. Throws as take().
TUTTI_API array take_along_axis(const array& a, const array& indices, integer axis = -1);

// ---- order statistics; NaN if an element is NaN or if there are no elements
TUTTI_API array median(const array& a, const reduce_options& options = {});
TUTTI_API array median(const array& a, std::optional<integer> axis, bool keepdims);
/// Interpolation of a quantile between two elements.
enum class interpolation : std::uint8_t { linear, lower, higher, midpoint, nearest };
/// The q-quantile, 0 <= q <= 1, at position q (n - 1) of the sorted elements (Hyndman and Fan,
/// "Sample quantiles in statistical packages", 1996, definition 7). Integers become f32.
TUTTI_API array quantile(const array& a, double q, const reduce_options& options = {},
                         interpolation method = interpolation::linear);
TUTTI_API array quantile(const array& a, double q, std::optional<integer> axis, bool keepdims,
                         interpolation method = interpolation::linear);
/// Several quantiles, along a new first axis of the result.
TUTTI_API array quantile(const array& a, const std::vector<double>& q,
                         const reduce_options& options = {},
                         interpolation method = interpolation::linear);
/// The p-th percentile, 0 <= p <= 100: quantile() for p / 100.
TUTTI_API array percentile(const array& a, double p, const reduce_options& options = {},
                           interpolation method = interpolation::linear);
/// Several percentiles, along a new first axis of the result.
TUTTI_API array percentile(const array& a, const std::vector<double>& p,
                           const reduce_options& options = {},
                           interpolation method = interpolation::linear);

// ---- searching and sets
enum class side : bool { left, right };

/// i64, shape of values: the number of elements of the 1-d ascending array `sorted` that are less
/// than each value (right: not greater). The dtypes promote. With a `sorter`, integers of sorted's
/// shape such as argsort() returns, take(sorted, sorter) must ascend; throws as take(), shape_error
/// for another shape.
TUTTI_API array searchsorted(const array& sorted, const array& values, side from = side::left,
                             const std::optional<array>& sorter = {});
/// Whether each element of a is among those of `among` (any shape). Always false for NaN.
TUTTI_API array isin(const array& a, const array& among, bool invert = false);

// The result shapes of the following functions depend on values, so these functions evaluate.

/// One i64 array for each axis: the positions of the elements that are not 0, in row-major order.
/// Throws shape_error for a 0-d array.
TUTTI_API std::vector<array> nonzero(const array& a);

struct unique_result {
  array values;   ///< 1-d, ascending; each NaN counts as a different value
  array inverse;  ///< i64, shape of a: position of each element in `values`
  array counts;   ///< i64: number of occurrences of each value
};
/// The distinct elements of a.
TUTTI_API unique_result unique(const array& a);
/// Only their values, which is faster.
TUTTI_API array unique_values(const array& a);
struct unique_all_result {
  array values;           ///< 1-d, ascending; each NaN counts as a different value
  array indices;          ///< i64: first position of each value in the flattened a
  array inverse_indices;  ///< i64, shape of a: position of each element in `values`
  array counts;           ///< i64: number of occurrences of each value
};
/// As in the Python array API standard: unique() with the first positions.
TUTTI_API unique_all_result unique_all(const array& a);
/// The distinct slices along `axis`, in the order of their elements, and the position of each slice
/// among them: inverse_indices has the extent of the axis. Sorts once for each element of a slice.
TUTTI_API unique_all_result unique_all(const array& a, integer axis);

// ---- counting
/// i64 [max(minlength, largest + 1)]: the number of occurrences of each number among non-negative
/// integers of any shape; with weights of that shape, their sums (f32, or f64 for f64 weights).
/// Evaluates the largest element. Throws value_error for a negative element.
TUTTI_API array bincount(const array& a, std::int64_t minlength = 0);
TUTTI_API array bincount(const array& a, const array& weights, std::int64_t minlength = 0);

}  // namespace tutti
