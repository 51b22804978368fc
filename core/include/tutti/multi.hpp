// SPDX-License-Identifier: Apache-2.0
//
// Work distributed over a device group: throughput of members, arrays split between members, matrix
// products over them, data-parallel training. Nothing here waits or copies through the host, unless
// stated otherwise: operations record the copies between devices that they need.
// docs/multi-device.md is the guide.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tutti/array.hpp"
#include "tutti/collective.hpp"
#include "tutti/device_group.hpp"
#include "tutti/grad.hpp"
#include "tutti/job.hpp"
#include "tutti/ops.hpp"
#include "tutti/random.hpp"

namespace tutti {

// ---- throughput and shares

/// Floating-point operations per second of `on` in f32 matrix products. Measured at the first call
/// (about 50 ms plus compilation), then kept for the process, and stored on disk with the compiled
/// programs for this device, driver and plugin.
TUTTI_API double throughput(const device& on);
/// The shares of work of all devices of the group, which sum to 1. For a group over the ranks of a
/// job all ranks call this, also as shares::boundaries().
TUTTI_API std::vector<double> weights_by_throughput(const device_group& group);
/// By the size of their memory. Throws value_error with a device that does not report it.
TUTTI_API std::vector<double> weights_by_memory(const device_group& group);

/// How an axis is divided between the members of a group.
class TUTTI_API shares {
 public:
  /// Equal parts; if the extent is not divisible, the first ones are longer by one.
  shares() = default;
  static shares equal() { return {}; }
  static shares by_memory() { return shares(rule::memory); }
  static shares by_throughput() { return shares(rule::throughput); }
  bool is_by_throughput() const { return rule_ == rule::throughput; }
  /// Proportional to `weights`, within one element; a weight of 0 gives an empty part. Throws
  /// value_error with a weight that is negative or not finite, and if all are 0.
  shares(std::vector<double> weights);

  /// Positions at which an axis of `extent` is split for the devices of `group`: group.total() + 1
  /// of them, from 0 to extent. Throws value_error if the number of weights differs from that of
  /// the devices.
  std::vector<std::int64_t> boundaries(std::int64_t extent, const device_group& group) const;

 private:
  enum class rule : std::uint8_t { equal, memory, throughput, given };
  explicit shares(rule r) : rule_(r) {}
  rule rule_ = rule::equal;
  std::vector<double> weights_;
};

// ---- arrays on several devices

/// An array whose parts along one axis are on the members of a group, or of which every member has
/// a copy (replicated). A lazy value, like array. Of a group over the ranks of a job each rank has
/// the parts of its own members; part i of parts() is then part group().first() + i of the whole.
class TUTTI_API sharded {
 public:
  // Copies only, which cost one reference count per part: no object is ever without parts.
  sharded(const sharded&) = default;
  sharded& operator=(const sharded&) = default;

  /// From parts that are already on their members, concatenated along `axis`. Ranks of a job
  /// exchange the extents of their parts. Throws as collective::all_gather does.
  static sharded from_parts(const device_group& group, const std::vector<array>& parts,
                            integer axis);
  /// From copies that are already on their members; that they are equal is not checked.
  static sharded from_replicas(const device_group& group, const std::vector<array>& copies);

  const device_group& group() const { return group_; }
  bool replicated() const { return axis_ < 0; }
  int axis() const;  ///< the split axis. Throws value_error if replicated
  /// Where part i begins, and the end. Throws value_error if replicated.
  const std::vector<std::int64_t>& boundaries() const;
  const tutti::shape& shape() const { return shape_; }  ///< of the whole array
  tutti::dtype dtype() const { return parts_[0].dtype(); }
  const std::vector<array>& parts() const { return parts_; }

  /// The whole array on any device; on every rank of a job.
  array gather(const device& on) const;

  const sharded& eval() const;  ///< all parts, as one evaluation
  const sharded& wait() const;

  /// "[1000,64] split along axis 0 at 0, 500, 1000 over opencl:0, opencl:1".
  std::string str() const;

