// SPDX-License-Identifier: Apache-2.0
//
// Where a program or an operator of an evaluation has to be compiled before it runs, so have those
// after it: all of them at once, by as many threads as the machine has cores.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "runtime/execute/launch.hpp"

namespace tutti::runtime {

/// Compiles what `from`, whose program `context` lacks, and later groups want; the caller holds
/// `context`, which keeps the others. Returns the program of `from`: null where that is all there
/// is to compile, and where it failed. What fails is left to its launch, which tries again and
/// tells.
std::unique_ptr<cached_program> compile_ahead(device_context& context, const planned_group& from);
/// The same of an operator.
std::unique_ptr<cached_plan> plan_ahead(device_context& context, const planned_group& from);

/// An operator that is to be launched.
struct planned_operator {
  std::string key;  // of its plan
  std::function<std::unique_ptr<cached_plan>()> prepare;
};
/// That of a group which is not fused; nothing where copies make it (operators.cpp).
std::optional<planned_operator> operator_of(const device_context& context, const fusion::group& g);

}  // namespace tutti::runtime
