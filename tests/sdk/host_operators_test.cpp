// SPDX-License-Identifier: Apache-2.0
//
// Operators of the host engine without a device, by every set of instructions: on whole numbers,
// whose sums are the same in any order, they give what the plain loops of the reference plugin
// give, whoever shares the work.
#include "sdk/host_engine/host_operators.hpp"

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "sdk/host_engine/on_buffers.hpp"
#include "sdk/host_layer/host_operator.hpp"
#include "sdk/op_info.hpp"
#include "sdk/status.hpp"
#include "sdk/validate_operator.hpp"
#include "verify/operator_claims.hpp"

using namespace tutti;
using conformance::contiguous_view;

namespace {

using bytes = std::vector<std::byte>;

uint64_t bytes_of(const tutti_view_desc& v) {
  uint64_t count = sdk::dtype_size(v.dtype);
  for (uint32_t d = 0; d < v.rank; ++d) count *= v.extent[d];
  return count;
}

// Whole numbers from `low` to `high`.
bytes numbers(const tutti_view_desc& v, int low, int high, uint64_t seed) {
  std::mt19937_64 random(seed);
  bytes data(bytes_of(v));
  const uint32_t size = sdk::dtype_size(v.dtype);
  for (size_t at = 0; at < data.size(); at += size) {
    const auto value = static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1)) + low;
    const auto real = static_cast<float>(value);
    if (v.dtype == TUTTI_F32)
      std::memcpy(&data[at], &real, size);
    else
      std::memcpy(&data[at], &value, size);
  }
  return data;
}

constexpr std::byte guard{0x5a};
constexpr size_t guard_bytes = 128;

// An operator with its inputs, and what lies in its output before.
struct case_of {
  case_of(int32_t kind, std::vector<tutti_view_desc> given, std::vector<bytes> memory,
          const void* params)
      : views(std::move(given)), data(std::move(memory)) {
    tutti_operator_desc desc{};
    desc.struct_size = sizeof desc;
    desc.kind = kind;
    desc.output_count = 1;
    desc.input_count = static_cast<uint32_t>(views.size() - 1);
    desc.view_size = sizeof(tutti_view_desc);
    desc.views = views.data();
    desc.params = params;
    const char* against = nullptr;
    what = sdk::read_for_host(&desc, against);
    BOOST_REQUIRE(what != nullptr);
    name = sdk::operator_name(kind);
    for (const tutti_view_desc& v : views)
      name += " " + std::string(sdk::dtype_name(v.dtype)) + "[" + std::to_string(v.extent[0]) +
              (v.rank > 1 ? "," + std::to_string(v.extent[1]) : "") + "]";
  }

  bytes by_loops() const {
    std::vector<bytes> memory = data;
    sdk::thread_team alone(1);
    sdk::host_operator(what, places_of(memory), block_of).run(alone);
    return memory[0];
  }
  static sdk::operator_memory places_of(std::vector<bytes>& memory) {
    sdk::operator_memory places{};
    for (size_t n = 0; n < memory.size(); ++n)
      places.operands[n] = {reinterpret_cast<tutti_buffer*>(&memory[n]), 0};
    return places;
  }
  static sdk::host_block block_of(const tutti_buffer& buffer) {
    auto& held = const_cast<bytes&>(reinterpret_cast<const bytes&>(buffer));
    return {held.data(), held.size()};
  }

  // As a backend of the host runs it.
  bytes on_buffers() const {
    std::vector<bytes> memory = data;
    sdk::thread_team alone(1);
    const sdk::engine_operator engine(what, 1);
    engine.run(engine.on(places_of(memory), block_of), alone);
    return memory[0];
  }

  sdk::host_operator_plan plan(sdk::host_routines set) const {
    return sdk::host_operator_plan(device(set), what->call(), set);
  }
  static sdk::device_description device(sdk::host_routines set) {
    sdk::device_description device;
    device.kind = sdk::schedule::cpu;
    device.vector_bytes = 16u << static_cast<uint32_t>(set);
    device.properties.compute_units = 4;
    device.properties.computed_dtypes = ~0u;
    return device;
  }

