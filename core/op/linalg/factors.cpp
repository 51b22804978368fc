// SPDX-License-Identifier: Apache-2.0
//
// Cholesky and LU factors, and solving with them. Cotangents in the comments are those of Giles,
// "An extended collection of matrix derivative results for forward and reverse mode algorithmic
// differentiation" (2008); here they are conjugated, following tutti/grad.hpp.
#include "op/linalg/factors.hpp"

#include "op/along.hpp"
#include "tutti/grad.hpp"
#include "tutti/movement.hpp"

namespace tutti::op {
namespace {

using arrays = std::vector<array>;

// `forward` of `arguments`, whose cotangents are computed by `backward`.
arrays with_rule(const arrays& arguments, vector_function forward, backward_function backward) {
  return custom_vjp(std::move(forward), std::move(backward))(arguments);
}

array matrix_operation(const graph::operator_params& p, const shape& extents,
                       const arrays& inputs) {
  arrays in_order;
  for (const array& a : inputs) in_order.push_back(contiguous(a));
  return graph::operation(p, inputs.back().dtype(), extents, in_order, p.label());
}

// Ones below the diagonal and halves on it: the part of a symmetric matrix in its factor.
array halved_triangle(const array& like) {
  const std::int64_t n = like.dim(-1);
  const array ones =
      broadcast_to(full({1, 1}, 1.0, real_dtype(like.dtype()), like.device()), {n, n});
  return tril(ones) - eye(n, ones.dtype(), like.device()) * 0.5;
}

// L^-H X L^-1
array between_inverses(const array& l, const array& x, const char* label) {
  const triangle adjoint_of{false, TUTTI_TRANSPOSE_CONJUGATE, false};
  const array left = triangular3(l, x, adjoint_of, label);
  return adjoint(triangular3(l, adjoint(left), adjoint_of, label));
}

array of_triangle(const array& cotangent, const triangle& how) {
  const std::int64_t strictly = how.unit_diagonal ? 1 : 0;
  return how.upper ? triu(cotangent, strictly) : tril(cotangent, -strictly);
}

// Solves with the transpose of op(a), without conjugation.
array triangular_transposed(const array& a, const array& b, triangle how, const char* label) {
  if (how.transpose == TUTTI_TRANSPOSE_CONJUGATE) {  // conj(a) x = b
    how.transpose = TUTTI_TRANSPOSE_NONE;
    return conj(triangular3(a, conj(b), how, label));
  }
  how.transpose =
      how.transpose == TUTTI_TRANSPOSE_NONE ? TUTTI_TRANSPOSE_PLAIN : TUTTI_TRANSPOSE_NONE;
  return triangular3(a, b, how, label);
}

}  // namespace

array adjoint(const array& a) { return conj(matrix_transpose(a)); }

array cholesky3(const array& a, bool upper, const char* label) {
  const graph::operator_params p(TUTTI_OPERATOR_CHOLESKY,
                                 tutti_matrix_params{0, upper, TUTTI_TRANSPOSE_NONE, 0, 0}, label);
  return with_rule(
      {a}, [=](const arrays& v) { return arrays{matrix_operation(p, v[0].shape(), v)}; },
      // L^-H phi(L^H dL) L^-1, made Hermitian
      [=](const arrays&, const arrays& values, const arrays& g) {
        const array l = upper ? adjoint(values[0]) : values[0];
        const array of_l = upper ? matrix_transpose(g[0]) : conj(g[0]);
        const array phi = matmul(adjoint(l), of_l) * halved_triangle(l);
        const array half = between_inverses(l, phi, label);
        return arrays{conj(half + adjoint(half)) * 0.5};
      })[0];
}

array triangular3(const array& a, const array& b, const triangle& how, const char* label) {
  const graph::operator_params p(
      TUTTI_OPERATOR_TRIANGULAR_SOLVE,
      tutti_matrix_params{0, how.upper, how.transpose, how.unit_diagonal, 0}, label);
  return with_rule(
      {a, b}, [=](const arrays& v) { return arrays{matrix_operation(p, v[1].shape(), v)}; },
      [=](const arrays& v, const arrays& values, const arrays& g) {
        const array of_b = triangular_transposed(v[0], g[0], how, label);
        array of_a = -matmul(of_b, matrix_transpose(values[0]));
        if (how.transpose != TUTTI_TRANSPOSE_NONE) of_a = matrix_transpose(of_a);
        if (how.transpose == TUTTI_TRANSPOSE_CONJUGATE) of_a = conj(of_a);
        return arrays{of_triangle(of_a, how), of_b};
      })[0];
}

packed_lu lu3(const array& a, bool must_be_regular, const char* label) {
  const graph::operator_params p(
      TUTTI_OPERATOR_LU, tutti_matrix_params{0, 0, TUTTI_TRANSPOSE_NONE, 0, must_be_regular},
      label);
  const shape& extents = a.shape();
  const arrays out = graph::call(p, {{a.dtype(), extents}, {dtype::i64, {extents[0], extents[1]}}},
                                 {contiguous(a)}, label);
  out[1].node()->range = {0, extents[1] - 1};
  return {out[0], out[1]};
}

array permuted_rows(const array& a, const array& rows) {
  const array index = expand_dims(rows, -1);
  return gather_along(a, contiguous(broadcast_to(index, a.shape())), 1);
}

namespace {

// For square matrices whose rows are in the order of the pivots.
arrays square_factors(const array& permuted, const array& factors, const char* label) {
  const std::int64_t n = permuted.dim(-1);
  return with_rule(
      {permuted, graph::detach(factors)},
      [=](const arrays& v) {
        const array one = eye(n, v[1].dtype(), v[1].device());
        return arrays{tril(v[1], -1) + one, triu(v[1])};
      },
      // L^-H (tril(L^H dL, -1) + triu(dU U^H)) U^-H
      [=](const arrays&, const arrays& values, const arrays& g) {
        const array &l = values[0], &u = values[1];
        const array middle =
            tril(matmul(adjoint(l), conj(g[0])), -1) + triu(matmul(conj(g[1]), adjoint(u)));
        const array left = triangular3(l, middle, {false, TUTTI_TRANSPOSE_CONJUGATE, true}, label);
        const array both =
            adjoint(triangular3(u, adjoint(left), {true, TUTTI_TRANSPOSE_NONE, false}, label));
        return arrays{conj(both), array()};
      });
}

}  // namespace

lu_factors factors3(const array& a, const char* label) {
  const std::int64_t m = a.dim(-2), n = a.dim(-1), k = std::min(m, n);
  const packed_lu found = lu3(a, false, label);
  const slice all;
  if (!graph::is_differentiated(a)) {
    const array one = eye(m, k, 0, a.dtype(), a.device());
    return {tril(found.factors({all, all, slice{0, k, 1}}), -1) + one,
            triu(found.factors({all, slice{0, k, 1}})), found.rows};
  }
  const array permuted = permuted_rows(a, found.rows);
  const slice first{0, k, 1}, rest{k, {}, 1};
  const arrays square =
      square_factors(permuted({all, first, first}), found.factors({all, first, first}), label);
  array lower = square[0], upper = square[1];
  if (m > k) {  // what is below: X U = A
    const array below = triangular3(upper, matrix_transpose(permuted({all, rest})),
                                    {true, TUTTI_TRANSPOSE_PLAIN, false}, label);
    lower = concatenate({lower, matrix_transpose(below)}, 1);
  } else if (n > k) {  // what is beside: L X = A
    const array beside =
        triangular3(lower, permuted({all, all, rest}), {false, TUTTI_TRANSPOSE_NONE, true}, label);
    upper = concatenate({upper, beside}, 2);
  }
  return {lower, upper, found.rows};
}

array solve3(const array& a, const array& b, const char* label) {
  return with_rule(
      {a, b},
      [=](const arrays& v) {
        const packed_lu lu = lu3(v[0], true, label);
        const array y = triangular3(lu.factors, permuted_rows(v[1], lu.rows),
                                    {false, TUTTI_TRANSPOSE_NONE, true}, label);
        return arrays{triangular3(lu.factors, y, {true, TUTTI_TRANSPOSE_NONE, false}, label)};
      },
      [=](const arrays& v, const arrays& values, const arrays& g) {
        const array of_b = solve3(matrix_transpose(v[0]), g[0], label);
        return arrays{-matmul(of_b, matrix_transpose(values[0])), of_b};
      })[0];
}

}  // namespace tutti::op
