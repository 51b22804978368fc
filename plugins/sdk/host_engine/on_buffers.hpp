// SPDX-License-Identifier: Apache-2.0
//
// Runs the host engine on buffers of a host backend, in a thread team if that pays. LAPACK or the
// plain loops of host_layer compute what the engine does not support. The cost of launches is
// learned from previous ones.
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

/// The size of one launch of a program: its points, and the same plus the cost of its lines.
struct work_size {
  double points, units;
};
work_size size_of(const program_layout& layout, const tutti_program_launch& launch);
/// The estimated nanoseconds per unit, before any measurement.
double guessed_ns_of_unit(const tutti_program_desc& desc);
/// The minimum that is shared among threads: two chunks of the engine.
inline constexpr double points_to_share = 32768;
/// The estimated nanoseconds of an operator launch, before any measurement.
double guessed_ns(const operator_call& call);

/// A compiled program. Immutable, so launches may run concurrently.
class engine_program {
 public:
  /// `compute_units`: of the device's properties. It determines how reductions are divided, so that
  /// results do not depend on the size of the team. Throws like program_interpreter.
  engine_program(program_description&& description, uint32_t compute_units);

  const tutti_program_desc& desc() const { return loops_.desc(); }

  /// The expected duration of a launch in nanoseconds.
  double expected_ns(const tutti_program_launch& launch) const;
  /// As program_interpreter::run.
  void run(const tutti_program_launch& launch, find_memory memory, thread_team& team) const;

  /// As host_program::takes_points and run_points; run_points() does not check that the operands
  /// are within their buffers.
  bool takes_points(const tutti_program_launch& launch) const {
    return engine_ && engine_->takes_points(launch, on_);
  }
  void run_points(const tutti_program_launch& launch, find_memory memory, uint64_t first,
                  uint64_t last, bool streams) const;
  void check_ranges(const tutti_program_launch& launch, find_memory memory) const {
    loops_.check_ranges(launch, memory);
  }
  /// Tells how long a launch took by run_points(), on all threads of the team.
  void took(const tutti_program_launch& launch, uint64_t ns) const {
    cost_.add(size_of(layout_, launch).units, ns);
  }

 private:
  const program_interpreter loops_;
  const machine on_;
  const program_layout layout_;
  std::optional<const host_program> engine_;
  mutable host_cost cost_;
};

/// A planned operator, likewise.
class engine_operator {
 public:
  /// `what`: the result of read_for_host.
  engine_operator(std::shared_ptr<const owned_operator> what, uint32_t compute_units);

  operator_call call() const { return what_->call(); }
  /// One launch, ready for a stream. Throws plugin_error if an operand has no memory.
  host_operator on(const operator_memory& memory, find_memory find) const {
    return {what_, memory, find};
  }
  /// The size of the workspace in bytes, aligned to 64; with NULL a run allocates it.
  uint64_t workspace_bytes() const { return engine_ ? engine_->workspace_bytes() : 0; }
  /// The expected duration of a launch in nanoseconds.
  double expected_ns() const { return cost_.expected(1); }
  /// Runs a launch made by on(). Throws plugin_error if an operand exceeds its buffer.
  void run(const host_operator& launch, thread_team& team, void* workspace = nullptr) const;

 private:
  void run_unmeasured(const host_operator& launch, thread_team& team, void* workspace) const;

  const std::shared_ptr<const owned_operator> what_;
  std::optional<const host_operator_plan> engine_;
  const lapack* by_lapack_ = nullptr;
  mutable host_cost cost_;  // the unit is a launch
};

}  // namespace tutti::sdk
