// SPDX-License-Identifier: Apache-2.0
//
// Launches that are run together give the bytes that they give one after the other, whatever
// matrices, columns, rows and overlapping views of one piece of memory they read and write.
#include "sdk/host_engine/row_launch.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "verify/program_spec.hpp"

struct tutti_buffer {
  std::vector<std::byte> bytes;
};

using namespace tutti;

namespace {

constexpr int64_t rows = 64, columns = 1500, matrices = 4;
constexpr int64_t elements = rows * columns;

sdk::host_block memory_of(const tutti_buffer& buffer) {
  return {const_cast<std::byte*>(buffer.bytes.data()), buffer.bytes.size()};
}

struct view {
  int64_t first, row, column;  // an element, and the steps to others
};

bool overlap(const view& a, const view& b) {
  const auto begin = [](const view& v) {
    return v.first + std::min<int64_t>(0, (rows - 1) * v.row + (columns - 1) * v.column);
  };
  const auto end = [](const view& v) {
    return v.first + std::max<int64_t>(0, (rows - 1) * v.row + (columns - 1) * v.column) + 1;
  };
  return begin(a) < end(b) && begin(b) < end(a);
}

class drawing {
 public:
  explicit drawing(uint32_t seed) : random_(seed) {}

  int64_t below(int64_t end) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(end));
  }
  // Mostly behind the matrices.
  view column() {
    const bool within = below(16) == 0;
    return {within ? below(matrices) * elements : matrices * elements + below(8) * rows, 1, 0};
  }
  // A matrix or a column; seldom a matrix that begins a row later or is read backwards, a row, or
  // one element.
  view input() {
    const int64_t first = below(matrices) * elements;
    switch (below(20)) {
      case 0:
        return {first + columns, columns, 1};
      case 1:
        return {first + below(elements), 0, 0};
      case 2:
        return {first + elements - 1, -columns, -1};
      case 3:
        return {first, 0, 1};
      case 4:
      case 5:
      case 6:
      case 7:
        return column();
      default:
        return {first, columns, 1};
    }
  }

 private:
  std::mt19937 random_;
};

struct launched {
  std::shared_ptr<const sdk::engine_program> code;
  std::vector<tutti_operand> inputs;
  tutti_operand output{};
  std::vector<uint64_t> extent;

  std::unique_ptr<sdk::row_launch> in(tutti_buffer& buffer, sdk::thread_team& team) const {
    tutti_program_launch launch{};
    launch.struct_size = sizeof launch;
    launch.operand_size = sizeof(tutti_operand);
    std::copy(extent.begin(), extent.end(), launch.extent);
    std::vector<tutti_operand> from = inputs;
    for (tutti_operand& one : from) one.buffer = &buffer;
    tutti_operand to = output;
    to.buffer = &buffer;
    launch.inputs = from.data();
    launch.outputs = &to;
    return std::make_unique<sdk::row_launch>(code, launch, memory_of, team);
  }
};

tutti_operand operand_of(const view& v) {
  tutti_operand one{};
  one.offset = static_cast<uint64_t>(v.first) * sizeof(float);
  one.stride[0] = v.row;
  one.stride[1] = v.column;
  return one;
}

// x - y of matrices or of columns, (x - y)^2 added up along rows, or 2 x of all elements in one
// dimension.
launched draw(drawing& d) {
  launched made;
  conformance::program_spec spec;
  const int64_t kind = d.below(5);
  const int64_t to = d.below(matrices) * elements;
  view out{to, columns, 1};
  std::vector<view> in;
  if (kind == 4) {
    spec.output(spec.op(TUTTI_OP_add, TUTTI_F32, {spec.input(TUTTI_F32), 0}), TUTTI_F32);
    in = {{d.below(matrices) * elements, 1, 0}};
    out = {to, 1, 0};
    made.extent = {elements};
  } else {
    const uint32_t x = spec.input(TUTTI_F32, TUTTI_ACCESS_STRIDED);
    const uint32_t y = spec.input(TUTTI_F32, TUTTI_ACCESS_STRIDED);
    uint32_t value = spec.op(TUTTI_OP_subtract, TUTTI_F32, {x, y});
    made.extent = {rows, columns};
    spec.kept_rank = kind == 0 ? 1 : 2;
    in = {d.input(), d.input()};
    if (kind == 0) made.extent = {rows};
    if (kind == 0 || kind == 1) out = d.column();
    if (kind == 1) {
      spec.kept_rank = spec.reduced_rank = 1;
      spec.reduction = TUTTI_REDUCE_SUM;
      spec.accumulator = TUTTI_F32;
      value = spec.op(TUTTI_OP_multiply, TUTTI_F32, {value, value});
    }
    // An output may be an input, but not otherwise share memory with one.
    for (view& one : in)
      if (overlap(one, out)) one = kind == 1 ? view{(matrices + 1) * elements - 1, 0, 0} : out;
    spec.output(value, TUTTI_F32, TUTTI_ACCESS_STRIDED);
  }
  const tutti_program_desc desc = spec.desc();
  made.code = std::make_shared<sdk::engine_program>(
      sdk::program_description(&desc, {.inputs = 8, .outputs = 8, .instructions = 8}), 2u);
  for (const view& one : in) made.inputs.push_back(operand_of(one));
  made.output = operand_of(out);
  return made;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(row_launches)

BOOST_AUTO_TEST_CASE(have_the_bytes_of_one_after_the_other) {
  sdk::thread_team team(3);
  int together = 0, refused = 0;
  for (uint32_t seed = 0; seed < 100; ++seed) {
    drawing d(seed);
    // Matrices one behind the other, and space for a row behind the last.
    std::vector<float> values((matrices + 1) * elements);
    for (float& x : values) x = static_cast<float>(d.below(1000)) / 256;
    tutti_buffer apart{std::vector<std::byte>(values.size() * sizeof(float))};
    std::memcpy(apart.bytes.data(), values.data(), apart.bytes.size());
    tutti_buffer joined = apart;
    std::vector<std::unique_ptr<sdk::row_launch>> launches;
    std::vector<const sdk::joint_work*> all;
    for (int n = 0; n < 6; ++n) {
      const launched next = draw(d);
      auto mine = next.in(joined, team);
      if (!all.empty() && !all[0]->takes(all, *mine)) {
        ++refused;
        break;
      }
      next.in(apart, team)->run();
      launches.push_back(std::move(mine));
      all.push_back(launches.back().get());
    }
    together += static_cast<int>(all.size()) - 1;
    if (all.size() == 1)
      all[0]->run();
    else
      BOOST_TEST(all[0]->run_together(all).size() == all.size());
    BOOST_TEST((joined.bytes == apart.bytes), "launches of seed " << seed);
  }
  BOOST_TEST(together > 80);
  BOOST_TEST(refused > 30);
}

BOOST_AUTO_TEST_SUITE_END()
