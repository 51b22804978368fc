// SPDX-License-Identifier: Apache-2.0
//
// Collectives: what the members of a device group exchange. Values are one array a member, in the
// order of the group and each on its device; results as well. Everything is recorded and nothing
// waits: a collective is made of copies and arithmetic, evaluated with what needs it, and its
// gradient follows from theirs. docs/multi-device.md tells about the algorithms.
//
// Throws, before any data moves and naming both participants with their values: value_error for a
// number of arrays that is not the group's, device_error for an array that is not on its member,
// dtype_error and shape_error where participants disagree, value_error for a time limit that is
// not positive and for a reduction or algorithm that there is not.
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
  min,  ///< NaN wins
  max,  ///< NaN wins
  avg,  ///< the sum over the number of members; floating dtypes only
};

/// Who sends to whom. P members, values of n bytes:
enum class algorithm {
  automatic,  ///< the least cost by a model of latency and bandwidth
  direct,     ///< all to one, one to all: 2 steps; (P - 1) n through one member. Best for few bytes
  tree,       ///< binomial trees: log2(P) steps each way, of n bytes
  ring,       ///< neighbours pass pieces on: 2 (P - 1) steps, of n / P bytes. Best for many bytes
};

struct options {
  collective::algorithm algorithm = algorithm::automatic;
  /// Every element is reduced as ((v0 + v1) + v2) + ... in the order of the group, whatever the
  /// algorithm, which then only decides about the way of results. Without it, the order depends on
  /// the algorithm and the sizes, never on timing. Either way all members get the same bits.
  bool deterministic = false;
  /// Seconds that each copy may take, from when it could begin, before those who wait for a result
  /// get device_error TIMEOUT naming the collective and the device; infinity: that of
  /// TUTTI_TIMEOUT.
  double time_limit = std::numeric_limits<double>::infinity();
};

/// `value`, which is on a member, on every member.
TUTTI_API std::vector<array> broadcast(const device_group& group, const array& value,
                                       const options& how = {});
/// The reduction of all values, on the member `root`. Shapes and dtypes must agree; dtypes are
/// integers or floats and stay. Integers wrap.
TUTTI_API array reduce(const device_group& group, const std::vector<array>& values,
                       const device& root, reduction with = reduction::sum,
                       const options& how = {});
/// As reduce(), on every member.
TUTTI_API std::vector<array> all_reduce(const device_group& group, const std::vector<array>& values,
                                        reduction with = reduction::sum, const options& how = {});
/// As reduce(), member i gets part i of `axis`, which is cut into equal parts: where the extent
/// does not divide, the first parts are longer by one.
TUTTI_API std::vector<array> reduce_scatter(const device_group& group,
                                            const std::vector<array>& values,
                                            reduction with = reduction::sum, integer axis = 0,
                                            const options& how = {});
/// All values one after the other along `axis`, on every member. Extents may differ along `axis`.
TUTTI_API std::vector<array> all_gather(const device_group& group, const std::vector<array>& values,
                                        integer axis = 0, const options& how = {});
/// As all_gather(), on the member `root` only.
TUTTI_API array gather(const device_group& group, const std::vector<array>& values,
                       const device& root, integer axis = 0, const options& how = {});
/// `value`, which is on a member, cut along `axis` into parts as reduce_scatter() does: part i on
/// member i.
TUTTI_API std::vector<array> scatter(const device_group& group, const array& value,
                                     integer axis = 0, const options& how = {});
/// Every value is cut along `axis` as scatter() does; member i gets part i of all, one after the
/// other in the order of the group.
TUTTI_API std::vector<array> all_to_all(const device_group& group, const std::vector<array>& values,
                                        integer axis = 0, const options& how = {});
/// Returns when every member has done all that was enqueued on it before.
TUTTI_API void barrier(const device_group& group, const options& how = {});

/// Messages between members, for programs that drive each device from a thread of its own. Copies
/// share their mailboxes; any function may be called from any thread.
class TUTTI_API communicator {
 public:
  /// `how.time_limit` is that of copies and of receive(), which waits 300 seconds where it is
  /// infinite.
  explicit communicator(device_group group, const options& how = {});
  // Copies only: what is moved from keeps its mailboxes.
  communicator(const communicator&) = default;
  communicator& operator=(const communicator&) = default;

  const device_group& group() const;

  /// Starts the copy of `value`, which is on a member, to the member `to`, and returns. Messages of
  /// the same sender, receiver and tag are received in the order in which they were sent.
  void send(const array& value, const device& to, int tag = 0);
  /// The next message from the member `from` to the member `at`. Waits for it to be sent; throws
  /// device_error TIMEOUT naming both where it is not in time.
  array receive(const device& from, const device& at, int tag = 0);

 private:
  struct mailboxes;
  std::shared_ptr<mailboxes> state_;
};

}  // namespace tutti::collective