  /// For internal use: parts that are on their members, split at `boundaries`, or replicated.
  sharded(device_group group, int axis, std::vector<std::int64_t> boundaries,
          std::vector<array> parts);

 private:
  device_group group_;
  int axis_;  // -1: replicated
  tutti::shape shape_;
  std::vector<std::int64_t> boundaries_;
  std::vector<array> parts_;
};

/// Splits `a` along `axis` and moves each part to its member. All ranks of a job pass the same
/// array, and each keeps its own parts; the gradient of the whole array is the same on each rank.
TUTTI_API sharded shard(const array& a, const device_group& group, integer axis = 0,
                        const shares& by = {});
/// A copy of `a` on every member; in a job, of rank 0's `a`, and each rank gets the same gradient.
TUTTI_API sharded replicate(const array& a, const device_group& group,
                            const collective::options& how = {});
TUTTI_API std::vector<sharded> replicate(const std::vector<array>& arrays,
                                         const device_group& group,
                                         const collective::options& how = {});
/// The same values with another split, over the same group or another; parts move directly between
/// the devices that have them and those that need them, or as messages between ranks.
TUTTI_API sharded reshard(const sharded& a, const device_group& group, integer axis = 0,
                          const shares& by = {});
/// A copy of the whole array on every member of `group`.
TUTTI_API sharded replicate(const sharded& a, const device_group& group);

/// The part of each array on `member`: the arguments of a function that runs there.
TUTTI_API std::vector<array> parts_at(const std::vector<sharded>& values, std::size_t member);
/// All parts of all arrays, for eval().
TUTTI_API std::vector<array> all_parts(const std::vector<sharded>& values);

/// f applied to the parts of `inputs`, on each member. Split inputs must have the same group and
/// boundaries (otherwise value_error with both); replicated ones are passed completely. The result
/// is split along the axis (counted from the front) of the first split input, where f must keep the
/// extents of the parts (otherwise shape_error); replicated if all inputs are.
TUTTI_API sharded map_parts(const std::function<array(const std::vector<array>&)>& f,
                            const std::vector<sharded>& inputs);
/// map_parts for a function with that many arrays: map(tutti::exp, x).
template <class F, class... Inputs>
sharded map(F&& f, const Inputs&... inputs) {
  return map_parts(
      [&f]<std::size_t... I>(std::index_sequence<I...>) {
        return [&f](const std::vector<array>& a) -> array { return f(a[I]...); };
      }(std::index_sequence_for<Inputs...>{}),
      std::vector<sharded>{inputs...});
}

/// Elementwise, broadcasting as arrays do. Operands must have the same split, otherwise value_error
/// with both; of replicated ones each member uses what corresponds to its part. C++ numbers and
/// other constants are allowed; an array on a device is not (device_error).
TUTTI_API sharded operator+(const sharded& a, const sharded& b);
TUTTI_API sharded operator-(const sharded& a, const sharded& b);
TUTTI_API sharded operator*(const sharded& a, const sharded& b);
TUTTI_API sharded operator/(const sharded& a, const sharded& b);
TUTTI_API sharded operator+(const sharded& a, const array& b);
TUTTI_API sharded operator-(const sharded& a, const array& b);
TUTTI_API sharded operator*(const sharded& a, const array& b);
TUTTI_API sharded operator/(const sharded& a, const array& b);
TUTTI_API sharded operator+(const array& a, const sharded& b);
TUTTI_API sharded operator-(const array& a, const sharded& b);
TUTTI_API sharded operator*(const array& a, const sharded& b);
TUTTI_API sharded operator/(const array& a, const sharded& b);

/// Reductions as those of arrays. Over the split axis, members reduce their parts and an all-reduce
/// replicates the result; otherwise the result stays split.
TUTTI_API sharded sum(const sharded& a, const reduce_options& over = {},
                      const collective::options& how = {});
TUTTI_API sharded prod(const sharded& a, const reduce_options& over = {},
                       const collective::options& how = {});
TUTTI_API sharded min(const sharded& a, const reduce_options& over = {},
                      const collective::options& how = {});
TUTTI_API sharded max(const sharded& a, const reduce_options& over = {},
                      const collective::options& how = {});
TUTTI_API sharded mean(const sharded& a, const reduce_options& over = {},
                       const collective::options& how = {});

/// Elements of a along `axis` at `indices`, as take() of arrays, on any member; the result is on
/// the device of the indices, which may be any device. In a job each rank passes its own indices;
/// along another axis than the split one each rank gathers the whole array.
TUTTI_API array take(const sharded& a, const array& indices, integer axis = 0);
/// The same for indices [I] split or replicated over a's group: each member takes its own. In a job
/// all ranks need the same number of members.
TUTTI_API sharded take(const sharded& a, const sharded& indices, integer axis = 0);

/// Matrix product x [..., M, K] w [K, N] of operands over one group, depending on their layouts:
///   x replicated, w split by columns   -> split by columns  (no exchange)
///   x split by columns, w by rows      -> replicated        (partial products, all-reduce)
///   x split by another axis, w replicated -> split as x     (no exchange)
///   both replicated                    -> replicated
/// The first two in sequence form the tensor-parallel pair of a network's layers (M. Shoeybi et
/// al., "Megatron-LM", arXiv:1909.08053, section 3). Throws value_error with both for any other
/// layout: use reshard() first.
TUTTI_API sharded matmul(const sharded& x, const sharded& w, const collective::options& how = {});

// ---- data-parallel training

struct data_parallel_options {
  /// How the rows of a batch are divided; in a job, those of a rank between its devices.
  shares batches = shares::by_throughput();
  /// Each member processes its rows in this many pieces, one after the other, and adds their
  /// gradients, which saves memory of the backward pass. With more than one, each piece is
  /// evaluated.
  std::int64_t accumulate = 1;
  /// Gradients are exchanged in buckets of about this many bytes, those of the last parameters
  /// first: they are ready first, and are sent while the backward pass is still running.
  std::size_t bucket_bytes = std::size_t{4} << 20;
  collective::options collectives{};
};

/// Loss and gradients of one step over all members.
struct parallel_step {
  array loss;                      ///< on the first member
  std::vector<sharded> gradients;  ///< replicated; one per parameter
  std::vector<sharded> state{};    ///< replicated; the new state, if there is any
};

/// The loss of some rows, and the new state, for example the statistics of batch normalisation.
struct loss_and_state {
  array loss;  ///< one floating element
  std::vector<array> state{};
};

/// value_and_grad of a loss over a batch that is split between the members of a group. The loss of
/// each part is weighted by its rows, so that, if `step` is a mean over rows, loss and gradients
/// are those of the whole batch, within rounding. Members without rows take part in the exchange.
/// With a group over the ranks of a job all ranks get the loss, the gradients and the state of all
/// rows.
class TUTTI_API data_parallel {
 public:
  /// The loss (one floating element) of a part of a batch; called for each member with arrays
  /// there.
  using loss_function =
      std::function<array(const std::vector<array>& parameters, const std::vector<array>& batch)>;

