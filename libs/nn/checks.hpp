// SPDX-License-Identifier: Apache-2.0
//
// What layers and losses ask of their arguments, and the dtypes that they compute in.
#pragma once

#include <cstdint>
#include <string>

#include "tutti/nn/initializers.hpp"
#include "tutti/nn/layer.hpp"

namespace tutti::nn::detail {

/// Throws value_error unless value >= 1.
void require_positive(const char* op, const char* what, std::int64_t value);

/// Throws value_error unless `good`.
void require_option(bool good, const char* op, const char* option, double value);

/// Throws dtype_error unless `type` is floating.
void require_floating(const char* op, const char* what, dtype type);

/// What `init` gives. Throws value_error where it is empty or gives nothing, shape_error where it
/// gives another shape; `option` names it.
array initial_values(const char* op, const char* option, const initializer& init, random::key key,
                     const shape& extents, dtype type, const device& on);

inline bool is_narrow(dtype type) { return type == dtype::f16 || type == dtype::bf16; }
/// f16 and bf16 as f32, others as they are.
array widened(const array& a);
/// The same for what losses take: bool and integers become f32 too.
array in_floats(const array& a);
/// a itself where it has the dtype.
array narrowed(const array& a, dtype type);

/// A shape of the values one after the other.
shape joined(std::initializer_list<std::int64_t> first, const shape& rest);

}  // namespace tutti::nn::detail
