// SPDX-License-Identifier: Apache-2.0
//
// The all-reduces of a rank, by the rounds of rounds.hpp. They advance only in calls.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "mpi/rounds.hpp"
#include "tutti/communication.h"

namespace tutti::mpi {

/// Throws sdk::plugin_error unless `code` is MPI_SUCCESS.
void check(int code, const char* function);

/// How the elements of a dtype are reduced: sum[i] from value[i] and sum[i].
struct combination {
  std::int64_t width = 1;  ///< bytes of an element
  void (*add)(const void* value, void* sum, std::int64_t count) = nullptr;
};

class reductions {
 public:
  /// Before the first begin(): `messages` is for reductions only.
  void open(MPI_Comm messages);

  /// Prepares `what`, in segments. `left` becomes their number; progress() counts it down, so it
  /// must stay. All ranks begin the same reductions in the same order.
  void begin(const tutti_exchange& what, int& left);
  /// Takes in the messages that have come, and sends the next ones. At most most_at_once segments
  /// are being sent, in the order of begin().
  void progress();

 private:
  static constexpr std::size_t most_at_once = 16, most_messages = 4;  // of a round: two each way

  struct segment {
    combination by;
    std::byte* data = nullptr;
    std::int64_t count = 0;  ///< of elements
    schedule how{};
    int tag = 0;
    int* left = nullptr;  ///< null: the slot is free
  };
  struct slot {
    segment of;
    int round = 0;
    int open = 0;                    ///< messages of the round
    std::vector<std::byte> scratch;  ///< what is received to be added; all values of a gather
  };

  void enter(std::size_t i);    ///< the first waiting segment into slot i
  void advance(std::size_t i);  ///< to the next round with messages, or out of the slot
  void post(std::size_t i);     ///< the messages of the round
  void end_round(slot& s) const;
  template <class F>
  void each_part(slot& s, blocks b, F f) const;

  MPI_Comm messages_ = MPI_COMM_NULL;
  int rank_ = 0, ranks_ = 1, tag_ = 0;
  int pending_ = 0;           ///< segments in slots
  bool has_network_ = false;  ///< not all ranks share a memory
  std::deque<segment> waiting_;
  std::array<slot, most_at_once> slots_;
  std::array<MPI_Request, most_at_once * most_messages> requests_;
};

}  // namespace tutti::mpi
