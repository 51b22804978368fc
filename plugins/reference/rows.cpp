// SPDX-License-Identifier: Apache-2.0
//
// take and scatters as nested loops.
#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "reference/accessor.hpp"
#include "sdk/host_types.hpp"
#include "sdk/ordering.hpp"
#include "sdk/validate_operator.hpp"
#include "semantics/host_math.hpp"

namespace tutti::reference {
namespace {

using sdk::stored;
using sdk::with_stored_type;

// Indices as row numbers, clamped to [0, rows).
std::vector<uint64_t> row_numbers(const tutti_view& index, uint64_t rows) {
  std::vector<uint64_t> result(index.extent[0]);
  for (uint64_t i = 0; i < result.size(); ++i) {
    const int64_t row = index.dtype == TUTTI_I32 ? accessor<stored<int32_t>>(index).get(i)
                                                 : accessor<stored<int64_t>>(index).get(i);
    result[i] = static_cast<uint64_t>(std::clamp<int64_t>(row, 0, static_cast<int64_t>(rows) - 1));
  }
  return result;
}

template <typename S>
void take(const tutti_view& out_view, const tutti_view& x_view, const tutti_view& index) {
  const accessor<S> out(out_view), x(x_view);
  const std::vector<uint64_t> row = row_numbers(index, x_view.extent[1]);
  for (uint64_t o = 0; o < out_view.extent[0]; ++o) {
    for (uint64_t i = 0; i < out_view.extent[1]; ++i) {
      for (uint64_t n = 0; n < out_view.extent[2]; ++n) out.set(o, i, n, x.get(o, row[i], n));
    }
  }
}

template <typename S, typename F>
void scatter(const sdk::operator_call& launch, const F& combined) {
  const tutti_view& out_view = launch.views[0];
  const accessor<S> out(out_view), updates(launch.views[1]);
  const std::vector<uint64_t> row = row_numbers(launch.views[2], out_view.extent[1]);
  for (uint64_t o = 0; o < out_view.extent[0]; ++o) {
    for (uint64_t i = 0; i < row.size(); ++i) {
      for (uint64_t n = 0; n < out_view.extent[2]; ++n) {
        out.set(o, row[i], n, combined(out.get(o, row[i], n), updates.get(o, i, n)));
      }
    }
  }
}

// Sums of floats in double, rounded once, with what rounding takes from the sums of doubles
// (D. Knuth, "The Art of Computer Programming", vol. 2, 4.2.2).
template <typename S>
void scatter_sums(const sdk::operator_call& launch) {
  using T = typename S::value;
  struct running {
    double sum = 0, lost = 0;
  };
  const tutti_view& out_view = launch.views[0];
  const accessor<S> out(out_view), updates(launch.views[1]);
  const uint64_t rows = out_view.extent[1], columns = out_view.extent[2];
  const std::vector<uint64_t> row = row_numbers(launch.views[2], rows);
  std::vector<running> totals(rows * columns);
  for (uint64_t o = 0; o < out_view.extent[0]; ++o) {
    for (uint64_t r = 0; r < rows; ++r)
      for (uint64_t n = 0; n < columns; ++n)
        totals[r * columns + n] = {static_cast<double>(out.get(o, r, n)), 0};
    for (uint64_t i = 0; i < row.size(); ++i) {
      for (uint64_t n = 0; n < columns; ++n) {
        running& total = totals[row[i] * columns + n];
        const double before = total.sum, x = static_cast<double>(updates.get(o, i, n));
        total.sum = before + x;
        const double moved = total.sum - before;
        total.lost += (before - (total.sum - moved)) + (x - moved);
      }
    }
    for (uint64_t r = 0; r < rows; ++r) {
      for (uint64_t n = 0; n < columns; ++n) {
        const running& total = totals[r * columns + n];
        const bool finite = std::isfinite(total.lost);  // not past an infinity or a NaN
        out.set(o, r, n, static_cast<T>(total.sum + (finite ? total.lost : 0)));
      }
    }
  }
}

template <typename S>
void scatter(const sdk::operator_call& launch) {
  using T = typename S::value;
  const sdk::combination how = sdk::combination_of(launch);
  if (how == sdk::combination::set) return scatter<S>(launch, [](T, T b) { return b; });
  if constexpr (std::is_floating_point_v<T>) {
    if (how == sdk::combination::add) return scatter_sums<S>(launch);
  }
  if constexpr (!std::is_same_v<T, bool>) {
    if (how == sdk::combination::add)
      return scatter<S>(launch, [](T a, T b) { return host::add(a, b); });
    if (how == sdk::combination::multiply)
      return scatter<S>(launch, [](T a, T b) { return host::multiply(a, b); });
  }
  if constexpr (!std::is_same_v<T, bool> && !host::Complex<T>) {
    if (how == sdk::combination::min)
      return scatter<S>(launch, [](T a, T b) { return host::minimum(a, b); });
    return scatter<S>(launch, [](T a, T b) { return host::maximum(a, b); });
  }
}

}  // namespace

void move_rows(const sdk::operator_call& launch) {
  const tutti_view* v = launch.views;
  with_stored_type(static_cast<uint8_t>(v[0].dtype), [&](auto tag) {
    using S = typename decltype(tag)::type;
    if (launch.kind == TUTTI_OPERATOR_TAKE) return take<S>(v[0], v[1], v[2]);
    scatter<S>(launch);
  });
}

}  // namespace tutti::reference
