// SPDX-License-Identifier: Apache-2.0
//
// Scans, sorts and derived operations: 16M elements (4M if the peer would take seconds).
#include <memory>

#include "harness.hpp"
#include "operands.hpp"
#include "peer_sort.hpp"
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

workload scan_case() {
  auto d = make_data<std::int32_t>(many, 100);
  d->expected.resize(many);
  workload work;
  work.ours = [d] { d->y = cumsum(d->x, scan_options(0, false, false, dtype::i32)).wait(); };
  work.peer = [d] { peer::inclusive_scan(many, d->a.data(), d->expected.data()); };
  work.check = [d] { return compare(d->y.to_vector<std::int32_t>(), d->expected, 0); };
  return work;
}

// Keys over all of u32.
std::shared_ptr<data<std::uint32_t, std::uint32_t>> keys() {
  return make_data<std::uint32_t>(many, 0x1p31, 0x1p31);
}

workload sort_case(bool against_boost) {
  auto d = keys();
  workload work;
  work.ours = [d] { d->y = sort(d->x).wait(); };
  work.peer = [d, against_boost] {
    if (!against_boost || !peer::boost_compute_sort(d->a, d->expected))
      peer::sort(d->a, d->expected);
  };
  work.check = [d] {
    peer::sort(d->a, d->expected);
    return compare(d->y.to_vector<std::uint32_t>(), d->expected, 0);
  };
  return work;
}

workload argsort_case() {
  auto d = make_data<std::uint32_t, std::int64_t>(fewer, 0x1p31, 0x1p31);
  workload work;
  work.ours = [d] { d->y = argsort(d->x).wait(); };
  work.peer = [d] { peer::argsort(d->a, d->expected); };
  work.check = [d] { return compare(d->y.to_vector<std::int64_t>(), d->expected, 0); };
  return work;
}

workload topk_case() {
  auto d = make_data<float>(fewer, 1);
  workload work;
  work.ours = [d] { d->y = topk(d->x, 100).values.wait(); };
  work.peer = [d] { peer::largest(d->a, 100, d->expected); };
  work.check = [d] { return compare(d->y.to_vector<float>(), d->expected, 0); };
  return work;
}

workload unique_case() {
  auto d = make_data<std::int32_t>(fewer, 1e5);
  workload work;
  work.ours = [d] { d->y = unique_values(d->x).wait(); };
  work.peer = [d] { peer::unique(d->a, d->expected); };
  work.check = [d] { return compare(d->y.to_vector<std::int32_t>(), d->expected, 0); };
  return work;
}

workload histogram_case() {
  auto d = make_data<float, std::int64_t>(many, 1);
  workload work;
  work.ours = [d] { d->y = histogram(d->x, 256, -1, 1).counts.wait(); };
  work.peer = [d] { peer::histogram(d->a, 256, d->expected); };
  work.check = [d] { return compare(d->y.to_vector<std::int64_t>(), d->expected, 0); };
  return work;
}

}  // namespace

void add_sort_cases(std::vector<bench_case>& cases) {
  cases.push_back({.name = "cumsum of 16M i32",
                   .unit = "GB/s",
                   .amount = 8.0 * many,  // one read, one write
                   .bound = floor_kind::copy,
                   .bound_elements = many,
                   .peer = "std::inclusive_scan",
                   .make = scan_case,
                   .at_least_of_floor = 0.5});

  const auto add = [&](const char* name, const char* peer, std::function<workload()> make,
                       double times) {
    cases.push_back({.name = name,
                     .kind = metric::time,
                     .unit = "ms",
                     .peer = peer,
                     .make = std::move(make),
                     .at_least_of_peer = times});
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
