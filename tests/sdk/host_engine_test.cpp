// SPDX-License-Identifier: Apache-2.0
//
// Programs of the host engine by every set of instructions, shared or not, and of sizes that go
// ways of their own: plain loops say what comes out. `tutti verify` judges the rest.
#include "sdk/host_engine/host_engine.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "sdk/host_engine/dispatch.hpp"
#include "sdk/op_info.hpp"
#include "sdk/status.hpp"
#include "verify/program_spec.hpp"

using namespace tutti;

namespace {

// One instruction over two inputs, or a reduction of the first, and its launch.
struct case_of : tutti::conformance::program_spec {
  tutti_operand in[2] = {}, out{};
  tutti_program_launch launch{};

  case_of(uint8_t dtype, uint32_t kept, uint32_t reduced) {
    kept_rank = kept;
    reduced_rank = reduced;
    uint32_t value = input(dtype, TUTTI_ACCESS_STRIDED);
    if (reduced > 0) {
      reduction = TUTTI_REDUCE_SUM;
      accumulator = dtype;
    } else {
      const uint32_t other = input(dtype, TUTTI_ACCESS_STRIDED);
      value = op(TUTTI_OP_subtract, dtype, {value, other});
    }
    output(value, dtype, TUTTI_ACCESS_STRIDED);
    launch.struct_size = sizeof launch;
    launch.operand_size = sizeof(tutti_operand);
    launch.inputs = in;
    launch.outputs = &out;
  }

  template <typename T>
  void run(const T* a, const T* b, T* to, sdk::host_routines set,
           const sdk::host_parallel_for& parallel = {}) const {
    const std::byte* from[] = {reinterpret_cast<const std::byte*>(a),
                               reinterpret_cast<const std::byte*>(b)};
    std::byte* into[] = {reinterpret_cast<std::byte*>(to)};
    sdk::host_program(desc(), set).run(launch, {from, into}, sdk::machine{4}, parallel);
  }
};

std::vector<sdk::host_routines> sets() {
  std::vector<sdk::host_routines> all;
  for (const auto set :
       {sdk::host_routines::baseline, sdk::host_routines::avx2, sdk::host_routines::avx512})
    if (sdk::has_host_routines(set)) all.push_back(set);
  return all;
}

// A thread for every second one.
void shared(uint64_t count, const std::function<void(uint64_t)>& work) {
  std::thread other([&] {
    for (uint64_t n = 1; n < count; n += 2) work(n);
  });
  for (uint64_t n = 0; n < count; n += 2) work(n);
  other.join();
}

std::vector<int32_t> numbers(size_t count) {
  std::vector<int32_t> all(count);
  for (size_t i = 0; i < count; ++i)
    all[i] = static_cast<int32_t>(static_cast<uint32_t>(i) * 2654435761u >> 4);
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(host_engine)

// Rows with gaps between them, whose loop takes many rows at once.
BOOST_AUTO_TEST_CASE(sums_of_single_elements_and_copies_of_rows) {
  const int64_t rows = 20, columns = 300, pitch = 900;
  std::vector<float> x(rows * pitch);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 1013);
  for (const bool reduces : {false, true}) {
    conformance::program_spec spec;
    spec.kept_rank = 2;
    const uint32_t in = spec.input(TUTTI_F32), twice = spec.op(TUTTI_OP_add, TUTTI_F32, {in, in});
    spec.output(twice, TUTTI_F32);
    if (reduces) {
      spec.reduced_rank = 1;  // of one element
      spec.reduction = TUTTI_REDUCE_SUM;
      spec.layout = TUTTI_REDUCE_OUTER;
      spec.accumulator = TUTTI_F32;
    } else {
      spec.output(in, TUTTI_F32);
    }
    tutti_operand from{}, to[2] = {};
    from.stride[0] = pitch;
    for (tutti_operand& out : to) out.stride[0] = columns;
    from.stride[1] = to[0].stride[1] = to[1].stride[1] = 1;
    tutti_program_launch launch{};
    launch.struct_size = sizeof launch;
    launch.operand_size = sizeof(tutti_operand);
    const uint64_t extents[] = {rows, columns, 1};
    std::copy_n(extents, 3, launch.extent);
    launch.inputs = &from;
    launch.outputs = to;
    std::vector<float> doubled(rows * columns), copied(rows * columns);
    const std::byte* inputs[] = {reinterpret_cast<const std::byte*>(x.data())};
    std::byte* outputs[] = {reinterpret_cast<std::byte*>(doubled.data()),
                            reinterpret_cast<std::byte*>(copied.data())};
    sdk::host_program(spec.desc()).run(launch, {inputs, outputs}, sdk::machine{2});
    int64_t wrong = 0;
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) {
        const float want = x[static_cast<size_t>(r * pitch + c)];
        const auto at = static_cast<size_t>(r * columns + c);
        wrong += doubled[at] != 2 * want || (!reduces && copied[at] != want);
      }
    }
    BOOST_TEST(wrong == 0, (reduces ? "sums" : "copies"));
  }
}

