// SPDX-License-Identifier: Apache-2.0
//
// Collectives of the members of a device group. Arguments and results are lists with one array per
// member, in the order of the group, each on its device. Everything is recorded and nothing waits:
// a collective consists of copies and arithmetic, which are evaluated with the results that need
// them, and its gradient follows from theirs. docs/multi-device.md describes the algorithms.
//
// For a group over the ranks of a job all ranks call the same function, with the arrays of their
// own members. It returns when the exchange between the ranks is done, and takes the time limit of
// the job; its gradient is described in tutti/job.hpp. Reductions, first within each rank, are of
// integers and floats and ignore `deterministic` and `algorithm` between ranks; broadcast and
// scatter take the value of rank 0, whose gradient all ranks get as that of their `value`, and
// reduce and gather give each rank the result on its `root`. A communicator is of one process.
//
// Errors are thrown before any data moves, and name both participants with their values:
// value_error if the number of arrays differs from the group's, device_error for an array that is
// not on its member, dtype_error and shape_error for mismatches between participants, value_error
// for a time limit that is not positive and for an unknown reduction or algorithm.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "tutti/array.hpp"
#include "tutti/device_group.hpp"
#include "tutti/export.hpp"

namespace tutti::collective {

enum class reduction {
  sum,
  prod,
  min,  ///< propagates NaN
  max,  ///< propagates NaN
  avg,  ///< the sum divided by the number of members; floating dtypes only
};

/// Communication pattern, for P members and values of n bytes:
enum class algorithm {
  automatic,  ///< the lowest cost by a model of latency and bandwidth
  direct,     ///< all to one, one to all: 2 steps; (P - 1) n through one member. For few bytes
  tree,       ///< binomial trees: log2(P) steps each way, of n bytes
  ring,       ///< chunks between neighbours: 2 (P - 1) steps of n / P bytes. For many bytes
};

struct options {
  collective::algorithm algorithm = algorithm::automatic;
  /// Every element is reduced as ((v0 + v1) + v2) + ... in the order of the group for any
  /// algorithm, which then only determines the path of the results. Otherwise the order depends on
  /// the algorithm and the sizes, but never on timing. In both cases all members get the same bits.
  bool deterministic = false;
  /// Time limit in seconds of each copy, from when it could begin. After it, reading a result
  /// throws device_error TIMEOUT with the collective and the device; infinity: the limit of
  /// TUTTI_TIMEOUT.
  double time_limit = std::numeric_limits<double>::infinity();
};

/// Copies `value`, which is on a member, to every member.
TUTTI_API std::vector<array> broadcast(const device_group& group, const array& value,
                                       const options& how = {});
/// The reduction of all values, on the member `root`. Shapes and dtypes must be equal; dtypes are
/// integers, which wrap, or floats, and are kept: f16 and bf16 are reduced in f32 and rounded once.
TUTTI_API array reduce(const device_group& group, const std::vector<array>& values,
                       const device& root, reduction with = reduction::sum,
                       const options& how = {});
/// As reduce(), on every member.
TUTTI_API std::vector<array> all_reduce(const device_group& group, const std::vector<array>& values,
                                        reduction with = reduction::sum, const options& how = {});
/// As reduce(), but member i gets part i along `axis`, which is split into equal parts: if the
/// extent is not divisible, the first parts are longer by one.
TUTTI_API std::vector<array> reduce_scatter(const device_group& group,
                                            const std::vector<array>& values,
                                            reduction with = reduction::sum, integer axis = 0,
                                            const options& how = {});
/// All values concatenated along `axis`, on every member. Extents may differ along `axis`.
TUTTI_API std::vector<array> all_gather(const device_group& group, const std::vector<array>& values,
                                        integer axis = 0, const options& how = {});
/// As all_gather(), on the member `root` only.
TUTTI_API array gather(const device_group& group, const std::vector<array>& values,
                       const device& root, integer axis = 0, const options& how = {});
/// Splits `value`, which is on a member, along `axis` as reduce_scatter() does: part i goes to
/// member i.
TUTTI_API std::vector<array> scatter(const device_group& group, const array& value,
                                     integer axis = 0, const options& how = {});
/// Splits every value along `axis` as scatter() does; member i gets part i of all values,
/// concatenated in the order of the group.
TUTTI_API std::vector<array> all_to_all(const device_group& group, const std::vector<array>& values,
                                        integer axis = 0, const options& how = {});
/// Returns when every member has finished all work that was enqueued on it before.
TUTTI_API void barrier(const device_group& group, const options& how = {});

/// Messages between members, for programs with one thread per device. Copies share their mailboxes;
/// any function may be called from any thread.
class TUTTI_API communicator {
 public:
  /// `how.time_limit` is that of copies and of receive(), which waits 300 seconds if it is
  /// infinite.
  explicit communicator(device_group group, const options& how = {});
  // Copies only: a moved-from communicator keeps its mailboxes.
  communicator(const communicator&) = default;
  communicator& operator=(const communicator&) = default;

  const device_group& group() const;

  /// Starts the copy of `value`, which is on a member, to the member `to`, and returns. Messages
  /// with the same sender, receiver and tag are received in the order in which they were sent.
  void send(const array& value, const device& to, int tag = 0);
  /// The next message from the member `from` to the member `at`. Waits until it is sent; throws
  /// device_error TIMEOUT, naming both, if it does not arrive in time.
  array receive(const device& from, const device& at, int tag = 0);

 private:
  struct mailboxes;
  std::shared_ptr<mailboxes> state_;
};

}  // namespace tutti::collective
