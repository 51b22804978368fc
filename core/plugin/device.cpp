// SPDX-License-Identifier: Apache-2.0
//
// The public device handle, the world that TUTTI_DEVICE selects, and the lazy opening of devices.
#include "tutti/device.hpp"

#include "base/env.hpp"
#include "base/process.hpp"
#include "plugin/opened_device.hpp"
#include "plugin/proof/proof.hpp"
#include "plugin/raii.hpp"
#include "plugin/registry.hpp"
#include "tutti/error.hpp"

namespace tutti {
namespace {

constexpr const char* variable = "TUTTI_DEVICE";

std::string selection_text() {
  static const auto* const text = new std::string(detail::env(variable).value_or("auto"));
  return *text;
}

std::vector<device> wrap(const std::vector<detail::opened_device*>& found) {
  std::vector<device> list;
  for (detail::opened_device* d : found) list.emplace_back(d);
  return list;
}

detail::opened_device* look_up(std::string_view spec) {
  if (spec.find_first_not_of(" \t\r\n") == std::string_view::npos)
    throw value_error("device: expected an item such as \"opencl:0\", found nothing");
  const auto found = detail::registry().resolve(spec, "device", true);
  if (detail::parse_device_list(spec).size() != 1)
    throw value_error("device=" + std::string(spec) + ": expected one item, found a list");
  return found.front();
}

}  // namespace

namespace detail {

void opened_device::open() {
  if (is_open_.load(std::memory_order_acquire)) return;
  require_computing(name);
  const std::lock_guard lock(opening_);
  if (is_open_.load(std::memory_order_relaxed)) return;
  tutti_device* made = nullptr;
  check(plugin->device.open(index, &made), *this, "open the device");
  handle = made;
  is_open_.store(true, std::memory_order_release);
}

const opened_device& get(const device& handle) {
  handle.state_->open();
  require_basics(*handle.state_);
  return *handle.state_;
}

}  // namespace detail

std::string_view to_string(device_type type) noexcept {
  switch (type) {
    case device_type::cpu:
      return "cpu";
    case device_type::gpu:
      return "gpu";
    case device_type::accelerator:
      return "accelerator";
  }
  return "unknown";
}

device::device(std::string_view spec) : state_(look_up(spec)) {}

const std::string& device::backend() const noexcept { return state_->plugin->name; }
uint32_t device::index() const noexcept { return state_->index; }
const std::string& device::name() const noexcept { return state_->name; }
const device_properties& device::properties() const noexcept { return state_->properties; }

const std::vector<device>& devices() {
  static const auto* const world =
      new std::vector<device>(wrap(detail::registry().resolve(selection_text(), variable)));
  return *world;
}

device default_device() {
  static detail::opened_device* const first =
      detail::registry().resolve(selection_text(), variable, true).front();
  return device(first);
}

std::vector<device> all_devices() { return wrap(detail::registry().all()); }

}  // namespace tutti
