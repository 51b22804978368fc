// SPDX-License-Identifier: Apache-2.0
//
// The division of scans, sorts and counts for a device, and their workspaces.
#include <algorithm>
#include <bit>

#include "sdk/op_info.hpp"
#include "sdk/ordering.hpp"

namespace tutti::sdk {

uint8_t scan_accumulator(int32_t out) {
  return out == TUTTI_BOOL ? static_cast<uint8_t>(TUTTI_U8)
                           : register_dtype(static_cast<uint8_t>(out));
}

scan_plan plan_scan(const operator_call& l, schedule kind, uint32_t compute_units,
                    uint32_t work_group) {
  const tutti_view& out = l.views[0];
  scan_plan p{};
  p.outer = static_cast<int64_t>(out.extent[0]);
  p.length = static_cast<int64_t>(out.extent[1]);
  p.inner = static_cast<int64_t>(out.extent[2]);
  const int64_t elements = p.outer * p.length * p.inner;
  if (elements == 0) return p;
  const int64_t units = std::max(compute_units, 1u);
  const bool cpu = kind == schedule::cpu;
  p.rows = p.inner == 1 && (cpu || p.length > 64);
  p.block = cpu ? std::min<int64_t>(p.inner, 256) : 1;
  p.blocks = (p.inner + p.block - 1) / p.block;

  // Enough chunks to keep the device busy, but none too short for its overhead.
  const int64_t shares = p.outer * p.blocks;
  const int64_t wanted = cpu ? 16 * units : p.rows ? 32 * units : 4096;
  const int64_t least = cpu ? std::max<int64_t>(16384 / p.block, 1) : p.rows ? 4096 : 64;
  const int64_t most = (p.length + least - 1) / least;
  p.chunks = std::clamp<int64_t>(shares >= wanted / 4 ? 1 : wanted / shares, 1, most);
  p.chunk = (p.length + p.chunks - 1) / p.chunks;
  if (p.rows) p.chunk = (p.chunk + 15) / 16 * 16;
  p.chunks = (p.length + p.chunk - 1) / p.chunk;

  const int64_t count = shares * p.chunks;
  if (cpu) {
    const int64_t busy = std::clamp<int64_t>(elements / 8192, 1, units > 1 ? units * 32 - 1 : 16);
    p.groups = static_cast<uint64_t>(std::min(busy, count));
  } else {
    const int64_t group = p.rows ? 1 : work_group;
    p.groups = static_cast<uint64_t>(std::min((count + group - 1) / group, units * 64));
  }
  if (p.chunks > 1)
    p.workspace_bytes = static_cast<uint64_t>(p.outer * p.chunks * p.inner) *
                        dtype_size(scan_accumulator(out.dtype));
  return p;
}

key_kind key_kind_of(int32_t dtype) {
  if (dtype >= TUTTI_F16) return key_kind::of_float;
  return dtype >= TUTTI_I8 && dtype <= TUTTI_I64 ? key_kind::of_signed : key_kind::of_unsigned;
}

namespace {

// Allocates parts of a workspace, aligned for any vector.
class parts {
 public:
  uint64_t take(uint64_t bytes) {
    const uint64_t at = total;
    total += (bytes + 63) / 64 * 64;
    return at;
  }
  uint64_t total = 0;
};

void cut_for_cpu(sort_plan& p, int64_t units) {
  p.whole_rows = p.length <= 4096 || (p.rows >= 4 * units && p.length <= 1 << 18);
  const int64_t elements = p.rows * p.length;
  const int64_t busy = std::clamp<int64_t>(elements / 16384, 1, units > 1 ? units * 8 - 1 : 4);
  if (p.whole_rows) {
    p.chunks = 1;
    p.groups = static_cast<uint64_t>(std::min(busy, p.rows));
  } else {
    p.chunks = std::clamp<int64_t>(busy / p.rows, 1, (p.length + 65535) / 65536);
    p.groups = static_cast<uint64_t>(std::min(busy, p.rows * p.chunks));
  }
}

void cut_for_gpu(sort_plan& p, int64_t units, int64_t work_group) {
  const int64_t tile = 8 * work_group;
  const int64_t tiles = (p.length + tile - 1) / tile;
  p.chunks = std::clamp<int64_t>(units * 16 / p.rows, 1, tiles);
  p.chunk = (tiles + p.chunks - 1) / p.chunks * tile;
  p.groups = static_cast<uint64_t>(std::min(p.rows * p.chunks, units * 64));
}

}  // namespace

sort_plan plan_sort(const operator_call& l, schedule kind, uint32_t compute_units,
                    uint32_t work_group, uint32_t bits) {
  const tutti_view& x = l.views[1];
  sort_plan p{};
  p.rows = static_cast<int64_t>(x.extent[0]);
  p.length = static_cast<int64_t>(x.extent[1]);
  if (p.rows * p.length == 0) return p;
  const int64_t units = std::max(compute_units, 1u);
  const bool cpu = kind == schedule::cpu;
  p.payload = l.kind == TUTTI_OPERATOR_ARGSORT;
  p.key_bytes = dtype_size(x.dtype);
  p.bits = p.key_bytes <= 2 ? std::min(bits, 8u) : bits;
  p.passes = (8 * p.key_bytes + p.bits - 1) / p.bits;
  if (cpu)
    cut_for_cpu(p, units);
  else
    cut_for_gpu(p, units, work_group);
  if (p.chunk == 0) p.chunk = (p.length + p.chunks - 1) / p.chunks;
  p.chunks = (p.length + p.chunk - 1) / p.chunk;

  parts workspace;
  const uint64_t elements = static_cast<uint64_t>(p.rows * p.length);
  const uint64_t digits = uint64_t{1} << p.bits;
  const uint64_t both = p.key_bytes + (p.payload ? 4 : 0);
  if (p.whole_rows) {
    p.stage_bytes = (2 * static_cast<uint64_t>(p.length) * both + 63) / 64 * 64;
  } else {
    const uint32_t arrays = p.passes == 1 ? 0 : p.payload && p.passes > 2 ? 2 : 1;
    for (uint32_t n = 0; n < arrays; ++n) {
      p.keys[n] = workspace.take(elements * p.key_bytes);
      if (p.payload) p.index[n] = workspace.take(elements * 4);
    }
    p.counts = workspace.take(static_cast<uint64_t>(p.rows * p.chunks) * digits * 4);
    if (cpu) p.stage_bytes = digits * 16 * both;
  }
  p.stage = workspace.take(p.groups * p.stage_bytes);
  p.workspace_bytes = workspace.total;
  return p;
}

sort_plan plan_order(int64_t length, uint64_t limit, uint32_t compute_units, uint32_t work_group,
                     uint32_t bits) {
  sort_plan p{};
  p.rows = 1;
  p.length = length;
  p.payload = p.stays = true;
  p.key_bytes = 4;
  p.bits = bits;
  const auto width = static_cast<uint32_t>(std::bit_width(limit - 1));
  p.passes = std::max((width + bits - 1) / bits, 1u);
  cut_for_gpu(p, std::max(compute_units, 1u), work_group);
  p.chunks = (p.length + p.chunk - 1) / p.chunk;
  parts workspace;
  for (uint32_t n = 0; n < 2; ++n) {
    p.keys[n] = workspace.take(static_cast<uint64_t>(length) * 4);
    p.index[n] = workspace.take(static_cast<uint64_t>(length) * 4);
  }
  p.counts = workspace.take((static_cast<uint64_t>(p.chunks) * 4) << bits);
  p.workspace_bytes = workspace.total;
  return p;
}

sort_pass pass_of(const sort_plan& plan, uint32_t number) {
  const auto keys_to = [&](uint32_t n) {
    if (!plan.payload && (plan.passes - 1 - n) % 2 == 0) return sort_place::out;
    if (!plan.payload) return sort_place::workspace0;
    return n % 2 == 0 ? sort_place::workspace0 : sort_place::workspace1;
  };
  sort_pass pass{};
  pass.shift = static_cast<int32_t>(number * plan.bits);
  pass.first = number == 0;
  pass.last = number + 1 == plan.passes && !plan.stays;
  const sort_place begin = plan.stays ? sort_place::workspace1 : sort_place::x;
  pass.from = pass.first ? begin : keys_to(number - 1);
  pass.index_from = pass.from;
  pass.to = plan.payload && pass.last ? sort_place::out : keys_to(number);
  pass.index_to = pass.to;
  return pass;
}

uint64_t place_offset(const sort_plan& plan, sort_place place, bool index) {
  const int n = place == sort_place::workspace1 ? 1 : 0;
  return index ? plan.index[n] : plan.keys[n];
}

namespace {

void cut_selection(partition_plan& p, bool cpu, int64_t units, int64_t work_group) {
  if (!cpu) {
    p.chunks = std::clamp<int64_t>(units * 2 / p.rows, 1, (p.length + 4095) / 4096);
    p.chunk = (p.length + p.chunks - 1) / p.chunks;
    p.chunk = (p.chunk + work_group - 1) / work_group * work_group;
    p.chunks = (p.length + p.chunk - 1) / p.chunk;
    p.groups = static_cast<uint64_t>(std::min(p.rows * p.chunks, units * 64));
    return;
  }
  const int64_t elements = p.rows * p.length;
  const int64_t busy = std::clamp<int64_t>(elements / 16384, 1, units > 1 ? units * 8 - 1 : 4);
  p.chunks = std::clamp<int64_t>(busy / p.rows, 1, (p.length + 65535) / 65536);
  p.chunk = (p.length + p.chunks - 1) / p.chunks;
  p.chunks = (p.length + p.chunk - 1) / p.chunk;
  p.groups = static_cast<uint64_t>(std::min(busy, p.rows * p.chunks));
  // On random data a stage receives about k (1 + log(chunk / k)) elements of a chunk.
  if (p.payload && 32 * (p.place + 1) <= p.chunk)
    p.way = selection_way::few;
  else if (p.chunks == 1)
    p.way = selection_way::whole_rows;
}

}  // namespace

partition_plan plan_partition(const operator_call& l, schedule kind, uint32_t compute_units,
                              uint32_t work_group, uint32_t bits) {
  const tutti_view& x = l.views[1];
  partition_plan p{};
  p.rows = static_cast<int64_t>(x.extent[0]);
  p.length = static_cast<int64_t>(x.extent[1]);
  p.payload = l.kind == TUTTI_OPERATOR_TOPK;
  p.place = p.payload ? static_cast<int64_t>(l.views[0].extent[1]) - 1
                      : static_cast<int64_t>(partition_params(l).kth);
  if (p.rows * p.length == 0 || p.place < 0) return p;
  p.key_bytes = dtype_size(x.dtype);
  p.bits = std::min(bits, 8 * p.key_bytes);
  p.passes = (8 * p.key_bytes + p.bits - 1) / p.bits;
  cut_selection(p, kind == schedule::cpu, std::max(compute_units, 1u), work_group);

  parts workspace;
  const auto units = static_cast<uint64_t>(p.rows * p.chunks);
  if (p.way == selection_way::few) {
    p.capacity = std::max<int64_t>(4 * (p.place + 1), 64);
    const uint64_t stages = p.chunks > 1 ? units : p.groups;
    p.keys = workspace.take(stages * static_cast<uint64_t>(p.capacity) * p.key_bytes);
    p.places = workspace.take(stages * static_cast<uint64_t>(p.capacity) * 4);
    p.sizes = workspace.take(p.chunks > 1 ? units * 4 : 0);
  } else {
    const bool whole = p.way == selection_way::whole_rows;
    p.state = workspace.take((whole ? p.groups : static_cast<uint64_t>(p.rows)) * 32);
    p.counts = workspace.take((whole ? p.groups : units) * (uint64_t{4} << p.bits));
    p.parts = workspace.take((whole ? p.groups : units) * 8);
  }
  p.workspace_bytes = workspace.total;
  return p;
}

count_plan plan_count(const operator_call& l, schedule kind, uint32_t compute_units,
                      uint32_t work_group) {
  count_plan p{};
  p.bins = static_cast<int64_t>(l.views[0].extent[0]);
  p.values = static_cast<int64_t>(l.views[1].extent[0]);
  if (p.bins == 0) return p;
  const int64_t units = std::max(compute_units, 1u);
  p.groups = groups_for(p.values, kind, compute_units, work_group);
  // Limits the copies so that clearing and summing them pays.
  const int64_t worth = std::max<int64_t>(p.values / (4 * p.bins), 1);
  if (kind == schedule::cpu) {
    p.groups = static_cast<uint64_t>(std::min(static_cast<int64_t>(p.groups), worth));
    p.copies = static_cast<int64_t>(p.groups);
  } else {
    constexpr int64_t shared_bins = 2048;  // as in lookup_shared.cl
    p.shared = p.bins <= shared_bins;
    if (p.shared) p.groups = std::min(p.groups, static_cast<uint64_t>(units) * 8);
    const int64_t most = p.shared ? 4 : units * 2;
    p.copies = std::min<int64_t>({worth, most, static_cast<int64_t>(p.groups)});
  }
  p.workspace_bytes = static_cast<uint64_t>(p.copies * p.bins) * 4;
  return p;
}

uint64_t groups_for(int64_t items, schedule kind, uint32_t compute_units, uint32_t work_group) {
  const int64_t units = std::max(compute_units, 1u);
  if (kind == schedule::cpu) {
    const int64_t most = units > 1 ? units * 32 - 1 : 16;
    return static_cast<uint64_t>(std::clamp<int64_t>(items / 8192, 1, most));
  }
  return static_cast<uint64_t>(
      std::clamp<int64_t>((items + work_group - 1) / work_group, 1, units * 32));
}

}  // namespace tutti::sdk
