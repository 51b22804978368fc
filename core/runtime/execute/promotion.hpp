// SPDX-License-Identifier: Apache-2.0
//
// Compiling in the background what begins on the host (tutti_tier_api): by a thread of low
// priority, what has cost the host most first, and only once its kernels are vouched for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "plugin/opened_device.hpp"
#include "plugin/proof/family.hpp"

namespace tutti::runtime {

/// What may be compiled one day, kept with a program or a plan that begins on the host.
struct promotion {
  const detail::opened_device* device = nullptr;
  std::vector<detail::kernel_family> families;
  std::string label;
  std::shared_ptr<tutti_program> program;  // one of these two
  std::shared_ptr<tutti_plan> plan;
  bool is_asked_for = false;

  /// To be called after a launch: asks for it once the host has spent enough on it.
  void consider();
};

}  // namespace tutti::runtime
