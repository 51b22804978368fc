// SPDX-License-Identifier: Apache-2.0
//
// What every public operation does before it builds a node: promotion with weak scalars, casts,
// checks of dtypes and axes, and the views that reductions and indexing need.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "graph/build.hpp"
#include "graph/fold.hpp"
#include "graph/sizes.hpp"
#include "semantics/row_kinds.hpp"
#include "tutti/extension.hpp"
#include "tutti/indexing.hpp"
#include "tutti/ops.hpp"

namespace tutti::op {

using device_pointer = decltype(graph::node::device);

using host::row_kind;
using host::row_result;

/// The dtype that operands share, and whether all of them are weak scalars.
struct common_type {
  dtype type;
  bool weak;
};

/// Promotion of operands, weak scalars included, then the rule of `kind`. Throws dtype_error naming
/// `op` and the dtypes.
common_type promote_operands(std::span<const array> operands, row_kind kind, std::string_view op);

/// The dtype of a alone, weak scalars resolved; floating_type_of turns integers and bool into f32.
dtype type_of(const array& a, std::string_view op);
dtype floating_type_of(const array& a, std::string_view op);
/// The same, where complex throws dtype_error.
dtype real_type_of(const array& a, std::string_view op);

/// a in real_floating_type_of(a); a weak scalar stays weak.
array as_real_floating(const array& a, std::string_view op);
/// The dtype that sums and products of a have: `wanted`, else a's own, else i64 or u64. Throws
/// dtype_error for bool, for floats in integers and for complex numbers in real ones.
dtype accumulator_type(const array& a, std::optional<dtype> wanted, std::string_view op);

/// Whether the integer dtype `type` has `value`.
bool holds(dtype type, std::int64_t value);

/// An elementwise call: promotes, casts and builds the node.
array apply(tutti_opcode opcode, row_kind kind, row_result rule, std::span<const array> operands,
            std::string_view op);

/// Zeros without memory, for results of no elements and as a neutral element.
array zeros_on(const shape& extents, dtype type, device_pointer device,
               std::string_view op = "zeros");

/// Known bounds of the integer values of a, which need not be among them: those of a whole buffer
/// hold for its views. Nothing where they are not known on the host.
std::optional<std::pair<std::int64_t, std::int64_t>> known_range(const array& a);
/// The smallest and the largest integer of a, which has elements: known, or evaluated from
/// `values`, which is a as index_values() gives it.
std::pair<std::int64_t, std::int64_t> exact_range(const array& a, const array& values);

/// Region of a that starts at `starts` and takes `extents` elements in `steps`; a view.
array strided_slice(const array& a, const shape& starts, const shape& extents, const shape& steps);
/// Copy of base with that region replaced by `update`, which has its shape and dtype.
array update_region(const array& base, const array& update, const shape& starts,
                    const shape& steps);

/// a summed over the axes along which broadcasting from `target` repeated it.
array unbroadcast(const array& a, const shape& target);

/// Integer indices in [0, extent) of those given, of which negative ones count from the end. Throws
/// index_error naming `op`, one outside, its axis and the shape `of`, as take() tells.
array checked_indices(const array& given, std::int64_t extent, int axis, const shape& of,
                      std::string_view op = "take");

/// base [O,R,N] with updates [O,I,N] combined into the rows of such indices. But for setting, the
/// dtype must be one that devices compute in.
array scatter_into(const array& base, const array& updates, const array& index, scatter_mode mode);

/// `first`, then the extents from axis `from` on.
shape with_rest(const shape& first, const shape& extents, int from);
/// The row-major place among the leading axes of `extents` that one index for each of them names,
/// checked, broadcast, i64. Throws as checked_indices.
array joined_index(std::span<const array> indices, const shape& extents, std::string_view op);

/// Indices as i32 or i64, whichever holds every value of their dtype. Throws dtype_error for what
/// is no integer.
array index_values(const array& indices, std::string_view op);
/// The smallest and the largest element of i32 or i64, evaluated.
std::pair<std::int64_t, std::int64_t> evaluated_range(const array& values);

}  // namespace tutti::op
