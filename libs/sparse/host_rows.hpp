// SPDX-License-Identifier: Apache-2.0
//
// Sparse matrices on the host, for algorithms that process them row by row.
#pragma once

#include <complex>
#include <cstddef>
#include <vector>

#include "sparse/pattern.hpp"

namespace tutti::sparse {

/// The type in which numbers of T are added.
template <class T>
struct sum_of {
  using type = double;
};
template <class T>
struct sum_of<std::complex<T>> {
  using type = std::complex<double>;
};

/// Calls f with a null pointer to the C++ type of a floating dtype.
template <class F>
auto with_type(dtype type, F&& f) {
  switch (type) {
    case dtype::f32:
      return f(static_cast<float*>(nullptr));
    case dtype::f64:
      return f(static_cast<double*>(nullptr));
    case dtype::c64:
      return f(static_cast<std::complex<float>*>(nullptr));
    default:
      return f(static_cast<std::complex<double>*>(nullptr));
  }
}

/// Compressed rows. `Index` holds the column numbers.
template <class T, class Index = std::int64_t>
struct host_rows {
  std::vector<std::int64_t> starts;
  std::vector<Index> columns;
  std::vector<T> values;

  explicit host_rows(const placed& a)
      : starts(a.places->starts().astype(dtype::i64).to_vector<std::int64_t>()),
        columns(a.places->minor().astype(dtype_of<Index>).template to_vector<Index>()),
        values(a.values.to_vector<T>()) {}

  std::int64_t count() const { return static_cast<std::int64_t>(starts.size()) - 1; }
  std::size_t begin(std::int64_t row) const {
    return static_cast<std::size_t>(starts[static_cast<std::size_t>(row)]);
  }
  std::size_t end(std::int64_t row) const { return begin(row + 1); }
};

}  // namespace tutti::sparse
