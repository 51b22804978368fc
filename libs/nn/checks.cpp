// SPDX-License-Identifier: Apache-2.0
#include "nn/checks.hpp"

#include "base/fail.hpp"
#include "tutti/grad.hpp"
#include "tutti/movement.hpp"
#include "tutti/ops.hpp"

namespace tutti::nn::detail {

void require_positive(const char* op, const char* what, std::int64_t value) {
  if (value < 1) base::fail<value_error>("{}: {} must be positive, got {}", op, what, value);
}

void require_option(bool good, const char* op, const char* option, double value) {
  if (!good) base::fail<value_error>("{}: {} = {} is out of range", op, option, value);
}

void require_floating(const char* op, const char* what, dtype type) {
  if (!is_floating(type))
    base::fail<dtype_error>("{}: {} must be floating, got {}", op, what, type);
}

void add_parameter(layer_parts& to, const char* name, const array& value) {
  to.names.emplace_back(name);
  to.parameters.push_back(value);
}

array initial_values(const char* op, const char* option, const initializer& init, random::key key,
                     const shape& extents, dtype type, const device& on) {
  if (!init) base::fail<value_error>("{}: the initialiser {} is empty", op, option);
  const array made = init(key, extents, type, on);
  if (!made.valid()) base::fail<value_error>("{}: the initialiser {} gave no array", op, option);
  if (made.shape() != extents)
    base::fail<shape_error>("{}: the initialiser {} gave {}, not {}", op, option, made.shape(),
                            extents);
  return made;
}

array widened(const array& a) { return is_narrow(a.dtype()) ? a.astype(dtype::f32) : a; }

array in_floats(const array& a) {
  const dtype type = a.dtype();
  return is_narrow(type) || is_integral(type) || is_bool(type) ? a.astype(dtype::f32) : a;
}

array narrowed(const array& a, dtype type) { return a.dtype() == type ? a : a.astype(type); }

shape joined(std::initializer_list<std::int64_t> first, const shape& rest) {
  shape out;
  for (const std::int64_t extent : first) out.push_back(extent);
  for (const std::int64_t extent : rest) out.push_back(extent);
  return out;
}

array reduced(const char* op, const array& losses, reduction how) {
  if (how == reduction::none) return losses;
  if (how == reduction::sum) return sum(losses);
  if (losses.size() == 0) base::fail<shape_error>("{}: no elements in {}", op, losses.shape());
  return mean(losses);
}

std::vector<array> steps_of(const array& sequence, int axis) {
  const vector_function forward = [axis](const std::vector<array>& of) {
    return unstack(of[0], axis);
  };
  const backward_function backward = [axis](const std::vector<array>&, const std::vector<array>&,
                                            const std::vector<array>& cotangents) {
    return std::vector<array>{stack(cotangents, axis)};
  };
  return custom_vjp(forward, backward)({sequence});
}

}  // namespace tutti::nn::detail
