// SPDX-License-Identifier: Apache-2.0
//
// Compiled with -Ofast -march=native -fopenmp: the loops are vectorised with libmvec.
#include "peers.hpp"

#include <cblas-openblas.h>
#include <omp.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

#pragma weak openblas_get_corename
#pragma weak openblas_set_num_threads
#pragma weak cblas_sgemm
#pragma weak cblas_dgemm

namespace tutti::bench::peer {
namespace {

void use_all_cores() {
  static const bool once = [] {
    openblas_set_num_threads(omp_get_max_threads());
    return true;
  }();
  static_cast<void>(once);
}

}  // namespace

bool has_openblas() { return &openblas_get_corename != nullptr; }

std::string openblas_core() { return has_openblas() ? openblas_get_corename() : "no"; }

std::string better_openblas_core() {
#if defined(__x86_64__)
  if (openblas_core() != "Prescott") return "";
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return "SkylakeX";
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
  return "";
}

void matmul(int n, const float* a, const float* b, float* c) {
  use_all_cores();
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a, n, b, n, 0, c, n);
}

void matmul(int n, const double* a, const double* b, double* c) {
  use_all_cores();
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a, n, b, n, 0, c, n);
}

void fused_expression(std::size_t n, const float* __restrict a, const float* __restrict b,
                      float* __restrict c) {
#pragma omp parallel for simd schedule(static)
  for (std::size_t i = 0; i < n; ++i) {
    c[i] = a[i] * b[i] + std::tanh(a[i]) - std::exp(-b[i] * b[i]);
  }
}

float sum(std::size_t n, const float* a) {
  float total = 0;
#pragma omp parallel for simd schedule(static) reduction(+ : total)
  for (std::size_t i = 0; i < n; ++i) total += a[i];
  return total;
}

void row_sums(std::size_t rows, std::size_t columns, const float* a, float* out) {
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < rows; ++i) {
    float total = 0;
    for (std::size_t j = 0; j < columns; ++j) total += a[i * columns + j];
    out[i] = total;
  }
}

void column_sums(std::size_t rows, std::size_t columns, const float* a, float* out) {
  std::memset(out, 0, columns * sizeof(float));
#pragma omp parallel
  {
    float* part = static_cast<float*>(std::calloc(columns, sizeof(float)));
#pragma omp for schedule(static)
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j) part[j] += a[i * columns + j];
    }
#pragma omp critical
    for (std::size_t j = 0; j < columns; ++j) out[j] += part[j];
    std::free(part);
  }
}

void row_variances(std::size_t rows, std::size_t columns, const float* a, float* out) {
  const auto count = static_cast<float>(columns);
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < rows; ++i) {
    const float* row = a + i * columns;
    float total = 0, squares = 0;
    for (std::size_t j = 0; j < columns; ++j) total += row[j];
    const float mean = total / count;
    for (std::size_t j = 0; j < columns; ++j) squares += (row[j] - mean) * (row[j] - mean);
    out[i] = squares / count;
  }
}

void softmax(std::size_t rows, std::size_t columns, const float* a, float* out) {
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < rows; ++i) {
    const float* row = a + i * columns;
    float* to = out + i * columns;
    float top = row[0], total = 0;
    for (std::size_t j = 0; j < columns; ++j) top = row[j] > top ? row[j] : top;
    for (std::size_t j = 0; j < columns; ++j) total += to[j] = std::exp(row[j] - top);
    const float scale = 1 / total;
    for (std::size_t j = 0; j < columns; ++j) to[j] *= scale;
  }
}

}  // namespace tutti::bench::peer
