// SPDX-License-Identifier: Apache-2.0
//
// Gradients for values and dense operands against central differences, first and second ones, of a
// matrix with an empty row, a place that occurs twice and columns in no order.
#include "differences.hpp"
#include "tutti/sparse/solvers.hpp"

namespace {

namespace sparse = tutti::sparse;
using sparse::format;
using sparse::matrix;
using arguments = std::vector<array>;
using function_of_matrix = std::function<array(const matrix&, const array&)>;

matrix given(const array& values, format to) {
  const array starts = array::from({0, 3, 3, 5, 6}), columns = array::from({2, 0, 2, 1, 4, 3});
  const matrix m = sparse::csr({4, 5}, starts, columns, tutti::ones({6}, tutti::dtype::f64));
  return sparse::convert(m.with_values(values), to);
}

array bent(const array& y) { return y * y * y; }

// f of the matrix with values v[0] and of v[1].
void check_both(const function_of_matrix& f, const tutti::shape& of_operand,
                format from = format::csr) {
  const auto value = [=](const arguments& v) {
    return weighted_sum(f(given(bent(v[0]), from), bent(v[1])));
  };
  const std::vector<dense> at = {random_dense({6}, -1, 1, 40), random_dense(of_operand, -1, 1, 41)};
  check_gradient(value, at, 1e-6);
  const tutti::function second = [=](const arguments& v) {
    const arguments g = tutti::grad(value)(v);
    return weighted_sum(g[0]) + weighted_sum(g[1]);
  };
  check_gradient(second, at, 1e-5);
}

}  // namespace

BOOST_AUTO_TEST_CASE(of_products) {
  for (const format from : {format::csr, format::csc, format::coo}) {
    check_both([](const matrix& m, const array& x) { return sparse::matmul(m, x); }, {5}, from);
    check_both([](const matrix& m, const array& b) { return sparse::matmul(m, b); }, {5, 3}, from);
  }
  check_both([](const matrix& m, const array& a) { return sparse::matmul(a, m); }, {2, 4});
  check_both([](const matrix& m, const array& a) { return sparse::matmul(a, m); }, {4},
             format::csc);
}

BOOST_AUTO_TEST_CASE(of_sparse_results) {
  check_both(
      [](const matrix& m, const array& v) {
        return sparse::to_dense(sparse::matmul(m, given(v, format::csc).T()));
      },
      {6});
  check_both(
      [](const matrix& m, const array& v) {
        return sparse::to_dense(sparse::add(sparse::multiply(m, given(v, format::csr)), m));
      },
      {6}, format::coo);
  check_both(
      [](const matrix& m, const array& d) { return sparse::to_dense(sparse::multiply(m, d)); },
      {4, 1});
  for (const format f : {format::csr, format::csc, format::coo})
    check_both(
        [](const matrix& m, const array& a) {
          const array b = a({tutti::slice{0, 2, 1}});
          return sparse::to_dense(sparse::sddmm(m, a({tutti::slice{}, tutti::slice{0, 2, 1}}), b)) +
                 tutti::sum(sparse::to_dense(m));
        },
        {4, 5}, f);
}

BOOST_AUTO_TEST_CASE(of_parts) {
  check_both(
      [](const matrix& m, const array& v) {
        return sparse::sum(sparse::slice_rows(m, 1, 4), 0) + tutti::sum(v);
      },
      {2});
  check_both(
      [](const matrix& m, const array& v) {
        const matrix rows = sparse::take_rows(m, array::from({0, 3, 0}));
        return sparse::sum(rows, 1) * v + tutti::sum(sparse::diagonal(m));
      },
      {3}, format::csc);
  check_both(
      [](const matrix& m, const array& d) {
        const matrix made = sparse::from_dense(d);
        return sparse::matmul(sparse::canonical(m), sparse::to_dense(made));
      },
      {5, 2});
}

BOOST_AUTO_TEST_CASE(of_triangular_systems) {
  for (const bool upper : {false, true})
    check_both(
        [=](const matrix& m, const array& b) {
          // Places beside the diagonal that count, and some that are not read.
          const array on = tutti::full({5}, 3.0, tutti::dtype::f64);
          const array rows = tutti::concatenate({tutti::arange(5), m.row_indices()});
          const array columns = tutti::concatenate({tutti::arange(5), m.column_indices()});
          const matrix a =
              sparse::from_triplets({5, 5}, rows, columns, tutti::concatenate({on, m.values()}));
          return sparse::triangular_solve(a, b, {upper, false});
        },
        {5, 2});
}
