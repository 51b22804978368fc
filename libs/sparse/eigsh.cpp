// SPDX-License-Identifier: Apache-2.0
//
// Eigenvalues of Hermitian matrices by the Lanczos method with thick restarts (K. Wu, H. Simon,
// "Thick-restart Lanczos method for large symmetric eigenvalue problems", 2000): the vectors on the
// device, the projected matrix, of some dozens of rows, on the host.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "sparse/solvers.hpp"
#include "tutti/linalg.hpp"
#include "tutti/random.hpp"

namespace tutti::sparse {

using tutti::base::named;

namespace {

using number = std::complex<double>;

// A square matrix on the host, row-major.
struct host_matrix {
  std::int64_t n;
  std::vector<number> values;
  explicit host_matrix(std::int64_t rows) : n(rows), values(static_cast<std::size_t>(n * n)) {}
  number& at(std::int64_t i, std::int64_t j) { return values[static_cast<std::size_t>(i * n + j)]; }
  number at(std::int64_t i, std::int64_t j) const {
    return values[static_cast<std::size_t>(i * n + j)];
  }
};

// Eigenvalues, and eigenvectors as columns, ordered as required.
struct ritz_pairs {
  std::vector<double> values;
  host_matrix vectors;
};

double preference(double value, spectrum which) {
  if (which == spectrum::largest_magnitude) return -std::abs(value);
  return which == spectrum::largest ? -value : value;
}

ritz_pairs pairs_of(const host_matrix& t, spectrum which, const array& like) {
  array projected = array::from(t.values, {t.n, t.n}, like.device());
  projected = is_complex(like.dtype()) ? projected.astype(like.dtype())
                                       : real(projected).astype(like.dtype());
  const linalg::eigh_result found = linalg::eigh(projected);
  const std::vector<double> values = found.eigenvalues.astype(dtype::f64).to_vector<double>();
  const auto columns = found.eigenvectors.astype(dtype::c128).to_vector<number>();
  std::vector<std::int64_t> order(values.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return preference(values[static_cast<std::size_t>(a)], which) <
           preference(values[static_cast<std::size_t>(b)], which);
  });
  ritz_pairs out{{}, host_matrix(t.n)};
  for (std::int64_t j = 0; j < t.n; ++j) {
    const std::int64_t from = order[static_cast<std::size_t>(j)];
    out.values.push_back(values[static_cast<std::size_t>(from)]);
    for (std::int64_t i = 0; i < t.n; ++i)
      out.vectors.at(i, j) = columns[static_cast<std::size_t>(i * t.n + from)];
  }
  return out;
}

// The first `count` columns, row-major.
std::vector<number> first_columns(const host_matrix& m, std::int64_t count) {
  std::vector<number> out;
  for (std::int64_t i = 0; i < m.n; ++i)
    for (std::int64_t j = 0; j < count; ++j) out.push_back(m.at(i, j));
  return out;
}

class lanczos {
 public:
  lanczos(const linear_operator& a, const array& start, std::int64_t size)
      : a_(a), basis_(start, size), projected_(size), size_(size) {}

  /// Fills the space. Returns the norm of the remaining vector.
  double fill() {
    double length = 0;
    for (std::int64_t j = basis_.count() - 1; j < size_; ++j) {
      const krylov_basis::step next = basis_.expand(a_(basis_.last()));
      if (!std::isfinite(next.length)) return next.length;
      for (std::int64_t i = 0; i <= j; ++i) {
        const number product = next.products[static_cast<std::size_t>(i)];
        projected_.at(i, j) = product;
        projected_.at(j, i) = std::conj(product);
      }
      length = next.is_exhausted ? 0 : next.length;
      // The eigenpairs found are exact; continue with a new vector.
      if (next.is_exhausted && j + 1 < size_) basis_.expand_randomly();
    }
    return length;
  }

  void restart(const ritz_pairs& pairs, std::int64_t kept) {
    basis_.compress(first_columns(pairs.vectors, kept), kept);
    projected_ = host_matrix(size_);
    for (std::int64_t i = 0; i < kept; ++i)
      projected_.at(i, i) = pairs.values[static_cast<std::size_t>(i)];
  }

  const host_matrix& projected() const { return projected_; }
  const krylov_basis& basis() const { return basis_; }