  // The output, or nothing where what lies behind it or behind the workspace has changed. Several
  // threads may call this.
  bytes by_engine(const sdk::host_operator_plan& plan, const sdk::host_parallel_for& parallel,
                  bool own_workspace) const {
    std::vector<bytes> memory = data;
    std::vector<std::byte*> places;
    for (bytes& m : memory) {
      m.resize(m.size() + guard_bytes, guard);
      places.push_back(m.data());
    }
    const uint64_t size = plan.workspace_bytes();
    bytes room(size + 64 + guard_bytes, guard);
    std::byte* workspace = room.data() + (64 - reinterpret_cast<uintptr_t>(room.data()) % 64) % 64;
    plan.run(places.data(), parallel, own_workspace || size == 0 ? nullptr : workspace);
    const auto kept = [](const std::byte* from, const std::byte* to) {
      return std::all_of(from, to, [](std::byte b) { return b == guard; });
    };
    const std::byte* end = memory[0].data() + memory[0].size();
    if (!kept(end - guard_bytes, end) || !kept(workspace + size, room.data() + room.size()))
      return {};
    memory[0].resize(memory[0].size() - guard_bytes);
    return memory[0];
  }

  std::vector<tutti_view_desc> views;
  std::vector<bytes> data;
  std::shared_ptr<const sdk::owned_operator> what;
  std::string name;
};

std::vector<sdk::host_routines> sets() {
  std::vector<sdk::host_routines> all;
  for (const auto set :
       {sdk::host_routines::baseline, sdk::host_routines::avx2, sdk::host_routines::avx512})
    if (sdk::has_host_routines(set)) all.push_back(set);
  return all;
}

void shared_by_three(uint64_t count, const std::function<void(uint64_t)>& work) {
  std::vector<std::thread> others;
  for (uint64_t t = 1; t < 3; ++t)
    others.emplace_back([&, t] {
      for (uint64_t n = t; n < count; n += 3) work(n);
    });
  for (uint64_t n = 0; n < count; n += 3) work(n);
  for (std::thread& other : others) other.join();
}

void compare(const case_of& c) {
  const bytes expected = c.by_loops();
  for (const sdk::host_routines set : sets()) {
    const sdk::host_operator_plan plan = c.plan(set);
    BOOST_TEST((c.by_engine(plan, {}, true) == expected), c.name << " " << sdk::name_of(set));
    BOOST_TEST((c.by_engine(plan, shared_by_three, false) == expected),
               c.name << " " << sdk::name_of(set) << ", shared");
  }
}

case_of product(int32_t dtype, uint64_t rows, uint64_t cols, uint64_t depth, bool transposed) {
  std::vector<tutti_view_desc> v = {contiguous_view(dtype, {2, rows, cols}),
                                    contiguous_view(dtype, {2, rows, depth}),
                                    contiguous_view(dtype, {2, depth, cols})};
  if (transposed) {
    v[2].stride[1] = 1;
    v[2].stride[2] = static_cast<int64_t>(depth);
  }
  return {TUTTI_OPERATOR_MATMUL,
          v,
          {numbers(v[0], 0, 9, 1), numbers(v[1], 0, 3, 2), numbers(v[2], 0, 3, 3)},
          nullptr};
}

case_of ordering(int32_t kind, int32_t dtype, uint64_t rows, uint64_t length, uint64_t results,
                 const void* params) {
  const bool values = kind == TUTTI_OPERATOR_SORT;
  const std::vector<tutti_view_desc> v = {
      contiguous_view(values ? dtype : int32_t{TUTTI_I64}, {rows, results}),
      contiguous_view(dtype, {rows, length})};
  return {kind, v, {numbers(v[0], 0, 9, 1), numbers(v[1], 0, 100, 2)}, params};
}

