// SPDX-License-Identifier: Apache-2.0
//
// Triangular systems and incomplete factors. Each row depends on earlier ones, so there is hardly
// any parallelism: they are solved on the host, sums of f32 in double.

#include <algorithm>
#include <complex>
#include <memory>
#include <type_traits>
#include <vector>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "sparse/host_rows.hpp"
#include "tutti/grad.hpp"
#include "tutti/sparse/solvers.hpp"

namespace tutti::sparse {

using tutti::base::named;

namespace {

using arrays = std::vector<array>;

// x [n, width] from b, in place.
template <class T>
void solve_rows(const host_rows<T>& a, const triangular_options& how, std::vector<T>& x,
                std::int64_t width, const char* op) {
  using wide = typename sum_of<T>::type;
  const std::int64_t n = a.count();
  std::vector<wide> sums(static_cast<std::size_t>(width));
  for (std::int64_t step = 0; step < n; ++step) {
    const std::int64_t i = how.upper ? n - 1 - step : step;
    T* const row = x.data() + i * width;
    std::copy(row, row + width, sums.begin());
    wide diagonal(how.unit_diagonal ? 1 : 0);
    for (std::size_t k = a.begin(i); k < a.end(i); ++k) {
      const std::int64_t j = a.columns[k];
      const wide value(a.values[k]);
      if (j == i && !how.unit_diagonal) diagonal += value;
      if (how.upper ? j <= i : j >= i) continue;
      const T* const other = x.data() + j * width;
      for (std::int64_t c = 0; c < width; ++c)
        sums[static_cast<std::size_t>(c)] -= value * wide(other[c]);
    }
    if (diagonal == wide(0)) base::fail<value_error>("{}: the diagonal of row {} is 0", op, i);
    for (std::int64_t c = 0; c < width; ++c)
      row[c] = static_cast<T>(sums[static_cast<std::size_t>(c)] / diagonal);
  }
}

// Of values and b without history.
array solved(const std::shared_ptr<const pattern>& places, const array& values, const array& b,
             const triangular_options& how) {
  if (b.size() == 0) return b;
  return with_type(values.dtype(), [&](auto* tag) {
    using T = std::remove_pointer_t<decltype(tag)>;
    const host_rows<T> rows(placed{places, values});
    std::vector<T> x = b.to_vector<T>();
    solve_rows(rows, how, x, b.dim(1), "triangular_solve");
    return array::from(x, b.shape(), b.device());
  });
}

// With gradients; `a` has compressed rows.
array solution(const placed& a, const array& b, const triangular_options& how) {
  const auto places = a.places;
  return custom_vjp(
      [=](const arrays& v) { return arrays{solved(places, v[0], v[1], how)}; },
      [=](const arrays& v, const arrays& x, const arrays& g) {
        const arranged flipped = places->flipped();
        const placed transposed{flipped.places, in_order(v[0], flipped.order)};
        const array of_b = solution(transposed, g[0], {!how.upper, how.unit_diagonal});
        const array all = -products_at(places, of_b, x[0], "triangular_solve");
        const array row = places->major(), column = places->minor();
        array is_read = how.upper ? row < column : row > column;
        if (!how.unit_diagonal) is_read = is_read | (row == column);
        return arrays{where(is_read, all, 0), of_b};
      })({a.values, b})[0];
}

const matrix& square(const matrix& a, const char* op) {
  if (checked(a, op).rows() != a.columns())
    base::fail<shape_error>("{}: {} is not square", op, a.shape());
  return a;
}

// Factors in one matrix: L has a unit diagonal, which is not stored.
template <class T>
void factorize(host_rows<T>& a) {
  using wide = typename sum_of<T>::type;
  const std::int64_t n = a.count();
  std::vector<T> values(a.values.begin(), a.values.end());
  constexpr std::size_t absent = ~std::size_t{0};
  std::vector<std::size_t> place(static_cast<std::size_t>(n), absent), diagonal = place;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::size_t k = a.begin(i); k < a.end(i); ++k)
      place[static_cast<std::size_t>(a.columns[k])] = k;
    for (std::size_t k = a.begin(i); k < a.end(i) && a.columns[k] < i; ++k) {
      const std::int64_t pivot = a.columns[k];
      const std::size_t at = diagonal[static_cast<std::size_t>(pivot)];
      values[k] = static_cast<T>(wide(values[k]) / wide(values[at]));
      for (std::size_t u = at + 1; u < a.end(pivot); ++u) {
        const std::size_t to = place[static_cast<std::size_t>(a.columns[u])];
        if (to != absent)
          values[to] = static_cast<T>(wide(values[to]) - wide(values[k]) * wide(values[u]));
      }
    }
    const std::size_t at = place[static_cast<std::size_t>(i)];
    if (at == absent || values[at] == T(0))
      base::fail<value_error>("ilu0: the pivot of row {} is {}", i,
                              at == absent ? "not stored" : "0");
    diagonal[static_cast<std::size_t>(i)] = at;
    for (std::size_t k = a.begin(i); k < a.end(i); ++k)
      place[static_cast<std::size_t>(a.columns[k])] = absent;
  }
  a.values = host_values<T>(std::move(values));
}

}  // namespace

