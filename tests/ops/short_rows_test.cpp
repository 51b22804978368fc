// SPDX-License-Identifier: Apache-2.0
//
// Many rows of few elements: reductions, whose loops go over neighbouring rows, and arithmetic with
// one row or one column, against loops in double; lengths around every switch, rows apart in
// memory. Every dtype, ties and values that are no numbers: `tutti verify`.
#include "tutti_test/arrays.hpp"

namespace short_rows_test {

namespace {

const double inf = std::numeric_limits<double>::infinity();

// f over the elements of each row along the last axis.
template <class F>
dense each_row(const dense& a, F&& f) {
  const int last = a.extents.rank() - 1;
  const auto length = static_cast<std::size_t>(a.extents[last]);
  tutti::shape to;
  for (int d = 0; d < last; ++d) to.push_back(a.extents[d]);
  dense out{to, {}};
  for (std::size_t begin = 0; begin < a.values.size(); begin += length)
    out.values.push_back(f(std::span(a.values).subspan(begin, length)));
  return out;
}

double total(std::span<const double> row) {
  double sum = 0;
  for (const double v : row) sum += v;
  return sum;
}
double largest(std::span<const double> row) {
  double high = -inf;
  for (const double v : row) high = v > high || std::isnan(v) ? v : high;
  return high;
}
double place_of_least(std::span<const double> row) {
  std::size_t at = 0;
  for (std::size_t i = 1; i < row.size() && !std::isnan(row[at]); ++i)
    if (row[i] < row[at] || std::isnan(row[i])) at = i;
  return static_cast<double>(at);
}

void check(const array& x, const dense& a) {
  const int last = a.extents.rank() - 1;
  // Elements are at most 1, so rounding grows with the length.
  const double rounding = std::max(1e-6, 2e-8 * static_cast<double>(a.extents[last]));
  BOOST_TEST(matches(tutti::sum(x, last), each_row(a, total), {1e-6, rounding}));
  BOOST_TEST(matches(tutti::max(x, last), each_row(a, largest)));
  BOOST_TEST(matches(tutti::argmin(x, last), each_row(a, place_of_least)));
}

}  // namespace

BOOST_AUTO_TEST_CASE(rows_of_every_length) {
  for (const std::int64_t length :
       {2, 3, 4, 5, 7, 8, 9, 10, 16, 19, 31, 32, 33, 50, 63, 64, 65, 100, 127, 128, 129, 515}) {
    // Not a multiple of what a loop takes at once, and more than one block of rows.
    dense a = random_dense({1027, length}, -1, 1, static_cast<std::uint64_t>(length));
    BOOST_TEST_CONTEXT("length " << length) {
      check(upload_as<float>(a), a);
      check(upload_as<double>(a), a);
      for (std::size_t i = 0; i < a.values.size(); i += 37) a.values[i] = std::nan("");
      check(upload_as<float>(a), a);
      for (double& v : a.values) v = std::isnan(v) ? 0 : std::floor(100 * v);  // with ties
      check(upload_as<std::int8_t>(a), a);
      check(upload_as<std::int16_t>(a), a);
    }
  }
  for (const std::int64_t rows : {1, 2, 63, 64, 65}) {
    const dense a = random_dense({rows, 5}, -1, 1, static_cast<std::uint64_t>(rows));
    BOOST_TEST_CONTEXT(rows << " rows") { check(upload_as<float>(a), a); }
  }
}

BOOST_AUTO_TEST_CASE(short_rows_in_any_layout) {
  const dense a = random_dense({3, 70, 6}, -1, 1, 5);
  for (const auto& [layout, x] : layouts(a)) BOOST_TEST_CONTEXT(layout) {
      check(x, a);
    }
}

// Enough rows for several blocks and threads, none of which begin with a row.
BOOST_AUTO_TEST_CASE(one_row_and_one_column_with_many_rows) {
  for (const std::int64_t length : {1, 2, 3, 10, 16, 17, 33, 63, 64, 65, 127, 200}) {
    const std::int64_t rows = 20001 / length + 7;
    const auto whole = [&](std::int64_t i) { return static_cast<double>(i % 11 - 5); };
    const dense x =
        tabulate({rows, length}, [&](const position& i) { return whole(3 * i[0] + i[1]); });
    const dense row = tabulate({length}, [&](const position& i) { return whole(7 * i[0] + 1); });
    const dense column =
        tabulate({rows, 1}, [&](const position& i) { return whole(5 * i[0] + 2); });
    const dense want = tabulate({rows, length}, [&](const position& i) {
      return x.at(i) * column.at({i[0], 0}) + row.at({i[1]});
    });
    const dense sums =
        tabulate({rows, length}, [&](const position& i) { return x.at(i) + row.at({i[1]}); });
    const dense products = tabulate({rows, length}, [&](const position& i) {
      return x.at(i) * column.at({i[0], 0});
    });
    const auto test = [&]<class T>(T) {
      const array a = upload_as<T>(x), r = upload_as<T>(row), c = upload_as<T>(column);
      BOOST_TEST(matches(a * c + r, want));
      BOOST_TEST(matches(a + r, sums));
      BOOST_TEST(matches(a * c, products));
    };
    BOOST_TEST_CONTEXT("length " << length) {
      test(float{});
      test(double{});
      test(std::int8_t{});
      test(std::int16_t{});
    }
  }
}

// The last kept axis is short as well, and cannot be merged with the one before.
BOOST_AUTO_TEST_CASE(short_rows_along_the_longest_kept_axis) {
  const dense points = random_dense({300, 1, 5}, -1, 1, 6),
              centres = random_dense({7, 5}, -1, 1, 7);
  const dense squares = tabulate({300, 7, 5}, [&](const position& i) {
    const double apart = points.at({i[0], 0, i[2]}) - centres.at({i[1], i[2]});
    return apart * apart;
  });
  const array distance = tutti::square(upload_as<float>(points) - upload_as<float>(centres));
  BOOST_TEST(matches(tutti::sum(distance, 2), each_row(squares, total), {1e-6, 1e-6}));
  BOOST_TEST(matches(tutti::argmin(distance, 2), each_row(squares, place_of_least)));
  const array nearest = tutti::argmin(tutti::sum(distance, 2), 1);
  BOOST_TEST(matches(nearest, each_row(each_row(squares, total), place_of_least)));
}

}  // namespace short_rows_test
