// SPDX-License-Identifier: Apache-2.0
//
// A table of operators with their operands and, by plain loops, what they must give.
#include "operator_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>
#include <type_traits>

#include "plugin/raii.hpp"
#include "plugin/support.hpp"

namespace tutti::tools {
namespace {

using detail::buffer_handle;
using detail::opened_device;

using floats = std::vector<float>;
using indices = std::vector<int64_t>;

/// Elements as they lie in memory, contiguous.
struct tensor {
  int32_t dtype = 0;
  std::vector<uint64_t> extents;
  std::vector<char> bytes;
};

template <typename T>
tensor make(std::vector<uint64_t> extents, const std::vector<T>& values) {
  tensor t{std::is_same_v<T, float> ? TUTTI_F32 : TUTTI_I64, std::move(extents), {}};
  t.bytes.resize(values.size() * sizeof(T));
  std::memcpy(t.bytes.data(), values.data(), t.bytes.size());
  return t;
}

struct question {
  const char* what;
  tutti_operator kind;
  const void* params;
  std::vector<tensor> inputs;
  tensor before;  ///< of the output
  tensor answer;
};

/// Small integers without a pattern.
floats integers(size_t n, uint32_t state, int range) {
  floats v(n);
  for (float& x : v) {
    state = state * 1664525u + 1013904223u;
    x = static_cast<float>(static_cast<int>(state >> 16) % range - range / 2);
  }
  return v;
}

tensor empty_like(const tensor& t) {
  return {t.dtype, t.extents, std::vector<char>(t.bytes.size(), 85)};
}

question ask(const char* what, tutti_operator kind, const void* params, std::vector<tensor> inputs,
             tensor answer) {
  return {what, kind, params, std::move(inputs), empty_like(answer), std::move(answer)};
}

question large_product() {
  constexpr uint64_t m = 130, k = 150, n = 140;
  const floats a = integers(m * k, 1, 7), b = integers(k * n, 2, 7);
  floats c(m * n);
  for (uint64_t i = 0; i < m; ++i)
    for (uint64_t q = 0; q < k; ++q)
      for (uint64_t j = 0; j < n; ++j) c[i * n + j] += a[i * k + q] * b[q * n + j];
  return ask("product [130,150] x [150,140]", TUTTI_OPERATOR_MATMUL, nullptr,
             {make({1, m, k}, a), make({1, k, n}, b)}, make({1, m, n}, c));
}

question gather() {
  constexpr uint64_t rows = 50, picked = 70, columns = 9;
  const floats x = integers(rows * columns, 3, 1000);
  indices index(picked);
  floats y(picked * columns);
  for (uint64_t i = 0; i < picked; ++i) {
    index[i] = static_cast<int64_t>(i * 37 % rows);
    for (uint64_t c = 0; c < columns; ++c)
      y[i * columns + c] = x[static_cast<uint64_t>(index[i]) * columns + c];
  }
  return ask("gather", TUTTI_OPERATOR_TAKE, nullptr,
             {make({1, rows, columns}, x), make({picked}, index)}, make({1, picked, columns}, y));
}

question scatter() {
  constexpr uint64_t rows = 20, updates = 90, columns = 5;
  const floats x = integers(updates * columns, 4, 100);
  floats y = integers(rows * columns, 5, 100);
  const tensor before = make({1, rows, columns}, y);
  indices index(updates);
  for (uint64_t i = 0; i < updates; ++i) {
    index[i] = static_cast<int64_t>(i * 7 % rows);
    for (uint64_t c = 0; c < columns; ++c)
      y[static_cast<uint64_t>(index[i]) * columns + c] += x[i * columns + c];
  }
  return {"scatter that adds",
          TUTTI_OPERATOR_SCATTER_ADD,
          nullptr,
          {make({1, updates, columns}, x), make({updates}, index)},
          before,
          make({1, rows, columns}, y)};
}

question running_sum(const char* what, uint64_t rows, uint64_t length, uint64_t inner) {
  static const tutti_scan_params params{sizeof params, TUTTI_SCAN_SUM, 0, 0, 0};
  const floats x = integers(rows * length * inner, 6, 5);
  floats y = x;
  for (uint64_t o = 0; o < rows; ++o)
    for (uint64_t at = o * length * inner + inner; at < (o + 1) * length * inner; ++at)
      y[at] += y[at - inner];
  return ask(what, TUTTI_OPERATOR_SCAN, &params, {make({rows, length, inner}, x)},
             make({rows, length, inner}, y));
}

constexpr uint64_t row_length = 3000;

question sorted_row() {
  static const tutti_sort_params params{sizeof params, 0, 0};
  const floats x = integers(row_length, 7, 30000);
  floats y = x;
  std::sort(y.begin(), y.end());
  return ask("sort", TUTTI_OPERATOR_SORT, &params, {make({1, row_length}, x)},
             make({1, row_length}, y));
}

indices order_of(const floats& x, bool descending) {
  indices order(x.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    const float p = x[static_cast<size_t>(a)], q = x[static_cast<size_t>(b)];
    return descending ? p > q : p < q;
  });
  return order;
}

question permutation() {
  static const tutti_sort_params params{sizeof params, 0, 0};
  const floats x = integers(row_length, 8, 200);
  return ask("argsort", TUTTI_OPERATOR_ARGSORT, &params, {make({1, row_length}, x)},
             make({1, row_length}, order_of(x, false)));
}

question largest() {
  static const tutti_sort_params params{sizeof params, 1, 0};
  const floats x = integers(row_length, 9, 200);
  indices first = order_of(x, true);
  first.resize(25);
  std::sort(first.begin(), first.end());
  return ask("top 25", TUTTI_OPERATOR_TOPK, &params, {make({1, row_length}, x)},
             make({1, 25}, first));
}

/// Of two different values, so that there is one right answer.
question parted() {
  constexpr uint64_t place = 1000;
  static const tutti_partition_params params{sizeof params, place};
  floats x(row_length), y(row_length);
  for (uint64_t i = 0; i < row_length; ++i) {
    x[i] = i * 7 % 3 == 0 ? -1.0f : 2.0f;
    y[i] = i < row_length / 3 ? -1.0f : 2.0f;
  }
  return ask("partition", TUTTI_OPERATOR_PARTITION, &params, {make({1, row_length}, x)},
             make({1, row_length}, y));
}

question search() {
  static const tutti_search_params params{sizeof params, 0, 0};
  floats x = integers(100, 10, 60);
  std::sort(x.begin(), x.end());
  const floats values = integers(70, 11, 70);
  indices found(values.size());
  for (size_t i = 0; i < values.size(); ++i)
    found[i] = std::lower_bound(x.begin(), x.end(), values[i]) - x.begin();
  return ask("binary search", TUTTI_OPERATOR_SEARCH, &params,
             {make({1, 100}, x), make({1, 70}, values)}, make({1, 70}, found));
}

question count() {
  constexpr uint64_t bins = 13;
  indices numbers(row_length), counts(bins);
  for (uint64_t i = 0; i < row_length; ++i) {
    numbers[i] = static_cast<int64_t>(i * i % 17);
    if (numbers[i] < static_cast<int64_t>(bins)) ++counts[static_cast<size_t>(numbers[i])];
  }
  return ask("count", TUTTI_OPERATOR_COUNT, nullptr, {make({row_length}, numbers)},
             make({bins}, counts));
}

question positions() {
  indices sums(row_length), set;
  for (uint64_t i = 0; i < row_length; ++i) {
    if (i * 11 % 7 < 2) set.push_back(static_cast<int64_t>(i));
    sums[i] = static_cast<int64_t>(set.size());
  }
  return ask("positions of flags", TUTTI_OPERATOR_SELECT, nullptr, {make({row_length}, sums)},
             make({set.size()}, set));
}

tutti_view_desc view_of(const tensor& t) {
  tutti_view_desc v{};
  v.dtype = t.dtype;
  v.rank = static_cast<uint32_t>(t.extents.size());
  int64_t stride = 1;
  for (uint32_t i = v.rank; i-- > 0;) {
    v.extent[i] = t.extents[i];
    v.stride[i] = stride;
    stride *= static_cast<int64_t>(t.extents[i]);
  }
  return v;
}

std::string difference(const tensor& want, const std::vector<char>& got) {
  const size_t size = want.dtype == TUTTI_F32 ? sizeof(float) : sizeof(int64_t);
  const auto text = [&](const char* at) {
    float real = 0;
    int64_t integer = 0;
    std::memcpy(size == sizeof real ? static_cast<void*>(&real) : &integer, at, size);
    return size == sizeof real ? fmt::format("{}", real) : fmt::format("{}", integer);
  };
  for (size_t i = 0; i < got.size(); i += size)
    if (std::memcmp(&got[i], &want.bytes[i], size) != 0)
      return fmt::format("wrong result at {} of {}: {} instead of {}", i / size, got.size() / size,
                         text(&got[i]), text(&want.bytes[i]));
  return {};
}

/// What the device gives; empty where it leaves the operator out.
std::vector<char> put(const question& q, const opened_device& d) {
  const detail::plugin& plugin = *d.plugin;
  const detail::stream_handle stream = detail::create_stream(d);
  std::vector<buffer_handle> buffers;
  std::vector<tutti_view_desc> views;
  std::vector<tutti_range> operands;
  const auto add = [&](const tensor& t) {
    buffers.push_back(detail::allocate(d, t.bytes.size()));
    detail::check(plugin.transfer.write(stream.get(), buffers.back().get(), 0, t.bytes.data(),
                                        t.bytes.size(), 1, nullptr),
                  d, "write to the device");
    views.push_back(view_of(t));
    operands.push_back({buffers.back().get(), 0});
  };
  add(q.before);
  for (const tensor& t : q.inputs) add(t);
  const tutti_operator_desc desc = detail::describe(q.kind, views, q.params);
  int32_t support = TUTTI_SUPPORT_NO;
  detail::check(plugin.op.supports(d.handle, &desc, &support, nullptr), d, "supports", q.what);
  if (support == TUTTI_SUPPORT_NO) return {};
  detail::run_operator(d, desc, operands, stream.get(), q.what);
  std::vector<char> got(q.answer.bytes.size());
  detail::check(
      plugin.transfer.read(stream.get(), buffers[0].get(), 0, got.data(), got.size(), 1, nullptr),
      d, "read from the device");
  return got;
}

}  // namespace

std::vector<check_result> check_operators(const opened_device& d) {
  const question all[] = {large_product(),
                          gather(),
                          scatter(),
                          running_sum("running sums along rows", 3, row_length, 1),
                          running_sum("running sums along columns", 3, 50, 40),
                          sorted_row(),
                          permutation(),
                          largest(),
                          parted(),
                          search(),
                          count(),
                          positions()};
  std::vector<check_result> results;
  for (const question& q : all) {
    check_result& result = results.emplace_back(check_result{q.what, false, {}});
    try {
      const auto start = std::chrono::steady_clock::now();
      const std::vector<char> got = put(q, d);
      const std::chrono::duration<double, std::milli> took =
          std::chrono::steady_clock::now() - start;
      const std::string wrong = difference(q.answer, got);
      result.passed = wrong.empty();
      result.text = got.empty()     ? "left to the reference device"
                    : result.passed ? fmt::format("right, {:.1f} ms with compilation", took.count())
                                    : wrong;
    } catch (const std::exception& e) {
      result.text = e.what();
    }
  }
  return results;
}

}  // namespace tutti::tools
