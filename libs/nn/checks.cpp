// SPDX-License-Identifier: Apache-2.0
#include "nn/checks.hpp"

#include <fmt/format.h>

#include "tutti/error.hpp"

namespace tutti::nn::detail {

void require_positive(const char* op, const char* what, std::int64_t value) {
  if (value < 1) throw value_error(fmt::format("{}: {} must be positive, got {}", op, what, value));
}

void require_option(bool good, const char* op, const char* option, double value) {
  if (!good) throw value_error(fmt::format("{}: {} = {} is out of range", op, option, value));
}

void require_floating(const char* op, const char* what, dtype type) {
  if (!is_floating(type))
    throw dtype_error(fmt::format("{}: {} must be floating, got {}", op, what, name(type)));
}

array initial_values(const char* op, const char* option, const initializer& init, random::key key,
                     const shape& extents, dtype type, const device& on) {
  if (!init) throw value_error(fmt::format("{}: the initialiser {} is empty", op, option));
  const array made = init(key, extents, type, on);
  if (!made.valid())
    throw value_error(fmt::format("{}: the initialiser {} gave no array", op, option));
  if (made.shape() != extents)
    throw shape_error(fmt::format("{}: the initialiser {} gave {}, not {}", op, option,
                                  made.shape().str(), extents.str()));
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

}  // namespace tutti::nn::detail
