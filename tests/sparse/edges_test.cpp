// SPDX-License-Identifier: Apache-2.0
//
// Formats and their flags; no elements, no rows; NaN and infinities; many and uneven rows; indices
// beyond 32 bits; views; bad input.
#include "tutti/sparse.hpp"
#include "tutti_test/arrays.hpp"

namespace {

namespace sparse = tutti::sparse;
using sparse::format;
using sparse::matrix;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr std::int64_t beyond_i32 = std::int64_t{1} << 31;

template <class T>
bool equal(const array& a, const std::vector<T>& want) {
  return a.to_vector<T>() == want;
}

array indices(const std::vector<std::int64_t>& values) { return array::from(values); }

// [[1, 0, 2], [0, 0, 0], [0, 3, 0]]
matrix small() {
  return sparse::csr({3, 3}, indices({0, 2, 2, 3}), indices({0, 2, 1}),
                     array::from({1.0F, 2.0F, 3.0F}));
}

const std::vector<float> small_dense = {1, 0, 2, 0, 0, 0, 0, 3, 0};

std::vector<float> dense_of(const matrix& m) { return sparse::to_dense(m).to_vector<float>(); }

matrix empty_matrix(std::int64_t rows, std::int64_t columns, format f) {
  const array none = tutti::zeros({0}, dtype::i32);
  return sparse::convert(sparse::coo({rows, columns}, none, none, tutti::zeros({0})), f);
}

constexpr format formats[] = {format::csr, format::csc, format::coo};

}  // namespace

BOOST_AUTO_TEST_CASE(formats_hold_the_same) {
  for (const format from : formats) {
    const matrix m = sparse::convert(small(), from);
    BOOST_TEST((m.format() == from));
    BOOST_TEST((m.shape() == shape{3, 3}));
    BOOST_TEST(m.nnz() == 3);
    BOOST_TEST((dense_of(m) == small_dense));
    for (const format to : formats) {
      const matrix other = sparse::convert(m, to);
      BOOST_TEST((other.format() == to));
      BOOST_TEST((dense_of(other) == small_dense));
    }
    BOOST_TEST((dense_of(m.T()) == std::vector<float>{1, 0, 0, 0, 0, 3, 2, 0, 0}));
    BOOST_TEST((dense_of(sparse::transpose(m).T()) == small_dense));
  }
  BOOST_TEST((small().T().format() == format::csc));
  BOOST_TEST(equal<std::int32_t>(small().row_indices(), {0, 0, 2}));
  BOOST_TEST(equal<std::int32_t>(small().column_indices(), {0, 2, 1}));
  BOOST_TEST(equal<std::int32_t>(small().starts(), {0, 2, 2, 3}));
  BOOST_TEST((dense_of(sparse::from_dense(sparse::to_dense(small()), format::csc)) == small_dense));
  BOOST_TEST((dense_of(sparse::eye(2)) == std::vector<float>{1, 0, 0, 1}));
  BOOST_TEST(sparse::eye(0).nnz() == 0);
}

BOOST_AUTO_TEST_CASE(order_is_flagged) {
  BOOST_TEST(small().is_canonical());
  const array starts = indices({0, 2, 3}), values = array::from({1.0F, 2.0F, 3.0F});
  const matrix unsorted = sparse::csr({2, 3}, starts, indices({2, 0, 1}), values);
  const matrix twice = sparse::csr({2, 3}, starts, indices({1, 1, 0}), values);
  BOOST_TEST(!unsorted.is_canonical());
  BOOST_TEST(!twice.is_canonical());
  BOOST_TEST(equal<std::int32_t>(sparse::canonical(unsorted).column_indices(), {0, 2, 1}));
  BOOST_TEST(equal<float>(sparse::canonical(unsorted).values(), {2, 1, 3}));
  BOOST_TEST(equal<float>(sparse::canonical(twice).values(), {3, 3}));
  BOOST_TEST(!sparse::convert(unsorted, format::coo).is_canonical());
  // Coordinates in the order of columns are not in that of rows.
  const matrix by_columns = sparse::convert(small().T(), format::coo);
  BOOST_TEST(!by_columns.is_canonical());
  BOOST_TEST(sparse::canonical(by_columns).is_canonical());
  BOOST_TEST((sparse::canonical(by_columns).format() == format::coo));
  BOOST_TEST(equal<std::int32_t>(sparse::canonical(by_columns).row_indices(), {0, 1, 2}));
}

