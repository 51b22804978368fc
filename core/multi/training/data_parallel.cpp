// SPDX-License-Identifier: Apache-2.0
//
// Data-parallel gradients: every member differentiates the loss of its rows, weighted by their
// number; changed state is averaged with the same weights. Buckets of gradients are summed over the
// members, last parameters first, in the order in which the backward pass computes them (S. Li et
// al., "PyTorch Distributed", VLDB 2020, section 3.2).
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "multi/collectives/over_ranks.hpp"
#include "multi/groups/group_ranks.hpp"
#include "multi/groups/participants.hpp"
#include "tutti/multi.hpp"

namespace tutti {
namespace {

using gradients_by_member = std::vector<std::vector<array>>;

std::vector<array> rows_of(const std::vector<array>& batch, std::int64_t first, std::int64_t last) {
  std::vector<array> out;
  for (const array& a : batch) out.push_back(multi::piece(a, 0, first, last));
  return out;
}

// The loss of one member's rows times their fraction, and its gradients; sums over the pieces, each
// of which starts with the state after the previous one.
class member_step {
 public:
  member_step(std::vector<array> parameters, std::vector<array> state)
      : parameters_(std::move(parameters)), state_(std::move(state)) {}

  void add(const data_parallel::stateful_function& step, const std::vector<array>& rows,
           random::key key, double share) {
    std::vector<array> next;
    const auto weighted = [&](const std::vector<array>& p) {
      const loss_and_state done = step(p, state_, rows, key);
      if (!is_floating(done.loss.dtype()))
        base::fail<dtype_error>("data_parallel: the loss must be floating, got {}",
                                done.loss.dtype());
      next.clear();
      for (const array& s : done.state) next.push_back(stop_gradient(s));
      return done.loss * share;
    };
    auto [loss, found] = value_and_grad(weighted)(parameters_);
    if (next.size() != state_.size())
      base::fail<value_error>("data_parallel: the loss gives {} arrays of state for {}",
                              next.size(), state_.size());
    state_ = std::move(next);
    share_ += share;
    if (!loss_.valid()) {
      loss_ = loss.reshape({});
      gradients_ = std::move(found);
      return;
    }
    loss_ = loss_ + loss.reshape({});
    for (std::size_t i = 0; i < found.size(); ++i) gradients_[i] = gradients_[i] + found[i];
  }

  /// The arrays to evaluate after a piece.
  void collect(std::vector<array>& pending) const {
    if (!loss_.valid()) return;
    pending.push_back(loss_);
    pending.insert(pending.end(), gradients_.begin(), gradients_.end());
    pending.insert(pending.end(), state_.begin(), state_.end());
  }

  array loss() const { return loss_; }
  const std::vector<array>& state() const { return state_; }
  double share() const { return share_; }  ///< fraction of the batch's rows
  std::vector<array> gradients() const {
    if (loss_.valid()) return gradients_;
    std::vector<array> zeros;
    for (const array& p : parameters_) zeros.push_back(zeros_like(p));
    return zeros;
  }

