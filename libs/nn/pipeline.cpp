// SPDX-License-Identifier: Apache-2.0
//
// Pipelines. Each micro-batch is a chain of stages with a copy between them; the members can work
// at the same time because the chains are independent of each other. Between ranks, all members
// compute one micro-batch each, and an exchange follows; the backward pass repeats these steps in
// reverse.
#include "tutti/nn/pipeline.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "base/fail.hpp"
#include "tutti/extension.hpp"
#include "tutti/grad.hpp"
#include "tutti/host_memory.hpp"
#include "tutti/job.hpp"
#include "tutti/movement.hpp"
#include "tutti/ops.hpp"
#include "tutti/plugin.h"

namespace tutti::nn {
namespace {

// The minimum size of the graph of one stage of one micro-batch.
constexpr std::uint64_t least_bytes_of_a_step = 256;

void require_function(bool is_there, const std::string& what) {
  if (!is_there) base::fail<value_error>("pipeline: there is no {}", what);
}

array rows(const array& a, std::int64_t first, std::int64_t last) { return a({{first, last}}); }

// Ranks with different numbers of micro-batches would wait for messages that nobody sends.
void require_same_division(const device_group& group, std::int64_t rows,
                           std::int64_t micro_batches) {
  if (group.ranks() == nullptr) return;
  const std::vector<std::int64_t> all =
      group.ranks()
          ->all_gather(array::from({rows, micro_batches}, group[0]))
          .to_vector<std::int64_t>();
  const auto text = [&](std::size_t rank) {
    return std::to_string(all[2 * rank]) + " rows in " + std::to_string(all[2 * rank + 1]) +
           " micro-batches on rank " + std::to_string(rank);
  };
  for (std::size_t rank = 1; 2 * rank < all.size(); ++rank)
    if (all[2 * rank] != all[0] || all[2 * rank + 1] != all[1])
      base::fail<value_error>("pipeline: {}, but {}", text(0), text(rank));
}

// Copies of parameters for one micro-batch. In the backward pass the sum of their gradients and of
// those of later micro-batches starts to be computed here, not when the last one is known.
std::vector<array> with_early_gradients(const std::vector<array>& parameters) {
  return custom_vjp([](const std::vector<array>& v) { return v; },
                    [](const auto&, const auto&, const std::vector<array>& sums) {
                      eval(sums);
                      return sums;
                    })(parameters);
}

// What the last stage has computed, on the last member of each rank.
array on_all_ranks(const array& value, const device_group& group) {
  const job* ranks = group.ranks();
  if (ranks == nullptr) return value;
  const int last = ranks->size() - 1;
  if (ranks->rank() != last) return ranks->exchange({}, {}, {last}, group.members().back())[0];
  std::vector<int> others(static_cast<std::size_t>(last));
  std::iota(others.begin(), others.end(), 0);
  ranks->exchange(std::vector<array>(others.size(), value), others, {});
  return value;
}

}  // namespace

pipeline::pipeline(std::vector<stage> stages, device_group group, std::int64_t micro_batches)
    : stages_(std::move(stages)), group_(std::move(group)), micro_batches_(micro_batches) {
  if (stages_.size() != group_.size())
    base::fail<value_error>("pipeline: {} stages for {} devices ({})", stages_.size(),
                            group_.size(), group_.names());
  if (micro_batches_ < 1) base::fail<value_error>("pipeline: {} micro-batches", micro_batches_);
  for (std::size_t i = 0; i < stages_.size(); ++i)
    require_function(stages_[i] != nullptr, "function of stage " + std::to_string(i));
}

void pipeline::check(const std::vector<std::vector<array>>& parameters, const array& x) const {
  if (parameters.size() != stages_.size())
    base::fail<value_error>("pipeline: parameters of {} stages for {}", parameters.size(),
                            stages_.size());
  for (std::size_t i = 0; i < parameters.size(); ++i)
    for (const array& p : parameters[i])
      if (op::device_of(p) != nullptr && p.device() != group_[i])
        throw device_error("pipeline: a parameter of stage " + std::to_string(i) + " is on " +
                               p.device().name() + ", but belongs on " + group_[i].name() +
                               "; move it with to()",
                           TUTTI_ERROR_INVALID_ARGUMENT);
  if (x.ndim() == 0 || x.dim(0) == 0)
    base::fail<shape_error>("pipeline: no rows in a batch of shape {}", x.shape());
  require_same_division(group_, x.dim(0), micro_batches_);
}

// At most as many micro-batches as rows, so that none is empty.
std::vector<std::int64_t> pipeline::rows_of_micro_batches(const array& x) const {
  const auto count = static_cast<std::size_t>(std::min(micro_batches_, x.dim(0)));
  tutti::detail::require_host_memory("pipeline", count, stages_.size() * least_bytes_of_a_step);
  const auto n = static_cast<std::int64_t>(count), each = x.dim(0) / n, longer = x.dim(0) % n;
  std::vector<std::int64_t> boundaries;
  for (std::int64_t m = 0; m <= n; ++m) boundaries.push_back(m * each + std::min(m, longer));
  return boundaries;
}

std::vector<array> pipeline::run(const std::vector<std::vector<array>>& parameters, const array& x,
                                 const std::vector<std::int64_t>& cuts,
                                 const finish_function& finish) const {
  const std::size_t count = cuts.size() - 1, total = group_.total();
  const std::size_t first = group_.first(), end = first + stages_.size();
  const job* ranks = group_.ranks();
  std::vector<std::vector<array>> own = parameters;
  std::vector<array> inputs(stages_.size() + 1), finished;  // the last input is for the next rank
  for (std::size_t step = 0; step + 1 < count + total; ++step) {
    const auto has_work = [&](std::size_t s) { return step >= s && step - s < count; };
    std::vector<array> computed, sent;
    // Later stages first: stage i takes its input before stage i - 1 replaces it.
    for (std::size_t i = stages_.size(); i-- > 0;) {
      if (!has_work(first + i)) continue;
      const std::size_t m = step - first - i;
      if (first + i == 0) inputs[0] = rows(x, cuts[m], cuts[m + 1]);
      if (ranks != nullptr) own[i] = with_early_gradients(own[i]);
      inputs[i + 1] = stages_[i](own[i], inputs[i].to(group_[i]));
      if (first + i + 1 == total) inputs[i + 1] = finish(m, inputs[i + 1]);
      computed.push_back(inputs[i + 1]);
    }
    if (has_work(end - 1)) sent = {inputs.back()};
    if (ranks == nullptr || step + 2 == count + total) {
      if (end == total) finished.insert(finished.end(), sent.begin(), sent.end());
      continue;
    }
    eval(computed);
    // The last stage's rank sends results to itself, so that their gradients belong to this step.
    const std::vector<int> to(sent.size(), end == total ? ranks->rank() : ranks->rank() + 1);
    std::vector<int> from;
    if (first > 0 && has_work(first - 1)) from.push_back(ranks->rank() - 1);
    if (end == total) from.insert(from.end(), to.begin(), to.end());
    const std::vector<array> received = ranks->exchange(sent, to, from, group_[0]);
    if (first > 0 && has_work(first - 1)) inputs[0] = received.front();
    if (end == total && !sent.empty())
      finished.push_back(received.back().to(group_.members().back()));
  }
  return finished;
}

array pipeline::operator()(const std::vector<std::vector<array>>& parameters,
                           const array& x) const {
  check(parameters, x);
  const auto outputs = run(parameters, x, rows_of_micro_batches(x),
                           [](std::size_t, const array& output) { return output; });
  return on_all_ranks(outputs.empty() ? array() : concatenate(outputs, 0), group_);
}

std::pair<array, std::vector<std::vector<array>>> pipeline::value_and_grad(
    const loss_function& loss, const std::vector<std::vector<array>>& parameters, const array& x,
    const array& target) const {
  check(parameters, x);
  require_function(loss != nullptr, "loss function");
  if (target.ndim() == 0 || target.dim(0) != x.dim(0))
    base::fail<shape_error>("pipeline: rows differ: x {}, target {}", x.shape(), target.shape());
  const auto cuts = rows_of_micro_batches(x);
  std::vector<array> flat;
  for (const auto& of_stage : parameters) flat.insert(flat.end(), of_stage.begin(), of_stage.end());

  const auto by_stage = [&](const std::vector<array>& values) {
    std::vector<std::vector<array>> out;
    auto next = values.begin();
    for (const auto& of_stage : parameters) {
      const auto end = next + static_cast<std::ptrdiff_t>(of_stage.size());
      out.emplace_back(next, end);
      next = end;
    }
    return out;
  };
  const auto total = [&](const std::vector<array>& values) {
    const auto parts = run(by_stage(values), x, cuts, [&](std::size_t m, const array& output) {
      const array truth = rows(target, cuts[m], cuts[m + 1]).to(output.device());
      const double share =
          static_cast<double>(cuts[m + 1] - cuts[m]) / static_cast<double>(x.dim(0));
      return loss(output, truth) * share;
    });
    array sum;
    for (const array& part : parts) sum = sum.valid() ? sum + part : part;
    return on_all_ranks(sum, group_);
  };
  const auto [value, gradients] = tutti::value_and_grad(total)(flat);
  return {value, by_stage(gradients)};
}

}  // namespace tutti::nn
