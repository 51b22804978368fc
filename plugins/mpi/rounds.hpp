// SPDX-License-Identifier: Apache-2.0
//
// The messages of an all-reduce between ranks, without MPI: the plugin sends them, and
// tests/multi/collective_simulator.cpp simulates them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace tutti::mpi {

enum class schedule {
  /// Every rank gets the values of all, and adds them in the order of the ranks: ceil(log2 p)
  /// rounds for any p. Block b of the buffer is the value of rank b.
  gather,
  /// Ranks exchange their whole sums. Unless p is a power of two, some ranks first give their value
  /// to others, and get the sum at the end. R. Thakur, R. Rabenseifner, W. Gropp, Int. J. High
  /// Perform. Comput. Appl. 19, 2005.
  doubling,
  /// Reduce-scatter and all-gather on a circulant graph: 2 ceil(log2 p) rounds and
  /// 2 (p - 1) / p n bytes for any p. J. L. Traeff, Optimal, Non-pipelined Reduce-scatter and
  /// Allreduce Algorithms, 2024.
  circulant,
};

/// Values of up to so many bytes go as a whole, as latencies cost more than bytes.
constexpr std::int64_t most_whole = 32 << 10;

inline schedule schedule_of(int ranks, std::int64_t bytes) {
  if (bytes > most_whole) return schedule::circulant;
  const bool folds = !std::has_single_bit(static_cast<unsigned>(ranks));
  return folds && ranks * bytes <= most_whole ? schedule::gather : schedule::doubling;
}

/// ceil(log2 ranks)
inline int depth_of(int ranks) { return std::bit_width(static_cast<unsigned>(ranks) - 1); }

/// The segments of a value, which are sent at the same time: one is added, or waits for a latency,
/// while others use the link. More and smaller messages cost the processors more. Ranks that share
/// a memory need one: their processors copy the messages, and hide nothing.
inline int segments_of(int ranks, std::int64_t bytes) {
  constexpr std::int64_t least = 64 << 10, most = 1 << 20;
  const std::int64_t hiding =
      std::min({std::int64_t{4}, depth_of(ranks) + std::int64_t{1}, bytes / least});
  return static_cast<int>(std::max({std::int64_t{1}, hiding, (bytes + most - 1) / most}));
}

/// Blocks `first`, `first` + 1, ... modulo the number of ranks.
struct blocks {
  int first = 0, count = 0;
};

/// f(first, last) for the one or two runs of blocks.
template <class F>
void each_run(blocks b, int ranks, F f) {
  const int last = b.first + b.count;
  f(b.first, std::min(last, ranks));
  if (last > ranks) f(0, last - ranks);
}

/// One message each way; a rank is -1 if there is none.
struct messages {
  int to = -1, from = -1;
  blocks sent, received;
  bool adds = false;  ///< what is received to what is there; otherwise it replaces that
};

inline int rounds_of(schedule how, int ranks) {
  const int depth = depth_of(ranks);
  if (how == schedule::circulant) return 2 * depth;
  const bool folds = !std::has_single_bit(static_cast<unsigned>(ranks));
  return how == schedule::doubling && folds ? depth + 1 : depth;
}

/// Round k of `rank`. What it sends is what the other rank receives in its round k. The value has
/// as many blocks as there are ranks.
inline messages round_of(schedule how, int k, int rank, int ranks) {
  const int depth = depth_of(ranks);
  if (how == schedule::doubling) {
    const blocks whole{0, ranks};
    const int acting = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)));
    const int more = ranks - acting;  // the first 2 * more ranks are pairs, of which one acts
    const bool is_paired = rank < 2 * more, acts = !is_paired || rank % 2 == 1;
    const bool is_first = more > 0 && k == 0;
    if (is_first || k == depth) {
      if (!is_paired) return {};
      return is_first == acts ? messages{-1, rank ^ 1, {}, whole, acts}
                              : messages{rank ^ 1, -1, whole, {}};
    }
    if (!acts) return {};
    const int place = is_paired ? rank / 2 : rank - more;
    const int other = place ^ (1 << (more > 0 ? k - 1 : k));
    const int peer = other < more ? 2 * other + 1 : other + more;
    return {peer, peer, whole, whole, true};
  }
  const bool adds = how == schedule::circulant && k < depth;
  const int level = adds ? k : rounds_of(how, ranks) - 1 - k;
  const int reach = (ranks + (1 << level) - 1) >> level, skip = (reach + 1) / 2;
  const int ahead = (rank + skip) % ranks, behind = (rank + ranks - skip) % ranks;
  const blocks own{rank, reach - skip}, others{ahead, reach - skip};
  return adds ? messages{ahead, behind, others, own, true}
              : messages{behind, ahead, own, others, false};
}

}  // namespace tutti::mpi