BOOST_AUTO_TEST_CASE(without_elements) {
  for (const format f : formats) {
    for (const shape& extents : {shape{0, 0}, shape{0, 4}, shape{4, 0}, shape{3, 4}}) {
      const matrix m = empty_matrix(extents[0], extents[1], f);
      BOOST_TEST(m.is_canonical());
      BOOST_TEST((sparse::to_dense(m).shape() == extents));
      const array y = sparse::matmul(m, tutti::ones({extents[1], 2}));
      BOOST_TEST((y.shape() == shape{extents[0], 2}));
      BOOST_TEST(tutti::sum(y).item() == 0);
      BOOST_TEST((sparse::matmul(m, tutti::ones({extents[1]})).shape() == shape{extents[0]}));
      BOOST_TEST(sparse::add(m, m).nnz() == 0);
      BOOST_TEST(sparse::multiply(m, m).nnz() == 0);
      BOOST_TEST(sparse::multiply(m, array(2.0)).nnz() == 0);
      BOOST_TEST(sparse::matmul(m, m.T()).nnz() == 0);
      BOOST_TEST(sparse::eliminate_zeros(m).nnz() == 0);
      BOOST_TEST(sparse::sum(m).item() == 0);
      BOOST_TEST((sparse::sum(m, 1).shape() == shape{extents[0]}));
      BOOST_TEST((sparse::diagonal(m).shape() == shape{std::min(extents[0], extents[1])}));
      BOOST_TEST(sparse::slice_rows(m, 0, extents[0]).nnz() == 0);
      BOOST_TEST(
          sparse::sddmm(m, tutti::ones({extents[0], 2}), tutti::ones({2, extents[1]})).nnz() == 0);
    }
  }
  BOOST_TEST((sparse::matmul(small(), tutti::ones({3, 0})).shape() == shape{3, 0}));
  for (const array& none :
       {tutti::zeros({0}, dtype::i64), array::from(std::vector<std::int32_t>{})})
    BOOST_TEST((sparse::to_dense(sparse::take_rows(small(), none)).shape() == shape{0, 3}));
  BOOST_TEST(sparse::add(small(), empty_matrix(3, 3, format::csc)).nnz() == 3);
}

BOOST_AUTO_TEST_CASE(what_is_not_stored_meets_nothing) {
  const array x = array::from({infinity, infinity, 1.0F});
  const std::vector<float> y = sparse::matmul(small(), x).to_vector<float>();
  BOOST_TEST((y == std::vector<float>{infinity, 0, infinity}));
  // A zero that is stored does: 0 times infinity.
  const matrix zeros = small().with_values(tutti::zeros({3}));
  BOOST_TEST(zeros.nnz() == 3);
  const std::vector<float> z = sparse::matmul(zeros, x).to_vector<float>();
  BOOST_TEST((z[0] != z[0] && z[1] == 0 && z[2] != z[2]));
  BOOST_TEST(sparse::eliminate_zeros(zeros).nnz() == 0);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  BOOST_TEST(sparse::from_dense(array::from({{nan, 0.0F}, {-0.0F, 1.0F}})).nnz() == 2);
}

