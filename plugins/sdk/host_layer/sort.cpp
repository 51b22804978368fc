// SPDX-License-Identifier: Apache-2.0
//
// Sort, selection, binary search, counting and positions of flags with the standard library.
// Elements of all dtypes are compared as 64-bit keys, so that each algorithm is compiled once.
#include <algorithm>
#include <bit>
#include <compare>
#include <cstring>
#include <span>
#include <vector>

#include "sdk/host_layer/host_operator.hpp"
#include "sdk/host_types.hpp"
#include "sdk/op_info.hpp"
#include "sdk/ordering.hpp"
#include "sdk/status.hpp"

namespace tutti::sdk {
namespace {

// Keys ascend in the order of the elements, or against it; NaN is last in both. Zeros of both signs
// have one key, as have all NaN.
template <typename T>
uint64_t key_of(T x, bool descending) {
  if (x != x) return ~uint64_t{0};
  uint64_t key;
  constexpr uint64_t sign = uint64_t{1} << 63;
  if constexpr (std::is_floating_point_v<T>) {
    const auto bits = std::bit_cast<uint64_t>(static_cast<double>(x) + 0.0);
    key = (bits & sign) != 0 ? ~bits : bits | sign;
  } else if constexpr (std::is_signed_v<T>) {
    key = static_cast<uint64_t>(static_cast<int64_t>(x)) ^ sign;
  } else {
    key = x;
  }
  return descending ? ~key : key;
}

std::vector<uint64_t> keys_of(const host_view& v, uint64_t row, bool descending) {
  std::vector<uint64_t> keys(v.extent[1]);
  with_real_stored_type(static_cast<uint8_t>(v.dtype), [&](auto tag) {
    using S = typename decltype(tag)::type;
    const std::byte* from = v.data + static_cast<int64_t>(row * v.extent[1]) * S::bytes;
    for (uint64_t i = 0; i < keys.size(); ++i)
      keys[i] = key_of(S::load(from + static_cast<int64_t>(i) * S::bytes), descending);
  });
  return keys;
}

struct keyed_place {
  uint64_t key, place;
  auto operator<=>(const keyed_place&) const = default;
};

std::vector<keyed_place> keyed_places(const host_view& v, uint64_t row, bool descending) {
  const std::vector<uint64_t> keys = keys_of(v, row, descending);
  std::vector<keyed_place> result(keys.size());
  for (uint64_t i = 0; i < keys.size(); ++i) result[i] = {keys[i], i};
  return result;
}

template <typename T>
void put(const host_view& v, uint64_t index, T value) {
  stored<T>::store(v.data + static_cast<int64_t>(index) * stored<T>::bytes, value);
}

// The elements of `row` at the places, or the places themselves.
void put_row(const host_call& l, uint64_t row, std::span<const keyed_place> places, bool values) {
  const uint64_t bytes = dtype_size(l.views[1].dtype);
  std::byte* to = l.views[0].data + row * places.size() * bytes;
  const std::byte* from = l.views[1].data + row * l.views[1].extent[1] * bytes;
  for (uint64_t n = 0; n < places.size(); ++n) {
    if (values)
      std::memcpy(to + n * bytes, from + places[n].place * bytes, bytes);
    else
      put(l.views[0], row * places.size() + n, static_cast<int64_t>(places[n].place));
  }
}

// Calls each(row, places) for each row of the input.
template <typename F>
void for_rows(const host_call& l, bool descending, const F& each) {
  share_rows(l, l.views[1].extent[0], l.views[1].extent[1], [&](uint64_t begin, uint64_t end) {
    for (uint64_t row = begin; row < end; ++row)
      each(row, keyed_places(l.views[1], row, descending));
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
  for (size_t n = 0; n < counts.size(); ++n) put(l.views[0], n, counts[n]);
}

void select_on_host(const host_call& l) {
  int64_t before = 0;
  uint64_t position = 0;
  for (const int64_t here : integers(l.views[1])) {
    if (here != before && here >= 1 && here <= static_cast<int64_t>(l.views[0].extent[0]))
      put(l.views[0], static_cast<uint64_t>(here - 1), static_cast<int64_t>(position));
    before = here;
    ++position;
  }
}

void sort_on_host(const host_call& l) {
  const bool values = l.what->kind == TUTTI_OPERATOR_SORT;
  for_rows(l, sort_params(*l.what).descending != 0, [&](uint64_t row, auto places) {
    std::sort(places.begin(), places.end());
    put_row(l, row, places, values);
  });
}
void argsort_on_host(const host_call& l) { sort_on_host(l); }

void topk_on_host(const host_call& l) {
  const uint64_t k = l.views[0].extent[1];
  for_rows(l, sort_params(*l.what).descending != 0, [&](uint64_t row, auto places) {
    const auto kth = places.begin() + static_cast<std::ptrdiff_t>(k);
    std::nth_element(places.begin(), kth, places.end());
    std::ranges::sort(places.begin(), kth, {}, &keyed_place::place);
    put_row(l, row, {places.begin(), kth}, false);
  });
}

void partition_on_host(const host_call& l) {
  const auto kth = static_cast<std::ptrdiff_t>(partition_params(*l.what).kth);
  for_rows(l, false, [&](uint64_t row, auto places) {
    if (!places.empty()) std::nth_element(places.begin(), places.begin() + kth, places.end());
    put_row(l, row, places, true);
  });
}

void search_on_host(const host_call& l) {
  const bool right = search_params(*l.what).right != 0;
  const uint64_t count = l.views[2].extent[1];
  share_rows(l, l.views[2].extent[0], count, [&](uint64_t begin, uint64_t end) {
    for (uint64_t row = begin; row < end; ++row) {
      const std::vector<uint64_t> sorted = keys_of(l.views[1], row, false),
                                  values = keys_of(l.views[2], row, false);
      for (uint64_t n = 0; n < count; ++n) {
        const auto at = right ? std::ranges::upper_bound(sorted, values[n])
                              : std::ranges::lower_bound(sorted, values[n]);
        put(l.views[0], row * count + n, static_cast<int64_t>(at - sorted.begin()));
      }
    }
  });
}

}  // namespace tutti::sdk
