// SPDX-License-Identifier: Apache-2.0
//
// Products of two sparse matrices row by row: F. Gustavson, "Two fast algorithms for sparse
// matrices: multiplication and permuted transposition" (1978). For devices whose values are
// accessible on the host; nothing is sorted, and no product is stored.
#include <algorithm>
#include <numeric>
#include <utility>

#include "sparse/host_rows.hpp"
#include "tutti/host_memory.hpp"

namespace tutti::sparse {
namespace {

using indices = std::vector<std::int64_t>;

struct host_places {
  indices starts, columns;
};

// f(i, k, l) for each element k of row i of a and each element l of the corresponding row of b.
template <class T, class Row, class Meeting>
void walk(const host_rows<T>& a, const host_rows<T>& b, Row&& row, Meeting&& meeting) {
  for (std::int64_t i = 0; i < a.count(); ++i) {
    for (std::size_t k = a.begin(i); k < a.end(i); ++k)
      for (std::size_t l = b.begin(a.columns[k]); l < b.end(a.columns[k]); ++l) meeting(i, k, l);
    row(i);
  }
}

// The columns of the products in each row, in the order of their occurrence.
template <class T>
host_places reached(const host_rows<T>& a, const host_rows<T>& b, std::uint64_t width) {
  host_places found{{0}, {}};
  indices reached_by = tutti::detail::host_vector<std::int64_t>("matmul", width);
  std::fill(reached_by.begin(), reached_by.end(), -1);
  walk(
      a, b,
      [&](std::int64_t) {
        found.starts.push_back(static_cast<std::int64_t>(found.columns.size()));
      },
      [&](std::int64_t i, std::size_t, std::size_t l) {
        const std::int64_t j = b.columns[l];
        std::int64_t& by = reached_by[static_cast<std::size_t>(j)];
        if (std::exchange(by, i) != i) found.columns.push_back(j);
      });
  return found;
}

// The start of each number up to `width` in sorted order; and the end.
indices starts_of_numbers(const indices& numbers, std::uint64_t width) {
  indices starts = tutti::detail::host_vector<std::int64_t>("matmul", width + 1);
  std::fill(starts.begin(), starts.end(), 0);
  for (const std::int64_t j : numbers) ++starts[static_cast<std::size_t>(j) + 1];
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  return starts;
}

// Sorts the columns of each row: transposes twice.
void order_columns(host_places& p, std::uint64_t width) {
  indices next = starts_of_numbers(p.columns, width);
  indices rows(p.columns.size());
  const auto count = static_cast<std::int64_t>(p.starts.size()) - 1;
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t k = p.starts[static_cast<std::size_t>(i)];
         k < p.starts[static_cast<std::size_t>(i) + 1]; ++k) {
      const std::int64_t j = p.columns[static_cast<std::size_t>(k)];
      rows[static_cast<std::size_t>(next[static_cast<std::size_t>(j)]++)] = i;
    }
  // The position of each number is now the start of the next one.
  indices place(p.starts.begin(), p.starts.end() - 1);
  std::size_t k = 0;
  for (std::size_t j = 0; j < width; ++j)
    for (; k < static_cast<std::size_t>(next[j]); ++k) {
      std::int64_t& to = place[static_cast<std::size_t>(rows[k])];
      p.columns[static_cast<std::size_t>(to++)] = static_cast<std::int64_t>(j);
    }
}

// C++'s product would modify results from infinities and NaN.
std::complex<double> plain_product(std::complex<double> a, std::complex<double> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
double plain_product(double a, double b) { return a * b; }

template <class T>
std::vector<T> sums_at(const host_places& p, const host_rows<T>& a, const host_rows<T>& b,
                       std::uint64_t width) {
  using wide = typename sum_of<T>::type;
  std::vector<T> values(p.columns.size());
  auto sums = tutti::detail::host_vector<wide>("matmul", width);
  std::fill(sums.begin(), sums.end(), wide(0));
  const auto finish = [&](std::int64_t i) {
    const auto row = static_cast<std::size_t>(i);
    const auto end = static_cast<std::size_t>(p.starts[row + 1]);
    for (auto k = static_cast<std::size_t>(p.starts[row]); k < end; ++k) {
      wide& sum = sums[static_cast<std::size_t>(p.columns[k])];
      values[k] = static_cast<T>(std::exchange(sum, wide(0)));
    }
  };
  walk(a, b, finish, [&](std::int64_t, std::size_t k, std::size_t l) {
    sums[static_cast<std::size_t>(b.columns[l])] +=
        plain_product(wide(a.values[k]), wide(b.values[l]));
  });
  return values;
}

}  // namespace

std::optional<placed> product_by_rows(const placed& a, const placed& b) {
  constexpr std::int64_t always = 1 << 16, most_for_each = 16;
  const device on = a.values.device();
  const std::int64_t width = b.places->minors();
  const std::int64_t elements = a.places->count() + b.places->count();
  // A row of sums that is long compared with the elements costs more than it saves.
  if (on.properties().type != device_type::cpu ||
      width / most_for_each > std::max(elements, always))
    return std::nullopt;
  return with_type(a.values.dtype(), [&](auto* tag) {
    using T = std::remove_pointer_t<decltype(tag)>;
    const host_rows<T> left(a), right(b);
    const auto columns = static_cast<std::uint64_t>(width);
    host_places found = reached(left, right, columns);
    order_columns(found, columns);
    const std::vector<T> values = sums_at(found, left, right, columns);
    const auto places = pattern::of_starts(a.places->majors(), width, array::from(found.starts, on),
                                           array::from(found.columns, on), true);
    return std::optional<placed>(placed{places, array::from(values, on)});
  });
}

}  // namespace tutti::sparse
