// SPDX-License-Identifier: Apache-2.0
//
// Pipelines. Each micro-batch is a chain of stages with a copy between them; the members can work
// at the same time because the chains are independent of each other.
#include "tutti/nn/pipeline.hpp"

#include <algorithm>
#include <string>

#include "tutti/error.hpp"
#include "tutti/extension.hpp"
#include "tutti/grad.hpp"
#include "tutti/host_memory.hpp"
#include "tutti/movement.hpp"
#include "tutti/ops.hpp"
#include "tutti/plugin.h"

namespace tutti::nn {
namespace {

// The minimum size of the graph of one stage of one micro-batch.
constexpr std::uint64_t least_bytes_of_a_step = 256;

void require_function(bool is_there, const std::string& what) {
  if (!is_there) throw value_error("pipeline: there is no " + what);
}

array rows(const array& a, std::int64_t first, std::int64_t last) { return a({{first, last}}); }

}  // namespace

pipeline::pipeline(std::vector<stage> stages, device_group group, std::int64_t micro_batches)
    : stages_(std::move(stages)), group_(std::move(group)), micro_batches_(micro_batches) {
  if (stages_.size() != group_.size())
    throw value_error("pipeline: " + std::to_string(stages_.size()) + " stages for " +
                      std::to_string(group_.size()) + " devices (" + group_.names() + ")");
  if (group_.ranks())
    throw value_error("pipeline: stages on several ranks are not supported: " + group_.names());
  if (micro_batches_ < 1)
    throw value_error("pipeline: " + std::to_string(micro_batches_) + " micro-batches");
  for (std::size_t i = 0; i < stages_.size(); ++i)
    require_function(stages_[i] != nullptr, "function of stage " + std::to_string(i));
}

void pipeline::check(const std::vector<std::vector<array>>& parameters, const array& x) const {
  if (parameters.size() != stages_.size())
    throw value_error("pipeline: parameters of " + std::to_string(parameters.size()) +
                      " stages for " + std::to_string(stages_.size()));
  for (std::size_t i = 0; i < parameters.size(); ++i)
    for (const array& p : parameters[i])
      if (op::device_of(p) != nullptr && p.device() != group_[i])
        throw device_error("pipeline: a parameter of stage " + std::to_string(i) + " is on " +
                               p.device().name() + ", but belongs on " + group_[i].name() +
                               "; move it with to()",
                           TUTTI_ERROR_INVALID_ARGUMENT);
  if (x.ndim() == 0 || x.dim(0) == 0)
    throw shape_error("pipeline: no rows in a batch of shape " + x.shape().str());
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

array pipeline::run(const std::vector<std::vector<array>>& parameters, const array& batch) const {
  array x = batch;
  for (std::size_t i = 0; i < stages_.size(); ++i) x = stages_[i](parameters[i], x.to(group_[i]));
  return x;
}

array pipeline::operator()(const std::vector<std::vector<array>>& parameters,
                           const array& x) const {
  check(parameters, x);
  const auto cuts = rows_of_micro_batches(x);
  std::vector<array> outputs;
  for (std::size_t m = 0; m + 1 < cuts.size(); ++m)
    outputs.push_back(run(parameters, rows(x, cuts[m], cuts[m + 1])));
  return concatenate(outputs, 0);
}

std::pair<array, std::vector<std::vector<array>>> pipeline::value_and_grad(
    const loss_function& loss, const std::vector<std::vector<array>>& parameters, const array& x,
    const array& target) const {
  check(parameters, x);
  require_function(loss != nullptr, "loss function");
  if (target.ndim() == 0 || target.dim(0) != x.dim(0))
    throw shape_error("pipeline: rows differ: x " + x.shape().str() + ", target " +
                      target.shape().str());
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
    const auto own = by_stage(values);
    array sum;
    for (std::size_t m = 0; m + 1 < cuts.size(); ++m) {
      const array output = run(own, rows(x, cuts[m], cuts[m + 1]));
      const array truth = rows(target, cuts[m], cuts[m + 1]).to(output.device());
      const double share =
          static_cast<double>(cuts[m + 1] - cuts[m]) / static_cast<double>(x.dim(0));
      const array part = loss(output, truth) * share;
      sum = sum.valid() ? sum + part : part;
    }
    return sum;
  };
  const auto [value, gradients] = tutti::value_and_grad(total)(flat);
  return {value, by_stage(gradients)};
}

}  // namespace tutti::nn
