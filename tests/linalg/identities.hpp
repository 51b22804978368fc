// SPDX-License-Identifier: Apache-2.0
//
// Matrices to decompose, and what holds of every decomposition whoever computed it.
#pragma once

#include "tutti_test/arrays.hpp"

namespace tutti_test {

inline constexpr dtype linear_dtypes[] = {dtype::f32, dtype::f64, dtype::c64, dtype::c128};

/// What rounding may come to, times a few dozen operations on numbers near 1.
inline double rounding_of(dtype t) { return tutti::real_dtype(t) == dtype::f32 ? 3e-5 : 1e-12; }

/// Numbers in [-1, 1], in both parts where t is complex.
inline array random_matrix(const tutti::shape& extents, dtype t, std::uint64_t salt) {
  const dtype real = tutti::real_dtype(t);
  const array parts = upload_as<double>(random_dense(extents, -1, 1, salt)).astype(real);
  if (!tutti::is_complex(t)) return parts;
  const array others = upload_as<double>(random_dense(extents, -1, 1, salt + 50)).astype(real);
  return tutti::complex(parts, others);
}

inline array adjoint(const array& a) {
  const array turned = tutti::matrix_transpose(a);
  return tutti::is_complex(a.dtype()) ? tutti::conj(turned) : turned;
}

/// Hermitian, with eigenvalues of at least 1.
inline array positive_definite(const tutti::shape& extents, dtype t, std::uint64_t salt) {
  const array a = random_matrix(extents, t, salt);
  return tutti::matmul(a, adjoint(a)) + tutti::eye(a.dim(-1), tutti::real_dtype(t));
}

/// The largest |a - b|, read by way of the host; 0 where there are no elements.
inline double distance(const array& a, const array& b) {
  BOOST_TEST_REQUIRE(a.shape() == tutti::broadcast_shapes(a.shape(), b.shape()));
  BOOST_TEST((a.dtype() == tutti::promote(a.dtype(), b.dtype())));
  if (a.size() == 0) return 0;
  const auto left = a.astype(dtype::c128).to_vector<std::complex<double>>();
  const auto right =
      tutti::broadcast_to(b, a.shape()).astype(dtype::c128).to_vector<std::complex<double>>();
  double largest = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const double apart = std::abs(left[i] - right[i]);
    if (!(apart <= largest)) largest = apart;  // NaN stays
  }
  return largest;
}

inline boost::test_tools::assertion_result is_near(const array& a, const array& b, double bound) {
  const double apart = distance(a, b);
  boost::test_tools::assertion_result result(apart <= bound);
  result.message() << "apart by " << apart << ", allowed " << bound;
  return result;
}

/// Whether the columns are orthonormal.
inline boost::test_tools::assertion_result has_orthonormal_columns(const array& q) {
  const array one = tutti::eye(q.dim(-1), tutti::real_dtype(q.dtype()));
  return is_near(tutti::matmul(adjoint(q), q), one, rounding_of(q.dtype()));
}

}  // namespace tutti_test
