// SPDX-License-Identifier: Apache-2.0
//
// Direct LAPACK calls, with OpenBLAS on all cores: the usual choice for linear algebra in C++.
// Matrices are column-major, n x n.
#pragma once

#include <string>
#include <vector>

namespace tutti::bench::peer {

/// "cholesky" (positive definite), "lu", "qr" with Q, "eigh" (symmetric), "svd" or "eig" with
/// vectors. `out` receives the unique part: the triangle L, U or R by columns, or the values, for
/// "eig" their real parts.
void decompose(const std::string& what, int n, const std::vector<double>& a,
               std::vector<double>& out);
/// `count` systems with one right-hand side each, in sequence.
void solve(int count, int n, const std::vector<double>& a, const std::vector<double>& b,
           std::vector<double>& out);

}  // namespace tutti::bench::peer
