// SPDX-License-Identifier: Apache-2.0
//
// What a C++ developer would use instead: OpenBLAS for products, plain loops with OpenMP and fast
// mathematics for the rest, all cores.
#pragma once

#include <cstddef>
#include <string>

namespace tutti::bench::peer {

/// False where an empty library stands for OpenBLAS, as in the pack of scripts/gpu-check; nothing
/// below that says OpenBLAS or LAPACK may be called then.
bool has_openblas();
/// The processor whose kernels OpenBLAS has picked: "SkylakeX"; "no" without it.
std::string openblas_core();
/// Where OpenBLAS does not know this processor and has fallen back to its oldest kernels: the value
/// of OPENBLAS_CORETYPE that fits the instructions of this processor; else "".
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
