// SPDX-License-Identifier: Apache-2.0
//
// QR, eigenvalues and singular values, and their gradients: Giles (2008) as factors.cpp; of QR
// Walter and Lehmann, "Algorithmic Differentiation of Linear Algebra Functions with Application in
// Optimum Experimental Design" (2010); of the SVD Wan and Zhang, "Automatic Differentiation for
// Complex Valued SVD" (2019).
#include "op/linalg/factors.hpp"
#include "tutti/error.hpp"
#include "tutti/grad.hpp"
#include "tutti/movement.hpp"

namespace tutti::op {
namespace {

using arrays = std::vector<array>;

arrays matrix_call(tutti_operator number, graph::call_results::types results, const array& a,
                   const char* label) {
  return graph::call(graph::operator_params(number, label), std::move(results), {contiguous(a)},
                     label);
}

array row_values(tutti_operator number, const array& a, dtype type, std::int64_t count,
                 const char* label) {
  return graph::operation(graph::operator_params(number, label), type, {a.shape()[0], count},
                          {contiguous(a)}, label);
}

array ones_on_diagonal(std::int64_t n, const array& like) {
  return eye(n, real_dtype(like.dtype()), like.device());
}
array ones_on_diagonal(const array& like) { return ones_on_diagonal(like.dim(-1), like); }

// a diag(w), for w [B,N]
array scaled_columns(const array& a, const array& w) { return a * expand_dims(w, -2); }
array scaled_rows(const array& w, const array& a) { return expand_dims(w, -1) * a; }

// x / (w_j - w_i) off the diagonal, 0 on it.
array over_differences(const array& x, const array& w) {
  const array on = ones_on_diagonal(x) == 1;
  const array apart = expand_dims(w, -2) - expand_dims(w, -1);
  return where(on, 0, x / where(on, 1, apart));
}

// The cotangent of Q R = a with m >= n.
array qr_cotangent(const array& q, const array& r, const array& of_q, const array& of_r,
                   const char* label) {
  const array inner = triu(matmul(of_r, adjoint(r)) - matmul(adjoint(q), of_q));
  const array one = ones_on_diagonal(inner);
  const array both = inner + adjoint(inner);
  const array whole = both - both * one * 0.5;
  const array left = of_q + matmul(q, whole);
  // left R^-H
  return adjoint(triangular3(r, adjoint(left), {true, TUTTI_TRANSPOSE_NONE, false}, label));
}

std::pair<array, array> tall_qr(const array& a, const char* label) {
  const std::int64_t batch = a.shape()[0], m = a.dim(-2), n = a.dim(-1);
  const arrays both = custom_vjp(
      [=](const arrays& v) {
        return matrix_call(TUTTI_OPERATOR_QR,
                           {{v[0].dtype(), {batch, m, n}}, {v[0].dtype(), {batch, n, n}}}, v[0],
                           label);
      },
      [=](const arrays&, const arrays& values, const arrays& g) {
        return arrays{conj(qr_cotangent(values[0], values[1], conj(g[0]), conj(g[1]), label))};
      })({a});
  return {both[0], both[1]};
}

}  // namespace

std::pair<array, array> qr3(const array& a, bool complete, const char* label) {
  const std::int64_t batch = a.shape()[0], m = a.dim(-2), n = a.dim(-1);
  const bool square = complete ? m <= n : true;
  if (graph::is_differentiated(a)) {
    if (!square)
      base::fail<value_error>("{}: the complete form of {} has no gradient, the reduced one has",
                              label, a.shape());
    if (m >= n) return tall_qr(a, label);
    const slice all;
    const auto [q, first] = tall_qr(a({all, all, slice{0, m, 1}}), label);
    const array rest = matmul(adjoint(q), a({all, all, slice{m, {}, 1}}));
    return {q, concatenate({first, rest}, 2)};
  }
  const std::int64_t k = complete ? m : std::min(m, n);
  const arrays both = matrix_call(
      TUTTI_OPERATOR_QR, {{a.dtype(), {batch, m, k}}, {a.dtype(), {batch, k, n}}}, a, label);
  return {both[0], both[1]};
}

std::pair<array, array> eigh3(const array& a, bool vectors, const char* label) {
  const std::int64_t batch = a.shape()[0], n = a.dim(-1);
  const dtype real = real_dtype(a.dtype());
  // The gradient of eigenvalues alone also needs the vectors.
  if (!vectors && !graph::is_differentiated(a))
    return {row_values(TUTTI_OPERATOR_EIGH, a, real, n, label), array()};
  const arrays both = custom_vjp(
      [=](const arrays& v) {
        return matrix_call(TUTTI_OPERATOR_EIGH, {{real, {batch, n}}, {v[0].dtype(), v[0].shape()}},
                           v[0], label);
      },
      // V (diag(dw) + V^H dV / (w_j - w_i)) V^H, made Hermitian
      [=](const arrays&, const arrays& values, const arrays& g) {
        const array &w = values[0], &v = values[1];
        array inner = expand_dims(g[0], -1) * ones_on_diagonal(v);
        if (!is_known_zero(g[1]))
          inner = inner + over_differences(matmul(adjoint(v), conj(g[1])), w);
        const array whole = matmul(matmul(v, inner), adjoint(v));
        return arrays{conj(whole + adjoint(whole)) * 0.5};
      })({a});
  return {both[0], both[1]};
}

std::pair<array, array> eig3(const array& a, bool vectors, const char* label) {
  const std::int64_t batch = a.shape()[0], n = a.dim(-1);
  const dtype type = complex_dtype(a.dtype());
  if (!vectors && !graph::is_differentiated(a))
    return {row_values(TUTTI_OPERATOR_EIG, a, type, n, label), array()};
  const arrays both = custom_vjp(
      [=](const arrays& v) {
        return matrix_call(TUTTI_OPERATOR_EIG, {{type, {batch, n}}, {type, v[0].shape()}}, v[0],
                           label);
      },
      // V^-H (diag(dw) + (V^H dV - V^H V diag(Re(V^H dV))) / conj(w_j - w_i)) V^H
      [=](const arrays& of, const arrays& values, const arrays& g) {
        const array &w = values[0], &v = values[1];
        const array one = ones_on_diagonal(v), turned = adjoint(v);
        array inner = expand_dims(conj(g[0]), -1) * one;
        if (!is_known_zero(g[1])) {
          const array by_v = matmul(turned, conj(g[1]));
          // Vectors keep their length.
          const array along = scaled_columns(matmul(turned, v), sum(tutti::real(by_v) * one, -2));
          inner = inner + over_differences(by_v - along, conj(w));
        }
        const array whole = solve3(turned, matmul(inner, turned), label);
        return arrays{is_complex(of[0].dtype()) ? conj(whole) : tutti::real(whole)};
      })({a});
  return {both[0], both[1]};
}

namespace {

// x - p p^H x, of columns.
array beside(const array& x, const array& p) { return x - matmul(p, matmul(adjoint(p), x)); }

array svd_cotangent(const singular_values& f, const array& of_u, const array& of_s,
                    const array& of_vh) {
  const array &u = f.u, &s = f.s;
  const array one = ones_on_diagonal(f.s.dim(-1), s);
  array inner = expand_dims(of_s, -1) * one;
  if (is_known_zero(of_u) && is_known_zero(of_vh)) return matmul(matmul(u, inner), f.vh);
  const array v = adjoint(f.vh), of_v = adjoint(of_vh);
  const array squares = s * s;
  const array by_u = matmul(adjoint(u), of_u), by_v = matmul(adjoint(v), of_v);
  inner = inner + scaled_columns(over_differences(by_u - adjoint(by_u), squares), s) +
          scaled_rows(s, over_differences(by_v - adjoint(by_v), squares));
  if (is_complex(u.dtype()))  // the phase that u and v share
    inner = inner + (by_u - conj(by_u)) * one * 0.5 / expand_dims(s, -1);
  array whole = matmul(matmul(u, inner), f.vh);
  const std::int64_t k = s.dim(-1);
  if (u.dim(-2) > k) whole = whole + matmul(beside(of_u, u) / expand_dims(s, -2), f.vh);
  if (f.vh.dim(-1) > k) whole = whole + matmul(u / expand_dims(s, -2), adjoint(beside(of_v, v)));
  return whole;
}

}  // namespace

singular_values svd3(const array& a, bool vectors, bool full, const char* label) {
  const std::int64_t batch = a.shape()[0], m = a.dim(-2), n = a.dim(-1), least = std::min(m, n);
  const dtype type = a.dtype(), real = real_dtype(type);
  const bool differentiated = graph::is_differentiated(a);
  if (!vectors && !differentiated)
    return {array(), row_values(TUTTI_OPERATOR_SVD, a, real, least, label), array()};
  if (full && differentiated && m != n)
    base::fail<value_error>("{}: the full form of {} has no gradient, the reduced one has", label,
                            a.shape());
  const std::int64_t k = full ? m : least, l = full ? n : least;
  const arrays parts = custom_vjp(
      [=](const arrays& v) {
        return matrix_call(TUTTI_OPERATOR_SVD,
                           {{type, {batch, m, k}}, {real, {batch, least}}, {type, {batch, l, n}}},
                           v[0], label);
      },
      [=](const arrays&, const arrays& values, const arrays& g) {
        return arrays{
            conj(svd_cotangent({values[0], values[1], values[2]}, conj(g[0]), g[1], conj(g[2])))};
      })({a});
  return {parts[0], parts[1], parts[2]};
}

}  // namespace tutti::op
