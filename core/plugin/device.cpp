// SPDX-License-Identifier: Apache-2.0
//
// The public device handle, the devices of TUTTI_DEVICE, and the lazy opening of devices.
#include "tutti/device.hpp"

#include <algorithm>
#include <ostream>

#include "base/env.hpp"
#include "base/log.hpp"
#include "base/process.hpp"
#include "plugin/opened_device.hpp"
#include "plugin/proof/proof.hpp"
#include "plugin/raii.hpp"
#include "plugin/registry.hpp"
#include "plugin/visit.hpp"
#include "tutti/error.hpp"

namespace tutti {
namespace {

constexpr const char* variable = "TUTTI_DEVICE";

std::string selection_text() {
  static const auto* const text = new std::string(base::env(variable).value_or("auto"));
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
  const auto found = plugins::registry().resolve(spec, "device", true);
  if (plugins::parse_device_list(spec).size() != 1)
    base::fail<value_error>("device={}: expected one item, found a list", spec);
  return found.front();
}

// A plugin without programs, or with another version of them, supports none: all of them run
// elsewhere.
plugins::offered_programs programs_of(const detail::opened_device& d, tutti_device* handle) {
  tutti_program_capabilities given{};
  given.struct_size = sizeof given;
  if (plugins::ignore(d.plugin->program.capabilities(handle, &given))) return {};
  if (given.ir_version_min > TUTTI_IR_VERSION || given.ir_version_max < TUTTI_IR_VERSION) {
    logging::warn(
        "{}: its programs are of versions {} to {}, this library writes {}: all of them "
        "run on the host",
        d.title, given.ir_version_min, given.ir_version_max, TUTTI_IR_VERSION);
    return {};
  }
  // Numbers that this library does not know are ignored.
  const auto read = [](const uint32_t* sets, uint32_t count, uint32_t known) {
    if (sets == nullptr) return std::vector<uint32_t>();
    return std::vector<uint32_t>(sets, sets + std::min(count, known));
  };
  constexpr uint32_t known_opcodes = std::max({
      0u,
#define TUTTI_OP(id, name, ...) id + 1u,
#include "base/fail.hpp"
#include "tutti/op_table.def"
#undef TUTTI_OP
  });
  return {read(given.opcodes, given.opcode_count, known_opcodes),
          read(given.reductions, given.reduction_count, TUTTI_REDUCE_ARGMAX + 1)};
}

}  // namespace

namespace detail {

void opened_device::open() {
  if (is_open_.load(std::memory_order_acquire)) return;
  base::require_computing(name);
  const std::lock_guard lock(opening_);
  if (is_open_.load(std::memory_order_relaxed)) return;
  plugins::plugin_visit visit(plugin->notes, plugin->path, "device.open");
  tutti_device* made = nullptr;
  plugins::check(plugin->device.open(index, &made), *this, "open the device");
  handle = plugins::require_made(plugin->device.open, made, *this);
  visit.go_on("program.capabilities");
  programs = programs_of(*this, handle);
  is_open_.store(true, std::memory_order_release);
}

const opened_device& get(const device& handle) {
  handle.state_->open();
  plugins::require_right_answers(*handle.state_);
  return *handle.state_;
}

}  // namespace detail

std::string_view to_string(device_type type) noexcept {
  return type == device_type::cpu           ? "cpu"
         : type == device_type::gpu         ? "gpu"
         : type == device_type::accelerator ? "accelerator"
                                            : "unknown";
}

device::device(std::string_view spec) : state_(look_up(spec)) {}

const std::string& device::backend() const noexcept { return state_->plugin->name; }
uint32_t device::index() const noexcept { return state_->index; }
const std::string& device::name() const noexcept { return state_->name; }
const device_properties& device::properties() const noexcept { return state_->properties; }

std::ostream& operator<<(std::ostream& out, const device& d) { return out << d.name(); }

const std::vector<device>& devices() {
  static const auto* const world =
      new std::vector<device>(wrap(plugins::registry().resolve(selection_text(), variable)));
  return *world;
}

device default_device() {
  static detail::opened_device* const first =
      plugins::registry().resolve(selection_text(), variable, true).front();
  return device(first);
}

std::vector<device> all_devices() { return wrap(plugins::registry().all()); }

}  // namespace tutti
