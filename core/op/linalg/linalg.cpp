// SPDX-License-Identifier: Apache-2.0
//
// Factors, solutions and decompositions: operands reshaped to [B,M,N] and back.
#include "tutti/linalg.hpp"

#include <type_traits>

#include "base/named_errors.hpp"
#include "op/linalg/factors.hpp"
#include "op/linalg/matrices.hpp"
#include "tutti/error.hpp"
#include "tutti/grad.hpp"
#include "tutti/movement.hpp"

namespace tutti::linalg {

using base::named;

namespace {

using arrays = std::vector<array>;

constexpr const char* name_of_solve = "solve";

// Two operands with one dtype and batch; the second may be one vector.
struct system {
  array a, b;
  shape batch;
  bool of_vector;
};

system system_of(const array& a, const array& b, std::string_view op) {
  const dtype type = op::promote_operands({a, b}, op::row_kind::FLOATING, op).type;
  system s{op::as_square(op::cast(a, type, op), op), op::cast(b, type, op), {}, false};
  s.of_vector = s.b.ndim() == 1;
  if (s.of_vector) s.b = expand_dims(s.b, -1);
  s.b = op::as_matrices(s.b, op);
  if (s.a.dim(-1) != s.b.dim(-2))
    base::fail<shape_error>("{}: the right side {} does not fit the matrices {}", op, b.shape(),
                            a.shape());
  s.batch = broadcast_shapes(op::batch_of(s.a), op::batch_of(s.b), op);
  const std::int64_t n = s.a.dim(-1), k = s.b.dim(-1);
  s.a = broadcast_to(s.a, op::joined(s.batch, n, n));
  s.b = broadcast_to(s.b, op::joined(s.batch, n, k));
  return s;
}

// `solution` of the reshaped operands.
template <class F>
array solution_of(const system& s, F&& solution) {
  const array x = s.b.size() == 0 || s.a.size() == 0
                      ? op::nothing_like(s.b, s.b.shape())
                      : op::unfolded(solution(op::folded(s.a), op::folded(s.b)), s.batch);
  return s.of_vector ? squeeze(x, -1) : x;
}

// 1 for even permutations, -1 for odd ones: by the number of pairs out of order.
array sign_of(const array& rows, dtype type) {
  const array inverted = astype(expand_dims(rows, -1) > expand_dims(rows, -2), dtype::i32);
  const array odd = remainder(sum(triu(inverted, 1), {-2, -1}), 2);
  return astype(1 - 2 * odd, type);
}

array diagonal_of(const array& a) { return diagonal(a, 0, -2, -1); }

array transposed_inverse(const array& a, const char* label) {
  const array one = broadcast_to(eye(a.dim(-1), a.dtype(), a.device()), a.shape());
  return op::solve3(matrix_transpose(a), one, label);
}

}  // namespace

array cholesky(const array& x, bool upper) {
  return named("cholesky", [&]() -> array {
    const array a = op::as_square(x, "cholesky");
    if (a.size() == 0) return op::nothing_like(a, a.shape());
    return op::unfolded(op::cholesky3(op::folded(a), upper, "cholesky"), op::batch_of(a));
  });
}

array solve(const array& x1, const array& x2) {
  return named("solve", [&]() -> array {
    return solution_of(system_of(x1, x2, name_of_solve), [](const array& a, const array& b) {
      return op::solve3(a, b, name_of_solve);
    });
  });
}

array triangular_solve(const array& a, const array& b, const triangular_options& options) {
  return named("triangular_solve", [&]() -> array {
    static constexpr const char* name = "triangular_solve";
    const op::triangle how{options.upper, static_cast<tutti_transpose>(options.transpose),
                           options.unit_diagonal};
    return solution_of(system_of(a, b, name), [&](const array& left, const array& right) {
      return op::triangular3(left, right, how, name);
    });
  });
}

lu_result lu(const array& x) {
  return named("lu", [&]() -> lu_result {
    const array a = op::as_matrices(x, "lu");
    const shape batch = op::batch_of(a);
    const std::int64_t m = a.dim(-2), n = a.dim(-1), k = std::min(m, n);
    if (a.size() == 0) {
      const array rows = broadcast_to(graph::iota({m}, a.node()->device), op::joined(batch, m));
      return {rows, op::nothing_like(a, op::joined(batch, m, k)),
              op::nothing_like(a, op::joined(batch, k, n))};
    }
    const op::lu_factors f = op::factors3(op::folded(a), "lu");
    return {op::unfolded(f.rows, batch), op::unfolded(f.lower, batch),
            op::unfolded(f.upper, batch)};
  });
}

qr_result qr(const array& x, qr_mode mode) {
  return named("qr", [&]() -> qr_result {
    const array a = op::as_matrices(x, "qr");
    const shape batch = op::batch_of(a);
    const bool complete = mode == qr_mode::complete;
    const std::int64_t m = a.dim(-2), n = a.dim(-1), k = complete ? m : std::min(m, n);
    if (a.size() == 0) {
      return {complete ? op::identities(a, m) : op::nothing_like(a, op::joined(batch, m, k)),
              op::nothing_like(a, op::joined(batch, k, n))};
    }
    const auto [q, r] = op::qr3(op::folded(a), complete, "qr");
    return {op::unfolded(q, batch), op::unfolded(r, batch)};
  });
}

namespace {

template <class Result>
Result eigen_of(const array& x, bool vectors, const char* label) {
  constexpr bool is_hermitian = std::is_same_v<Result, eigh_result>;
  return named(label, [&]() -> Result {
    const array a = op::as_square(x, label);
    const shape batch = op::batch_of(a);
    if (a.size() == 0) {
      const array none = is_hermitian ? a : astype(a, complex_dtype(a.dtype()));
      const array values = op::nothing_like(none, op::joined(batch, a.dim(-1)));
      return {is_hermitian ? real(values) : values, op::nothing_like(none, a.shape())};
    }
    const auto [w, v] = (is_hermitian ? op::eigh3 : op::eig3)(op::folded(a), vectors, label);
    return {op::unfolded(w, batch), vectors ? op::unfolded(v, batch) : array()};
  });
}

}  // namespace

eigh_result eigh(const array& x) { return eigen_of<eigh_result>(x, true, "eigh"); }

array eigvalsh(const array& x) { return eigen_of<eigh_result>(x, false, "eigvalsh").eigenvalues; }

eig_result eig(const array& x) { return eigen_of<eig_result>(x, true, "eig"); }

array eigvals(const array& x) { return eigen_of<eig_result>(x, false, "eigvals").eigenvalues; }

svd_result svd(const array& x, bool full_matrices) {
  return named("svd", [&]() -> svd_result {
    const array a = op::as_matrices(x, "svd");
    const shape batch = op::batch_of(a);
    const std::int64_t m = a.dim(-2), n = a.dim(-1), k = std::min(m, n);
    if (a.size() == 0) {
      const array s = real(op::nothing_like(a, op::joined(batch, k)));
      if (full_matrices) return {op::identities(a, m), s, op::identities(a, n)};
      return {op::nothing_like(a, op::joined(batch, m, k)), s,
              op::nothing_like(a, op::joined(batch, k, n))};
    }
    const op::singular_values f = op::svd3(op::folded(a), true, full_matrices, "svd");
    return {op::unfolded(f.u, batch), op::unfolded(f.s, batch), op::unfolded(f.vh, batch)};
  });
}

array svdvals(const array& x) {
  return named("svdvals", [&]() -> array {
    const array a = op::as_matrices(x, "svdvals");
    const shape batch = op::batch_of(a);
    if (a.size() == 0)
      return real(op::nothing_like(a, op::joined(batch, std::min(a.dim(-2), a.dim(-1)))));
    return op::unfolded(op::svd3(op::folded(a), false, false, "svdvals").s, batch);
  });
}

array inv(const array& x) {
  return named("inv", [&]() -> array {
    const array a = op::as_square(x, "inv");
    if (a.size() == 0) return op::nothing_like(a, a.shape());
    const array one = op::folded(op::identities(a, a.dim(-1)));
    return op::unfolded(op::solve3(op::folded(a), one, "inv"), op::batch_of(a));
  });
}

array det(const array& x) {
  return named("det", [&]() -> array {
    const array a = op::as_square(x, "det");
    if (a.size() == 0) return ones_like(sum(a, {-2, -1}));
    const auto rule = custom_vjp(
        [](const arrays& v) {
          const op::packed_lu f = op::lu3(v[0], false, "det");
          return arrays{prod(diagonal_of(f.factors), -1) * sign_of(f.rows, v[0].dtype())};
        },
        [](const arrays& v, const arrays& values, const arrays& g) {
          const array scale = expand_dims(g[0] * values[0], {-2, -1});
          return arrays{scale * transposed_inverse(v[0], "det")};
        });
    return op::unfolded(rule({op::folded(a)})[0], op::batch_of(a));
  });
}

slogdet_result slogdet(const array& x) {
  return named("slogdet", [&]() -> slogdet_result {
    const array a = op::as_square(x, "slogdet");
    const array total = sum(a, {-2, -1});
    if (a.size() == 0) return {ones_like(total), zeros_like(real(total))};
    const auto rule = custom_vjp(
        [](const arrays& v) {
          const op::packed_lu f = op::lu3(v[0], false, "slogdet");
          const array pivots = diagonal_of(f.factors);
          return arrays{prod(sign(pivots), -1) * sign_of(f.rows, v[0].dtype()),
                        sum(log(abs(pivots)), -1)};
        },
        // d log|det| + i d arg(det) = tr(a^-1 da)
        [](const arrays& v, const arrays& values, const arrays& g) {
          const bool complex_sign = is_complex(v[0].dtype());
          const array scale = complex_sign ? tutti::complex(g[1], imag(g[0] * values[0])) : g[1];
          return arrays{expand_dims(scale, {-2, -1}) * transposed_inverse(v[0], "slogdet")};
        });
    const arrays both = rule({op::folded(a)});
    const shape batch = op::batch_of(a);
    return {op::unfolded(both[0], batch), op::unfolded(both[1], batch)};
  });
}

}  // namespace tutti::linalg