 private:
  std::vector<array> parameters_, state_;
  array loss_;
  std::vector<array> gradients_;
  double share_ = 0;
};

// Sums over all devices, in buckets of parameters, the last ones first.
void reduce_gradients(const device_group& group, gradients_by_member& gradients,
                      const data_parallel_options& options) {
  for (std::vector<array>& own : gradients) std::reverse(own.begin(), own.end());
  const auto buckets = multi::buckets_of(gradients[0], options.bucket_bytes, false);
  gradients_by_member joined;  // by bucket
  for (const multi::bucket& b : buckets) {
    joined.emplace_back();
    for (const auto& own : gradients) joined.back().push_back(multi::joined(own, b));
  }
  if (group.ranks() && !joined.empty()) {
    joined = multi::over_ranks::sums(group, joined, options.collectives);
  } else {
    for (std::vector<array>& bucket : joined)
      bucket =
          collective::all_reduce(group, bucket, collective::reduction::sum, options.collectives);
  }
  for (std::size_t m = 0; m < group.size(); ++m) {
    for (std::size_t b = 0; b < joined.size(); ++b)
      multi::separate(joined[b][m], buckets[b], gradients[m]);
    std::reverse(gradients[m].begin(), gradients[m].end());
  }
}

std::vector<sharded> replicas(const device_group& group, const gradients_by_member& values) {
  std::vector<sharded> out;
  for (std::size_t i = 0; i < values[0].size(); ++i) {
    std::vector<array> copies;
    for (const std::vector<array>& own : values) copies.push_back(own[i]);
    out.push_back(sharded::from_replicas(group, copies));
  }
  return out;
}

// The mean of the members' states, weighted by their rows. State that is not floating is that of
// the first member with rows.
std::vector<sharded> mean_state(const device_group& group, const std::vector<member_step>& members,
                                const data_parallel_options& options, int first_rank) {
  auto first = std::find_if(members.begin(), members.end(),
                            [](const member_step& m) { return m.share() > 0; });
  if (first == members.end()) first = members.begin();  // the rows belong to other ranks
  gradients_by_member floating(members.size());
  for (const array& s : first->state()) {
    if (!is_floating(s.dtype())) continue;
    const auto i = static_cast<std::size_t>(&s - first->state().data());
    for (std::size_t m = 0; m < members.size(); ++m)
      floating[m].push_back(members[m].state()[i] * members[m].share());
  }
  reduce_gradients(group, floating, options);
  std::vector<sharded> means = replicas(group, floating), out;
  std::size_t next = 0;
  for (const array& s : first->state())
    out.push_back(is_floating(s.dtype()) ? means[next++]
                  : group.ranks()
                      ? sharded::from_replicas(
                            group, collective::broadcast(group.local(),
                                                         group.ranks()->broadcast(s, first_rank)))
                      : replicate(s, group));
  return out;
}

void check_replicated(const char* what, const device_group& group,
                      const std::vector<sharded>& values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!values[i].replicated() || !(values[i].group() == group))
      base::fail<value_error>("data_parallel: {} {} is not replicated over {}: {}", what, i,
                              group.names(), values[i].str());
}

// Rows of every member, the same for all arrays of the batch: their begin, and the end.
const std::vector<std::int64_t>& check_batch(const device_group& group,
                                             const std::vector<sharded>& batch) {
  if (batch.empty()) throw value_error("data_parallel: no arrays in the batch");
  for (const sharded& b : batch) {
    if (b.replicated() || b.axis() != 0 || !(b.group() == group))
      base::fail<value_error>("data_parallel: the batch is not split by rows over {}: {}",
                              group.names(), b.str());
    if (b.boundaries() != batch[0].boundaries())
      base::fail<value_error>("data_parallel: arrays of the batch are split differently: {} and {}",
                              batch[0].str(), b.str());
  }
  return batch[0].boundaries();
}

// The parts of this rank's members.
std::vector<sharded> parts_of_rank(const std::vector<sharded>& batch) {
  std::vector<sharded> out;
  for (const sharded& b : batch)
    out.push_back(sharded::from_parts(b.group().local(), b.parts(), b.axis()));
  return out;
}

}  // namespace

data_parallel::data_parallel(stateful_function step, device_group group,
                             data_parallel_options options)
    : step_(std::move(step)), group_(std::move(group)), options_(std::move(options)) {
  if (options_.accumulate < 1)
    base::fail<value_error>("data_parallel: accumulate = {}", options_.accumulate);
  if (options_.bucket_bytes == 0) throw value_error("data_parallel: bucket_bytes = 0");
  multi::check_options(options_.collectives, "data_parallel");
  multi::require_function(step_, "data_parallel", "loss function");
}

data_parallel::data_parallel(loss_function step, device_group group, data_parallel_options options)
    : data_parallel(step ? stateful_function([step](const std::vector<array>& parameters,
                                                    const std::vector<array>& state,
                                                    const std::vector<array>& batch, random::key) {
                      return loss_and_state{step(parameters, batch), state};
                    })
                         : stateful_function(),
                    std::move(group), std::move(options)) {}

parallel_step data_parallel::operator()(const std::vector<sharded>& parameters,
                                        const std::vector<array>& batch) const {
  return (*this)(parameters, {}, batch, {});
}

parallel_step data_parallel::operator()(const std::vector<sharded>& parameters,
                                        const std::vector<sharded>& batch) const {
  return (*this)(parameters, {}, batch, {});
}

parallel_step data_parallel::operator()(const std::vector<sharded>& parameters,
                                        const std::vector<sharded>& state,
                                        const std::vector<array>& batch, random::key key) const {
  return multi::called(group_, "data_parallel", [&] {
    std::vector<sharded> split;
    for (const array& a : batch) {
      if (a.ndim() == 0 || a.dim(0) != batch[0].dim(0))
        base::fail<shape_error>("data_parallel: rows of the batch differ: {} and {}",
                                batch[0].shape(), a.shape());
      split.push_back(shard(a, group_.local(), 0, options_.batches));
    }
    return step_of_rank(parameters, state, split, key);
  });
}

