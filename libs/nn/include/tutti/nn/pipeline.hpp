// SPDX-License-Identifier: Apache-2.0
//
// A network divided into stages, each on another device. docs/multi-device.md, "Splits".
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "tutti/array.hpp"
#include "tutti/device_group.hpp"
#include "tutti/export.hpp"

namespace tutti::nn {

/// Stages of a network, each on one member; a batch passes through in micro-batches, so that all
/// members work at the same time (Y. Huang et al., "GPipe", arXiv:1811.06965).
///
/// With a group over the ranks of a job, each rank passes the stages and parameters of its own
/// members: its stage i is stage group.first() + i of the network. All ranks call the functions
/// below, with x and target of the same shapes; only the values of x on rank 0 and of target on the
/// last rank are used. Activations and their gradients are sent to the neighbouring ranks.
class TUTTI_API pipeline {
 public:
  using stage = std::function<array(const std::vector<array>& parameters, const array& x)>;
  using loss_function = std::function<array(const array& output, const array& target)>;

  /// Stage i runs on member i. Throws value_error unless there are as many stages as members and
  /// at least one micro-batch.
  pipeline(std::vector<stage> stages, device_group group, std::int64_t micro_batches);

  /// The last stage's output for all rows of x, on the last member. Axis 0 of x and of every
  /// stage's output are rows; x may be on any device. parameters[i] are those of stage i, on member
  /// i (otherwise device_error). Every rank gets the output, on its own last member. Throws
  /// shape_error if x has no rows, value_error if rows or micro-batches differ between ranks, and
  /// on the other ranks device_error TUTTI_ERROR_TIMEOUT if a stage throws on one of them.
  array operator()(const std::vector<std::vector<array>>& parameters, const array& x) const;
  /// The loss, on the last member (on every rank, as above), and its gradients with respect to the
  /// given parameters of each stage, on its member. `loss` is a mean over rows; micro-batches are
  /// weighted by their rows, so that the sum is that of the whole batch. Throws also shape_error if
  /// x and target have different numbers of rows.
  std::pair<array, std::vector<std::vector<array>>> value_and_grad(
      const loss_function& loss, const std::vector<std::vector<array>>& parameters, const array& x,
      const array& target) const;

 private:
  // `finish` of the last stage's output for each micro-batch; nothing on ranks without this stage.
  using finish_function = std::function<array(std::size_t micro_batch, const array& output)>;
  std::vector<array> run(const std::vector<std::vector<array>>& parameters, const array& x,
                         const std::vector<std::int64_t>& cuts,
                         const finish_function& finish) const;
  void check(const std::vector<std::vector<array>>& parameters, const array& x) const;
  std::vector<std::int64_t> rows_of_micro_batches(const array& x) const;
  std::vector<stage> stages_;
  device_group group_;
  std::int64_t micro_batches_;
};

}  // namespace tutti::nn