// Rows from empty to most of the matrix, columns in no order and several times: exact in integers.
BOOST_AUTO_TEST_CASE(uneven_rows) {
  constexpr std::int64_t rows = 300, columns = 211;
  std::vector<std::int64_t> starts = {0}, places;
  for (std::int64_t m = 0; m < rows; ++m) {
    const std::int64_t length = m == 133 ? 5000 : m % 9 == 0 ? 0 : m * 7 % 13;
    for (std::int64_t k = 0; k < length; ++k) places.push_back((k * 89 + m * 17) % columns);
    starts.push_back(starts.back() + length);
  }
  std::vector<double> values;
  for (std::size_t k = 0; k < places.size(); ++k)
    values.push_back(static_cast<double>(k * 31 % 15) - 7);
  const matrix m =
      sparse::csr({rows, columns}, indices(starts), indices(places), array::from(values));
  BOOST_TEST(!m.is_canonical());
  for (const std::int64_t width : {1, 3, 8, 45}) {
    const dense b = tabulate({columns, width},
                             [](const position& i) { return (i[0] * 5 + i[1] * 3) % 11 - 5; });
    const dense want = tabulate({rows, width}, [&](const position& i) {
      double sum = 0;
      for (std::int64_t k = starts[std::size_t(i[0])]; k < starts[std::size_t(i[0]) + 1]; ++k)
        sum += values[std::size_t(k)] * b.at({places[std::size_t(k)], i[1]});
      return sum;
    });
    const array right = upload_as<double>(b);
    BOOST_TEST(matches(sparse::matmul(m, right), want, {}));
    BOOST_TEST(matches(sparse::matmul(sparse::canonical(m), right), want, {}));
    BOOST_TEST(matches(tutti::matmul(sparse::to_dense(m), right), want, {}));
  }
  // Of two sparse ones, row by row or, where there are gradients, from all products at once.
  const array whole = tutti::matmul(sparse::to_dense(m), sparse::to_dense(m).T());
  const auto product = [&](const array& v) { return sparse::matmul(m.with_values(v), m.T()); };
  const matrix found = product(m.values());
  BOOST_TEST(found.is_canonical());
  BOOST_TEST(equal<double>(sparse::to_dense(found), whole.to_vector<double>()));
  const auto [total, slope] = tutti::value_and_grad(
      [&](const array& v) { return tutti::sum(sparse::to_dense(product(v)) * whole); })(m.values());
  BOOST_TEST(total.item() == tutti::sum(whole * whole).item());
  BOOST_TEST((slope.shape() == m.values().shape()));
}

// Rows of a product with thirty elements, side by side or far apart; two rows of twenty elements in
// no order share ten columns.
BOOST_AUTO_TEST_CASE(order_of_products) {
  for (const std::int64_t apart : {1, 50, 4001}) {
    std::vector<std::int64_t> places;
    std::vector<float> values;
    std::map<std::int64_t, float> sums;
    for (std::int64_t k = 0; k < 40; ++k) {
      places.push_back((k < 20 ? k * 7 % 20 : k * 13 % 20 + 10) * apart);
      values.push_back(static_cast<float>(k + 1));
      sums[places.back()] += (k < 20 ? 2.0F : -3.0F) * values.back();
    }
    const matrix rows = sparse::csr({2, 29 * apart + 1}, indices({0, 20, 40}), indices(places),
                                    array::from(values));
    const matrix both = sparse::csr({3, 2}, indices({0, 2, 2, 4}), indices({1, 0, 0, 1}),
                                    array::from({-3.0F, 2.0F, 2.0F, -3.0F}));
    const matrix y = sparse::matmul(both, rows);
    std::vector<std::int64_t> columns;
    std::vector<float> want;
    for (int row = 0; row < 2; ++row)
      for (const auto& [column, sum] : sums) columns.push_back(column), want.push_back(sum);
    BOOST_TEST(equal<std::int64_t>(y.starts().astype(dtype::i64), {0, 30, 30, 60}));
    BOOST_TEST(equal<std::int64_t>(y.column_indices().astype(dtype::i64), columns));
    BOOST_TEST(equal<float>(y.values(), want));
  }
}

// A row of the result is far longer than all elements.
BOOST_AUTO_TEST_CASE(wide_products) {
  const std::int64_t width = std::int64_t{1} << 40;
  const matrix wide = sparse::csr({3, width}, indices({0, 2, 2, 3}), indices({7, width - 1, 0}),
                                  array::from({1.0F, 2.0F, 3.0F}));
  const matrix y = sparse::matmul(small(), wide);
  BOOST_TEST((y.shape() == shape{3, width}));
  BOOST_TEST(equal<std::int64_t>(y.column_indices().astype(dtype::i64), {0, 7, width - 1}));
  BOOST_TEST(equal<float>(y.values(), {6, 1, 2}));
}

