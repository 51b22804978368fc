// SPDX-License-Identifier: Apache-2.0
//
// Sort, selection, binary search, counting and positions of flags with the standard library.
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "sdk/host_layer/host_operator.hpp"
#include "sdk/host_types.hpp"
#include "sdk/ordering.hpp"
#include "sdk/status.hpp"

namespace tutti::sdk {
namespace {

// Tutti's order: NaN after all other values.
template <typename T>
bool is_less(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a < b || (b != b && a == a);
  return a < b;
}

template <typename S>
std::vector<typename S::value> row_of(const host_view& v, uint64_t row) {
  std::vector<typename S::value> out(v.extent[1]);
  const std::byte* from = v.data + static_cast<int64_t>(row * v.extent[1]) * S::bytes;
  for (uint64_t i = 0; i < v.extent[1]; ++i)
    out[i] = S::load(from + static_cast<int64_t>(i) * S::bytes);
  return out;
}

template <typename S>
void put(const host_view& v, uint64_t index, typename S::value value) {
  S::store(v.data + static_cast<int64_t>(index) * S::bytes, value);
}

// Tutti's order for values.
template <typename T>
auto by_value(bool descending) {
  return [descending](T a, T b) {
    if (a != a || b != b || !descending) return is_less(a, b);
    return is_less(b, a);
  };
}

// The same for positions in x.
template <typename T>
auto by_value_at(const std::vector<T>& x, bool descending) {
  return [&x, before = by_value<T>(descending)](int64_t i, int64_t k) {
    return before(x[static_cast<size_t>(i)], x[static_cast<size_t>(k)]);
  };
}

std::vector<int64_t> positions(uint64_t length) {
  std::vector<int64_t> index(length);
  std::iota(index.begin(), index.end(), int64_t{0});
  return index;
}

// Equal integers are identical, so an unstable sort, which needs no extra memory, suffices.
template <typename T>
void sort_values(std::vector<T>& x, bool descending) {
  if constexpr (std::is_integral_v<T>)
    std::sort(x.begin(), x.end(), by_value<T>(descending));
  else
    std::stable_sort(x.begin(), x.end(), by_value<T>(descending));
}

template <typename S>
void sort_rows(const host_call& l) {
  const bool descending = sort_params(*l.what).descending != 0;
  const uint64_t length = l.views[1].extent[1];
  share_rows(l, l.views[1].extent[0], length, [&](uint64_t begin, uint64_t end) {
    for (uint64_t row = begin; row < end; ++row) {
      auto x = row_of<S>(l.views[1], row);
      if (l.what->kind == TUTTI_OPERATOR_SORT) {
        sort_values(x, descending);
        for (uint64_t n = 0; n < length; ++n) put<S>(l.views[0], row * length + n, x[n]);
        continue;
      }
      std::vector<int64_t> index = positions(length);
      std::stable_sort(index.begin(), index.end(), by_value_at(x, descending));
      for (uint64_t n = 0; n < length; ++n)
        put<stored<int64_t>>(l.views[0], row * length + n, index[n]);
    }
  });
}

template <typename S>
void topk_rows(const host_call& l) {
  const bool descending = sort_params(*l.what).descending != 0;
  const uint64_t k = l.views[0].extent[1];
  share_rows(l, l.views[1].extent[0], l.views[1].extent[1], [&](uint64_t begin, uint64_t end) {
    for (uint64_t row = begin; row < end; ++row) {
      const auto x = row_of<S>(l.views[1], row);
      const auto before = by_value_at(x, descending);
      std::vector<int64_t> index = positions(x.size());
      const auto kth = index.begin() + static_cast<std::ptrdiff_t>(k);
      std::nth_element(index.begin(), kth, index.end(), [&](int64_t a, int64_t b) {
        return before(a, b) || (!before(b, a) && a < b);
      });
      std::sort(index.begin(), kth);
      for (uint64_t n = 0; n < k; ++n) put<stored<int64_t>>(l.views[0], row * k + n, index[n]);
    }
  });
}

template <typename S>
void partition_rows(const host_call& l) {
  const auto kth = static_cast<std::ptrdiff_t>(partition_params(*l.what).kth);
  share_rows(l, l.views[1].extent[0], l.views[1].extent[1], [&](uint64_t begin, uint64_t end) {
    for (uint64_t row = begin; row < end; ++row) {
      auto x = row_of<S>(l.views[1], row);
      if (x.empty()) return;
      std::nth_element(x.begin(), x.begin() + kth, x.end(), is_less<typename S::value>);
      for (uint64_t n = 0; n < x.size(); ++n) put<S>(l.views[0], row * x.size() + n, x[n]);
    }
  });
}

template <typename S>
void search_rows(const host_call& l) {
  using T = typename S::value;
  const bool right = search_params(*l.what).right != 0;
  const uint64_t count = l.views[2].extent[1];
  share_rows(l, l.views[2].extent[0], count, [&](uint64_t begin, uint64_t end) {
    for (uint64_t row = begin; row < end; ++row) {
      const std::vector<T> sorted = row_of<S>(l.views[1], row), values = row_of<S>(l.views[2], row);
      for (uint64_t n = 0; n < count; ++n) {
        const auto at = right
                            ? std::upper_bound(sorted.begin(), sorted.end(), values[n], is_less<T>)
                            : std::lower_bound(sorted.begin(), sorted.end(), values[n], is_less<T>);
        put<stored<int64_t>>(l.views[0], row * count + n, at - sorted.begin());
      }
    }
  });
}

std::vector<int64_t> integers(const host_view& v) {
  std::vector<int64_t> out(v.extent[0]);
  const std::byte* from = v.data;
  for (uint64_t i = 0; i < out.size(); ++i)
    out[i] = v.dtype == TUTTI_I32 ? stored<int32_t>::load(from + 4 * i)
                                  : stored<int64_t>::load(from + 8 * i);
  return out;
}

}  // namespace

void count_on_host(const host_call& l) {
  const auto bins = static_cast<int64_t>(l.views[0].extent[0]);
  std::vector<int64_t> counts(static_cast<size_t>(bins), 0);
  for (const int64_t number : integers(l.views[1]))
    if (number >= 0 && number < bins) ++counts[static_cast<size_t>(number)];
  for (size_t n = 0; n < counts.size(); ++n) put<stored<int64_t>>(l.views[0], n, counts[n]);
}

void select_on_host(const host_call& l) {
  int64_t before = 0;
  uint64_t position = 0;
  for (const int64_t here : integers(l.views[1])) {
    if (here != before && here >= 1 && here <= static_cast<int64_t>(l.views[0].extent[0]))
      put<stored<int64_t>>(l.views[0], static_cast<uint64_t>(here - 1),
                           static_cast<int64_t>(position));
    before = here;
    ++position;
  }
}

namespace {

// Calls f<S>() for the type of the rows.
template <typename F>
void with_rows(const host_call& l, const F& f) {
  with_real_stored_type(static_cast<uint8_t>(l.views[1].dtype),
                        [&](auto tag) { f.template operator()<typename decltype(tag)::type>(); });
}

}  // namespace

void sort_on_host(const host_call& l) {
  with_rows(l, [&]<typename S>() { sort_rows<S>(l); });
}
void argsort_on_host(const host_call& l) { sort_on_host(l); }
void search_on_host(const host_call& l) {
  with_rows(l, [&]<typename S>() { search_rows<S>(l); });
}
void topk_on_host(const host_call& l) {
  with_rows(l, [&]<typename S>() { topk_rows<S>(l); });
}
void partition_on_host(const host_call& l) {
  with_rows(l, [&]<typename S>() { partition_rows<S>(l); });
}

}  // namespace tutti::sdk