case_of rows(int32_t kind, int32_t dtype, uint64_t count, uint64_t picks, uint64_t columns) {
  const bool take = kind == TUTTI_OPERATOR_TAKE;
  const std::vector<tutti_view_desc> v = {
      contiguous_view(dtype, {2, take ? picks : count, columns}),
      contiguous_view(dtype, {2, take ? count : picks, columns}),
      contiguous_view(TUTTI_I64, {picks})};
  return {kind,
          v,
          {numbers(v[0], 0, 9, 1), numbers(v[1], 0, 100, 2),
           numbers(v[2], 0, static_cast<int>(count) - 1, 3)},
          nullptr};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(host_operators)

BOOST_AUTO_TEST_CASE(products) {
  for (const int32_t dtype : {TUTTI_F32, TUTTI_I16, TUTTI_U64})
    for (const bool transposed : {false, true}) {
      compare(product(dtype, 1, 1, 1, transposed));
      compare(product(dtype, 33, 17, 65, transposed));
      compare(product(dtype, 1, 300, 40, transposed));
      compare(product(dtype, 129, 140, 130, transposed));
      compare(product(dtype, 3, 4, 4100, transposed));
    }
}

BOOST_AUTO_TEST_CASE(rows_by_an_index) {
  for (const int32_t kind : {TUTTI_OPERATOR_TAKE, TUTTI_OPERATOR_SCATTER_ADD})
    for (const int32_t dtype : {TUTTI_F32, TUTTI_I16}) {
      compare(rows(kind, dtype, 10, 7, 64));
      compare(rows(kind, dtype, 50, 4000, 33));
      compare(rows(kind, dtype, 1000, 30000, 1));
      for (const uint64_t columns : {2, 3, 4, 5}) compare(rows(kind, dtype, 70, 9000, columns));
    }
}

BOOST_AUTO_TEST_CASE(scans) {
  for (const uint32_t flags : {0u, 1u, 2u, 3u}) {
    const tutti_scan_params params{sizeof params, TUTTI_SCAN_SUM, flags & 1u, flags >> 1, 0};
    for (const auto& [outer, length, inner] :
         {std::array<uint64_t, 3>{1, 1003, 1}, {1, 90001, 1}, {3, 50, 37}}) {
      const tutti_view_desc f32 = contiguous_view(TUTTI_F32, {outer, length, inner});
      compare({TUTTI_OPERATOR_SCAN,
               {f32, f32},
               {numbers(f32, 0, 9, 1), numbers(f32, 0, 3, 2)},
               &params});
      // The input is converted first.
      const tutti_view_desc i64 = contiguous_view(TUTTI_I64, {outer, length, inner});
      const tutti_view_desc u8 = contiguous_view(TUTTI_U8, {outer, length, inner});
      compare(
          {TUTTI_OPERATOR_SCAN, {i64, u8}, {numbers(i64, 0, 9, 1), numbers(u8, 0, 3, 2)}, &params});
    }
  }
}

namespace {

// Numbers around 0 and far from it, with an infinity, a NaN and a row of -infinity among them where
// `special`.
template <class T>
std::vector<T> exponents(uint64_t count, bool special) {
  std::mt19937_64 random(7);
  std::vector<T> all(count);
  for (T& x : all) x = static_cast<T>(static_cast<int>(random() % 2000)) / 50 - 20;
  if (!special) return all;
  std::fill_n(all.begin(), std::min<uint64_t>(count, 40), -std::numeric_limits<T>::infinity());
  if (count > 70) all[count * 2 / 3] = std::numeric_limits<T>::infinity();
  if (count > 70) all[count * 3 / 4] = std::numeric_limits<T>::quiet_NaN();
  return all;
}

// log(sum(exp(x))) so far, in a wider type.
struct running_logarithm {
  long double top = -INFINITY, rest = 0;

  void take(long double x) {
    if (std::isnan(x) || std::isnan(top)) {
      top = NAN;
    } else if (x > top) {
      rest = rest * std::exp(top - x) + 1;
      top = x;
    } else if (x > -INFINITY) {
      rest += x == top ? 1 : std::exp(x - top);
    }
  }
  double value() const {
    return static_cast<double>(std::isfinite(top) ? top + std::log(rest) : top);
  }
};

double error_of(double got, double expected) {
  if (std::isnan(expected)) return std::isnan(got) ? 0 : INFINITY;
  if (got == expected) return 0;
  const double error = std::fabs(got - expected) / (1 + std::fabs(expected));
  return std::isnan(error) ? INFINITY : error;
}

template <class T>
void compare_logarithms(int32_t dtype, std::array<uint64_t, 3> extent, uint32_t flags, bool special,
                        double bound) {
  const bool exclusive = (flags & 1u) != 0, reverse = (flags & 2u) != 0;
  const tutti_scan_params params{sizeof params, TUTTI_SCAN_LOGSUMEXP, exclusive, reverse, 0};
  const tutti_view_desc v = contiguous_view(dtype, {extent[0], extent[1], extent[2]});
  const std::vector<T> x = exponents<T>(extent[0] * extent[1] * extent[2], special);
  bytes in(bytes_of(v));
  std::memcpy(in.data(), x.data(), in.size());
  const case_of c(TUTTI_OPERATOR_SCAN, {v, v}, {numbers(v, 0, 9, 1), in}, &params);
  for (const sdk::host_routines set : sets()) {
    const bytes got = c.by_engine(c.plan(set), shared_by_three, false);
    BOOST_REQUIRE_EQUAL(got.size(), in.size());
    std::vector<T> y(x.size());
    std::memcpy(y.data(), got.data(), got.size());
    double worst = 0;
    for (uint64_t column = 0; column < extent[0] * extent[2]; ++column) {
      running_logarithm so_far;
      for (uint64_t step = 0; step < extent[1]; ++step) {
        const uint64_t place = reverse ? extent[1] - 1 - step : step;
        const uint64_t at =
            (column / extent[2] * extent[1] + place) * extent[2] + column % extent[2];
        if (!exclusive) so_far.take(x[at]);
        worst = std::max(worst, error_of(y[at], so_far.value()));
        if (exclusive) so_far.take(x[at]);
      }
    }
    BOOST_TEST(worst <= bound,
               c.name << " " << sdk::name_of(set) << ", flags " << flags << ": " << worst);
  }
}

}  // namespace

// Exponentials of numbers that are no whole ones, so loops of the host are no oracle to the bit.
BOOST_AUTO_TEST_CASE(logarithms_of_sums_of_exponentials) {
  for (const uint32_t flags : {0u, 1u, 2u, 3u})
    for (const bool special : {false, true})
      for (const auto& extent :
           {std::array<uint64_t, 3>{1, 1, 1}, {2, 15, 1}, {1, 90001, 1}, {3, 50, 37}, {2, 0, 3}}) {
        compare_logarithms<float>(TUTTI_F32, extent, flags, special, 2e-6);
        compare_logarithms<double>(TUTTI_F64, extent, flags, special, 1e-14);
      }
}

BOOST_AUTO_TEST_CASE(orderings) {
  for (const uint32_t descending : {0u, 1u}) {
    const tutti_sort_params params{sizeof params, descending, 0};
    for (const int32_t dtype : {TUTTI_F32, TUTTI_I16})
      for (const uint64_t length : {1, 31, 700, 70001}) {
        compare(ordering(TUTTI_OPERATOR_SORT, dtype, 2, length, length, &params));
        compare(ordering(TUTTI_OPERATOR_ARGSORT, dtype, 2, length, length, &params));
      }
  }
}

BOOST_AUTO_TEST_CASE(nothing_to_do) {
  compare(rows(TUTTI_OPERATOR_TAKE, TUTTI_F32, 3, 0, 5));
  compare(product(TUTTI_F32, 0, 4, 4, false));
  compare(product(TUTTI_F32, 4, 4, 0, false));
}

BOOST_AUTO_TEST_CASE(one_plan_runs_in_many_threads_at_once) {
  const case_of c = product(TUTTI_F32, 150, 130, 120, true);
  const bytes expected = c.by_loops();
  const sdk::host_operator_plan plan = c.plan(sdk::best_host_routines());
  std::vector<bytes> got(4);
  std::vector<std::thread> callers;
  for (bytes& to : got)
    callers.emplace_back([&c, &plan, &to] { to = c.by_engine(plan, shared_by_three, true); });
  for (std::thread& caller : callers) caller.join();
  for (const bytes& one : got) BOOST_TEST((one == expected));
}

BOOST_AUTO_TEST_CASE(what_is_not_done_is_said) {
  const case_of c = product(TUTTI_F32, 4, 4, 4, false);
  sdk::device_description device = case_of::device(sdk::best_host_routines());
  device.vector_bytes = 64;
  if (sdk::best_host_routines() == sdk::host_routines::avx512) return;  // which has every width
  const char* why =
      sdk::host_operator_plan::against(device, c.what->call(), sdk::best_host_routines());
  BOOST_REQUIRE(why != nullptr);
  BOOST_TEST(std::string(why).find("width") != std::string::npos);
  try {
    const sdk::host_operator_plan plan(device, c.what->call(), sdk::best_host_routines());
    BOOST_ERROR("made a plan");
  } catch (const sdk::plugin_error& error) {
    BOOST_TEST(error.code == TUTTI_ERROR_UNSUPPORTED);
    BOOST_TEST(std::string(error.what()).find(why) != std::string::npos);
  }
  device.kind = sdk::schedule::gpu;
  BOOST_TEST(sdk::host_operator_plan::against(device, c.what->call()) != nullptr);
}

// A matrix that every factorisation takes, and results of them all.
BOOST_AUTO_TEST_CASE(what_the_engine_lacks_is_refused_and_left_to_the_loops) {
  const tutti_matrix_params params{sizeof params, 0, 0, 0, 0};
  const tutti_view_desc matrix = contiguous_view(TUTTI_F32, {1, 2, 2}),
                        row = contiguous_view(TUTTI_F32, {1, 2});
  const float a[] = {4, 2, 2, 2}, factor[] = {2, 0, 1, 1};
  bytes in(sizeof a), expected(sizeof factor);
  std::memcpy(in.data(), a, sizeof a);
  std::memcpy(expected.data(), factor, sizeof factor);
  const bytes square(sizeof a), line(sizeof a / 2);
  const case_of cases[] = {
      {TUTTI_OPERATOR_CHOLESKY, {matrix, matrix}, {square, in}, &params},
      {TUTTI_OPERATOR_TRIANGULAR_SOLVE, {matrix, matrix, matrix}, {square, in, in}, &params},
      {TUTTI_OPERATOR_EIGH, {row, matrix}, {line, in}, &params},
      {TUTTI_OPERATOR_SVD, {row, matrix}, {line, in}, &params}};
  for (const case_of& c : cases)
    for (const sdk::host_routines set : sets()) {
      const char* const why =
          sdk::host_operator_plan::against(case_of::device(set), c.what->call(), set);
      BOOST_TEST((why != nullptr && *why != 0), c.name);
      BOOST_CHECK_THROW(c.plan(set), sdk::plugin_error);
    }
  BOOST_TEST((cases[0].on_buffers() == expected));
  // LAPACK, where there is one, rounds otherwise than the loops.
  for (const case_of& c : cases) {
    const bytes one = c.on_buffers(), other = c.by_loops();
    BOOST_REQUIRE(one.size() == other.size());
    for (size_t at = 0; at < one.size(); at += sizeof(float)) {
      float x = 0, y = 0;
      std::memcpy(&x, one.data() + at, sizeof x);
      std::memcpy(&y, other.data() + at, sizeof y);
      BOOST_TEST(std::abs(x - y) <= 1e-6f, c.name << " " << x << " " << y);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
