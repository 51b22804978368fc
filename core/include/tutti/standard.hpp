// SPDX-License-Identifier: Apache-2.0
//
// The names of the Python array API standard (2024.12) that differ from Tutti's own. Each is
// another name for the function that its comment states.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

#include "tutti/array.hpp"
#include "tutti/ops.hpp"
#include "tutti/sorting.hpp"
#include "tutti/statistics.hpp"

namespace tutti {

/// power().
inline array pow(const array& base, const array& exponent) { return power(base, exponent); }
/// bitwise_not().
inline array bitwise_invert(const array& a) { return bitwise_not(a); }
/// left_shift().
inline array bitwise_left_shift(const array& a, const array& bits) { return left_shift(a, bits); }
/// right_shift().
inline array bitwise_right_shift(const array& a, const array& bits) { return right_shift(a, bits); }
/// concatenate().
inline array concat(array_list arrays, integer axis = 0) { return concatenate(arrays, axis); }
/// transpose() with all axes given.
inline array permute_dims(const array& a, const shape& axes) { return transpose(a, axes); }
/// stddev(): standard deviation with divisor n - correction. The name does not hide the namespace:
/// only namespaces and types are looked up before `::`.
inline array std(const array& a, const reduce_options& options = {}, double correction = 0) {
  return stddev(a, options, correction);
}
template <std::same_as<bool> T>
array std(const array&, const reduce_options&, T keepdims) = delete;  // std(a, {axis, true})
/// norm() with the order as last argument.
inline array vector_norm(const array& a, const reduce_options& options = {}, double ord = 2) {
  return norm(a, ord, options);
}

struct unique_counts_result {
  array values;
  array counts;  ///< i64
};
/// The values of unique_all() and their numbers of occurrences.
TUTTI_API unique_counts_result unique_counts(const array& a);
struct unique_inverse_result {
  array values;
  array inverse_indices;  ///< i64, shape of a
};
/// The values of unique_all() and the position of each element among them.
TUTTI_API unique_inverse_result unique_inverse(const array& a);

}  // namespace tutti