BOOST_AUTO_TEST_CASE(maps_over_strides) {
  const int64_t rows = 70, columns = 611;
  const std::vector<int32_t> a = numbers(rows * columns), b = numbers(columns);
  case_of c(TUTTI_I32, 2, 0);
  c.launch.extent[0] = rows;
  c.launch.extent[1] = columns;
  c.in[0].stride[0] = -1;  // transposed and backwards
  c.in[0].stride[1] = rows;
  c.in[1].stride[1] = 1;  // the same for each row
  c.out.stride[0] = 2 * columns;
  c.out.stride[1] = 2;  // every second one
  for (const sdk::host_routines set : sets()) {
    for (const bool many : {false, true}) {
      std::vector<int32_t> out(2 * a.size(), -7);
      c.run(a.data() + rows - 1, b.data(), out.data(), set,
            many ? sdk::host_parallel_for(shared) : sdk::host_parallel_for());
      int64_t wrong = 0;
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t k = 0; k < columns; ++k) {
          const auto at = static_cast<size_t>(2 * (r * columns + k));
          const auto x = static_cast<size_t>(rows - 1 - r + k * rows);
          wrong += out[at] != a[x] - b[static_cast<size_t>(k)] || out[at + 1] != -7;
        }
      }
      BOOST_TEST(wrong == 0, std::string(sdk::name_of(set)) << (many ? ", shared" : ""));
    }
  }
}

// Operands that are one element, or the same line, for each row: lines shorter and longer than a
// block, and of which no whole number is one.
BOOST_AUTO_TEST_CASE(maps_over_broadcast_rows) {
  for (const size_t columns : {3u, 127u, 128u, 512u, 700u, 1025u}) {
    const size_t rows = 2000 / columns + 3;
    const std::vector<int32_t> one = numbers(rows), line = numbers(columns);
    case_of c(TUTTI_I32, 2, 0);
    c.launch.extent[0] = rows;
    c.launch.extent[1] = columns;
    c.in[0].stride[0] = 1;
    c.in[1].stride[1] = 1;
    c.out.stride[0] = static_cast<int64_t>(columns);
    c.out.stride[1] = 1;
    for (const sdk::host_routines set : sets()) {
      std::vector<int32_t> out(rows * columns);
      c.run(one.data(), line.data(), out.data(), set);
      int64_t wrong = 0;
      for (size_t n = 0; n < out.size(); ++n)
        wrong += out[n] != one[n / columns] - line[n % columns];
      BOOST_TEST(wrong == 0, std::string(sdk::name_of(set)) << ", columns " << columns);
    }
  }
}

// Short rows are added up many at once: with the bits that each has alone.
BOOST_AUTO_TEST_CASE(sums_of_short_rows_side_by_side) {
  struct extents {
    size_t outer, line, reduced, inner;
  };
  for (const auto& [outer, line, reduced, inner] :
       {extents{5, 37, 300, 3}, {1, 200, 7, 2}, {40, 3, 9, 1}, {2, 5, 20, 120}, {3, 2, 11, 300}}) {
    const std::vector<int32_t> drawn = numbers(outer * line * reduced * inner);
    std::vector<float> a(drawn.begin(), drawn.end());
    case_of c(TUTTI_F32, 3, 1), alone(TUTTI_F32, 1, 1);
    for (case_of* each : {&c, &alone}) each->layout = TUTTI_REDUCE_OUTER;
    const size_t all[] = {outer, line, inner, reduced};
    const size_t strides[] = {line * reduced * inner, reduced * inner, 1, inner};
    for (size_t d = 0; d < 4; ++d) {
      c.launch.extent[d] = all[d];
      c.in[0].stride[d] = static_cast<int64_t>(strides[d]);
    }
    const size_t to[] = {line * inner, inner, 1};
    for (size_t d = 0; d < 3; ++d) c.out.stride[d] = static_cast<int64_t>(to[d]);
    alone.launch.extent[0] = inner;
    alone.launch.extent[1] = reduced;
    alone.in[0].stride[0] = alone.out.stride[0] = 1;
    alone.in[0].stride[1] = static_cast<int64_t>(inner);
    for (const sdk::host_routines set : sets()) {
      std::vector<float> want(outer * line * inner), out(want.size()), parted(want.size());
      for (size_t row = 0; row < outer * line; ++row)
        alone.run(a.data() + row * reduced * inner, a.data(), want.data() + row * inner, set);
      c.run(a.data(), a.data(), out.data(), set);
      c.run(a.data(), a.data(), parted.data(), set, shared);
      BOOST_TEST((out == want), sdk::name_of(set) << ", " << line << " rows of " << inner);
      BOOST_TEST((parted == want), sdk::name_of(set) << ", shared");
      double sum = 0;
      for (size_t i = 0; i < reduced; ++i) sum += static_cast<double>(a[i * inner]);
      BOOST_TEST(std::abs(static_cast<double>(out[0]) - sum) <= 1e-6 * (std::abs(sum) + 0x1p28));
    }
  }
}