  /// The same for a model with state and random layers. Each member and piece of a batch has a
  /// different key.
  using stateful_function = std::function<loss_and_state(
      const std::vector<array>& parameters, const std::vector<array>& state,
      const std::vector<array>& batch, random::key key)>;

  /// Throws value_error if options are out of range.
  data_parallel(loss_function step, device_group group, data_parallel_options options = {});
  data_parallel(stateful_function step, device_group group, data_parallel_options options = {});

  /// `parameters` are replicated over the group (replicate()). Arrays of a batch have the same
  /// number of rows (axis 0), at least one; they are moved to the members. In a job these are the
  /// rank's own rows; a rank without rows passes no arrays. Throws value_error, shape_error, also
  /// for a loss of several elements, and dtype_error for one that is not floating.
  parallel_step operator()(const std::vector<sharded>& parameters,
                           const std::vector<array>& batch) const;
  /// The same for a batch that is already split along axis 0, each array in the same way.
  parallel_step operator()(const std::vector<sharded>& parameters,
                           const std::vector<sharded>& batch) const;
  /// With state, replicated like the parameters. Each member's rows update it separately; the new
  /// state is the mean over members, weighted by their rows, or for elements that are not floating
  /// that of the first member with rows.
  parallel_step operator()(const std::vector<sharded>& parameters,
                           const std::vector<sharded>& state, const std::vector<array>& batch,
                           random::key key) const;
  parallel_step operator()(const std::vector<sharded>& parameters,
                           const std::vector<sharded>& state, const std::vector<sharded>& batch,
                           random::key key) const;

