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

matrix made(const operand_list& v, format to) {
  const std::vector<std::int64_t> extents = v[0].to_vector<std::int64_t>();
  const matrix m = sparse::from_triplets({extents[0], extents[1]}, v[1], v[2], v[3], to);
  BOOST_TEST(m.is_canonical());
  BOOST_TEST((m.format() == to));
  return m;
}

// clang-format off
const vector_calls table = {
  {"to_dense", TUTTI_CALL(sparse::to_dense(given(v)))},
  {"csr_starts", TUTTI_CALL(wide(made(v, format::csr).starts()))},
  {"csr_indices", TUTTI_CALL(wide(made(v, format::csr).column_indices()))},
  {"csr_values", TUTTI_CALL(made(v, format::csr).values())},
  {"csc_starts", TUTTI_CALL(wide(made(v, format::csc).starts()))},
  {"csc_indices", TUTTI_CALL(wide(made(v, format::csc).row_indices()))},
  {"csc_values", TUTTI_CALL(made(v, format::csc).values())},
  {"diagonal", TUTTI_CALL(sparse::diagonal(given(v)))},
  {"sum", TUTTI_CALL(sparse::sum(given(v)))},
  {"sum_rows", TUTTI_CALL(sparse::sum(given(v), 1))},
  {"sum_columns", TUTTI_CALL(sparse::sum(given(v), 0))},
  {"slice_rows", TUTTI_CALL(sparse::to_dense(sparse::slice_rows(given(v), n, v[0][0].item<std::int64_t>())))},
  {"take_rows", TUTTI_CALL(sparse::to_dense(sparse::take_rows(given(v), v[4])))},
  {"matvec", TUTTI_CALL(sparse::matmul(given(v), v[4]))},
  {"matmat", TUTTI_CALL(sparse::matmul(given(v), v[4]))},
  {"left", TUTTI_CALL(sparse::matmul(v[4], given(v)))},
  {"sddmm", TUTTI_CALL(sparse::to_dense(sparse::sddmm(sparse::canonical(given(v)), v[4], v[5])))},
  {"product", TUTTI_CALL(sparse::to_dense(sparse::matmul(given(v), given(v, 4))))},
  {"product_starts", TUTTI_CALL(wide(sparse::matmul(given(v), given(v, 4)).starts()))},
  {"product_columns", TUTTI_CALL(wide(sparse::matmul(given(v), given(v, 4)).column_indices()))},
  {"add", TUTTI_CALL(sparse::to_dense(sparse::add(given(v), given(v, 4))))},
  {"subtract", TUTTI_CALL(sparse::to_dense(sparse::subtract(given(v), given(v, 4))))},
  {"multiply", TUTTI_CALL(sparse::to_dense(sparse::multiply(given(v), given(v, 4))))},
  {"masked", TUTTI_CALL(sparse::to_dense(sparse::masked(given(v), given(v, 4))))},
  {"scaled", TUTTI_CALL(sparse::to_dense(sparse::multiply(given(v), v[4])))},
};
// clang-format on

}  // namespace

BOOST_AUTO_TEST_CASE(results_of_scipy) {
  BOOST_TEST(check_vectors(tutti_test::paths::vectors, table) == 93);
}
