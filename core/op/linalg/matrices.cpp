// SPDX-License-Identifier: Apache-2.0
#include "op/linalg/matrices.hpp"

#include <string>

#include "tutti/error.hpp"

namespace tutti::op {

array as_matrices(const array& a, std::string_view op) {
  const dtype type = floating_type_of(a, op);
  if (type == dtype::f16 || type == dtype::bf16)
    base::fail<dtype_error>("{}: {} is not supported; convert to f32", op, type);
  if (a.ndim() < 2)
    base::fail<shape_error>("{}: a matrix has two dimensions at least, not {}", op, a.shape());
  return cast(a, type, op);
}

void require_square(const array& a, std::string_view op) {
  if (a.dim(-2) != a.dim(-1))
    base::fail<shape_error>("{}: the matrices are not square: {}", op, a.shape());
}

array as_square(const array& a, std::string_view op) {
  const array found = as_matrices(a, op);
  require_square(found, op);
  return found;
}

shape batch_of(const array& a, int last) {
  const shape& s = a.shape();
  return shape(std::span(s.begin(), s.end() - last));
}

shape joined(const shape& batch, std::int64_t rows, std::int64_t columns) {
  return with_rest(batch, {rows, columns}, 0);
}

shape joined(const shape& batch, std::int64_t length) { return with_rest(batch, {length}, 0); }

array folded(const array& a) { return reshape(a, {batch_of(a).size(), a.dim(-2), a.dim(-1)}); }

array unfolded(const array& a, const shape& batch) {
  return reshape(a, with_rest(batch, a.shape(), 1));
}

array nothing_like(const array& a, const shape& extents) {
  return zeros_on(extents, a.dtype(), a.node()->device);
}

array identities(const array& a, std::int64_t n) {
  return broadcast_to(eye(n, a.dtype(), a.device()), joined(batch_of(a), n, n));
}

}  // namespace tutti::op
