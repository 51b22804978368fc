// SPDX-License-Identifier: Apache-2.0
//
// The host engine as a backend of the host launches it: on its buffers, shared by a team of threads
// where that is worth it, with LAPACK or the plain loops of host_layer for what the engine lacks.
// What a launch takes is learned from those before it.
#pragma once

#include <memory>
#include <optional>

#include "sdk/host_engine/host_cost.hpp"
#include "sdk/host_engine/host_engine.hpp"
#include "sdk/host_engine/host_operators.hpp"
#include "sdk/host_layer/host_operator.hpp"
#include "sdk/host_layer/program_interpreter.hpp"
#include "sdk/host_layer/thread_team.hpp"

namespace tutti::sdk {

struct lapack;

/// What one launch of a program computes: its points, and the same with what its lines cost, in
/// points.
struct work_size {
  double points, units;
};
work_size size_of(const program_layout& layout, const tutti_program_launch& launch);
/// Nanoseconds that a unit takes, before anything was measured.
double guessed_ns_of_unit(const tutti_program_desc& desc);
/// The least that is shared among threads: two chunks of the engine.
inline constexpr double points_to_share = 32768;
/// Nanoseconds that a launch of an operator takes, before anything was measured.
double guessed_ns(const operator_call& call);

/// A program ready to run. Immutable, so launches may run at once.
class engine_program {
 public:
  /// `compute_units`: of the device's properties. Reductions are cut for as many, so that results
  /// do not depend on the threads of the team. Throws as program_interpreter does.
  engine_program(program_description&& description, uint32_t compute_units);

  const tutti_program_desc& desc() const { return loops_.desc(); }

  /// Nanoseconds that a launch is expected to take.
  double expected_ns(const tutti_program_launch& launch) const;
  /// As program_interpreter::run.
  void run(const tutti_program_launch& launch, find_memory memory, thread_team& team) const;

 private:
  const program_interpreter loops_;
  const machine on_;
  const program_layout layout_;
  std::optional<const host_program> engine_;
  mutable host_cost cost_;
};

/// An operator ready to run, likewise.
class engine_operator {
 public:
  /// `what` as read_for_host gives it.
  engine_operator(std::shared_ptr<const owned_operator> what, uint32_t compute_units);

  operator_call call() const { return what_->call(); }
  /// One launch, ready for a stream. Throws plugin_error where an operand has no memory.
  host_operator on(const operator_memory& memory, find_memory find) const {
    return {what_, memory, find};
  }
  /// Bytes of memory that a run needs besides its operands, aligned to 64; NULL lets it allocate
  /// them.
  uint64_t workspace_bytes() const { return engine_ ? engine_->workspace_bytes() : 0; }
  /// Nanoseconds that a launch is expected to take.
  double expected_ns() const { return cost_.expected(1); }
  /// Of a launch that on() gave. Throws plugin_error where an operand leaves its buffer.
  void run(const host_operator& launch, thread_team& team, void* workspace = nullptr) const;

 private:
  void run_unmeasured(const host_operator& launch, thread_team& team, void* workspace) const;

  const std::shared_ptr<const owned_operator> what_;
  std::optional<const host_operator_plan> engine_;
  const lapack* by_lapack_ = nullptr;
  mutable host_cost cost_;  // the unit is a launch
};

}  // namespace tutti::sdk