array triangular_solve(const matrix& a, const array& b, const triangular_options& options) {
  return named("triangular_solve", [&] {
    const std::int64_t n = square(a, "triangular_solve").rows();
    const tutti::shape of_b = op::extents_of(b, "triangular_solve");
    if ((of_b.rank() != 1 && of_b.rank() != 2) || of_b[0] != n)
      base::fail<shape_error>("triangular_solve: {} and {}", a.shape(), of_b);
    placed rows = compressed_along(a, true);
    const dtype type = common_dtype(rows.values, b, "triangular_solve");
    rows.values = op::cast(rows.values, type, "triangular_solve");
    array both[] = {rows.values, op::cast(b, type, "triangular_solve")};
    graph::common_device(both, "triangular_solve");
    const array right = of_b.rank() == 1 ? reshape(both[1], {n, 1}) : both[1];
    return reshape(solution(rows, right, options), of_b);
  });
}

linear_operator jacobi(const matrix& a) {
  return named("jacobi", [&] {
    const array d = stop_gradient(diagonal(square(a, "jacobi")));
    if (d.size() > 0) {
      const array is_zero = d == 0;
      if (any(is_zero).item<bool>())
        base::fail<value_error>("jacobi: the diagonal of row {} is 0",
                                argmax(is_zero.astype(dtype::i32)).item<std::int64_t>());
    }
    const array inverse = 1 / d;
    inverse.eval();
    return linear_operator([inverse](const array& x) { return x * inverse; });
  });
}

linear_operator ilu0(const matrix& a) {
  return named("ilu0", [&] {
    const placed along = compressed_along(square(a, "ilu0"), true);
    const placed rows = canonical_of(matrix(along.places, true, stop_gradient(along.values)));
    return with_type(rows.values.dtype(), [&](auto* tag) {
      using T = std::remove_pointer_t<decltype(tag)>;
      const auto factors = std::make_shared<host_rows<T>>(rows);
      factorize(*factors);
      return linear_operator([factors](const array& given) {
        const dtype type = dtype_of<T>;
        // If the system has a wider dtype, the precision of the preconditioner suffices.
        if (is_complex(given.dtype()) && !is_complex(type))
          throw dtype_error("ilu0: factors of a real matrix for a complex vector");
        std::vector<T> x = given.astype(type).template to_vector<T>();
        solve_rows(*factors, {false, true}, x, 1, "ilu0");
        solve_rows(*factors, {true, false}, x, 1, "ilu0");
        return array::from(x, given.shape(), given.device());
      });
    });
  });
}

}  // namespace tutti::sparse
