// SPDX-License-Identifier: Apache-2.0
//
// Compiling in the background what begins on the host (tutti_tier_api): what has cost the host most
// first, and only once its kernels are vouched for. By another process, where the device finds what
// that has compiled, or else by a thread of low priority.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "plugin/opened_device.hpp"

namespace tutti::runtime {

/// What may be compiled one day, kept with a program or a plan that begins on the host.
struct promotion {
  const detail::opened_device* device = nullptr;
  std::string label;
  std::shared_ptr<tutti_program> program;  // one of these two
  std::shared_ptr<tutti_plan> plan;
  std::string work;  // described, for another process; empty: it is compiled here
  bool is_asked_for = false;

  /// To be called after a launch: asks for it once the host has spent enough on it.
  void consider();
};

/// Compiles it now, in this thread. Returns why its kernels cannot be vouched for, or "". Throws
/// device_error where it does not compile. Gives up between two steps, with "", once nobody wants
/// it any more.
std::string compile_here(const promotion& wanted, const std::atomic<bool>& is_given_up);

}  // namespace tutti::runtime