parallel_step data_parallel::operator()(const std::vector<sharded>& parameters,
                                        const std::vector<sharded>& state,
                                        const std::vector<sharded>& batch, random::key key) const {
  return multi::called(group_, "data_parallel", [&] {
    check_batch(group_, batch);
    return step_of_rank(parameters, state, group_.ranks() ? parts_of_rank(batch) : batch, key);
  });
}

// `batch`: over the members of this rank, or without arrays.
parallel_step data_parallel::step_of_rank(const std::vector<sharded>& parameters,
                                          const std::vector<sharded>& state,
                                          const std::vector<sharded>& batch,
                                          random::key key) const {
  if (parameters.empty()) throw value_error("data_parallel: no parameters");
  check_replicated("parameter", group_, parameters);
  check_replicated("state", group_, state);
  const device_group local = group_.local();
  const job* const ranks = group_.ranks();
  const std::vector<std::int64_t> none(group_.size() + 1, 0);
  const std::vector<std::int64_t>& cuts = ranks && batch.empty() ? none : check_batch(local, batch);
  std::vector<std::int64_t> of_ranks{cuts.back()};  // rows
  if (ranks) {
    of_ranks = ranks->state()->agree("data_parallel",
                                     fmt::format("bucket_bytes = {}", options_.bucket_bytes), {},
                                     -1, cuts.back());
    key = random::fold_in(key, ranks->rank());
  }
  const std::int64_t rows = std::accumulate(of_ranks.begin(), of_ranks.end(), std::int64_t{0});
  if (rows == 0)
    base::fail<shape_error>("data_parallel: no rows in {}",
                            (batch.empty() ? "any batch" : batch[0].str()));
  const double total = static_cast<double>(rows);
  std::vector<member_step> members;
  for (std::size_t m = 0; m < group_.size(); ++m)
    members.emplace_back(parts_at(parameters, m), parts_at(state, m));

  // Pieces beyond the number of rows are empty.
  std::int64_t most_rows = 1;
  for (std::size_t m = 0; m < group_.size(); ++m)
    most_rows = std::max(most_rows, cuts[m + 1] - cuts[m]);
  const std::int64_t count = std::min(options_.accumulate, most_rows);
  const auto width = static_cast<std::int64_t>(group_.size());
  for (std::int64_t piece = 0; piece < count; ++piece) {
    for (std::size_t m = 0; m < group_.size(); ++m) {
      const auto pieces =
          multi::equal_boundaries(cuts[m + 1] - cuts[m], static_cast<std::size_t>(count));
      const std::int64_t first = pieces[static_cast<std::size_t>(piece)];
      const std::int64_t last = pieces[static_cast<std::size_t>(piece) + 1];
      // A single member with a single piece uses the key itself, as a step on one device does.
      const std::int64_t place = piece * width + static_cast<std::int64_t>(m);
      const random::key own = width * count > 1 ? random::fold_in(key, place) : key;
      if (first < last)
        members[m].add(step_, rows_of(parts_at(batch, m), first, last), own,
                       static_cast<double>(last - first) / total);
    }
    if (piece + 1 == count) continue;
    std::vector<array> pending;
    for (const member_step& m : members) m.collect(pending);
    eval(pending);
  }

  gradients_by_member gradients;
  std::vector<array> losses;
  for (const member_step& m : members) {
    gradients.push_back(m.gradients());
    if (m.loss().valid()) losses.push_back(m.loss().to(group_[0]));
  }
  if (ranks) {  // the losses as one more gradient, of the same dtype even without rows
    const dtype type = parameters[0].dtype() == dtype::f64 ? dtype::f64 : dtype::f32;
    for (std::size_t m = 0; m < group_.size(); ++m)
      gradients[m].push_back(members[m].loss().valid() ? members[m].loss().astype(type)
                                                       : zeros({}, type, group_[m]));
  }
  if (group_.size() > 1 || ranks) reduce_gradients(group_, gradients, options_);
  if (ranks) {
    losses = {gradients[0].back()};
    for (std::vector<array>& own : gradients) own.pop_back();
  }
  parallel_step out{losses[0], {}, {}};
  for (std::size_t i = 1; i < losses.size(); ++i) out.loss = out.loss + losses[i];
  if (group_.size() > 1 || ranks) {
    const auto first =
        std::find_if(of_ranks.begin(), of_ranks.end(), [](std::int64_t n) { return n > 0; });
    out.state = mean_state(group_, members, options_, static_cast<int>(first - of_ranks.begin()));
  } else {
    out.state = replicas(group_, {members[0].state()});
  }
  out.gradients = replicas(group_, gradients);
  return out;
}

}  // namespace tutti