  const device_group& group() const { return group_; }

 private:
  parallel_step step_of_rank(const std::vector<sharded>& parameters,
                             const std::vector<sharded>& state, const std::vector<sharded>& batch,
                             random::key key) const;
  stateful_function step_;
  device_group group_;
  data_parallel_options options_;
};

/// An optimiser of nn.hpp for replicated parameters, one per member. Each updates its replica; the
/// replicas stay bitwise equal on devices that compute the same results. With `deterministic` and a
/// group of different devices, whose rounding may differ, the first member updates and sends the
/// result.
template <class Optimizer>
class replicated_optimizer {
 public:
  /// Each member gets a copy of `optimizer`, whose state, if any, is moved to the member.
  replicated_optimizer(device_group group, const Optimizer& optimizer, bool deterministic = false);

  /// The new parameters, replicated. Evaluate them with state() and the loss.
  std::vector<sharded> step(const std::vector<sharded>& parameters,
                            const std::vector<sharded>& gradients);
  /// The state of every member's optimiser.
  std::vector<array> state() const;
  /// The optimiser of the first member: save its state() and steps(). To resume, restore them with
  /// load_state() into an optimiser, and create a replicated_optimizer from it.
  const Optimizer& first() const { return optimizers_.front(); }
  /// Changes the options of all: o.configure([](auto& options) { options.learning_rate = 0.1; }).
  template <class F>
  void configure(F&& change) {
    for (Optimizer& o : optimizers_) change(o.options);
  }

 private:
  device_group group_;
  std::vector<Optimizer> optimizers_;  // one if the first member updates for all
};

/// Whether all devices of the group are the same kind of device, with the same driver and schedule.
TUTTI_API bool compute_alike(const device_group& group);

template <class Optimizer>
replicated_optimizer<Optimizer>::replicated_optimizer(device_group group,
                                                      const Optimizer& optimizer,
                                                      bool deterministic)
    : group_(std::move(group)),
      optimizers_(deterministic && !compute_alike(group_) ? 1 : group_.size(), optimizer) {
  for (std::size_t i = 0; i < optimizers_.size() && !optimizer.state().empty(); ++i) {
    std::vector<array> moved;
    for (const array& a : optimizer.state()) moved.push_back(a.to(group_[i]));
    if constexpr (requires { optimizer.steps(); })
      optimizers_[i].load_state(moved, optimizer.steps());
    else
      optimizers_[i].load_state(moved);
  }
}

template <class Optimizer>
std::vector<sharded> replicated_optimizer<Optimizer>::step(const std::vector<sharded>& parameters,
                                                           const std::vector<sharded>& gradients) {
  std::vector<std::vector<array>> updated;
  for (std::size_t i = 0; i < optimizers_.size(); ++i)
    updated.push_back(optimizers_[i].step(parts_at(parameters, i), parts_at(gradients, i)));
  if (updated.size() < group_.size()) return replicate(updated[0], group_);
  std::vector<sharded> out;
  for (std::size_t p = 0; p < updated[0].size(); ++p) {
    std::vector<array> copies;
    for (const std::vector<array>& replica : updated) copies.push_back(replica[p]);
    out.push_back(sharded::from_replicas(group_, copies));
  }
  return out;
}

template <class Optimizer>
std::vector<array> replicated_optimizer<Optimizer>::state() const {
  std::vector<array> out;
  for (const Optimizer& o : optimizers_) out.insert(out.end(), o.state().begin(), o.state().end());
  return out;
}

}  // namespace tutti
