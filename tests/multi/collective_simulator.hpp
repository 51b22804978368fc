// SPDX-License-Identifier: Apache-2.0
//
// Sums over the devices of a simulated cluster. The steps within a rank are those that Tutti's
// collectives record in the graph; the messages between ranks are the usual algorithms of MPI; a
// discrete simulation gives the times of both.
#pragma once

#include <string>
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

enum class mpi_algorithm { doubling, rabenseifner, ring, tree };
std::string name_of(mpi_algorithm a);

/// Appends an all-reduce over ranks 0 to last.size() - 1; last[r] is the step after which rank r
/// begins, or -1, and becomes the one after which it has the sum. As in MPICH and Open MPI
/// (R. Thakur, R. Rabenseifner, W. Gropp, Int. J. High Perform. Comput. Appl. 19, 2005): unless the
/// number of ranks is a power of two, doubling and rabenseifner first add some ranks to others.
void add_all_reduce(std::vector<step>& steps, std::vector<int>& last, double bytes,
                    mpi_algorithm how);

struct cluster {
  int ranks = 2, devices = 1;  ///< devices of each rank
  endpoint rank, device;
  double slow_link = 1;  ///< the last rank's messages take this many times as long
  double slow_rank = 1;  ///< the last rank's values are ready after this many times as long
};

struct cluster_sum {
  double seconds = 0;
  double between_ranks = 0;  ///< when the last message has come, without the agreement before
  mpi_algorithm chosen{};    ///< of the largest message: the quickest one, alone
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
