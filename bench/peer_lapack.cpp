// SPDX-License-Identifier: Apache-2.0
#include "peer_lapack.hpp"

#include <cblas-openblas.h>
#include <omp.h>

#include <algorithm>
#include <cstddef>

extern "C" {
void dpotrf_(const char*, const int*, double*, const int*, int*, std::size_t);
void dgetrf_(const int*, const int*, double*, const int*, int*, int*);
void dgeqrf_(const int*, const int*, double*, const int*, double*, double*, const int*, int*);
void dorgqr_(const int*, const int*, const int*, double*, const int*, const double*, double*,
             const int*, int*);
void dsyevd_(const char*, const char*, const int*, double*, const int*, double*, double*,
             const int*, int*, const int*, int*, std::size_t, std::size_t);
void dgesdd_(const char*, const int*, const int*, double*, const int*, double*, double*, const int*,
             double*, const int*, double*, const int*, int*, int*, std::size_t);
void dgeev_(const char*, const char*, const int*, double*, const int*, double*, double*, double*,
            const int*, double*, const int*, double*, const int*, int*, std::size_t, std::size_t);
void dgesv_(const int*, const int*, double*, const int*, int*, double*, const int*, int*);
}

// As in peers.cpp.
#pragma weak openblas_set_num_threads
#pragma weak dpotrf_
#pragma weak dgetrf_
#pragma weak dgeqrf_
#pragma weak dorgqr_
#pragma weak dsyevd_
#pragma weak dgesdd_
#pragma weak dgeev_
#pragma weak dgesv_

namespace tutti::bench::peer {
namespace {

// Copies columns from the diagonal down, or down to it; zeros elsewhere.
void keep_triangle(int n, bool lower, const std::vector<double>& a, std::vector<double>& out) {
  const auto size = static_cast<std::size_t>(n);
  out.assign(size * size, 0);
  for (std::size_t j = 0; j < size; ++j)
    for (std::size_t i = lower ? j : 0; i < (lower ? size : j + 1); ++i)
      out[j * size + i] = a[j * size + i];
}

// Calls LAPACK with a workspace query, then with a workspace of that size.
template <class Call>
void with_work(Call&& call) {
  std::vector<double> work(1);
  call(work.data(), -1);
  const int size = static_cast<int>(work[0]);
  work.resize(static_cast<std::size_t>(size));
  call(work.data(), size);
}

}  // namespace

void decompose(const std::string& what, int n, const std::vector<double>& given,
               std::vector<double>& out) {
  openblas_set_num_threads(omp_get_max_threads());
  std::vector<double> a = given;
  const auto size = static_cast<std::size_t>(n);
  int info = 0;
  if (what == "cholesky") {
    dpotrf_("L", &n, a.data(), &n, &info, 1);
    return keep_triangle(n, true, a, out);
  }
  if (what == "lu") {
    std::vector<int> pivots(size);
    dgetrf_(&n, &n, a.data(), &n, pivots.data(), &info);
    return keep_triangle(n, false, a, out);
  }
  if (what == "qr") {
    std::vector<double> tau(size);
    with_work([&](double* work, int count) {
      dgeqrf_(&n, &n, a.data(), &n, tau.data(), work, &count, &info);
    });
    keep_triangle(n, false, a, out);
    with_work([&](double* work, int count) {
      dorgqr_(&n, &n, &n, a.data(), &n, tau.data(), work, &count, &info);
    });
    return;
  }
  out.resize(size);
  if (what == "eigh") {
    std::vector<int> places(3 + 5 * size);
    const int count_of_places = static_cast<int>(places.size());
    with_work([&](double* work, int count) {
      dsyevd_("V", "L", &n, a.data(), &n, out.data(), work, &count, places.data(), &count_of_places,
              &info, 1, 1);
    });
    return;
  }
  if (what == "eig") {
    std::vector<double> imaginary(size), vectors(size * size);
    with_work([&](double* work, int count) {
      dgeev_("N", "V", &n, a.data(), &n, out.data(), imaginary.data(), nullptr, &n, vectors.data(),
             &n, work, &count, &info, 1, 1);
    });
    return;
  }
  std::vector<double> u(size * size), vt(size * size);
  std::vector<int> places(8 * size);
  with_work([&](double* work, int count) {
    dgesdd_("S", &n, &n, a.data(), &n, out.data(), u.data(), &n, vt.data(), &n, work, &count,
            places.data(), &info, 1);
  });
}

void solve(int count, int n, const std::vector<double>& a, const std::vector<double>& b,
           std::vector<double>& out) {
  openblas_set_num_threads(omp_get_max_threads());
  const auto size = static_cast<std::size_t>(n);
  std::vector<double> one(size * size);
  std::vector<int> pivots(size);
  out = b;
  for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) {
    std::copy_n(a.begin() + static_cast<std::ptrdiff_t>(k * size * size), size * size, one.begin());
    const int sides = 1;
    int info = 0;
    dgesv_(&n, &sides, one.data(), &n, pivots.data(), out.data() + k * size, &n, &info);
  }
}

}  // namespace tutti::bench::peer
