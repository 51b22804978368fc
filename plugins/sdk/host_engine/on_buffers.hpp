// SPDX-License-Identifier: Apache-2.0
//
// The host engine as a backend of the host launches it: on its buffers, shared by a team of
// threads, with the plain loops of host_layer for what the engine lacks. The two stand in for
// program_interpreter and host_operator::run there.
#pragma once

#include <memory>
#include <optional>

#include "sdk/host_engine/host_engine.hpp"
#include "sdk/host_engine/host_operators.hpp"
#include "sdk/host_layer/host_operator.hpp"
#include "sdk/host_layer/program_interpreter.hpp"
#include "sdk/host_layer/thread_team.hpp"

namespace tutti::sdk {

/// A program ready to run. Immutable, so launches may run at once.
class engine_program {
 public:
  /// `compute_units`: of the device's properties. Reductions are cut for as many, so that results
  /// do not depend on the threads of the team. Throws as program_interpreter does.
  engine_program(program_description&& description, uint32_t compute_units);

  const tutti_program_desc& desc() const { return loops_.desc(); }

  /// As program_interpreter::run.
  void run(const tutti_program_launch& launch, find_memory memory, thread_team& team) const;

 private:
  const program_interpreter loops_;
  const machine on_;
  std::optional<const host_program> engine_;
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
  /// Of a launch that on() gave. Throws plugin_error where an operand leaves its buffer.
  void run(const host_operator& launch, thread_team& team) const;

 private:
  const std::shared_ptr<const owned_operator> what_;
  std::optional<const host_operator_plan> engine_;
};

}  // namespace tutti::sdk
