// SPDX-License-Identifier: Apache-2.0
//
// Sparse matrices in compressed rows times vectors and dense matrices, compared with SciPy or
// PyTorch in the Python of TUTTI_BENCH_PYTHON (python3), and with one read of indices, values and
// vector.
#include <fmt/format.h>

#include <memory>

#include "harness.hpp"
#include "operands.hpp"
#include "tutti/sparse.hpp"

namespace tutti::bench {
namespace {

struct rows_of_columns {
  std::int64_t columns = 0;
  std::vector<std::int32_t> starts{0}, indices;
  std::int64_t rows() const { return static_cast<std::int64_t>(starts.size()) - 1; }
};

// The five-point stencil on a square grid.
rows_of_columns grid(std::int32_t n) {
  rows_of_columns m;
  m.columns = std::int64_t{n} * n;
  for (std::int32_t i = 0; i < n * n; ++i) {
    if (i >= n) m.indices.push_back(i - n);
    if (i % n > 0) m.indices.push_back(i - 1);
    m.indices.push_back(i);
    if (i % n < n - 1) m.indices.push_back(i + 1);
    if (i + n < n * n) m.indices.push_back(i + n);
    m.starts.push_back(static_cast<std::int32_t>(m.indices.size()));
  }
  return m;
}

// `each` elements per row on average, evenly spread with random offsets; `uneven`: 1% of the rows
// have half of all elements.
rows_of_columns random_columns(std::int32_t rows, std::int32_t each, bool uneven) {
  rows_of_columns m;
  m.columns = rows;
  const std::vector<double> chance = operand<double>(std::size_t{1} << 20, 9);
  std::size_t drawn = 0;
  for (std::int32_t i = 0; i < rows; ++i) {
    const std::int32_t length = !uneven ? each : i % 100 == 0 ? each * 50 : each / 2;
    const double share = static_cast<double>(rows) / length;
    for (std::int32_t k = 0; k < length; ++k) {
      const double place = (k + 0.5 + 0.4999 * chance[drawn++ % chance.size()]) * share;
      m.indices.push_back(static_cast<std::int32_t>(place));
    }
    m.starts.push_back(static_cast<std::int32_t>(m.indices.size()));
  }
  return m;
}

struct data {
  rows_of_columns places;
  std::vector<float> values, x;
  sparse::matrix a;
  array b, y;
};

workload product(const rows_of_columns& places, std::int64_t width) {
  auto d = std::make_shared<data>();
  d->places = places;
  d->values = operand<float>(places.indices.size(), 3);
  d->x = operand<float>(static_cast<std::size_t>(places.columns * width), 5);
  d->a = sparse::csr({places.rows(), places.columns}, array::from(places.starts),
                     array::from(places.indices), array::from(d->values));
  d->b = width == 1 ? array::from(d->x) : array::from(d->x, {places.columns, width});
  eval({d->a.starts(), d->a.column_indices(), d->a.values(), d->b});
  return {.ours = [d] { d->y = sparse::matmul(d->a, d->b).wait(); },
          .check =
              [d, width] {
                std::vector<float> got, expected;
                const std::vector<float> y = d->y.to_vector<float>();
                for (std::int64_t m = 0; m < d->places.rows(); m += 997)
                  for (std::int64_t n = 0; n < width; ++n) {
                    double sum = 0;
                    const auto row = static_cast<std::size_t>(m);
                    for (auto k = static_cast<std::size_t>(d->places.starts[row]);
                         k < static_cast<std::size_t>(d->places.starts[row + 1]); ++k)
                      sum += static_cast<double>(d->values[k]) *
                             static_cast<double>(
                                 d->x[static_cast<std::size_t>(d->places.indices[k] * width + n)]);
                    got.push_back(y[static_cast<std::size_t>(m * width + n)]);
                    expected.push_back(static_cast<float>(sum));
                  }
                return compare(got, expected, 1e-4);
              }};
}

struct squared_data {
  sparse::matrix a, c;
  array x, y;
};

std::shared_ptr<squared_data> matrix_of(const rows_of_columns& places) {
  auto d = std::make_shared<squared_data>();
  d->a = sparse::csr({places.rows(), places.columns}, array::from(places.starts),
                     array::from(places.indices),
                     array::from(operand<float>(places.indices.size(), 3)));
  eval({d->a.starts(), d->a.column_indices(), d->a.values()});
  return d;
}

// A matrix times itself.
workload squared(const rows_of_columns& places) {
  const auto d = matrix_of(places);
  return {.ours =
              [d] {
                d->c = sparse::matmul(d->a, d->a);
                d->c.values().wait();
              },
          .check =
              [d] {
                const array right = sparse::matmul(d->a, sparse::sum(d->a, 1));
                return compare(sparse::sum(d->c, 1).to_vector<float>(), right.to_vector<float>(),
                               1e-3);
              }};
}

// Elements of a dense product with `width` inner columns at the positions of the sparse matrix.
workload sampled_product(const rows_of_columns& places, std::int64_t width) {
  const auto d = matrix_of(places);
  const auto size = static_cast<std::size_t>(places.columns * width);
  d->x = array::from(operand<float>(size, 5), {places.columns, width}).wait();
  d->y = array::from(operand<float>(size, 7), {places.columns, width}).wait();
  return {.ours =
              [d] {
                d->c = sparse::sddmm(d->a, d->x, d->y.T());
                d->c.values().wait();
              },
          .check = [d] {  // of all rows together: the sum over columns, gathered
            const array rows = take(d->x, d->c.row_indices(), 0);
            const array columns = take(d->y, d->c.column_indices(), 0);
            return compare(d->c.values().to_vector<float>(),
                           sum(rows * columns, 1).to_vector<float>(), 1e-4);
          }};
}

}  // namespace

void add_sparse_cases(std::vector<bench_case>& cases) {
  struct extents {
    std::int64_t rows, count, width;
  };
  const auto add = [&](const char* name, const char* peer, const extents& of,
                       std::function<rows_of_columns()> make) {
    bench_case c;
    c.name = name;
    const std::int64_t bytes = 8 * of.count + 12 * of.rows;
    const bool is_vector = of.width == 1;
    c.unit = is_vector ? "GB/s" : "GFLOP/s";
    c.amount = static_cast<double>(is_vector ? bytes : 2 * of.count * of.width);
    if (is_vector) {
      c.bound = floor_kind::read;
      c.bound_elements = static_cast<std::size_t>(bytes / 4);
    }
    c.peer = "fastest of SciPy, PyTorch";
    c.make = [make, width = of.width] { return product(make(), width); };
    c.python = peer;
    c.at_least_of_peer = 1.5;
    cases.push_back(std::move(c));
  };
  constexpr std::int64_t n = 1024, rows = 1 << 18, few = 1 << 16, each = 40;
  constexpr std::int64_t long_rows = (rows + 99) / 100;
  add("csr times vector, grid of 1024 x 1024, f32", "csr grid", {n * n, 5 * n * n - 4 * n, 1},
      [] { return grid(n); });
  add("csr times vector, 256k rows of 40, f32", "csr rows", {rows, rows * each, 1},
      [] { return random_columns(rows, each, false); });
  add("csr times vector, 256k uneven rows, f32", "csr uneven rows",
      {rows, long_rows * 50 * each + (rows - long_rows) * each / 2, 1},
      [] { return random_columns(rows, each, true); });
  add("csr times 64 columns, 64k rows of 40, f32", "csr columns", {few, few * each, 64},
      [] { return random_columns(few, each, false); });

  const auto add_time = [&](const char* name, const char* peer, std::function<workload()> make) {
    cases.push_back(milliseconds(name, "fastest of SciPy, PyTorch", std::move(make), 0, peer));
  };
  add_time("csr times csr, grid of 1024 x 1024, f32", "csr squared",
           [] { return squared(grid(n)); });
  add_time("products of 64 columns at 64k x 40 places, f32", "csr sampled",
           [] { return sampled_product(random_columns(few, each, false), 64); });
}

}  // namespace tutti::bench
