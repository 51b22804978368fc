// SPDX-License-Identifier: Apache-2.0
//
// If a program or an operator of an evaluation must be compiled before it runs, the later ones that
// are also new are compiled at the same time, by as many threads as the machine has cores.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "runtime/execute/launch.hpp"

namespace tutti::runtime {

/// Compiles the program of `from`, which `context` lacks, and those of later groups; the caller
/// holds `context`, which stores the others. Returns the program of `from`: null if there is
/// nothing else to compile, or if it failed. Failures are left to the launch, which tries again and
/// reports them.
std::unique_ptr<cached_program> compile_ahead(device_context& context, const planned_group& from);
/// The same for an operator.
std::unique_ptr<cached_plan> plan_ahead(device_context& context, const planned_group& from);

/// An operator to be launched.
struct planned_operator {
  std::string key;  // of its plan
  std::function<std::unique_ptr<cached_plan>()> prepare;
};
/// That of a group which is not fused; nothing if it consists of copies (operators.cpp).
std::optional<planned_operator> operator_of(const device_context& context, const fusion::group& g);

}  // namespace tutti::runtime
