// SPDX-License-Identifier: Apache-2.0
//
// Scans, sorts, selections, searches, counts and positions of flags, with offsets and guards,
// compared with loops over the elements in long double. Lengths are near those at which kernels
// change their method.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "harness.hpp"
#include "oracle.hpp"
#include "views.hpp"

namespace tutti::conformance {
namespace {

uint64_t count_of(const view_spec& v) { return points_of(v.extent); }

uint64_t bits_at(const view_spec& v, uint64_t i) { return v.data.data.get(v.data.offset + i); }

long double real_at(const view_spec& v, uint64_t i) {
  return real_of(sdk::register_dtype(v.data.data.dtype), bits_at(v, i));
}

// Small whole numbers, exact in every dtype; floats get a NaN and both infinities on request.
void fill(view_spec& v, double low, double high, generator& random, bool special) {
  const uint8_t dtype = v.data.data.dtype, type = sdk::register_dtype(dtype);
  std::uniform_int_distribution<int> pick(static_cast<int>(low), static_cast<int>(high));
  for (uint64_t i = 0; i < count_of(v); ++i) {
    const int value = pick(random);
    v.data.data.set(v.data.offset + i,
                    sdk::is_floating(type)
                        ? bits_of(type, value)
                        : from_storage(type, static_cast<uint64_t>(static_cast<int64_t>(value))));
  }
  if (!special || !sdk::is_floating(type)) return;
  const long double odd[] = {std::nan(""), INFINITY, -INFINITY, -0.0L};
  for (uint64_t i = 0; i < count_of(v); i += 29)
    v.data.data.set(v.data.offset + i, bits_of(type, odd[random() % 4]));
}

void launch_checked(session& s, int32_t kind, std::vector<view_spec>& v, const void* params) {
  const image before = v[0].data.data;
  launch_operator(s, kind, v, params);
  check_guards(v[0], before);
}

// Whole numbers, one after the other.
void require_equal(const view_spec& found, const std::vector<uint64_t>& want,
                   const std::string& what) {
  for (uint64_t i = 0; i < want.size(); ++i)
    if (bits_at(found, i) != want[i])
      fail("{}: element {} is {}, expected {}", what, point_text(found.extent, i),
           bits_at(found, i), want[i]);
}

// ---- scans

long double neutral(int32_t scan, uint8_t dtype) {
  if (scan == TUTTI_SCAN_SUM) return 0;
  if (scan == TUTTI_SCAN_PROD) return 1;
  const bool largest = scan == TUTTI_SCAN_MIN;
  if (sdk::is_floating(sdk::register_dtype(dtype))) return largest ? INFINITY : -INFINITY;
  const int bits = 8 * static_cast<int>(sdk::dtype_size(dtype));
  if (dtype == TUTTI_BOOL) return largest ? 255 : 0;
  if (dtype >= TUTTI_U8) return largest ? std::ldexp(1.0L, bits) - 1 : 0;
  return largest ? std::ldexp(1.0L, bits - 1) - 1 : -std::ldexp(1.0L, bits - 1);
}

long double combined(int32_t scan, long double a, long double b) {
  switch (scan) {
    case TUTTI_SCAN_SUM:
      return a + b;
    case TUTTI_SCAN_PROD:
      return a * b;
    case TUTTI_SCAN_MIN:
      return a < b || std::isnan(a) ? a : b;
    case TUTTI_SCAN_MAX:
      return a > b || std::isnan(a) ? a : b;
    default: {
      const long double top = std::max(a, b);
      if (std::isnan(a) || std::isnan(b)) return std::nan("");
      return std::isinf(top) ? top : top + std::log1p(std::exp(std::min(a, b) - top));
    }
  }
}

void check_scan_case(session& s, uint8_t dtype, const tutti_scan_params& p, const extents& extent) {
  generator random(s.seed + points_of(extent));
  const bool summing = p.scan == TUTTI_SCAN_SUM || p.scan == TUTTI_SCAN_PROD;
  const uint8_t out = summing && dtype == TUTTI_BOOL ? static_cast<uint8_t>(TUTTI_I64) : dtype;
  std::vector<view_spec> v = {packed_view(out, extent), packed_view(dtype, extent)};
  const bool product = p.scan == TUTTI_SCAN_PROD;
  fill(v[1], dtype == TUTTI_BOOL || product ? 0 : 1, 1, random, !summing);
  launch_checked(s, TUTTI_OPERATOR_SCAN, v, &p);
  const uint8_t type = sdk::register_dtype(out);
  const uint64_t length = extent[1], inner = extent[2];
  const long double relative = out == TUTTI_F16 ? 0x1p-8L : out == TUTTI_BF16 ? 0x1p-5L : 1e-4L;
  for (uint64_t start = 0; start < points_of(extent); ++start) {
    if (start / inner % length != 0) continue;
    long double value = neutral(p.scan, out);
    for (uint64_t step = 0; step < length; ++step) {
      const uint64_t at = start + (p.reverse != 0 ? length - 1 - step : step) * inner;
      const long double before = value;
      value = combined(p.scan, value, real_at(v[1], at));
      const long double want = p.exclusive != 0 ? before : value;
      bool good = false;
      if (sdk::is_floating(type)) {
        const long double got = real_at(v[0], at);
        good = same(got, want) || std::fabs(got - want) <= relative * (std::fabs(want) + 1);
      } else {
        // Sums wrap.
        good = bits_at(v[0], at) ==
               from_storage(out, static_cast<uint64_t>(static_cast<__int128>(want)));
      }
      if (!good)
        fail("element {} of {} is {}, expected {}", point_text(extent, at), list_text(extent),
             value_text(type, bits_at(v[0], at)), static_cast<double>(want));
    }
  }
}

void check_scan(session& s, uint8_t dtype, int32_t scan) {
  for (const uint32_t flags : {0u, 3u}) {
    const tutti_scan_params p{sizeof p, scan, flags & 1, flags >> 1, 0};
    for (const extents& extent : {extents{2, 100, 1}, extents{3, 17, 5}})
      check_scan_case(s, dtype, p, extent);
  }
}

void check_long_scans(session& s) {
  for (const uint32_t flags : {0u, 1u, 2u, 3u}) {
    const tutti_scan_params p{sizeof p, TUTTI_SCAN_SUM, flags & 1, flags >> 1, 0};
    for (const extents& extent :
         {extents{1, 1, 1}, extents{1, 16, 1}, extents{1, 4097, 1}, extents{1, 150001, 1},
          extents{3, 40000, 1}, extents{5000, 3, 1}, extents{1, 60001, 2}, extents{2, 300, 130}})
      check_scan_case(s, TUTTI_I32, p, extent);
  }
}

// ---- sorts

bool is_signed(uint8_t dtype) {
  return dtype >= TUTTI_F16 || (dtype >= TUTTI_I8 && dtype <= TUTTI_I64);
}

// Positions of each row in stable order.
std::vector<uint64_t> expected_order(const view_spec& x, bool descending) {
  const uint64_t length = x.extent[1];
  std::vector<uint64_t> out(count_of(x));
  for (uint64_t row = 0; row < x.extent[0]; ++row) {
    const auto first = out.begin() + static_cast<std::ptrdiff_t>(row * length);
    std::iota(first, first + static_cast<std::ptrdiff_t>(length), uint64_t{0});
    std::stable_sort(first, first + static_cast<std::ptrdiff_t>(length),
                     [&](uint64_t i, uint64_t k) {
                       const long double a = real_at(x, row * length + i);
                       const long double b = real_at(x, row * length + k);
                       if (std::isnan(a) || std::isnan(b)) return !std::isnan(a) && std::isnan(b);
                       return descending ? b < a : a < b;
                     });
  }
  return out;
}

void check_sort_case(session& s, int32_t kind, uint8_t dtype, const extents& extent,
                     bool descending) {
  generator random(s.seed + points_of(extent));
  const tutti_sort_params p{sizeof p, descending ? 1u : 0u, 0};
  const bool positions = kind == TUTTI_OPERATOR_ARGSORT;
  std::vector<view_spec> v = {
      packed_view(positions ? static_cast<uint8_t>(TUTTI_I64) : dtype, extent),
      packed_view(dtype, extent)};
  fill(v[1], is_signed(dtype) ? -100 : 0, dtype == TUTTI_BOOL ? 1 : 100, random, true);
  launch_checked(s, kind, v, &p);
  const std::vector<uint64_t> order = expected_order(v[1], descending);
  for (uint64_t i = 0; i < order.size(); ++i) {
    const uint64_t from = i / extent[1] * extent[1] + order[i];
    const long double got = real_at(v[0], i), want = real_at(v[1], from);
    const bool good = positions ? bits_at(v[0], i) == order[i] : same(got, want);
    if (!good)
      fail("element {} of {} is {}, expected {}", point_text(extent, i), list_text(extent),
           static_cast<double>(got),
           positions ? static_cast<double>(order[i]) : static_cast<double>(want));
  }
}

void check_sort(session& s, int32_t kind, uint8_t dtype) {
  for (const bool descending : {false, true})
    for (const extents& extent : {extents{1, 1}, extents{3, 31}, extents{2, 300}})
      check_sort_case(s, kind, dtype, extent, descending);
}

void check_long_sorts(session& s, int32_t kind) {
  for (const extents& extent : {extents{1, 5000}, extents{1, 130001}, extents{3, 6000}})
    check_sort_case(s, kind, TUTTI_F32, extent, false);
}

// ---- selections

view_spec filled(session& s, uint8_t dtype, const extents& extent, int bound) {
  generator random(s.seed + points_of(extent));
  view_spec x = packed_view(dtype, extent);
  const int top = dtype == TUTTI_BOOL ? 1 : bound;
  fill(x, is_signed(dtype) ? -top : 0, top, random, true);
  return x;
}

void check_topk_case(session& s, uint8_t dtype, const extents& extent, uint64_t k, bool descending,
                     int bound) {
  const tutti_sort_params p{sizeof p, descending ? 1u : 0u, 0};
  std::vector<view_spec> v = {packed_view(TUTTI_I64, {extent[0], k}),
                              filled(s, dtype, extent, bound)};
  launch_checked(s, TUTTI_OPERATOR_TOPK, v, &p);
  const std::vector<uint64_t> order = expected_order(v[1], descending);
  std::vector<uint64_t> want;
  for (uint64_t row = 0; row < extent[0]; ++row) {
    const auto first = order.begin() + static_cast<std::ptrdiff_t>(row * extent[1]);
    want.insert(want.end(), first, first + static_cast<std::ptrdiff_t>(k));
    std::sort(want.end() - static_cast<std::ptrdiff_t>(k), want.end());
  }
  require_equal(v[0], want, std::to_string(k) + " positions of " + list_text(extent));
}

void check_topk(session& s, uint8_t dtype) {
  for (const bool descending : {false, true}) {
    check_topk_case(s, dtype, {3, 300}, 5, descending, 100);  // few of many
    check_topk_case(s, dtype, {2, 300}, 150, descending, 100);
  }
  check_topk_case(s, dtype, {3, 7}, 7, false, 100);
}

void check_long_topk(session& s) {
  const std::pair<extents, uint64_t> cases[] = {
      {{1, 1}, 1},         {{1, 130001}, 3},     {{1, 130001}, 1000},
      {{1, 130001}, 5000}, {{1, 130001}, 70000}, {{1, 130001}, 130001},
      {{3, 70000}, 40},    {{3, 70000}, 20000},  {{1, 200000}, 256}};
  for (const auto& [extent, k] : cases)
    for (const int bound : {2, 2000}) check_topk_case(s, TUTTI_F32, extent, k, bound == 2, bound);
}

void check_partition_case(session& s, uint8_t dtype, const extents& extent, uint64_t kth,
                          int bound) {
  const tutti_partition_params p{sizeof p, kth};
  std::vector<view_spec> v = {packed_view(dtype, extent), filled(s, dtype, extent, bound)};
  launch_checked(s, TUTTI_OPERATOR_PARTITION, v, &p);
  // Before, among and after elements equal to the kth, the elements are those of the sorted order.
  const std::vector<uint64_t> order = expected_order(v[1], false),
                              order_out = expected_order(v[0], false);
  for (uint64_t i = 0; i < order.size(); ++i) {
    const uint64_t row = i / extent[1] * extent[1];
    const long double got = real_at(v[0], i), pivot = real_at(v[0], row + kth);
    const bool late = i - row < kth ? !std::isnan(pivot) && !(got <= pivot)
                                    : i - row > kth && !std::isnan(got) && !(pivot <= got);
    if (late)
      fail("element {} of {} is on the wrong side of element {}", point_text(extent, i),
           list_text(extent), kth);
    if (!same(real_at(v[1], row + order[i]), real_at(v[0], row + order_out[i])))
      fail("row {} of {} has other elements than before", row / extent[1], list_text(extent));
  }
}

void check_partition(session& s, uint8_t dtype) {
  for (const uint64_t kth : {0, 149, 299}) check_partition_case(s, dtype, {2, 300}, kth, 100);
  check_partition_case(s, dtype, {1, 1}, 0, 100);
}

void check_long_partition(session& s) {
  for (const int bound : {1, 100000})
    for (const uint64_t kth : {0, 65000, 130000})
      check_partition_case(s, TUTTI_F32, {1, 130001}, kth, bound);
  check_partition_case(s, TUTTI_I32, {3, 70000}, 35000, 1000);
}

// ---- searches, counts and positions of flags

void check_search(session& s, uint8_t dtype) {
  generator random(s.seed);
  for (const uint32_t right : {0u, 1u}) {
    const tutti_search_params p{sizeof p, right, 0};
    std::vector<view_spec> v = {packed_view(TUTTI_I64, {2, 90}), packed_view(dtype, {2, 41}),
                                packed_view(dtype, {2, 90})};
    const int top = dtype == TUTTI_BOOL ? 1 : 60;
    fill(v[1], 0, top, random, false);
    fill(v[2], 0, top, random, false);
    const std::vector<uint64_t> order = expected_order(v[1], false);
    const view_spec unsorted = v[1];
    for (uint64_t i = 0; i < order.size(); ++i)
      v[1].data.data.set(v[1].data.offset + i, bits_at(unsorted, i / 41 * 41 + order[i]));
    launch_checked(s, TUTTI_OPERATOR_SEARCH, v, &p);
    std::vector<uint64_t> want(180);
    for (uint64_t i = 0; i < want.size(); ++i)
      for (uint64_t k = 0; k < 41; ++k) {
        const long double there = real_at(v[1], i / 90 * 41 + k), value = real_at(v[2], i);
        want[i] += right != 0 ? there <= value : there < value;
      }
    require_equal(v[0], want, right != 0 ? "positions behind" : "positions before");
  }
}

void check_count(session& s, uint8_t dtype) {
  generator random(s.seed);
  for (const uint64_t bins : {1, 7, 3000}) {
    for (const uint64_t values : {1, 100, 70001}) {
      std::vector<view_spec> v = {packed_view(TUTTI_I64, {bins}), packed_view(dtype, {values})};
      fill(v[1], -2, static_cast<double>(bins) + 1, random, false);
      launch_checked(s, TUTTI_OPERATOR_COUNT, v, nullptr);
      std::vector<uint64_t> want(bins, 0);
      for (uint64_t i = 0; i < values; ++i)
        if (bits_at(v[1], i) < bins) ++want[bits_at(v[1], i)];
      require_equal(v[0], want, "counts of " + std::to_string(values));
    }
  }
}

void check_select(session& s, uint8_t dtype) {
  generator random(s.seed);
  std::vector<uint64_t> want;
  view_spec counts = packed_view(dtype, {5000});
  for (uint64_t i = 0; i < 5000; ++i) {
    if (random() % 3 == 0) want.push_back(i);
    counts.data.data.set(counts.data.offset + i, want.size());
  }
  std::vector<view_spec> v = {packed_view(TUTTI_I64, {want.size()}), counts};
  launch_checked(s, TUTTI_OPERATOR_SELECT, v, nullptr);
  require_equal(v[0], want, "positions of flags");
}

}  // namespace

void add_ordering_groups(groups& all, const session& s) {
  const char* const scans[] = {"sum", "prod", "min", "max", "logsumexp"};
  for (uint8_t dtype = TUTTI_BOOL; dtype <= TUTTI_F64; ++dtype) {
    if (!s.stores(dtype)) continue;
    const std::string name = sdk::dtype_name(dtype);
    for (int32_t scan = TUTTI_SCAN_SUM; scan <= TUTTI_SCAN_LOGSUMEXP; ++scan) {
      if (scan == TUTTI_SCAN_LOGSUMEXP && dtype < TUTTI_F16) continue;
      all.push_back({std::string("scan/") + scans[scan] + "/" + name,
                     [dtype, scan](session& t) { check_scan(t, dtype, scan); }});
    }
    for (const int32_t kind : {TUTTI_OPERATOR_SORT, TUTTI_OPERATOR_ARGSORT}) {
      const char* verb = kind == TUTTI_OPERATOR_SORT ? "sort/" : "argsort/";
      all.push_back({verb + name, [dtype, kind](session& t) { check_sort(t, kind, dtype); }});
    }
    all.push_back({"topk/" + name, [dtype](session& t) { check_topk(t, dtype); }});
    all.push_back({"partition/" + name, [dtype](session& t) { check_partition(t, dtype); }});
    all.push_back({"search/" + name, [dtype](session& t) { check_search(t, dtype); }});
  }
  all.push_back({"scan/long", check_long_scans});
  all.push_back({"sort/long", [](session& t) { check_long_sorts(t, TUTTI_OPERATOR_SORT); }});
  all.push_back({"argsort/long", [](session& t) { check_long_sorts(t, TUTTI_OPERATOR_ARGSORT); }});
  all.push_back({"topk/long", check_long_topk});
  all.push_back({"partition/long", check_long_partition});
  for (const uint8_t index : {TUTTI_I32, TUTTI_I64}) {
    const std::string name = sdk::dtype_name(index);
    all.push_back({"count/" + name, [index](session& t) { check_count(t, index); }});
    all.push_back({"select/" + name, [index](session& t) { check_select(t, index); }});
  }
}

}  // namespace tutti::conformance
