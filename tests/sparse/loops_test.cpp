// SPDX-License-Identifier: Apache-2.0
//
// Structure, sums and products of sparse matrices in every format against loops over dense ones.
// Triplets name some places several times, and a row is empty.
#include "tutti/sparse.hpp"
#include "tutti_test/vectors.hpp"

namespace {

namespace sparse = tutti::sparse;
using sparse::format;
using sparse::matrix;
using index_list = std::vector<std::int64_t>;

template <class T>
std::vector<T> numbers(std::int64_t count, std::uint64_t salt) {
  const auto drawn = [&](std::uint64_t s) {
    return random_vector<double>(static_cast<std::size_t>(count), -1, 1, s);
  };
  const std::vector<double> real = drawn(salt), imaginary = drawn(salt + 1);
  std::vector<T> out;
  for (std::size_t i = 0; i < real.size(); ++i) {
    if constexpr (std::floating_point<T>)
      out.push_back(static_cast<T>(real[i]));
    else
      out.emplace_back(real[i], imaginary[i]);
  }
  return out;
}

template <class T = double>
struct triplets {
  std::int64_t rows, columns;
  index_list row, column;
  std::vector<T> value;

  triplets(std::int64_t m, std::int64_t n, std::int64_t count, std::uint64_t salt)
      : rows(m),
        columns(n),
        row(random_vector<std::int64_t>(std::size_t(count), 0, double(m - 1), salt)),
        column(random_vector<std::int64_t>(std::size_t(count), 0, double(n - 1), salt + 1)),
        value(numbers<T>(count, salt + 2)) {
    if (count < 5) return;
    row[1] = row[2] = row[0];
    column[1] = column[2] = column[0];
    std::replace(row.begin(), row.end(), rows / 2, std::int64_t{0});
  }

  /// By row and column.
  std::map<std::pair<std::int64_t, std::int64_t>, T> elements() const {
    std::map<std::pair<std::int64_t, std::int64_t>, T> out;
    for (std::size_t i = 0; i < row.size(); ++i) out[{row[i], column[i]}] += value[i];
    return out;
  }

  std::vector<T> dense() const {
    std::vector<T> out(std::size_t(rows * columns));
    for (const auto& [place, v] : elements())
      out[std::size_t(place.first * columns + place.second)] = v;
    return out;
  }

  triplets transposed() const {
    triplets out = *this;
    std::swap(out.rows, out.columns);
    std::swap(out.row, out.column);
    return out;
  }

