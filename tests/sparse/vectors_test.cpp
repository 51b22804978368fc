// SPDX-License-Identifier: Apache-2.0
//
// Results of SciPy (vectors.txt, written by make_vectors.py) against the same calls.
#include "tutti_test/vectors.hpp"

#include "tutti/sparse.hpp"
#include "tutti_test/paths.hpp"

namespace {

using namespace tutti_test;
namespace sparse = tutti::sparse;
using sparse::format;
using sparse::matrix;
using tutti::array;
using tutti::dtype;
using operand_list = std::vector<array>;

// The matrix that stands at operand `first`: extents, rows, columns, values. Formats take turns, so
// that each function meets all of them.
matrix given(const operand_list& v, std::size_t first = 0) {
  static int turn = 0;
  const std::vector<std::int64_t> extents = v[first].to_vector<std::int64_t>();
  const matrix plain =
      sparse::coo({extents[0], extents[1]}, v[first + 1], v[first + 2], v[first + 3]);
  switch (turn++ % 4) {
    case 0:
      return plain;
    case 1:
      return sparse::convert(plain, format::csr);
    case 2:
      return sparse::convert(plain, format::csc);
    default:
      return sparse::canonical(sparse::convert(plain, format::csr));
  }
}

array wide(const array& index) { return index.astype(dtype::i64); }

void add_structure(vector_calls& table) {
  const auto made = [](const operand_list& v, format to) {
    const std::vector<std::int64_t> extents = v[0].to_vector<std::int64_t>();
    const matrix m = sparse::from_triplets({extents[0], extents[1]}, v[1], v[2], v[3], to);
    BOOST_TEST(m.is_canonical());
    BOOST_TEST((m.format() == to));
    return m;
  };
  table["to_dense"] = [](const operand_list& v, auto) { return sparse::to_dense(given(v)); };
  table["csr_starts"] = [=](const operand_list& v, auto) {
    return wide(made(v, format::csr).starts());
  };
  table["csr_indices"] = [=](const operand_list& v, auto) {
    return wide(made(v, format::csr).column_indices());
  };
  table["csr_values"] = [=](const operand_list& v, auto) { return made(v, format::csr).values(); };
  table["csc_starts"] = [=](const operand_list& v, auto) {
    return wide(made(v, format::csc).starts());
  };
  table["csc_indices"] = [=](const operand_list& v, auto) {
    return wide(made(v, format::csc).row_indices());
  };
  table["csc_values"] = [=](const operand_list& v, auto) { return made(v, format::csc).values(); };
  table["diagonal"] = [](const operand_list& v, auto) { return sparse::diagonal(given(v)); };
  table["sum"] = [](const operand_list& v, auto) { return sparse::sum(given(v)); };
  table["sum_rows"] = [](const operand_list& v, auto) { return sparse::sum(given(v), 1); };
  table["sum_columns"] = [](const operand_list& v, auto) { return sparse::sum(given(v), 0); };
  table["slice_rows"] = [](const operand_list& v, std::int64_t from) {
    const matrix m = given(v);
    return sparse::to_dense(sparse::slice_rows(m, from, m.rows()));
  };
  table["take_rows"] = [](const operand_list& v, auto) {
    return sparse::to_dense(sparse::take_rows(given(v), v[4]));
  };
}

void add_products(vector_calls& table) {
  const vector_call by_dense = [](const operand_list& v, auto) {
    return sparse::matmul(given(v), v[4]);
  };
  table["matvec"] = by_dense;
  table["matmat"] = by_dense;
  table["left"] = [](const operand_list& v, auto) { return sparse::matmul(v[4], given(v)); };
  table["sddmm"] = [](const operand_list& v, auto) {
    return sparse::to_dense(sparse::sddmm(sparse::canonical(given(v)), v[4], v[5]));
  };
  table["product"] = [](const operand_list& v, auto) {
    return sparse::to_dense(sparse::matmul(given(v), given(v, 4)));
  };
  table["product_starts"] = [](const operand_list& v, auto) {
    return wide(sparse::matmul(given(v), given(v, 4)).starts());
  };
  table["product_columns"] = [](const operand_list& v, auto) {
    return wide(sparse::matmul(given(v), given(v, 4)).column_indices());
  };
}

void add_arithmetic(vector_calls& table) {
  table["add"] = [](const operand_list& v, auto) {
    return sparse::to_dense(sparse::add(given(v), given(v, 4)));
  };
  table["subtract"] = [](const operand_list& v, auto) {
    return sparse::to_dense(sparse::subtract(given(v), given(v, 4)));
  };
  table["multiply"] = [](const operand_list& v, auto) {
    return sparse::to_dense(sparse::multiply(given(v), given(v, 4)));
  };
  table["masked"] = [](const operand_list& v, auto) {
    return sparse::to_dense(sparse::masked(given(v), given(v, 4)));
  };
  table["scaled"] = [](const operand_list& v, auto) {
    return sparse::to_dense(sparse::multiply(given(v), v[4]));
  };
}

}  // namespace

BOOST_AUTO_TEST_CASE(results_of_scipy) {
  vector_calls table;
  add_structure(table);
  add_products(table);
  add_arithmetic(table);
  BOOST_TEST(check_vectors(tutti_test::paths::vectors, table) == 93);
}
