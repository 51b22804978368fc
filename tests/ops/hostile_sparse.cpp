// SPDX-License-Identifier: Apache-2.0
//
// Rows for the functions of sparse.hpp.
#include "hostile_arguments.hpp"

namespace hostile {
namespace {

namespace sparse = tutti::sparse;
using sparse::matrix;
using tutti::array;

array small_index(picker& p, std::int64_t count, int below) {
  std::vector<std::int64_t> index(static_cast<std::size_t>(count));
  for (std::int64_t& i : index) i = p.below(below);
  return array::from(index);
}

sparse::format any_format(picker& p) { return static_cast<sparse::format>(p.below(4)); }

// Sound ones of several sizes and formats, and one that was not made.
matrix some(picker& p) {
  if (p.below(12) == 0) return matrix();
  const int rows = p.below(4) + 1, columns = p.below(4) + 1, count = p.below(6);
  const matrix m = sparse::coo({rows, columns}, small_index(p, count, rows),
                               small_index(p, count, columns), tutti::ones({count}));
  return sparse::convert(m, static_cast<sparse::format>(p.below(3)));
}

}  // namespace

std::vector<entry> sparse_matrices() {
  return {
      ROW(sparse::csr(p.extents(), p.indices(), p.indices(), p.small())),
      ROW(sparse::csr({2, 3}, p.indices(), p.indices(), p.small())),
      ROW(sparse::csc({3, 2}, p.indices(), p.indices(), p.small())),
      ROW(sparse::coo({p.size(), p.size()}, p.indices(), p.indices(), p.small())),
      ROW(sparse::from_triplets(p.extents(), p.indices(), p.indices(), p.small(), any_format(p))),
      ROW(sparse::from_dense(p.small(), any_format(p))),
      ROW(sparse::to_dense(some(p))),
      ROW(sparse::eye(p.flag() ? p.below(9) : -p.below(9), p.type())),
      ROW(sparse::convert(some(p), any_format(p))),
      ROW(sparse::transpose(some(p))),
      ROW(sparse::canonical(some(p))),
      ROW(sparse::eliminate_zeros(some(p))),
      ROW(sparse::slice_rows(some(p), p.size(), p.size())),
      ROW(sparse::take_rows(some(p), p.indices())),
      ROW(sparse::matmul(some(p), p.small())),
      ROW(sparse::matmul(p.small(), some(p))),
      ROW(sparse::matmul(some(p), some(p))),
      ROW(sparse::sddmm(some(p), p.small(), p.small())),
      ROW(sparse::add(some(p), some(p))),
      ROW(sparse::subtract(some(p), some(p))),
      ROW(sparse::multiply(some(p), some(p))),
      ROW(sparse::multiply(some(p), p.small())),
      ROW(sparse::masked(some(p), some(p))),
      ROW(sparse::sum(some(p), p.maybe_axis())),
      ROW(sparse::diagonal(some(p))),
  };
}

}  // namespace hostile
