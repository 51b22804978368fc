// SPDX-License-Identifier: Apache-2.0
//
// Cholesky, LU and QR factors and triangular systems, compared with their definition in long
// double: residuals and orthonormality within the bounds of LAPACK's tests, zeros outside of
// triangles, and NaN in elements that must not be read.
#include <algorithm>

#include "matrices.hpp"

namespace tutti::conformance {
namespace {

// ---- Cholesky

template <typename W>
wide_matrix<W> positive_definite(uint64_t size, generator& random) {
  const wide_matrix<W> g = random_matrix<W>(size, size, random);
  wide_matrix<W> a = multiply(g, adjoint(g));
  for (uint64_t i = 0; i < size; ++i) a(i, i) = std::real(a(i, i)) + 0.25L;
  return a;
}

template <typename S>
void judge_cholesky(const wide_matrix<wide_of<S>>& a, const wide_matrix<wide_of<S>>& found,
                    bool upper, const std::string& what) {
  const auto lower = upper ? adjoint(found) : found;
  for (uint64_t i = 0; i < a.rows(); ++i) {
    require(std::imag(lower(i, i)) == 0 && std::real(lower(i, i)) > 0,
            "{}: the diagonal is not positive", what);
    for (uint64_t j = i + 1; j < a.rows(); ++j)
      require(lower(i, j) == wide_of<S>(0), "{}: the other triangle is not 0", what);
  }
  require_small<S>(distance(a, multiply(lower, adjoint(lower))), norm(a), a.rows(), what);
}

template <typename S>
void check_cholesky(session& s, bool upper) {
  generator random(s.seed);
  for (const batch_of_squares& c : squares) {
    s.note(text_of(c));
    const extents extent = {c.batch, c.size, c.size};
    matrix_call call{TUTTI_OPERATOR_CHOLESKY,
                     1,
                     {packed_view(dtype_of<S>(), extent), packed_view(dtype_of<S>(), extent)}};
    call.params.upper = upper ? 1 : 0;
    std::vector<wide_matrix<wide_of<S>>> given;
    for (uint64_t b = 0; b < c.batch; ++b) {
      store<S>(call.views[1], b, positive_definite<wide_of<S>>(c.size, random));
      given.push_back(load<S>(call.views[1], b));
    }
    spoil_triangle<S>(call.views[1], !upper);
    call.run(s);
    for (uint64_t b = 0; b < c.batch; ++b)
      judge_cholesky<S>(given[b], load<S>(call.views[0], b), upper, text_of(text_of(c), b));
  }
}

// ---- triangular systems

struct triangle {
  bool upper;
  tutti_transpose transpose;
  bool unit;
};

template <typename W>
wide_matrix<W> applied(const wide_matrix<W>& a, tutti_transpose how) {
  if (how == TUTTI_TRANSPOSE_NONE) return a;
  return how == TUTTI_TRANSPOSE_PLAIN ? transpose(a) : adjoint(a);
}

// Diagonally dominant, so that the solution does not grow; first on the diagonal is i or 1.
template <typename W>
wide_matrix<W> random_triangle(uint64_t size, const triangle& t, generator& random) {
  wide_matrix<W> a(size, size);
  for (uint64_t i = 0; i < size; ++i)
    for (uint64_t j = 0; j < size; ++j) {
      const W x = random_number<W>(random);
      if (i == j)
        a(i, i) = t.unit ? W(1) : x + (std::real(x) < 0 ? W(-1) : W(1));
      else if (t.upper == (j > i))
        a(i, j) = x / static_cast<long double>(size);
    }
  if constexpr (std::is_same_v<W, wide_complex>)
    if (!t.unit) a(0, 0) = {0, 1};
  return a;
}

// Each column of `x` separately, so that a large one does not hide a small one.
template <typename S>
void judge_solution(const wide_matrix<wide_of<S>>& a, const wide_matrix<wide_of<S>>& x,
                    const wide_matrix<wide_of<S>>& b, const std::string& what) {
  const auto product = multiply(a, x);
  const long double scale = norm(a);
  for (uint64_t j = 0; j < x.columns(); ++j) {
    long double error = 0, length = 0;
    for (uint64_t i = 0; i < x.rows(); ++i) {
      error += std::abs(product(i, j) - b(i, j));
      length += std::abs(x(i, j));
    }
    require_small<S>(error, scale * length, x.rows(), what + ", column " + std::to_string(j));
  }
}

template <typename S>
void check_triangle(session& s, const batch_of_squares& c, uint64_t columns, const triangle& t,
                    generator& random) {
  using W = wide_of<S>;
  const uint8_t dtype = dtype_of<S>();
  const std::string what = text_of(c) + " for " + std::to_string(columns) + " columns" +
                           (t.unit ? ", unit diagonal" : "") + ", transpose " +
                           std::to_string(t.transpose);
  s.note(what);
  const extents sides = {c.batch, c.size, columns};
  matrix_call call{TUTTI_OPERATOR_TRIANGULAR_SOLVE,
                   1,
                   {packed_view(dtype, sides), packed_view(dtype, {c.batch, c.size, c.size}),
                    packed_view(dtype, sides)}};
  call.params = {sizeof call.params, t.upper ? 1u : 0u, t.transpose, t.unit ? 1u : 0u, 0};
  std::vector<wide_matrix<W>> given;
  for (uint64_t b = 0; b < c.batch; ++b) {
    store<S>(call.views[1], b, random_triangle<W>(c.size, t, random));
    given.push_back(load<S>(call.views[1], b));
    wide_matrix<W> side = random_matrix<W>(c.size, columns, random);
    for (uint64_t i = 0; i < c.size; ++i) side(i, columns - 1) *= 4096;
    store<S>(call.views[2], b, side);
    for (uint64_t i = 0; i < c.size && t.unit; ++i)
      *element_of<S>(call.views[1], (b * c.size + i) * c.size + i) = not_a_number<S>();
  }
  spoil_triangle<S>(call.views[1], !t.upper);
  call.run(s);
  for (uint64_t b = 0; b < c.batch; ++b)
    judge_solution<S>(applied(given[b], t.transpose), load<S>(call.views[0], b),
                      load<S>(call.views[2], b), text_of(what, b));
}

template <typename S>
void check_triangles(session& s, bool upper) {
  generator random(s.seed);
  for (const tutti_transpose transpose :
       {TUTTI_TRANSPOSE_NONE, TUTTI_TRANSPOSE_PLAIN, TUTTI_TRANSPOSE_CONJUGATE})
    for (const bool unit : {false, true})
      for (const batch_of_squares& c : squares)
        for (const uint64_t columns : {uint64_t{1}, uint64_t{5}, uint64_t{38}})
          if (columns < 38 || c.size > 30)
            check_triangle<S>(s, c, columns, {upper, transpose, unit}, random);
}

// ---- LU

long double size_of_pivot(long double x) { return std::fabs(x); }
long double size_of_pivot(const wide_complex& x) {
  return std::fabs(x.real()) + std::fabs(x.imag());
}

template <typename W>
wide_matrix<W> picked_rows(const wide_matrix<W>& a, view_spec& rows, uint64_t batch) {
  wide_matrix<W> out(a.rows(), a.columns());
  std::vector<bool> seen(a.rows());
  for (uint64_t i = 0; i < a.rows(); ++i) {
    const int64_t row = *element_of<int64_t>(rows, batch * a.rows() + i);
    require(row >= 0 && static_cast<uint64_t>(row) < a.rows() && !seen[static_cast<size_t>(row)],
            "rows is no permutation: {}", row);
    seen[static_cast<size_t>(row)] = true;
    for (uint64_t j = 0; j < a.columns(); ++j) out(i, j) = a(static_cast<uint64_t>(row), j);
  }
  return out;
}

// What a pivot is chosen from is the column of L times the pivot.
template <typename S>
void judge_pivots(const wide_matrix<wide_of<S>>& lu, const std::string& what) {
  const long double slack = 1 + 16 * unit_roundoff<S>();
  for (uint64_t k = 0; k < std::min(lu.rows(), lu.columns()); ++k)
    for (uint64_t i = k + 1; i < lu.rows(); ++i)
      require(size_of_pivot(times(lu(i, k), lu(k, k))) <= slack * size_of_pivot(lu(k, k)),
              "{}: the pivot of column {} is not the largest", what, k);
}

template <typename S>
void judge_lu(const wide_matrix<wide_of<S>>& a, matrix_call& call, uint64_t batch,
              const std::string& what) {
  using W = wide_of<S>;
  const wide_matrix<W> lu = load<S>(call.views[0], batch);
  const uint64_t least = std::min(a.rows(), a.columns());
  wide_matrix<W> lower(a.rows(), least), upper(least, a.columns());
  for (uint64_t i = 0; i < a.rows(); ++i)
    for (uint64_t j = 0; j < a.columns(); ++j) {
      if (j < i && j < least) lower(i, j) = lu(i, j);
      if (j == i) lower(i, i) = 1;
      if (j >= i) upper(i, j) = lu(i, j);
    }
  judge_pivots<S>(lu, what);
  const wide_matrix<W> wanted = picked_rows(a, call.views[1], batch);
  require_small<S>(distance(multiply(lower, upper), wanted), norm(a), std::max(a.rows(), least),
                   what);
}

template <typename S>
matrix_call lu_of(const batch_of_rectangles& c) {
  const extents extent = {c.batch, c.rows, c.columns};
  return {TUTTI_OPERATOR_LU,
          2,
          {packed_view(dtype_of<S>(), extent), packed_view(TUTTI_I64, {c.batch, c.rows}),
           packed_view(dtype_of<S>(), extent)}};
}

// With `singular`, the matrices have a column of zeros, or only zeros.
template <typename S>
void check_lu(session& s, bool singular) {
  generator random(s.seed);
  for (const batch_of_rectangles& c : rectangles) {
    s.note(text_of(c));
    matrix_call call = lu_of<S>(c);
    call.params.must_be_regular = singular ? 0 : 1;
    for (uint64_t b = 0; b < c.batch; ++b) {
      auto a = random_matrix<wide_of<S>>(c.rows, c.columns, random);
      for (uint64_t i = 0; i < c.rows && singular; ++i)
        for (uint64_t j = 0; j < c.columns; ++j)
          if (b == 1 || j == c.columns / 2) a(i, j) = 0;
      store<S>(call.views[2], b, a);
    }
    call.run(s);
    for (uint64_t b = 0; b < c.batch; ++b)
      judge_lu<S>(load<S>(call.views[2], b), call, b, text_of(text_of(c), b));
  }
}

// ---- QR

template <typename S>
void judge_qr(const wide_matrix<wide_of<S>>& a, const wide_matrix<wide_of<S>>& q,
              const wide_matrix<wide_of<S>>& r, const std::string& what) {
  for (uint64_t i = 0; i < r.rows(); ++i)
    for (uint64_t j = 0; j < std::min(i, r.columns()); ++j)
      require(r(i, j) == wide_of<S>(0), "{}: r is not 0 below its diagonal", what);
  require_orthonormal_columns<S>(q, what + ": q");
  require_small<S>(distance(multiply(q, r), a), norm(a), std::max(a.rows(), a.columns()), what);
}

// The last matrix of a batch has two equal columns, the last but one only zeros.
template <typename S>
void check_qr(session& s, bool complete) {
  generator random(s.seed);
  for (const batch_of_rectangles& c : rectangles) {
    if (complete && c.rows <= c.columns) continue;
    s.note(text_of(c));
    const uint64_t k = complete ? c.rows : std::min(c.rows, c.columns);
    matrix_call call{TUTTI_OPERATOR_QR,
                     2,
                     {packed_view(dtype_of<S>(), {c.batch, c.rows, k}),
                      packed_view(dtype_of<S>(), {c.batch, k, c.columns}),
                      packed_view(dtype_of<S>(), {c.batch, c.rows, c.columns})}};
    for (uint64_t b = 0; b < c.batch; ++b) {
      auto a = random_matrix<wide_of<S>>(c.rows, c.columns, random);
      for (uint64_t i = 0; i < c.rows && b > 0; ++i) a(i, c.columns - 1) = a(i, 0);
      if (b + 2 == c.batch) a = wide_matrix<wide_of<S>>(c.rows, c.columns);
      store<S>(call.views[2], b, a);
    }
    call.run(s);
    for (uint64_t b = 0; b < c.batch; ++b)
      judge_qr<S>(load<S>(call.views[2], b), load<S>(call.views[0], b), load<S>(call.views[1], b),
                  text_of(text_of(c), b));
  }
}

}  // namespace

void add_factorization_groups(groups& all, const session& s) {
  for (const bool upper : {false, true}) {
    const char* const which = upper ? "upper" : "lower";
    add_matrix_groups(all, s, "cholesky", which, [upper](auto element) {
      return [upper](session& t) { check_cholesky<decltype(element)>(t, upper); };
    });
    add_matrix_groups(all, s, "triangular_solve", which, [upper](auto element) {
      return [upper](session& t) { check_triangles<decltype(element)>(t, upper); };
    });
  }
  for (const bool singular : {false, true})
    add_matrix_groups(all, s, "lu", singular ? "singular" : "regular", [singular](auto element) {
      return [singular](session& t) { check_lu<decltype(element)>(t, singular); };
    });
  for (const bool complete : {false, true})
    add_matrix_groups(all, s, "qr", complete ? "complete" : "reduced", [complete](auto element) {
      return [complete](session& t) { check_qr<decltype(element)>(t, complete); };
    });
}

}  // namespace tutti::conformance
