// SPDX-License-Identifier: Apache-2.0
//
// LAPACK and BLAS of the host, loaded on first use: the routines for linear algebra on CPU devices,
// through the Fortran interface with 32-bit integers.
#pragma once

#include <complex>
#include <cstddef>
#include <tuple>

namespace tutti::sdk {

template <typename T>
struct real_of {
  using type = T;
};
template <typename T>
struct real_of<std::complex<T>> {
  using type = T;
};

/// Signatures as in the LAPACK documentation; string lengths come last.
template <typename T>
struct lapack_routines {
  using R = typename real_of<T>::type;
  void (*potrf)(const char*, const int*, T*, const int*, int*, size_t);
  void (*trsm)(const char*, const char*, const char*, const char*, const int*, const int*, const T*,
               const T*, const int*, T*, const int*, size_t, size_t, size_t, size_t);
  void (*getrf)(const int*, const int*, T*, const int*, int*, int*);
  void (*geqrf)(const int*, const int*, T*, const int*, T*, T*, const int*, int*);
  void (*orgqr)(const int*, const int*, const int*, T*, const int*, const T*, T*, const int*, int*);
  // The complex variants of both have more arguments.
  void (*syevd)(const char*, const char*, const int*, R*, const int*, R*, R*, const int*, int*,
                const int*, int*, size_t, size_t);
  void (*heevd)(const char*, const char*, const int*, T*, const int*, R*, T*, const int*, R*,
                const int*, int*, const int*, int*, size_t, size_t);
  void (*gesdd)(const char*, const int*, const int*, R*, const int*, R*, R*, const int*, R*,
                const int*, R*, const int*, int*, int*, size_t);
  void (*gesdd_complex)(const char*, const int*, const int*, T*, const int*, R*, T*, const int*, T*,
                        const int*, T*, const int*, R*, int*, int*, size_t);
  void (*geev)(const char*, const char*, const int*, R*, const int*, R*, R*, R*, const int*, R*,
               const int*, R*, const int*, int*, size_t, size_t);
  void (*geev_complex)(const char*, const char*, const int*, T*, const int*, T*, T*, const int*, T*,
                       const int*, T*, const int*, R*, int*, size_t, size_t);
};

struct lapack {
  std::tuple<lapack_routines<float>, lapack_routines<double>, lapack_routines<std::complex<float>>,
             lapack_routines<std::complex<double>>>
      routines;
  // The thread count of OpenBLAS; null in other libraries.
  int (*get_threads)();
  void (*set_threads)(int);
};

/// Null if the library is not installed.
const lapack* find_lapack();

}  // namespace tutti::sdk