// Without a multiply-add instruction, fma is the C library's: exact as well.
BOOST_AUTO_TEST_CASE(every_set_gives_the_same_bits) {
  std::vector<double> a(5000), want(5000);
  for (size_t i = 0; i < a.size(); ++i) a[i] = std::ldexp(1.0 + double(i) / 4999, int(i % 40) - 20);
  for (const uint16_t opcode : {TUTTI_OP_sin, TUTTI_OP_exp, TUTTI_OP_log, TUTTI_OP_erfc}) {
    case_of c(TUTTI_F64, 1, 0);
    c.instructions[0] = {opcode, TUTTI_F64, 1, {0, 0, 0}};
    c.launch.extent[0] = a.size();
    c.in[0].stride[0] = c.in[1].stride[0] = c.out.stride[0] = 1;
    c.run(a.data(), a.data(), want.data(), sets().front());
    if (opcode == TUTTI_OP_log) BOOST_TEST(std::fabs(want[20] - std::log(a[20])) < 1e-15);
    for (const sdk::host_routines set : sets()) {
      std::vector<double> out(a.size());
      c.run(a.data(), a.data(), out.data(), set);
      BOOST_TEST((out == want), sdk::find_op(opcode)->name << ", " << sdk::name_of(set));
    }
  }
}

// What is stored beyond the caches goes around them, and what is read across lines goes in tiles.
BOOST_AUTO_TEST_CASE(outputs_beyond_the_caches) {
  constexpr size_t rows = 2051, columns = 4099;  // 33.6 MB
  const std::vector<int32_t> drawn = numbers(rows * columns);
  std::vector<float> a(drawn.size()), out(drawn.size() + 2);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(drawn[i] >> 12);
  case_of c(TUTTI_F32, 2, 0);
  c.launch.extent[0] = rows;
  c.launch.extent[1] = columns;
  c.in[1].stride[0] = c.out.stride[0] = static_cast<int64_t>(columns);
  c.in[1].stride[1] = c.out.stride[1] = 1;
  for (const bool across : {false, true}) {
    c.in[0].stride[0] = across ? 1 : static_cast<int64_t>(columns);
    c.in[0].stride[1] = across ? static_cast<int64_t>(rows) : 1;
    for (const bool many : {false, true}) {
      std::fill(out.begin(), out.end(), -7.f);
      c.run(a.data(), a.data(), out.data() + 1, sdk::best_host_routines(),
            many ? sdk::host_parallel_for(shared) : sdk::host_parallel_for());
      size_t wrong = out.front() != -7 || out.back() != -7;
      for (size_t i = 0; i < rows * columns; ++i) {
        const size_t x = across ? i / columns + i % columns * rows : i;
        wrong += out[i + 1] != a[x] - a[i];
      }
      BOOST_TEST(wrong == 0u, (across ? "across" : "along") << (many ? ", shared" : ""));
    }
  }
}

BOOST_AUTO_TEST_CASE(random_words_in_any_order_are_those_of_their_index) {
  for (const sdk::host_routines set : sets()) {
    const auto philox = sdk::find_block(set, TUTTI_OP_philox, TUTTI_I64, TUTTI_U32);
    for (const int64_t step : {1, 2, 3, 4, 8}) {
      for (int64_t first = 0; first < 6; ++first) {
        constexpr size_t count = 61;
        std::vector<int64_t> index(count);
        const std::vector<uint64_t> key(count, 0x123456789abcdefu);
        for (size_t i = 0; i < count; ++i) index[i] = first + static_cast<int64_t>(i) * step;
        std::vector<uint32_t> together(count), alone(count);
        const void* const all[] = {index.data(), key.data()};
        philox(all, together.data(), static_cast<long>(count));
        for (size_t i = 0; i < count; ++i) {
          const void* const one[] = {&index[i], &key[i]};
          philox(one, &alone[i], 1);
        }
        BOOST_TEST((together == alone), "step " << step << " from " << first);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