  std::map<std::string, matrix> forms() const {
    const matrix plain =
        sparse::coo({rows, columns}, array::from(row), array::from(column), array::from(value));
    const matrix by_rows = sparse::convert(plain, format::csr);
    return {{"coo", plain},
            {"csr", by_rows},
            {"csc", sparse::convert(plain, format::csc)},
            {"canonical", sparse::canonical(by_rows)}};
  }
};

/// a [rows, inner] times b [inner, columns].
template <class T>
std::vector<T> product(const std::vector<T>& a, const std::vector<T>& b, std::int64_t inner) {
  const std::size_t n = std::size_t(inner), columns = b.size() / n;
  std::vector<T> out;
  for (std::size_t i = 0; i < a.size() / n; ++i)
    for (std::size_t j = 0; j < columns; ++j) {
      auto total = T{} * 1.0;
      for (std::size_t k = 0; k < n; ++k) total += a[i * n + k] * 1.0 * b[k * columns + j];
      out.push_back(static_cast<T>(total));
    }
  return out;
}

template <class T>
void check(const array& got, const std::vector<T>& values, const shape& extents, double near) {
  BOOST_TEST((got.dtype() == tutti::dtype_of<T>));
  BOOST_TEST(matches(parts_of(got), read(parts_of(array::from(values, extents))),
                     {.relative = near, .absolute = near}));
}

void check_dense(const matrix& got, const std::vector<double>& values, const shape& extents,
                 double near = 1e-15) {
  check(sparse::to_dense(got), values, extents, near);
}

void check_indices(const array& got, const index_list& expected) {
  BOOST_TEST(got.astype(dtype::i64).to_vector<std::int64_t>() == expected, same);
}

/// Where the places of each row begin, and their columns.
template <class Elements>
std::pair<index_list, index_list> compressed(std::int64_t rows, const Elements& elements) {
  index_list starts(std::size_t(rows + 1)), columns;
  for (const auto& [place, v] : elements) {
    for (std::int64_t r = place.first; r < rows; ++r) ++starts[std::size_t(r + 1)];
    columns.push_back(place.second);
  }
  return {starts, columns};
}

/// The compressed form of rows, or of columns where t is transposed.
void check_compressed(const triplets<>& t, const matrix& m, const array& minor) {
  const auto [starts, places] = compressed(t.rows, t.elements());
  std::vector<double> values;
  for (const auto& [place, v] : t.elements()) values.push_back(v);
  BOOST_TEST(m.is_canonical());
  check_indices(m.starts(), starts);
  check_indices(minor, places);
  check(m.values(), values, {std::int64_t(values.size())}, 1e-15);
}

template <class T>
void check_products(double near) {
  const triplets<T> t(13, 11, 60, 930), places(13, 9, 40, 940);
  const std::vector<T> x = numbers<T>(11, 950), b = numbers<T>(11 * 13, 952),
                       left = numbers<T>(3 * 13, 954), wide = numbers<T>(13 * 11, 956),
                       tall = numbers<T>(11 * 9, 958);
  const auto of = [](const std::vector<T>& v, const shape& extents) {
    return array::from(v, extents);
  };
  for (const auto& [name, m] : t.forms()) {
    BOOST_TEST_CONTEXT(tutti::name(m.dtype()) << ' ' << name) {
      check(sparse::matmul(m, of(x, {11})), product(t.dense(), x, 11), {13}, near);
      check(sparse::matmul(m, of(b, {11, 13})), product(t.dense(), b, 11), {13, 13}, near);
      check(sparse::matmul(of(left, {3, 13}), m), product(left, t.dense(), 13), {3, 11}, near);
    }
  }
  const std::vector<T> whole = product(wide, tall, 11);
  std::vector<T> sampled(whole.size());
  for (const auto& [place, v] : places.elements()) {
    const std::size_t i = std::size_t(place.first * 9 + place.second);
    sampled[i] = whole[i];
  }
  for (const auto& [name, m] : places.forms()) {
    BOOST_TEST_CONTEXT(tutti::name(m.dtype()) << ' ' << name) {
      check(sparse::to_dense(
                sparse::sddmm(sparse::canonical(m), of(wide, {13, 11}), of(tall, {11, 9}))),
            sampled, {13, 9}, near);
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(structure_and_sums) {
  const std::int64_t sizes[][3] = {{7, 5, 23}, {1, 9, 6}, {9, 1, 7}, {12, 12, 1}, {14, 11, 50}};
  for (const auto& [rows, columns, count] : sizes) {
    const triplets t(rows, columns, count, 900);
    const std::vector<double> values = t.dense();
    std::vector<double> diagonal, by_row(std::size_t(t.rows)), by_column(std::size_t(t.columns));
    double total = 0;
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) {
        const double v = values[std::size_t(i * columns + j)];
        if (i == j) diagonal.push_back(v);
        by_row[std::size_t(i)] += v;
        by_column[std::size_t(j)] += v;
        total += v;
      }
    for (const auto& [name, m] : t.forms()) {
      BOOST_TEST_CONTEXT(m.shape().str() << ' ' << name) {
        check_dense(m, values, {rows, columns});
        check(sparse::diagonal(m), diagonal, {std::min(rows, columns)}, 1e-15);
        check(sparse::sum(m), std::vector{total}, {}, 1e-14);
        check(sparse::sum(m, 1), by_row, {rows}, 1e-14);
        check(sparse::sum(m, 0), by_column, {columns}, 1e-14);
      }
    }
    BOOST_TEST_CONTEXT("triplets of [" << rows << "," << columns << "]") {
      const array r = array::from(t.row), c = array::from(t.column), v = array::from(t.value);
      const matrix csr = sparse::from_triplets({rows, columns}, r, c, v, format::csr);
      BOOST_TEST((csr.format() == format::csr));
      check_compressed(t, csr, csr.column_indices());
      const matrix csc = sparse::from_triplets({rows, columns}, r, c, v, format::csc);
      BOOST_TEST((csc.format() == format::csc));
      check_compressed(t.transposed(), csc, csc.row_indices());
    }
  }
}

BOOST_AUTO_TEST_CASE(products_with_dense_arrays) {
  check_products<double>(1e-14);
  check_products<float>(2e-6);
  check_products<std::complex<double>>(1e-14);
}

BOOST_AUTO_TEST_CASE(pairs_of_matrices) {
  const std::int64_t sizes[][3] = {{8, 6, 10}, {11, 9, 7}};
  for (const auto& [rows, inner, columns] : sizes) {
    const triplets a(rows, inner, 3 * rows, 960), b(inner, columns, 3 * inner, 970),
        c(rows, inner, 4 * rows, 980);
    std::map<std::pair<std::int64_t, std::int64_t>, double> places;
    for (const auto& [left, x] : a.elements())
      for (const auto& [right, y] : b.elements())
        if (left.second == right.first) places[{left.first, right.second}] += x * y;
    const auto [starts, in_rows] = compressed(rows, places);
    const std::vector<double> x = a.dense(), y = c.dense();
    const auto by_element = [&](auto&& f) {
      std::vector<double> out;
      for (std::size_t i = 0; i < x.size(); ++i) out.push_back(f(x[i], y[i]));
      return out;
    };
    const shape extents{rows, inner};
    for (const auto& [left_name, left] : a.forms()) {
      for (const auto& [name, right] : b.forms()) {
        BOOST_TEST_CONTEXT(left_name << " and " << name) {
          const matrix got = sparse::matmul(left, right);
          check_dense(got, product(x, b.dense(), inner), {rows, columns}, 1e-14);
          check_indices(got.starts(), starts);
          check_indices(got.column_indices(), in_rows);
        }
      }
      for (const auto& [name, right] : c.forms()) {
        BOOST_TEST_CONTEXT(left_name << " and " << name) {
          check_dense(sparse::add(left, right), by_element(std::plus{}), extents);
          check_dense(sparse::subtract(left, right), by_element(std::minus{}), extents);
          check_dense(sparse::multiply(left, right), by_element(std::multiplies{}), extents);
          const auto kept = [](double v, double mask) { return mask != 0 ? v : 0; };
          check_dense(sparse::masked(left, right), by_element(kept), extents);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(rows_and_scales) {
  const std::int64_t sizes[][2] = {{8, 6}, {11, 9}};
  for (const auto& [rows, columns] : sizes) {
    const triplets t(rows, columns, 3 * rows, 990);
    const dense x{{rows, columns}, t.dense()};
    const index_list picks = {7, -8, 0, 3, 3, -1, 5, 2, -4};
    const auto row_of = [&](std::int64_t pick) { return pick < 0 ? pick + t.rows : pick; };
    const auto moved = [&](std::int64_t count, auto&& from) {
      return tabulate({count, t.columns}, [&](const position& i) {
        return x.at({from(i[0]), i[1]});
      });
    };
    const dense tail = moved(rows - 3, [](std::int64_t i) { return i + 3; });
    const dense taken = moved(9, [&](std::int64_t i) { return row_of(picks[std::size_t(i)]); });
    for (const auto& [name, m] : t.forms()) {
      BOOST_TEST_CONTEXT(m.shape().str() << ' ' << name) {
        check_dense(sparse::slice_rows(m, 3, rows), tail.values, tail.extents);
        check_dense(sparse::take_rows(m, array::from(picks)), taken.values, taken.extents);
        for (const shape& extents : {x.extents, shape{columns}, shape{rows, 1}, shape{1, 1}}) {
          const dense by = random_dense(extents, -2, 2, 995);
          const dense scales = read(tutti::broadcast_to(upload_as<double>(by), x.extents));
          std::vector<double> scaled = x.values;
          for (std::size_t i = 0; i < scaled.size(); ++i) scaled[i] *= scales.values[i];
          check_dense(sparse::multiply(m, upload_as<double>(by)), scaled, x.extents);
        }
      }
    }
  }
}