 private:
  const linear_operator& a_;
  krylov_basis basis_;
  host_matrix projected_;
  std::int64_t size_;
};

array start_vector(const linear_operator& a, const eigsh_options& options) {
  const array& like = a.like();
  if (!like.valid() && !options.start)
    throw value_error("eigsh: a function tells no size; a start vector is needed");
  if (!options.start) {
    const array numbers =
        random::uniform({1}, like.shape(), -1, 1, real_dtype(like.dtype()), like.device());
    return op::cast(numbers, like.dtype(), "eigsh");
  }
  array start = as_vector(*options.start, "start", "eigsh");
  if (!like.valid()) return start;
  if (like.shape() != start.shape())
    base::fail<shape_error>("eigsh: a matrix of {} rows and start of shape {}", like.size(),
                            start.shape());
  return op::cast(start, result_type({start, like}), "eigsh");
}

struct plan {
  std::int64_t vectors, restarts;
};

plan plan_of(std::int64_t n, std::int64_t k, const eigsh_options& options) {
  if (k < 1 || k >= n) base::fail<value_error>("eigsh: {} eigenvalues of {} rows", k, n);
  if (options.which > spectrum::smallest || !(options.tol >= 0))
    base::fail<value_error>("eigsh: a tolerance of {}, spectrum number {}", options.tol,
                            static_cast<int>(options.which));
  const std::int64_t usual = std::min(n, std::max<std::int64_t>(k < n / 2 ? 2 * k + 1 : n, 20));
  const plan p{options.vectors.value_or(usual),
               options.iterations.value_or(n < std::int64_t{1} << 59 ? 10 * n : n)};
  if (p.vectors <= k || p.vectors > n || p.restarts < 1)
    base::fail<value_error>("eigsh: {} vectors, {} restarts for {} of {} eigenvalues", p.vectors,
                            p.restarts, k, n);
  return p;
}

// The largest error bound of the first k, relative to the tolerance.
double worst_of(const ritz_pairs& pairs, double length, std::int64_t k, double tolerance,
                double epsilon) {
  double worst = 0;
  for (std::int64_t i = 0; i < k; ++i) {
    const double size =
        std::max(std::abs(pairs.values[static_cast<std::size_t>(i)]), std::cbrt(epsilon * epsilon));
    const double error = length * std::abs(pairs.vectors.at(pairs.vectors.n - 1, i));
    worst = std::max(worst, error / (size * tolerance));
  }
  return worst;
}

eigsh_result result_of(const lanczos& space, const ritz_pairs& pairs, std::int64_t k,
                       const array& like) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(k));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const auto value = [&](std::int64_t i) { return pairs.values[static_cast<std::size_t>(i)]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t a, std::int64_t b) { return value(a) < value(b); });
  std::vector<double> values;
  for (const std::int64_t i : order) values.push_back(value(i));
  std::vector<number> factors;
  for (std::int64_t i = 0; i < pairs.vectors.n; ++i)
    for (const std::int64_t j : order) factors.push_back(pairs.vectors.at(i, j));
  eigsh_result out;
  out.eigenvalues = array::from(values, like.device()).astype(real_dtype(like.dtype()));
  out.eigenvectors =
      contiguous(matrix_transpose(space.basis().sums_of(factors, pairs.vectors.n, k)));
  return out;
}

}  // namespace

eigsh_result eigsh(const linear_operator& a, std::int64_t k, const eigsh_options& options) {
  return named("eigsh", [&] {
    const array start = start_vector(a, options);
    const plan p = plan_of(start.size(), k, options);
    const double length = length_of(start).item();
    if (!(length > 0) || !std::isfinite(length))
      base::fail<value_error>("eigsh: a start vector of length {}", length);
    const double epsilon = real_dtype(start.dtype()) == dtype::f64 ? 2.3e-16 : 1.2e-7;
    const double tolerance = std::max(options.tol, epsilon);
    lanczos space(a, start / length, p.vectors);
    for (std::int64_t restarts = 1;; ++restarts) {
      const double left = space.fill();
      if (!std::isfinite(left)) throw value_error("eigsh: products with a are not finite");
      const ritz_pairs pairs = pairs_of(space.projected(), options.which, start);
      const double worst = worst_of(pairs, left, k, tolerance, epsilon);
      const bool converged = worst <= 1;
      const bool stopped =
          options.callback && !options.callback({restarts, worst * tolerance, array()});
      if (converged || stopped || restarts == p.restarts) {
        eigsh_result out = result_of(space, pairs, k, start);
        out.converged = converged;
        out.iterations = restarts;
        return out;
      }
      space.restart(pairs, std::min(k + (p.vectors - k) / 2, p.vectors - 1));
    }
  });
}

}  // namespace tutti::sparse
