// SPDX-License-Identifier: Apache-2.0
//
// The usual alternatives in C++: OpenBLAS for products, OpenMP loops with fast math, on all cores.
#pragma once

#include <cstddef>
#include <string>

namespace tutti::bench::peer {

/// False if an empty library replaces OpenBLAS, as in the package of scripts/gpu-check; then no
/// function below that uses OpenBLAS or LAPACK may be called.
bool has_openblas();
/// The processor type whose kernels OpenBLAS has selected: "SkylakeX"; "no" without it.
std::string openblas_core();
/// If OpenBLAS does not know this processor and uses its oldest kernels: the value of
/// OPENBLAS_CORETYPE that matches the instructions of this processor; else "".
std::string better_openblas_core();

/// Row-major c = a b, all n x n. OpenBLAS.
void matmul(int n, const float* a, const float* b, float* c);
void matmul(int n, const double* a, const double* b, double* c);

/// c = a * b + tanh(a) - exp(-b * b).
void fused_expression(std::size_t n, const float* a, const float* b, float* c);

float sum(std::size_t n, const float* a);
/// out[i] = sum over j of a[i, j].
void row_sums(std::size_t rows, std::size_t columns, const float* a, float* out);
/// out[j] = sum over i of a[i, j].
void column_sums(std::size_t rows, std::size_t columns, const float* a, float* out);

/// out[i] = mean over j of (a[i, j] - mean)^2, in two passes over each row.
void row_variances(std::size_t rows, std::size_t columns, const float* a, float* out);
/// out[i, j] = exp(a[i, j] - largest of row i), divided by the sum of the row.
void softmax(std::size_t rows, std::size_t columns, const float* a, float* out);

}  // namespace tutti::bench::peer