BOOST_AUTO_TEST_CASE(views_of_operands) {
  const array b = tutti::arange(18).astype(dtype::f32).reshape({6, 3});
  const array every_second = b({tutti::slice{0, 6, 2}});
  const array direct = tutti::matmul(sparse::to_dense(small()), every_second);
  BOOST_TEST(equal<float>(sparse::matmul(small(), every_second), direct.to_vector<float>()));
  const array turned = every_second.T();
  BOOST_TEST(equal<float>(sparse::matmul(small(), turned),
                          tutti::matmul(sparse::to_dense(small()), turned).to_vector<float>()));
  BOOST_TEST(equal<float>(sparse::matmul(turned, small()),
                          tutti::matmul(turned, sparse::to_dense(small())).to_vector<float>()));
  const array strided = array::from({1.0F, 9.0F, 2.0F, 9.0F, 3.0F})({tutti::slice{0, 5, 2}});
  BOOST_TEST((dense_of(small().with_values(strided)) == small_dense));
  const array reversed = array::from({3.0F, 2.0F, 1.0F})({tutti::slice{{}, {}, -1}});
  BOOST_TEST((dense_of(small().with_values(reversed)) == small_dense));
}

BOOST_AUTO_TEST_CASE(dtypes) {
  for (const dtype type : {dtype::f32, dtype::f64, dtype::c64, dtype::c128}) {
    const matrix m = small().astype(type);
    BOOST_TEST((m.dtype() == type));
    BOOST_TEST((sparse::matmul(m, tutti::ones({3}, dtype::i32)).dtype() == type));
    BOOST_TEST((sparse::to_dense(m).dtype() == type));
  }
  BOOST_TEST((small().with_values(tutti::ones({3}, dtype::boolean)).dtype() == dtype::f32));
  BOOST_TEST((sparse::matmul(small(), tutti::ones({3}, dtype::f64)).dtype() == dtype::f64));
  FAILS(dtype_error, small().with_values(tutti::ones({3}, dtype::f16)), "f16");
  FAILS(dtype_error, small().astype(dtype::i32), "astype");
}

BOOST_AUTO_TEST_CASE(indices_beyond_32_bits) {
  const auto type_of = [](const shape& extents, std::int64_t column) {
    const matrix m =
        sparse::coo(extents, indices({0, 1}), indices({0, column}), array::from({1.0F, 2.0F}));
    BOOST_TEST(equal<std::int64_t>(m.column_indices().astype(dtype::i64), {0, column}));
    return m.column_indices().dtype();
  };
  BOOST_TEST((type_of({2, beyond_i32 - 1}, beyond_i32 - 2) == dtype::i32));
  BOOST_TEST((type_of({2, beyond_i32}, beyond_i32 - 1) == dtype::i64));
  BOOST_TEST((type_of({2, beyond_i32 * 1024}, beyond_i32 * 1024 - 1) == dtype::i64));
  const matrix wide = sparse::from_triplets({2, beyond_i32 * 4}, indices({1, 0, 1}),
                                            indices({beyond_i32 * 3, 7, beyond_i32 * 3}),
                                            array::from({1.0F, 2.0F, 4.0F}));
  BOOST_TEST(wide.nnz() == 2);
  BOOST_TEST(equal<std::int64_t>(wide.column_indices(), {7, beyond_i32 * 3}));
  BOOST_TEST(equal<float>(sparse::add(wide, wide).values(), {4, 10}));
  BOOST_TEST(equal<float>(sparse::sum(sparse::slice_rows(wide, 1, 2)), {5}));
}

