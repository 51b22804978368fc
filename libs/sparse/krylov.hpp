// SPDX-License-Identifier: Apache-2.0
//
// Orthonormal vectors of a Krylov space, as rows of one array on the device.
#pragma once

#include <complex>
#include <vector>

#include "tutti/extension.hpp"

namespace tutti::sparse {

class krylov_basis {
 public:
  /// Space for `most` vectors plus one; `first` [n] has norm 1.
  krylov_basis(const array& first, std::int64_t most);

  struct step {
    std::vector<std::complex<double>> products;  // of each vector with w, conj(v) w
    double length;                               // norm of the rest of w
    bool is_exhausted;                           // the rest is nearly 0: the space is invariant
  };
  /// Makes w orthogonal to all vectors, twice, and appends the rest as the next one, unless
  /// exhausted.
  step expand(const array& w);
  /// Appends a vector from random numbers that is orthogonal to all others.
  void expand_randomly();
  /// The sum of the vectors times `factors`, for as many vectors as factors.
  array combined(const std::vector<std::complex<double>>& factors) const;
  /// Replaces the vectors before the last by `kept` sums of them, as from sums_of(); the last one
  /// follows them.
  void compress(const std::vector<std::complex<double>>& factors, std::int64_t kept);
  /// Sums of the first `count` vectors: columns of row-major `factors` [count, columns] give rows
  /// [columns, n].
  array sums_of(const std::vector<std::complex<double>>& factors, std::int64_t count,
                std::int64_t columns) const;

  array last() const;
  std::int64_t count() const { return count_; }

 private:
  array factors_of(const std::vector<std::complex<double>>& factors, const shape& extents) const;
  void append(const array& v);

  std::int64_t most_, count_ = 0;
  array all_;  // [most + 1, n]; zeros behind count
};

}  // namespace tutti::sparse
