// SPDX-License-Identifier: Apache-2.0
//
// Functions of decompositions: pseudo-inverses, ranks, norms, powers, the exponential.
#include <cmath>

#include "base/named_errors.hpp"
#include "op/linalg/factors.hpp"
#include "op/linalg/matrices.hpp"
#include "tutti/error.hpp"
#include "tutti/grad.hpp"
#include "tutti/linalg.hpp"
#include "tutti/movement.hpp"

namespace tutti::linalg {

using base::named;

namespace {

using arrays = std::vector<array>;

double relative_tolerance(const array& a, std::optional<double> given, std::string_view op) {
  if (given && !(*given >= 0)) base::fail<value_error>("{}: rtol is {}", op, *given);
  const auto longest = static_cast<double>(std::max(a.dim(-2), a.dim(-1)));
  return given ? *given : longest * finfo(real_dtype(a.dtype())).epsilon;
}

// Which singular values [..., K], descending, are taken as nonzero.
array counted(const array& s, double rtol) {
  return s > max(s, reduce_options(-1, keep_dims::yes)) * rtol;
}

// By the derivative of Golub and Pereyra, "The differentiation of pseudo-inverses and nonlinear
// least squares problems whose variables separate" (1973), which needs no distinct values.
array pseudo_inverse3(const array& a, double rtol, const char* label) {
  const auto rule = custom_vjp(
      [=](const arrays& v) {
        const op::singular_values f = op::svd3(v[0], true, false, label);
        const array large = counted(f.s, rtol);
        const array inverse = where(large, 1 / where(large, f.s, 1), 0);
        return arrays{matmul(op::adjoint(f.vh) * expand_dims(inverse, -2), op::adjoint(f.u))};
      },
      [](const arrays& v, const arrays& values, const arrays& g) {
        const array &x = v[0], &p = values[0];
        const array ph = op::adjoint(p), gh = matrix_transpose(g[0]), back = conj(g[0]);
        const array rows = matmul(gh, matmul(p, ph)), columns = matmul(matmul(ph, p), gh);
        const array of_x = rows - matmul(x, matmul(p, rows)) + columns -
                           matmul(matmul(columns, p), x) - matmul(matmul(ph, back), ph);
        return arrays{conj(of_x)};
      });
  return rule({a})[0];
}

array norm_of_values(const array& x, matrix_order order) {
  const array s = svdvals(x);
  if (order == matrix_order::nuclear) return sum(s, -1);
  return order == matrix_order::two ? max(s, -1) : min(s, -1);
}

array norm_of_sums(const array& x, matrix_order order) {
  const bool columns = order == matrix_order::one || order == matrix_order::minus_one;
  const array sums = sum(abs(x), columns ? -2 : -1);
  const bool largest = order == matrix_order::one || order == matrix_order::infinity;
  return largest ? max(sums, -1) : min(sums, -1);
}

// Coefficients of the approximant of degree 13 and the norm up to which it is exact in f64.
constexpr double pade[] = {64764752532480000.,
                           32382376266240000.,
                           7771770303897600.,
                           1187353796428800.,
                           129060195264000.,
                           10559470521600.,
                           670442572800.,
                           33522128640.,
                           1323241920.,
                           40840800.,
                           960960.,
                           16380.,
                           182.,
                           1.};
constexpr double most_norm = 5.371920351148152;

// r(x) = (v - u)^-1 (v + u), with odd powers in u.
array approximant(const array& x) {
  const array one = op::identities(x, x.dim(-1));
  const array x2 = matmul(x, x), x4 = matmul(x2, x2), x6 = matmul(x4, x2);
  const auto part = [&](int first) {
    const auto c = [&](int degree) { return pade[first + degree]; };
    const array high = x6 * c(12) + x4 * c(10) + x2 * c(8);
    return matmul(x6, high) + x6 * c(6) + x4 * c(4) + x2 * c(2) + one * c(0);
  };
  const array u = matmul(x, part(1)), v = part(0);
  return op::unfolded(op::solve3(op::folded(v - u), op::folded(v + u), "expm"), op::batch_of(x));
}

}  // namespace

array pinv(const array& x, std::optional<double> rtol) {
  return named("pinv", [&]() -> array {
    const array a = op::as_matrices(x, "pinv");
    const double cut = relative_tolerance(a, rtol, "pinv");
    const shape batch = op::batch_of(a);
    if (a.size() == 0) return op::nothing_like(a, op::joined(batch, a.dim(-1), a.dim(-2)));
    return op::unfolded(pseudo_inverse3(op::folded(a), cut, "pinv"), batch);
  });
}

array matrix_rank(const array& x, std::optional<double> rtol) {
  return named("matrix_rank", [&]() -> array {
    const array a = op::as_matrices(x, "matrix_rank");
    const double cut = relative_tolerance(a, rtol, "matrix_rank");
    const array s = svdvals(stop_gradient(a));
    if (s.size() == 0) return sum(astype(s, dtype::i64), -1);
    return sum(astype(counted(s, cut), dtype::i64), -1);
  });
}

array matrix_power(const array& x, std::int64_t n) {
  return named("matrix_power", [&]() -> array {
    array base = op::as_square(x, "matrix_power");
    if (n == 0) return op::identities(base, base.dim(-1));
    if (n < 0) base = inv(base);
    array result;
    for (std::uint64_t left = n < 0 ? 0 - static_cast<std::uint64_t>(n)
                                    : static_cast<std::uint64_t>(n);
         left > 0; left /= 2) {
      if (left % 2 == 1) result = result.valid() ? matmul(result, base) : base;
      if (left > 1) base = matmul(base, base);
    }
    return result;
  });
}

array matrix_norm(const array& x, matrix_order order, bool keepdims) {
  return named("matrix_norm", [&]() -> array {
    const array a = op::as_matrices(x, "matrix_norm");
    const bool sums = order == matrix_order::frobenius || order == matrix_order::nuclear;
    if (!sums && (a.dim(-1) == 0 || a.dim(-2) == 0))
      base::fail<shape_error>("matrix_norm: no norm of this order of an empty matrix: {}",
                              a.shape());
    const bool values = order == matrix_order::nuclear || order == matrix_order::two ||
                        order == matrix_order::minus_two;
    const array found = order == matrix_order::frobenius ? sqrt(sum(square(abs(a)), {-2, -1}))
                        : values                         ? norm_of_values(a, order)
                                                         : norm_of_sums(a, order);
    return keepdims ? expand_dims(found, {-2, -1}) : found;
  });
}

array cond(const array& x, matrix_order order) {
  return named("cond", [&]() -> array {
    const array a = op::as_matrices(x, "cond");
    if (order != matrix_order::two && order != matrix_order::minus_two) {
      op::require_square(a, "cond");
      return matrix_norm(a, order) * matrix_norm(inv(a), order);
    }
    if (a.dim(-1) == 0 || a.dim(-2) == 0)
      base::fail<shape_error>("cond: an empty matrix has no condition: {}", a.shape());
    const array s = svdvals(a);
    const array largest = max(s, -1), smallest = min(s, -1);
    const array ratio = order == matrix_order::two ? largest / smallest : smallest / largest;
    // 0 / 0 for a matrix of zeros is infinite, as in NumPy; NaN for a matrix with NaN is kept.
    return where(isnan(ratio) & !any(isnan(a), {-2, -1}), HUGE_VAL, ratio);
  });
}

lstsq_result lstsq(const array& a, const array& b, std::optional<double> rtol) {
  return named("lstsq", [&]() -> lstsq_result {
    const dtype type = op::promote_operands({a, b}, op::row_kind::FLOATING, "lstsq").type;
    const array x = op::as_matrices(op::cast(a, type, "lstsq"), "lstsq");
    const double cut = relative_tolerance(x, rtol, "lstsq");
    const bool of_vector = b.ndim() == 1;
    array right = op::cast(b, type, "lstsq");
    if (of_vector) right = expand_dims(right, -1);
    right = op::as_matrices(right, "lstsq");
    if (right.dim(-2) != x.dim(-2))
      base::fail<shape_error>("lstsq: the right side {} does not fit the matrices {}", b.shape(),
                              a.shape());
    array solution = matmul(pinv(x, cut), right);
    array residuals = sum(square(abs(right - matmul(x, solution))), -2);
    if (of_vector) solution = squeeze(solution, -1), residuals = squeeze(residuals, -1);
    const array values = svdvals(stop_gradient(x));
    return {solution, residuals, matrix_rank(x, cut), values};
  });
}

array expm(const array& x) {
  return named("expm", [&]() -> array {
    const array a = op::as_square(x, "expm");
    if (a.size() == 0) return op::nothing_like(a, a.shape());
    const array norms = matrix_norm(stop_gradient(a), matrix_order::one);
    const double norm = max(norms, reduce_options()).item();
    int squarings = 0;
    if (std::isfinite(norm) && norm > most_norm) squarings = std::ilogb(norm / most_norm) + 1;
    array result = approximant(a * std::ldexp(1.0, -squarings));
    for (int i = 0; i < squarings; ++i) result = matmul(result, result);
    return result;
  });
}

}  // namespace tutti::linalg