BOOST_AUTO_TEST_CASE(bad_parts) {
  const array one = tutti::ones({1}), starts = indices({0, 1});
  constexpr std::int64_t huge = std::int64_t{1} << 62;
  FAILS(shape_error, sparse::csr({3}, starts, indices({0}), one), "csr: extents [3]");
  FAILS(shape_error, sparse::csr({-1, 2}, starts, indices({0}), one), "csr");
  FAILS(shape_error, sparse::coo({huge, 4}, indices({0}), indices({0}), one), "coo");
  FAILS(shape_error, sparse::csr({2, 2}, starts, indices({0}), one), "csr: starts of shape [2]");
  FAILS(shape_error, sparse::csr({huge, 1}, starts, indices({0}), one), "csr: starts");
  FAILS(shape_error, sparse::csr({1, 2}, starts, indices({0, 1}), one), "csr: columns of shape");
  FAILS(shape_error, sparse::csc({2, 1}, starts, indices({0}), tutti::ones({1, 1})),
        "csc: values of shape [1,1]");
  FAILS(index_error, sparse::csr({1, 2}, starts, indices({2}), one), "csr: column 2");
  FAILS(index_error, sparse::csc({2, 1}, starts, indices({-1}), one), "csc: row -1");
  FAILS(index_error, sparse::coo({2, 2}, indices({2}), indices({0}), one), "coo: row 2");
  FAILS(index_error, sparse::from_triplets({2, 2}, indices({0}), indices({5}), one),
        "from_triplets: column 5");
  FAILS(value_error, sparse::csr({1, 2}, indices({0, 2}), indices({0}), one), "csr: starts");
  FAILS(value_error, sparse::csr({1, 2}, indices({1, 1}), indices({0}), one), "csr: starts");
  FAILS(value_error, sparse::csr({2, 2}, indices({0, 2, 1}), indices({0}), one), "csr: starts");
  FAILS(dtype_error, sparse::csr({1, 2}, tutti::ones({2}), indices({0}), one), "csr: indices");
  FAILS(value_error, sparse::csr({1, 2}, array(), indices({0}), one), "csr");
  FAILS(value_error, matrix().nnz(), "not made");
  FAILS(value_error, sparse::matmul(matrix(), one), "matmul: a matrix that was not made");
  FAILS(value_error, sparse::convert(small(), format::coo).starts(), "coordinates have no starts");
  FAILS(value_error, sparse::convert(small(), static_cast<format>(9)), "convert: unknown format 9");
}

BOOST_AUTO_TEST_CASE(bad_operands) {
  const matrix m = small(), other = sparse::eye(4);
  FAILS(shape_error, sparse::matmul(m, tutti::ones({4})), "matmul: inner dimensions differ: [3,3]");
  FAILS(shape_error, sparse::matmul(m, tutti::ones({4, 3})), "[4,3]");
  FAILS(shape_error, sparse::matmul(tutti::ones({2, 4}), m), "matmul: inner dimensions differ");
  FAILS(shape_error, sparse::matmul(m, tutti::ones({1, 3, 3})), "matmul: a dense operand");
  FAILS(shape_error, sparse::matmul(m, array(2.0)), "matmul: a dense operand");
  FAILS(shape_error, sparse::matmul(m, other), "matmul: inner dimensions differ: [3,3] x [4,4]");
  FAILS(shape_error, sparse::add(m, other), "add: shapes differ: [3,3] and [4,4]");
  FAILS(shape_error, sparse::subtract(m, other), "subtract: shapes differ");
  FAILS(shape_error, sparse::multiply(m, other), "multiply: shapes differ");
  FAILS(shape_error, sparse::masked(m, other), "masked: shapes differ");
  FAILS(shape_error, sparse::multiply(m, tutti::ones({2, 3})), "multiply");
  FAILS(shape_error, sparse::multiply(m, tutti::ones({1, 3, 3})), "multiply");
  FAILS(shape_error, sparse::sddmm(m, tutti::ones({3, 2}), tutti::ones({3, 3})), "sddmm: [3,2]");
  FAILS(shape_error, m.with_values(tutti::ones({4})), "with_values: values of shape [4]");
  FAILS(index_error, sparse::slice_rows(m, 2, 1), "slice_rows: rows [2, 1)");
  FAILS(index_error, sparse::slice_rows(m, 0, 4), "slice_rows");
  FAILS(index_error, sparse::take_rows(m, indices({3})), "take_rows: index 3");
  FAILS(shape_error, sparse::take_rows(m, indices({0}).reshape({1, 1})), "take_rows");
  FAILS(index_error, sparse::sum(m, 2), "sum");
  FAILS(shape_error, sparse::from_dense(tutti::ones({3})), "from_dense: [3]");
  FAILS(value_error, sparse::eye(-1), "eye: -1 rows");
}
