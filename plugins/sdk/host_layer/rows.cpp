// SPDX-License-Identifier: Apache-2.0
//
// take and scatter as nested loops.
#include <algorithm>
#include <cmath>
#include <complex>
#include <type_traits>
#include <vector>

#include "sdk/host_layer/view_elements.hpp"
#include "sdk/host_types.hpp"
#include "sdk/ordering.hpp"
#include "sdk/validate_operator.hpp"
#include "semantics/host_math.hpp"

namespace tutti::sdk {
namespace {

// Indices as row numbers, clamped to [0, rows).
std::vector<uint64_t> row_numbers(const host_view& index, uint64_t rows) {
  std::vector<uint64_t> result(index.extent[0]);
  for (uint64_t i = 0; i < result.size(); ++i) {
    const int64_t row = index.dtype == TUTTI_I32 ? accessor<stored<int32_t>>(index).get(i)
                                                 : accessor<stored<int64_t>>(index).get(i);
    result[i] = static_cast<uint64_t>(std::clamp<int64_t>(row, 0, static_cast<int64_t>(rows) - 1));
  }
  return result;
}

template <typename S>
void take(const host_call& launch) {
  const host_view &out_view = launch.views[0], &x_view = launch.views[1];
  const accessor<S> out(out_view), x(x_view);
  const std::vector<uint64_t> row = row_numbers(launch.views[2], x_view.extent[1]);
  const uint64_t rows = row.size(), length = out_view.extent[2];
  share_rows(launch, out_view.extent[0] * rows, length, [&](uint64_t begin, uint64_t end) {
    for (uint64_t at = begin; at < end; ++at) {
      const uint64_t o = at / rows, i = at % rows;
      for (uint64_t n = 0; n < length; ++n) out.set(o, i, n, x.get(o, row[i], n));
    }
  });
}

template <typename S, typename F>
void scatter(const host_call& launch, const F& combined) {
  const host_view& out_view = launch.views[0];
  const accessor<S> out(out_view), updates(launch.views[1]);
  const std::vector<uint64_t> row = row_numbers(launch.views[2], out_view.extent[1]);
  const uint64_t outer = out_view.extent[0], length = out_view.extent[2];
  const auto join = [&](uint64_t o, uint64_t begin, uint64_t end) {
    for (uint64_t i = 0; i < row.size(); ++i) {
      for (uint64_t n = begin; n < end; ++n)
        out.set(o, row[i], n, combined(out.get(o, row[i], n), updates.get(o, i, n)));
    }
  };
  // Threads share dimensions without conflicts, so that each element gets its updates in order.
  for (uint64_t o = 0; o < outer; ++o) {
    share_rows(launch, length, row.size(),
               [&](uint64_t begin, uint64_t end) { join(o, begin, end); });
  }
}

// Sums of floats in double with compensation of rounding errors, rounded once (D. Knuth, "The Art
// of Computer Programming", vol. 2, 4.2.2).
struct running_sum {
  double sum = 0, lost = 0;

  void add(double x) {
    const double before = sum;
    sum += x;
    const double moved = sum - before;
    lost += (before - (sum - moved)) + (x - moved);
  }
  // After an infinity or NaN the rounding error is NaN.
  double value() const { return sum + (std::isfinite(lost) ? lost : 0); }
};

template <typename S>
void scatter_sums(const host_call& launch) {
  using T = typename S::value;
  const host_view& out_view = launch.views[0];
  const accessor<S> out(out_view), updates(launch.views[1]);
  const uint64_t rows = out_view.extent[1], length = out_view.extent[2];
  const std::vector<uint64_t> row = row_numbers(launch.views[2], rows);
  const auto join = [&](uint64_t o, uint64_t begin, uint64_t end) {
    const uint64_t columns = end - begin;
    std::vector<running_sum> totals(rows * columns);
    for (uint64_t r = 0; r < rows; ++r)
      for (uint64_t n = 0; n < columns; ++n)
        totals[r * columns + n].sum = static_cast<double>(out.get(o, r, begin + n));
    for (uint64_t i = 0; i < row.size(); ++i)
      for (uint64_t n = 0; n < columns; ++n)
        totals[row[i] * columns + n].add(static_cast<double>(updates.get(o, i, begin + n)));
    for (uint64_t r = 0; r < rows; ++r)
      for (uint64_t n = 0; n < columns; ++n)
        out.set(o, r, begin + n, static_cast<T>(totals[r * columns + n].value()));
  };
  for (uint64_t o = 0; o < out_view.extent[0]; ++o) {
    share_rows(launch, length, row.size() + rows,
               [&](uint64_t begin, uint64_t end) { join(o, begin, end); });
  }
}

template <typename S>
void scatter(const host_call& launch) {
  using T = typename S::value;
  const combination how = combination_of(*launch.what);
  if (how == combination::set) return scatter<S>(launch, [](T, T b) { return b; });
  if constexpr (std::is_floating_point_v<T>) {
    if (how == combination::add) return scatter_sums<S>(launch);
  }
  if constexpr (!std::is_same_v<T, bool>) {
    if (how == combination::add)
      return scatter<S>(launch, [](T a, T b) { return host::add(a, b); });
    if (how == combination::multiply)
      return scatter<S>(launch, [](T a, T b) { return host::multiply(a, b); });
  }
  if constexpr (!std::is_same_v<T, bool> && !host::Complex<T>) {
    if (how == combination::min)
      return scatter<S>(launch, [](T a, T b) { return host::minimum(a, b); });
    return scatter<S>(launch, [](T a, T b) { return host::maximum(a, b); });
  }
}

}  // namespace

void take_on_host(const host_call& call) {
  with_stored_type(static_cast<uint8_t>(call.views[0].dtype),
                   [&](auto tag) { take<typename decltype(tag)::type>(call); });
}

void scatter_on_host(const host_call& call) {
  with_stored_type(static_cast<uint8_t>(call.views[0].dtype),
                   [&](auto tag) { scatter<typename decltype(tag)::type>(call); });
}
void scatter_add_on_host(const host_call& call) { scatter_on_host(call); }

}  // namespace tutti::sdk
