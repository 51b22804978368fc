// SPDX-License-Identifier: Apache-2.0
#include "sdk/host_engine/row_launch.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "sdk/host_layer/plain_arithmetic.hpp"
#include "sdk/op_info.hpp"

namespace tutti::sdk {
namespace {

constexpr double worth_looking_ns = 200'000;
constexpr uint64_t least_rows = 32;
constexpr uint64_t bytes_at_once = uint64_t{512} << 10;  // half of a usual second-level cache

const row_launch& launch_of(const joint_work* work) {
  return static_cast<const row_launch&>(*work);
}

}  // namespace

row_launch::row_launch(std::shared_ptr<const engine_program> code,
                       const tutti_program_launch& launch, find_memory memory, thread_team& team)
    : code_(std::move(code)), launch_(code_->desc(), launch), memory_(memory), team_(team) {
  const tutti_program_desc& d = code_->desc();
  try {
    code_->check_ranges(launch, memory_);
    joins_ = code_->takes_points(launch);
    rows_ = joins_ ? kept_points() : 0;
    // A map of one dimension may have been one of several.
    if (d.reduction == TUTTI_REDUCE_NONE)
      rows_ = d.kept_rank < 2 ? 0 : rows_ / launch.extent[d.kept_rank - 1];
    if (rows_ < least_rows || !accesses(rows_)) rows_ = 0;
  } catch (const plugin_error&) {
    joins_ = false;  // run() says why
    rows_ = 0;
  }
}

uint64_t row_launch::kept_points() const {
  uint64_t points = 1;
  const tutti_program_launch launch = launch_.get();
  for (uint32_t d = 0; d < code_->desc().kept_rank; ++d) points *= launch.extent[d];
  return points;
}

void row_launch::run() const { code_->run(launch_.get(), memory_, team_); }

bool row_launch::begins() const {
  return rows_ > 0 && code_->expected_ns(launch_.get()) >= worth_looking_ns;
}

std::optional<row_launch::access> row_launch::access_of(const tutti_operand& operand,
                                                        uint32_t element, uint32_t rank,
                                                        uint64_t rows) const {
  const tutti_program_launch launch = launch_.get();
  // Rows are numbered by the first dimensions; the last of these may be divided.
  uint64_t before = 1;
  uint32_t split = 0;
  while (split < code_->desc().kept_rank && before * launch.extent[split] < rows)
    before *= launch.extent[split++];
  if (split == code_->desc().kept_rank || rows % before != 0) return std::nullopt;
  if (launch.extent[split] % (rows / before) != 0) return std::nullopt;
  const uint64_t inner = launch.extent[split] / (rows / before);
  uint64_t last = 0;  // the last element of a row
  for (uint32_t d = 0; d < rank; ++d) {
    if (operand.stride[d] < 0) return std::nullopt;
    const auto stride = static_cast<uint64_t>(operand.stride[d]);
    if (d > split) last += stride * (std::max<uint64_t>(launch.extent[d], 1) - 1);
    if (d == split) last += stride * (inner - 1);
  }
  uint64_t whole = static_cast<uint64_t>(operand.stride[split]) * launch.extent[split];
  for (uint32_t d = split; d-- > 0;) {
    if (launch.extent[d] > 1 && static_cast<uint64_t>(operand.stride[d]) != whole)
      return std::nullopt;
    whole *= launch.extent[d];
  }
  const uint64_t step = static_cast<uint64_t>(operand.stride[split]) * inner * element;
  const uint64_t bytes = (last + 1) * element;
  // Rows that lie in one another, as in a transposed matrix, would be read many times.
  if ((step > 0 && bytes > step) || bytes > bytes_at_once) return std::nullopt;
  return access{memory_(*operand.buffer).data + operand.offset, step, bytes, false};
}

std::optional<std::vector<row_launch::access>> row_launch::accesses(uint64_t rows) const {
  const tutti_program_launch launch = launch_.get();
  const tutti_program_desc& d = code_->desc();
  std::vector<access> all;
  const auto add = [&](const tutti_operand& operand, uint8_t dtype, uint32_t rank, bool written) {
    const auto found = access_of(operand, dtype_size(dtype), rank, rows);
    if (found) all.push_back({found->base, found->step, found->bytes, written});
    return found.has_value();
  };
  for (uint32_t n = 0; n < d.input_count; ++n)
    if (!add(launch.inputs[n], d.inputs[n].dtype, d.kept_rank + d.reduced_rank, false))
      return std::nullopt;
  for (uint32_t n = 0; n < d.output_count; ++n)
    if (!add(launch.outputs[n], d.outputs[n].dtype, d.kept_rank, true)) return std::nullopt;
  return all;
}

// Whether no row of one uses bytes that another row of the other changes.
bool row_launch::are_apart(const access& a, const access& b, uint64_t rows) {
  if (!a.written && !b.written) return true;
  const auto end = [&](const access& x) { return x.base + x.step * (rows - 1) + x.bytes; };
  if (end(a) <= b.base || end(b) <= a.base) return true;
  return a.base == b.base && a.step == b.step && std::max(a.bytes, b.bytes) <= a.step;
}

bool row_launch::takes(std::span<const joint_work* const> all, const joint_work& next) const {
  if (rows_ == 0 || !launch_of(&next).joins_) return false;
  const auto later = launch_of(&next).accesses(rows_);
  if (!later) return false;
  return std::all_of(all.begin(), all.end(), [&](const joint_work* work) {
    const auto earlier = *launch_of(work).accesses(rows_);
    return std::all_of(later->begin(), later->end(), [&](const access& b) {
      return std::all_of(earlier.begin(), earlier.end(),
                         [&](const access& a) { return are_apart(a, b, rows_); });
    });
  });
}

std::vector<uint64_t> row_launch::run_together(std::span<const joint_work* const> all) const {
  std::vector<std::vector<access>> accessed;
  std::vector<const std::byte*> bases;
  uint64_t row_bytes = 0;
  for (const joint_work* work : all) {
    const row_launch& one = launch_of(work);
    accessed.push_back(*one.accesses(rows_));
    for (const access& a : accessed.back()) {
      if (std::find(bases.begin(), bases.end(), a.base) != bases.end()) continue;
      bases.push_back(a.base);
      row_bytes += a.bytes;
    }
  }
  // What a later launch reads stays in the cache.
  std::vector<bool> streams(all.size(), true);
  for (size_t k = 0; k < all.size(); ++k)
    for (size_t later = k + 1; later < all.size(); ++later)
      for (const access& a : accessed[k])
        for (const access& b : accessed[later])
          if (a.written && a.base == b.base) streams[k] = false;
  const uint64_t most = std::max<uint64_t>(rows_ / (4 * team_.size()), 1);
  const uint64_t at_once = std::clamp<uint64_t>(bytes_at_once / row_bytes, 1, most);
  std::vector<std::atomic<uint64_t>> ns(all.size());
  const uint64_t begin_ns = now_ns();
  double expected_ns = 0;
  for (const joint_work* work : all) {
    const row_launch& one = launch_of(work);
    expected_ns += one.code_->expected_ns(one.launch_.get());
  }
  const auto run_blocks = [&](uint64_t begin, uint64_t end) {
    const plain_arithmetic mode;
    for (uint64_t block = begin; block < end; ++block) {
      const uint64_t first = block * at_once, last = std::min(rows_, first + at_once);
      for (size_t k = 0; k < all.size(); ++k) {
        const row_launch& one = launch_of(all[k]);
        const uint64_t points = one.kept_points() / rows_, start = now_ns();
        one.code_->run_points(one.launch_.get(), memory_, first * points, last * points,
                              streams[k]);
        ns[k].fetch_add(now_ns() - start, std::memory_order_relaxed);
      }
    }
  };
  const uint64_t blocks = (rows_ + at_once - 1) / at_once;
  expected_ns >= worth_sharing_ns ? team_.split(blocks, 1, run_blocks) : run_blocks(0, blocks);
  // Each took its share of the time.
  const double wall = static_cast<double>(now_ns() - begin_ns);
  double sum = 1;
  for (const auto& part : ns) sum += static_cast<double>(part);
  std::vector<uint64_t> shares;
  for (size_t k = 0; k < all.size(); ++k) {
    const row_launch& one = launch_of(all[k]);
    shares.push_back(static_cast<uint64_t>(wall * static_cast<double>(ns[k]) / sum));
    one.code_->took(one.launch_.get(), shares[k]);
  }
  return shares;
}

}  // namespace tutti::sdk
