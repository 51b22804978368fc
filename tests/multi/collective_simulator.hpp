// SPDX-License-Identifier: Apache-2.0
//
// Sums over the devices of a simulated cluster. The steps within a rank are those that Tutti's
// collectives record in the graph; the messages between ranks are those of the plugin mpi; a
// discrete simulation gives the times of both.
#pragma once

#include <vector>

#include "tutti/collective.hpp"
#include "tutti/parallel.hpp"

namespace tutti_test {

/// A copy of bytes from one endpoint to another, or work on them at one (from == to).
struct step {
  int from = 0, to = 0;
  double bytes = 0;
  bool adds = false;        ///< to what `to` has
  int after[2] = {-1, -1};  ///< earlier steps that must have ended
  double not_before = 0;    ///< seconds
};

/// A device, or a rank: it sends one message, receives one and adds one at a time. A message takes
/// the larger times of its two endpoints.
struct endpoint {
  double latency = 0, seconds_per_byte = 0;  ///< of messages; others can pass in the latency
  double add_seconds_per_byte = 0;           ///< of sums, and of copies within the endpoint
};

/// The time at which each step ends. Each endpoint sends, receives and adds in the order in which
/// it could; a receiver that is busy does not stop the sender.
std::vector<double> simulate(const std::vector<step>& steps, const std::vector<endpoint>& all);

/// Work that the graph of unevaluated 1-d results holds, as steps between the members of a group.
struct recorded {
  std::vector<step> steps;
  std::vector<tutti::index_range> ranges;  ///< of each step: elements of the whole value
  std::vector<int> results;  ///< step of each result; -1: it is the member's own value
};
recorded read_graph(const tutti::device_group& group, const std::vector<tutti::array>& results,
                    const std::vector<tutti::array>& values);

/// Appends the messages of an all-reduce over the ranks (plugins/mpi/rounds.hpp). start[r] is the
/// step after which rank r begins, or -1. Fewer than all ranks stand for all: those of a circulant
/// graph do the same, so that each can get the message of any other.
void add_all_reduce(std::vector<step>& steps, const std::vector<int>& start, double bytes,
                    int ranks);

struct cluster {
  int ranks = 2, devices = 1;  ///< devices of each rank
  endpoint rank, device;
  double slow_link = 1;  ///< the last rank's messages take this many times as long
  double slow_rank = 1;  ///< the last rank's values are ready after this many times as long
};

struct cluster_sum {
  double seconds = 0;
  double between_ranks = 0;  ///< when the last message has come, without the agreement before
};

/// As over_ranks.cpp sums buckets of bytes, each ready after so many seconds, over all devices: in
/// pieces of 4 MiB, which pass one after the other within each rank to its first device, to the
/// host, in a message between the ranks, and back to all devices.
cluster_sum sum_over(const cluster& c, const std::vector<double>& buckets,
                     const std::vector<double>& ready);

/// No algorithm needs less: each rank and each device sends and receives all but its share of the
/// sum and of its own value, and the result depends on all of them.
double least_sum_time(const cluster& c, double bytes);

}  // namespace tutti_test
