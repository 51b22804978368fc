// SPDX-License-Identifier: Apache-2.0
//
// Eigenvalues and singular values. Matrices are constructed from known values whose errors are
// those of the matrix, so that results without vectors can be compared; vectors are checked by
// their definition, within the bounds of LAPACK's tests.
#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "matrices.hpp"

namespace tutti::conformance {
namespace {

using reals = std::vector<long double>;

// Distribution of the values of a matrix: arbitrary, most of them one number, most of them 0, all
// 0.
enum class spectrum { random, repeated, deficient, zero };

// Descending, between -1 and 1, or 0 and 1 where they are `positive`.
reals values_of(spectrum kind, uint64_t count, bool positive, generator& random) {
  std::uniform_real_distribution<double> pick(positive ? 0 : -1, 1);
  reals values(count);
  for (uint64_t i = 0; i < count; ++i) {
    const bool is_first = i < (count + 2) / 3;
    values[i] = pick(random);
    if (kind == spectrum::zero || (kind == spectrum::deficient && !is_first)) values[i] = 0;
    if (kind == spectrum::repeated && !is_first) values[i] = 0.5L;
  }
  std::sort(values.begin(), values.end(), std::greater<>());
  return values;
}

spectrum spectrum_of(uint64_t batch, uint64_t size) {
  return static_cast<spectrum>(size > 8 ? 0 : batch % 4);
}

// left diag(values) right^H
template <typename W>
wide_matrix<W> with_values(const wide_matrix<W>& left, const reals& values,
                           const wide_matrix<W>& right) {
  wide_matrix<W> middle(left.columns(), right.columns());
  for (uint64_t i = 0; i < values.size(); ++i) middle(i, i) = values[i];
  return multiply(multiply(left, middle), adjoint(right));
}

template <typename S>
void judge_values(const reals& known, const reals& found, uint64_t size, const std::string& what) {
  long double largest = 0, apart = 0;
  for (uint64_t i = 0; i < known.size(); ++i) {
    largest = std::max(largest, std::fabs(known[i]));
    const long double difference = std::fabs(known[i] - found[i]);
    if (!(difference <= apart)) apart = difference;
  }
  require_small<S>(apart, largest, size, what);
}

template <typename S>
reals row_of(view_spec& v, uint64_t batch) {
  const auto row = load<real_type<S>>(v, batch);
  reals values;
  for (uint64_t i = 0; i < row.columns(); ++i) values.push_back(row(0, i));
  return values;
}

// ---- Hermitian matrices

template <typename S>
void judge_eigh(const wide_matrix<wide_of<S>>& a, const reals& w, const wide_matrix<wide_of<S>>& v,
                const std::string& what) {
  require_orthonormal_columns<S>(v, what + ": v");
  auto scaled = v;
  for (uint64_t i = 0; i < v.rows(); ++i)
    for (uint64_t j = 0; j < v.columns(); ++j) scaled(i, j) *= w[j];
  require_small<S>(distance(multiply(a, v), scaled), norm(a), a.rows(), what + ": a v = v w");
}

template <typename S>
void check_eigh(session& s, bool vectors) {
  using W = wide_of<S>;
  generator random(s.seed);
  for (const batch_of_squares& c : squares) {
    s.note(text_of(c));
    const extents extent = {c.batch, c.size, c.size};
    matrix_call call{TUTTI_OPERATOR_EIGH,
                     vectors ? 2u : 1u,
                     {packed_view(dtype_of<real_type<S>>(), {c.batch, c.size})}};
    if (vectors) call.views.push_back(packed_view(dtype_of<S>(), extent));
    call.views.push_back(packed_view(dtype_of<S>(), extent));
    std::vector<wide_matrix<W>> given;
    std::vector<reals> known;
    for (uint64_t b = 0; b < c.batch; ++b) {
      known.push_back(values_of(spectrum_of(b, c.size), c.size, false, random));
      const auto q = random_unitary<W>(c.size, random);
      auto a = with_values(q, known[b], q);
      for (uint64_t i = 0; i < c.size; ++i) {
        a(i, i) = std::real(a(i, i));
        for (uint64_t j = 0; j < i; ++j) a(j, i) = conjugate(a(i, j));
      }
      std::reverse(known[b].begin(), known[b].end());
      store<S>(call.views.back(), b, a);
      given.push_back(load<S>(call.views.back(), b));
    }
    spoil_triangle<S>(call.views.back(), true);
    call.run(s);
    for (uint64_t b = 0; b < c.batch; ++b) {
      const std::string what = text_of(text_of(c), b);
      const reals w = row_of<S>(call.views[0], b);
      require(std::is_sorted(w.begin(), w.end()), "{}: w does not ascend", what);
      judge_values<S>(known[b], w, c.size, what + ": w");
      if (vectors) judge_eigh<S>(given[b], w, load<S>(call.views[1], b), what);
    }
  }
}

// ---- singular values

enum class svd_form { values, reduced, complete };

template <typename S>
matrix_call svd_of(const batch_of_rectangles& c, svd_form form) {
  const uint8_t dtype = dtype_of<S>();
  const uint64_t least = std::min(c.rows, c.columns);
  const bool complete = form == svd_form::complete;
  matrix_call call{TUTTI_OPERATOR_SVD, form == svd_form::values ? 1u : 3u, {}};
  if (form != svd_form::values)
    call.views.push_back(packed_view(dtype, {c.batch, c.rows, complete ? c.rows : least}));
  call.views.push_back(packed_view(dtype_of<real_type<S>>(), {c.batch, least}));
  if (form != svd_form::values)
    call.views.push_back(packed_view(dtype, {c.batch, complete ? c.columns : least, c.columns}));
  call.views.push_back(packed_view(dtype, {c.batch, c.rows, c.columns}));
  return call;
}

template <typename S>
void judge_svd(const wide_matrix<wide_of<S>>& a, const wide_matrix<wide_of<S>>& u,
               const reals& values, const wide_matrix<wide_of<S>>& vh, const std::string& what) {
  const uint64_t most = std::max(a.rows(), a.columns());
  require_orthonormal_columns<S>(u, what + ": u");
  require_orthonormal_columns<S>(adjoint(vh), what + ": vh");
  require_small<S>(distance(a, with_values(u, values, adjoint(vh))), norm(a), most,
                   what + ": a = u s vh");
}

template <typename S>
void check_svd(session& s, svd_form form) {
  using W = wide_of<S>;
  generator random(s.seed);
  for (const batch_of_rectangles& c : rectangles) {
    s.note(text_of(c));
    matrix_call call = svd_of<S>(c, form);
    const uint64_t least = std::min(c.rows, c.columns);
    std::vector<reals> known;
    for (uint64_t b = 0; b < c.batch; ++b) {
      known.push_back(values_of(spectrum_of(b, c.rows), least, true, random));
      store<S>(call.views.back(), b,
               with_values(random_unitary<W>(c.rows, random), known[b],
                           random_unitary<W>(c.columns, random)));
    }
    call.run(s);
    const bool vectors = form != svd_form::values;
    for (uint64_t b = 0; b < c.batch; ++b) {
      const std::string what = text_of(text_of(c), b);
      const reals values = row_of<S>(call.views[vectors ? 1 : 0], b);
      require(std::is_sorted(values.rbegin(), values.rend()), "{}: s does not descend", what);
      require(values.back() >= 0, "{}: s is negative", what);
      judge_values<S>(known[b], values, std::max(c.rows, c.columns), what + ": s");
      if (vectors)
        judge_svd<S>(load<S>(call.views[3], b), load<S>(call.views[0], b), values,
                     load<S>(call.views[2], b), what);
    }
  }
}

// ---- matrices of any kind

using complex_matrix = wide_matrix<wide_complex>;
using complexes = std::vector<wide_complex>;

template <typename S>
using complex_of_parts = std::complex<real_type<S>>;

complex_matrix complex_of(const wide_matrix<long double>& a) {
  complex_matrix out(a.rows(), a.columns());
  for (uint64_t i = 0; i < a.rows(); ++i)
    for (uint64_t j = 0; j < a.columns(); ++j) out(i, j) = a(i, j);
  return out;
}
complex_matrix complex_of(const complex_matrix& a) { return a; }

// A normal matrix with the known values: diagonal, in another basis. For a real one half of them
// are in pairs, as blocks.
template <typename W>
wide_matrix<W> normal_matrix(uint64_t size, complexes& known, generator& random) {
  wide_matrix<W> middle(size, size);
  for (uint64_t i = 0; i < size; ++i) {
    const wide_complex x = random_number<wide_complex>(random);
    if constexpr (std::is_same_v<W, wide_complex>) {
      middle(i, i) = x;
      known.push_back(x);
    } else if (i < size / 2 || i + 1 == size) {
      middle(i, i) = x.real();
      known.push_back(x.real());
    } else {
      middle(i, i) = middle(i + 1, i + 1) = x.real();
      middle(i, i + 1) = x.imag();
      middle(i + 1, i) = -x.imag();
      known.insert(known.end(), {x, std::conj(x)});
      ++i;
    }
  }
  const auto q = random_unitary<W>(size, random);
  return multiply(multiply(q, middle), adjoint(q));
}

// Each known value is matched with a different one of `w`.
template <typename S>
void judge_known(const complexes& known, complexes w, const std::string& what) {
  long double largest = 0;
  for (const wide_complex& x : known) largest = std::max(largest, std::abs(x));
  for (const wide_complex& x : known) {
    const auto nearest = std::min_element(w.begin(), w.end(), [&](const auto& a, const auto& b) {
      return std::abs(a - x) < std::abs(b - x);
    });
    require_small<S>(std::abs(*nearest - x), largest, known.size(), what + ": an eigenvalue");
    w.erase(nearest);
  }
}

// The sum of all, which is the trace.
template <typename S>
void judge_sum(const wide_matrix<wide_of<S>>& a, const complexes& w, const std::string& what) {
  wide_complex difference = 0;
  for (uint64_t i = 0; i < a.rows(); ++i) difference += wide_complex(a(i, i)) - w[i];
  require_small<S>(std::abs(difference), norm(a) * static_cast<long double>(a.rows()), a.rows(),
                   what + ": the sum of w");
}

void judge_pairs(const complexes& w, const complex_matrix* v, const std::string& what) {
  for (uint64_t j = 0; j < w.size(); ++j) {
    const bool is_real = w[j].imag() == 0;
    require(is_real || (j + 1 < w.size() && w[j + 1] == std::conj(w[j])),
            "{}: an eigenvalue is not followed by its conjugate", what);
    for (uint64_t i = 0; i < w.size() && v != nullptr; ++i) {
      if (is_real)
        require((*v)(i, j).imag() == 0, "{}: the vector of a real eigenvalue is not real", what);
      else
        require((*v)(i, j + 1) == std::conj((*v)(i, j)),
                "{}: the vectors of a pair are not conjugate", what);
    }
    if (!is_real) ++j;
  }
}

template <typename S>
void judge_eig(const complex_matrix& a, const complexes& w, const complex_matrix& v,
               const std::string& what) {
  complex_matrix scaled = v;
  for (uint64_t j = 0; j < v.columns(); ++j) {
    long double square = 0;
    for (uint64_t i = 0; i < v.rows(); ++i) {
      scaled(i, j) = times(scaled(i, j), w[j]);
      square += std::norm(v(i, j));
    }
    require_small<S>(std::fabs(std::sqrt(square) - 1), 1, v.rows(), what + ": the length of v");
  }
  require_small<S>(distance(multiply(a, v), scaled), norm(a), a.rows(), what + ": a v = v w");
}

// Even matrices of a batch are normal, the others have any elements.
template <typename S>
void check_eig(session& s, bool vectors) {
  using W = wide_of<S>;
  const uint8_t complex = dtype_of<complex_of_parts<S>>();
  generator random(s.seed);
  for (const batch_of_squares& c : squares) {
    s.note(text_of(c));
    const extents extent = {c.batch, c.size, c.size};
    matrix_call call{
        TUTTI_OPERATOR_EIG, vectors ? 2u : 1u, {packed_view(complex, {c.batch, c.size})}};
    if (vectors) call.views.push_back(packed_view(complex, extent));
    call.views.push_back(packed_view(dtype_of<S>(), extent));
    std::vector<complexes> known(c.batch);
    for (uint64_t b = 0; b < c.batch; ++b)
      store<S>(call.views.back(), b,
               b % 2 == 0 ? normal_matrix<W>(c.size, known[b], random)
                          : random_matrix<W>(c.size, c.size, random));
    call.run(s);
    for (uint64_t b = 0; b < c.batch; ++b) {
      const std::string what = text_of(text_of(c), b);
      const auto a = load<S>(call.views.back(), b);
      const complex_matrix row = load<complex_of_parts<S>>(call.views[0], b);
      const complexes w(&row(0, 0), &row(0, 0) + c.size);
      std::optional<complex_matrix> v;
      if (vectors) v = load<complex_of_parts<S>>(call.views[1], b);
      judge_sum<S>(a, w, what);
      judge_known<S>(known[b], w, what);
      if (!is_complex_type<S>) judge_pairs(w, v ? &*v : nullptr, what);
      if (v) judge_eig<S>(complex_of(a), w, *v, what);
    }
  }
}

}  // namespace

void add_spectral_groups(groups& all, const session& s) {
  for (const bool vectors : {false, true}) {
    const char* const what = vectors ? "vectors" : "values";
    add_matrix_groups(all, s, "eigh", what, [vectors](auto element) {
      return [vectors](session& t) { check_eigh<decltype(element)>(t, vectors); };
    });
    add_matrix_groups(all, s, "eig", what, [vectors](auto element) {
      return [vectors](session& t) { check_eig<decltype(element)>(t, vectors); };
    });
  }
  for (const auto& [form, what] :
       {std::pair{svd_form::values, "values"}, std::pair{svd_form::reduced, "reduced"},
        std::pair{svd_form::complete, "complete"}})
    add_matrix_groups(all, s, "svd", what, [form = form](auto element) {
      return [form](session& t) { check_svd<decltype(element)>(t, form); };
    });
}

}  // namespace tutti::conformance
