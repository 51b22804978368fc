// SPDX-License-Identifier: Apache-2.0
//
// Scans, sorts and derived operations: 16M elements (4M if the peer would take seconds).
#include <memory>

#include "harness.hpp"
#include "operands.hpp"
#include "peer_sort.hpp"
#include "tutti/analysis.hpp"
#include "tutti/array.hpp"
#include "tutti/ops.hpp"
#include "tutti/sorting.hpp"

namespace tutti::bench {
namespace {

constexpr std::size_t many = std::size_t{16} << 20;
constexpr std::size_t fewer = std::size_t{4} << 20;

// Operand, result and the peer's result of one case.
template <class T, class R>
struct data {
  std::vector<T> a;
  std::vector<R> expected;
  array x, y;
};

template <class T, class R = T>
std::shared_ptr<data<T, R>> make_data(std::size_t count, double scale, double shift = 0) {
  auto d = std::make_shared<data<T, R>>();
  for (const double v : operand<double>(count, 7, scale)) d->a.push_back(static_cast<T>(v + shift));
  d->x = array::from(d->a).wait();
  return d;
}

// `peer` sets what the result is compared with.
template <class T, class R>
workload compared(const std::shared_ptr<data<T, R>>& d, array (*ours)(const array&),
                  std::function<void(const std::vector<T>&, std::vector<R>&)> peer) {
  return {.ours = [d, ours] { d->y = ours(d->x).wait(); },
          .peer = [d, peer] { peer(d->a, d->expected); },
          .check = [d] { return compare(d->y.template to_vector<R>(), d->expected, 0); }};
}

workload scan_case() {
  return compared<std::int32_t, std::int32_t>(
      make_data<std::int32_t>(many, 100),
      [](const array& x) { return cumsum(x, scan_options(0, false, false, dtype::i32)); },
      peer::inclusive_scan);
}

workload recurrence_case(bool along_columns) {
  constexpr std::int64_t edge = 4096;
  struct operands {
    std::vector<float> a = operand<float>(many, 3, 0.9), x = operand<float>(many, 5), expected;
    array on_device_a = array::from(a, {edge, edge}), on_device_x = array::from(x, {edge, edge}), y;
  };
  const auto d = std::make_shared<operands>();
  const int axis = along_columns ? 0 : 1;
  return {
      .ours = [d, axis] { d->y = linear_recurrence(d->on_device_a, d->on_device_x, axis).wait(); },
      .peer = [d,
               along_columns] { peer::recurrence(d->a, d->x, edge, along_columns, d->expected); },
      .check = [d] { return compare(d->y.to_vector<float>(), d->expected, 1e-5); }};
}

// Keys over all of u32.
workload sort_case(bool against_boost) {
  const auto d = make_data<std::uint32_t>(many, 0x1p31, 0x1p31);
  workload work = compared<std::uint32_t, std::uint32_t>(
      d, [](const array& x) { return sort(x); },
      [against_boost](const auto& a, auto& out) {
        if (!against_boost || !peer::boost_compute_sort(a, out)) peer::sort(a, out);
      });
  if (!against_boost) return work;
  work.check = [d, compared = work.check] {
    peer::sort(d->a, d->expected);
    return compared();
  };
  return work;
}

workload argsort_case() {
  return compared<std::uint32_t, std::int64_t>(
      make_data<std::uint32_t, std::int64_t>(fewer, 0x1p31, 0x1p31),
      [](const array& x) { return argsort(x); }, peer::argsort);
}

workload topk_case() {
  return compared<float, float>(
      make_data<float>(fewer, 1), [](const array& x) { return topk(x, 100).values; },
      [](const auto& a, auto& out) { peer::largest(a, 100, out); });
}

workload unique_case() {
  return compared<std::int32_t, std::int32_t>(
      make_data<std::int32_t>(fewer, 1e5), [](const array& x) { return unique_values(x); },
      peer::unique);
}

workload histogram_case() {
  return compared<float, std::int64_t>(
      make_data<float, std::int64_t>(many, 1),
      [](const array& x) { return histogram(x, 256, -1, 1).counts; },
      [](const auto& a, auto& out) { peer::histogram(a, 256, out); });
}

}  // namespace

void add_sort_cases(std::vector<bench_case>& cases) {
  // One read, one write.
  cases.push_back(bandwidth("cumsum of 16M i32", 8.0 * many, floor_kind::copy, many,
                            "std::inclusive_scan", scan_case, 0.5));
  // Two reads, one write.
  for (const bool along_columns : {false, true})
    cases.push_back(bandwidth(
        std::string("linear_recurrence along ") + (along_columns ? "columns" : "rows") +
            " of 4096x4096 f32",
        12.0 * many, floor_kind::triad, many, "a loop, 1 thread",
        [along_columns] { return recurrence_case(along_columns); }, 0.5));

  const auto add = [&](const char* name, const char* peer, std::function<workload()> make,
                       double times) {
    cases.push_back(milliseconds(name, peer, std::move(make), times));
  };
  add(
      "sort of 16M u32", "std::sort, 1 thread", [] { return sort_case(false); }, 8);
#ifdef TUTTI_BENCH_BOOST_COMPUTE
  add(
      "sort of 16M u32, OpenCL", "Boost.Compute", [] { return sort_case(true); }, 5);
#endif
  add("argsort of 4M u32", "std::sort of pairs", argsort_case, 0);
  add("topk 100 of 4M f32", "std::partial_sort_copy", topk_case, 0);
  add("unique of 4M i32", "std::sort, std::unique", unique_case, 0);
  add("histogram of 16M f32, 256 bins", "a loop", histogram_case, 0);
}

}  // namespace tutti::bench
