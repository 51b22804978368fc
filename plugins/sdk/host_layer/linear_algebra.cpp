// SPDX-License-Identifier: Apache-2.0
//
// Dense linear algebra, matrix by matrix, in double for all dtypes.
#include "sdk/linear_algebra.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "sdk/host_layer/dense_matrix.hpp"
#include "sdk/status.hpp"

namespace tutti::sdk {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// The matrices of a call with elements of type S, computed as T; real parts are R.
template <typename S, typename T, typename R>
class matrices {
 public:
  explicit matrices(const host_call& call)
      : what_(*call.what),
        views_(call.views),
        params_(matrix_params(*call.what)),
        extents_(extents_of(*call.what)) {}

  uint64_t count() const { return extents_.batch; }
  uint64_t steps() const { return extents_.rows * extents_.rows * extents_.columns; }

  void run(uint64_t matrix) const { run_matrix(*this, what_, matrix); }

  using values = dense_matrix<T>;

  values load(uint32_t view, uint64_t matrix) const {
    const uint64_t* extent = views_[view].extent;
    values a(extent[1], extent[2]);
    load_elements<S>(views_[view], matrix * extent[1] * extent[2], a.values());
    return a;
  }
  values input(uint64_t matrix) const { return load(what_.view_count - 1, matrix); }

  // Stores the upper left part of `a` that fits the view.
  void store(uint32_t view, uint64_t matrix, const values& a) const {
    const uint64_t* extent = views_[view].extent;
    values part(extent[1], extent[2]);
    for (uint64_t i = 0; i < part.rows(); ++i)
      for (uint64_t j = 0; j < part.columns(); ++j) part(i, j) = a(i, j);
    store_elements<S>(views_[view], matrix * extent[1] * extent[2], part.values());
  }
  template <typename E, typename V>
  void store_row(uint32_t view, uint64_t matrix, const V& row) const {
    store_elements<E>(views_[view], matrix * row.size(), row);
  }
  void store_nan(uint32_t view, uint64_t matrix) const {
    const uint64_t* extent = views_[view].extent;
    const std::vector<T> all(extent[1] * extent[2], T(nan));
    store_elements<S>(views_[view], matrix * all.size(), all);
  }

  void cholesky(uint64_t matrix) const {
    values a = input(matrix);
    if (params_.upper != 0) a = conjugate_transpose(a);
    if (!factor_cholesky(a)) throw_no_result(what_, matrix, not_positive_definite);
    store(0, matrix, params_.upper != 0 ? conjugate_transpose(a) : a);
  }

  void triangular_solve(uint64_t matrix) const {
    values a = load(1, matrix), b = input(matrix);
    bool upper = params_.upper != 0;
    if (params_.transpose != TUTTI_TRANSPOSE_NONE) {
      a = conjugate_transpose(a);
      upper = !upper;
      if (params_.transpose == TUTTI_TRANSPOSE_PLAIN)
        for (T& x : a.values()) x = conjugate(x);
    }
    if (!solve_triangle(a, upper, params_.unit_diagonal != 0, b))
      throw_no_result(what_, matrix, singular);
    store(0, matrix, b);
  }

  void lu(uint64_t matrix) const {
    values a = input(matrix);
    std::vector<int64_t> rows;
    const bool regular = factor_lu(a, rows);
    if (!regular && params_.must_be_regular != 0) throw_no_result(what_, matrix, singular);
    store(0, matrix, a);
    store_row<int64_t>(1, matrix, rows);
  }

  void qr(uint64_t matrix) const {
    values r = input(matrix);
    const values q = factor_qr(r);
    store(0, matrix, q);
    store(1, matrix, r);
  }

  void eigh(uint64_t matrix) const {
    values a = input(matrix);
    for (uint64_t i = 0; i < a.rows(); ++i) {
      a(i, i) = T(real_part(a(i, i)));
      for (uint64_t j = i + 1; j < a.rows(); ++j) a(i, j) = conjugate(a(j, i));
    }
    std::vector<double> w(a.rows(), nan);
    const bool finite = is_finite(a);
    const values v = finite ? decompose_hermitian(a, w) : values(0, 0);
    store_row<R>(0, matrix, w);
    if (what_.output_count == 1) return;
    if (finite)
      store(1, matrix, v);
    else
      store_nan(1, matrix);
  }

  void eig(uint64_t matrix) const {
    using number = std::complex<double>;
    values a = input(matrix);
    const number unknown(nan, nan);
    std::vector<number> w(a.rows(), unknown);
    dense_matrix<number> v(a.rows(), a.rows());
    const bool vectors = what_.output_count == 2;
    if (!is_finite(a))
      std::fill(v.values().begin(), v.values().end(), unknown);
    else if (!decompose_general(std::move(a), w, vectors ? &v : nullptr))
      throw_no_result(what_, matrix, not_convergent);
    store_row<std::complex<R>>(0, matrix, w);
    if (vectors) store_row<std::complex<R>>(1, matrix, v.values());
  }

  void svd(uint64_t matrix) const {
    values a = input(matrix);
    const bool all = what_.output_count > 1, wide = a.rows() < a.columns();
    std::vector<double> s(std::min(a.rows(), a.columns()), nan);
    if (!is_finite(a)) {
      store_row<R>(all ? 1 : 0, matrix, s);
      if (all) store_nan(0, matrix), store_nan(2, matrix);
      return;
    }
    // a^H = vh^H s u^H
    const singular_vectors<T> parts =
        decompose_singular(wide ? conjugate_transpose(a) : std::move(a), s);
    store_row<R>(all ? 1 : 0, matrix, s);
    if (!all) return;
    store(0, matrix, wide ? conjugate_transpose(parts.vh) : parts.u);
    store(2, matrix, wide ? conjugate_transpose(parts.u) : parts.vh);
  }

 private:
  const operator_call& what_;
  const host_view* views_;
  const tutti_matrix_params params_;
  const matrix_extents extents_;
};

template <typename F>
void with_matrices(const host_call& call, const F& f) {
  switch (call.views[call.what->view_count - 1].dtype) {
    case TUTTI_F32:
      return f(matrices<float, double, float>(call));
    case TUTTI_F64:
      return f(matrices<double, double, double>(call));
    case TUTTI_C64:
      return f(matrices<std::complex<float>, std::complex<double>, float>(call));
    default:
      return f(matrices<std::complex<double>, std::complex<double>, double>(call));
  }
}

void each_matrix(const host_call& call) {
  with_matrices(call, [&](const auto& all) {
    share_rows(call, all.count(), all.steps(), [&](uint64_t begin, uint64_t end) {
      for (uint64_t matrix = begin; matrix < end; ++matrix) all.run(matrix);
    });
  });
}

}  // namespace

void cholesky_on_host(const host_call& call) { each_matrix(call); }
void triangular_solve_on_host(const host_call& call) { each_matrix(call); }
void lu_on_host(const host_call& call) { each_matrix(call); }
void qr_on_host(const host_call& call) { each_matrix(call); }
void eigh_on_host(const host_call& call) { each_matrix(call); }
void svd_on_host(const host_call& call) { each_matrix(call); }
void eig_on_host(const host_call& call) { each_matrix(call); }

void matrix_on_host(const host_call& call, uint64_t matrix) {
  with_matrices(call, [&](const auto& all) { all.run(matrix); });
}

}  // namespace tutti::sdk
