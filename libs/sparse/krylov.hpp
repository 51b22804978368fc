// SPDX-License-Identifier: Apache-2.0
//
// Orthonormal vectors of a Krylov space, as rows of one array of the device.
#pragma once

#include <complex>
#include <vector>

#include "tutti/extension.hpp"

namespace tutti::sparse {

class krylov_basis {
 public:
  /// Room for `most` vectors and one more; `first` [n] has the length 1.
  krylov_basis(const array& first, std::int64_t most);

  struct step {
    std::vector<std::complex<double>> products;  // of each vector with w, conj(v) w
    double length;                               // of what is left of w
    bool is_exhausted;  // next to nothing is left: the space has been mapped onto itself
  };
  /// Makes w orthogonal to all vectors, twice, and what is left the next one, unless exhausted.
  step expand(const array& w);
  /// A vector that is orthogonal to all, by random numbers, comes next.
  void expand_randomly();
  /// The sum of the vectors times `factors`, as many as there are of these.
  array combined(const std::vector<std::complex<double>>& factors) const;
  /// Replaces the vectors before the last by `kept` sums of them, as of sums_of(); the last one
  /// stays behind them.
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
