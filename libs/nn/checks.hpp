// SPDX-License-Identifier: Apache-2.0
//
// Argument checks of layers and losses, the dtypes that they compute in, and other common parts.
#pragma once

#include <cstdint>
#include <string>

#include "base/named_errors.hpp"
#include "tutti/nn/initializers.hpp"
#include "tutti/nn/layer.hpp"
#include "tutti/nn/losses.hpp"

namespace tutti::nn::detail {

/// Throws value_error unless value >= 1.
void require_positive(const char* op, const char* what, std::int64_t value);

/// Throws value_error unless `good`.
void require_option(bool good, const char* op, const char* option, double value);

/// Throws dtype_error unless `type` is floating.
void require_floating(const char* op, const char* what, dtype type);

/// Adds a parameter with this name and initial value.
void add_parameter(layer_parts& to, const char* name, const array& value);

/// The result of `init`. Throws value_error if `init` is empty or returns no array, shape_error for
/// another shape; `option` is its name in messages.
array initial_values(const char* op, const char* option, const initializer& init, random::key key,
                     const shape& extents, dtype type, const device& on);

inline bool is_narrow(dtype type) { return type == dtype::f16 || type == dtype::bf16; }
/// f16 and bf16 as f32, other dtypes unchanged.
array widened(const array& a);
/// The same for the operands of losses: bool and integers also become f32.
array in_floats(const array& a);
/// a cast to `type`; a itself if it has that dtype.
array narrowed(const array& a, dtype type);

/// The concatenation of both.
shape joined(std::initializer_list<std::int64_t> first, const shape& rest);

/// Throws shape_error for the mean of no elements.
array reduced(const char* op, const array& losses, reduction how);

/// unstack() with a gradient that stacks the cotangents of all steps at once. The gradient of T
/// views would add up T arrays of zeros with one step each.
std::vector<array> steps_of(const array& sequence, int axis);

/// A layer without state; errors of `apply` are attributed to its kind.
template <class F>
layer stateless(layer_parts parts, F apply) {
  parts.apply = [kind = parts.kind, apply = std::move(apply)](
                    std::span<const array> parameters, std::span<const array>, const array& x,
                    const pass& how) -> applied {
    return {base::named(kind, [&] { return apply(parameters, x, how); }), {}};
  };
  return layer(std::move(parts));
}

}  // namespace tutti::nn::detail
