// SPDX-License-Identifier: Apache-2.0
//
// LAPACK called directly, by OpenBLAS on all cores: what a C++ developer would use for linear
// algebra. Matrices are column-major, n x n.
#pragma once

#include <string>
#include <vector>

namespace tutti::bench::peer {

/// "cholesky" (of a positive definite one), "lu", "qr" with Q, "eigh" (of a symmetric one), "svd"
/// or "eig" with vectors. `out` gets what is unique: the triangle L, U or R by columns, or the
/// values, of "eig" their real parts.
void decompose(const std::string& what, int n, const std::vector<double>& a,
               std::vector<double>& out);
/// `count` systems of one right side each, one after the other.
void solve(int count, int n, const std::vector<double>& a, const std::vector<double>& b,
           std::vector<double>& out);

}  // namespace tutti::bench::peer
