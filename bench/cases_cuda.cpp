// SPDX-License-Identifier: Apache-2.0
//
// On an NVIDIA GPU: products compared with direct calls of cuBLASLt, fused elementwise operations
// and sums with a device copy of as many bytes, and a queue of small launches. With
// TUTTI_MATMUL_PRECISION=high both f32 products use TF32.
#include <cstdlib>
#include <memory>
#include <string_view>

#include "harness.hpp"
#include "operands.hpp"
#include "peer_cuda.hpp"
#include "tutti/array.hpp"
#include "tutti/device.hpp"
#include "tutti/ops.hpp"

namespace tutti::bench {
namespace {

using type = peer::cuda_product::type;

workload product(int n, type kind) {
  struct data {
    std::vector<float> a, b;
    array x, y, z;
    std::unique_ptr<peer::cuda_product> other;
  };
  const auto size = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  auto d = std::make_shared<data>();
  d->a = operand<float>(size, 1);
  d->b = operand<float>(size, 2);
  const dtype stored = kind == type::bf16 ? dtype::bf16 : dtype::f32;
  d->x = array::from(d->a, {n, n}).astype(stored).wait();
  d->y = array::from(d->b, {n, n}).astype(stored).wait();
  d->other = std::make_unique<peer::cuda_product>(n, kind, d->a.data(), d->b.data());
  return {.ours = [d] { d->z = matmul(d->x, d->y).wait(); },
          .peer = [d] { d->other->run(); },
          .check =
              [d, n, kind] {
                const slice first[] = {{0, 1, 1}};
                const array row = slice_view(d->z, first).reshape({n}).astype(dtype::f32);
                const double tolerance = kind == type::f32 ? 1.16 * 0x1p-24 * n : 2e-2;
                return compare(row.to_vector<float>(), d->other->first_row(), tolerance);
              }};
}

void add_products(std::vector<bench_case>& cases) {
  const char* text = std::getenv("TUTTI_MATMUL_PRECISION");
  const std::string_view precision = text != nullptr ? text : "";
  const bool fast = precision == "high" || precision == "medium";
  const auto add = [&](const char* name, int n, type kind) {
    cases.push_back({.name = fmt::format("cuda: matmul {} {}", name, n),
                     .unit = "GFLOP/s",
                     .amount = 2.0 * n * n * n,
                     .peer = "cuBLASLt",
                     .make = [n, kind] { return product(n, kind); },
                     .at_least_of_peer = 0.95});
  };
  for (int n = 1024; n <= 16384; n *= 2)
    add(fast ? "tf32" : "f32", n, fast ? type::tf32 : type::f32);
  for (int n = 1024; n <= 16384; n *= 2) add("bf16", n, type::bf16);
}

// f over operands that, with the result, have `bytes`, compared with a copy of as many bytes.
void add_bandwidth(std::vector<bench_case>& cases, const char* name, double bytes,
                   std::function<array(const array&, const array&)> f, const shape& extents,
                   bool two) {
  const auto make = [=] {
    struct data {
      array x, y, z;
      std::unique_ptr<peer::cuda_copy> copy;
    };
    auto d = std::make_shared<data>();
    const auto size = static_cast<std::size_t>(extents.size());
    d->x = array::from(operand<float>(size, 1), extents).wait();
    if (two) d->y = array::from(operand<float>(size, 2), extents).wait();
    d->copy = std::make_unique<peer::cuda_copy>(static_cast<std::uint64_t>(bytes / 2));
    return workload{.ours = [d, f] { d->z = f(d->x, d->y).wait(); },
                    .peer = [d] { d->copy->run(); }};
  };
  cases.push_back({.name = fmt::format("cuda: {}", name),
                   .unit = "GB/s",
                   .amount = bytes,
                   .peer = "copy on the device",
                   .make = make,
                   .at_least_of_peer = 0.90});
}

workload queue_of_launches(int count) {
  auto x = std::make_shared<array>(array::from(operand<float>(1024, 5)).wait());
  return {.ours = [x, count] {
    array y = *x;
    for (int i = 0; i < count; ++i) y = (y * 0.5f + *x).eval();
    y.wait();
  }};
}

}  // namespace

void add_cuda_cases(std::vector<bench_case>& cases) {
  const device on = default_device();
  if (on.backend() != "cuda" || !peer::cuda_present(on.index())) return;
  add_products(cases);
  const shape square{8192, 8192};
  const double plane = sizeof(float) * 8192.0 * 8192.0;
  const auto fused = [](const array& a, const array& b) { return a * b + tanh(a) - exp(-b * b); };
  add_bandwidth(cases, "a*b + tanh(a) - exp(-b*b), 64M f32", 3 * plane, fused, square, true);
  add_bandwidth(
      cases, "sum of 64M f32", plane, [](auto& a, auto&) { return sum(a); }, square, false);
  add_bandwidth(
      cases, "row sums 8192x8192 f32", plane, [](auto& a, auto&) { return sum(a, 1); }, square,
      false);
  add_bandwidth(
      cases, "column sums 8192x8192 f32", plane, [](auto& a, auto&) { return sum(a, 0); }, square,
      false);
  cases.push_back({.name = "cuda: each of 1000 launches of y/2 + x, 1024 f32",
                   .kind = metric::time,
                   .unit = "us",
                   .amount = 1000,
                   .make = [] { return queue_of_launches(1000); },
                   .at_most = 5});
}

}  // namespace tutti::bench
