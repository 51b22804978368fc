// SPDX-License-Identifier: Apache-2.0
//
// Basis of the groups of checks: an opened device, handles that release themselves, arrays on the
// host, programs, and launches that read back whole buffers.
#pragma once

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "operator_claims.hpp"
#include "plugin_file.hpp"
#include "program_spec.hpp"
#include "sdk/capabilities.hpp"
#include "sdk/op_info.hpp"
#include "tutti/plugin.h"

namespace tutti::conformance {

// A failed check; the text describes the finding.
class failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The vendor's driver is missing, so there is nothing to check.
class no_driver : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws `failure` with a message, in which {} stands for a value.
template <class... Values>
[[noreturn]] void fail(fmt::format_string<const Values&...> text, const Values&... values) {
  throw failure(fmt::vformat(text, fmt::make_format_args(values...)));
}

// The same unless `good`.
template <class... Values>
void require(bool good, fmt::format_string<const Values&...> text, const Values&... values) {
  if (!good) fail(text, values...);
}

// A status taken apart and released.
struct outcome {
  int32_t code;
  std::string message;
  explicit operator bool() const { return code != TUTTI_OK; }
};
outcome take(tutti_status* status);
void check(tutti_status* status, const char* what);  // throws `failure` for anything but success

// A handle with its release function.
template <typename T>
class handle {
 public:
  handle() = default;
  handle(T* object, void (*release)(T*)) : object_(object), release_(release) {}
  handle(handle&& other) noexcept
      : object_(std::exchange(other.object_, nullptr)), release_(other.release_) {}
  handle& operator=(handle&& other) noexcept {
    std::swap(object_, other.object_);
    std::swap(release_, other.release_);
    return *this;
  }
  ~handle() {
    if (object_ != nullptr) release_(object_);
  }
  T* get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  T* object_ = nullptr;
  void (*release_)(T*) = nullptr;
};

// What a function of a table makes, as its last argument. Throws `failure` if it makes nothing.
template <typename T, typename Function, typename... Arguments>
handle<T> made(void (*release)(T*), const char* what, Function function, Arguments... arguments) {
  T* object = nullptr;
  check(function(arguments..., &object), what);
  require(object != nullptr, "{} gave nothing", what);
  return {object, release};
}

// The outcome of such a function, and what it has made.
template <typename T, typename Function, typename... Arguments>
std::pair<outcome, handle<T>> tried(void (*release)(T*), Function function,
                                    Arguments... arguments) {
  T* object = nullptr;
  outcome result = take(function(arguments..., &object));
  return {std::move(result), handle<T>(object, release)};
}

// A struct of a newer caller, with more fields than the plugin knows.
template <typename T, size_t Words = 8>
struct longer {
  T known{};
  uint64_t beyond[Words] = {};
};

// The largest error of an operation in a dtype so far, in units in the last place of the result.
struct worst_error {
  uint64_t ulps = 0;
  uint64_t allowed = 0;
};

// Whether a function of a later minor version exists.
template <class Table, class Function>
bool offers(const Table* table, Function Table::*member) {
  const auto* at = reinterpret_cast<const char*>(&(table->*member));
  const auto end = static_cast<uint64_t>(at - reinterpret_cast<const char*>(table)) + sizeof(at);
  return table->struct_size >= end && table->*member != nullptr;
}

class session {
 private:
  std::unique_ptr<plugin_file> plugin_;

 public:
  session(
      const std::string& path, uint32_t device_number, uint64_t seed_value,
      const step_listener& on_step = [](const char*) {});
  session(session&&) noexcept;
  ~session();

  handle<tutti_buffer> allocate(uint64_t bytes) const;
  handle<tutti_stream> stream(uint32_t flags = 0) const;
  // Blocking transfers, on the main stream unless there is another one.
  void write(tutti_buffer* to, uint64_t offset, const void* from, uint64_t bytes,
             tutti_stream* on = nullptr) const;
  void read(tutti_buffer* from, uint64_t offset, void* to, uint64_t bytes,
            tutti_stream* on = nullptr) const;
  // These two throw `skipped` if the device does not support it.
  handle<tutti_program> program(const tutti_program_desc& desc) const;
  handle<tutti_plan> plan(const tutti_operator_desc& desc) const;
  // The same from the last few descriptions, so that a program launched again is not built again.
  tutti_program* recent_program(const program_spec& spec);
  bool computes(uint8_t dtype) const { return (properties.computed_dtypes >> dtype & 1u) != 0; }
  bool stores(uint8_t dtype) const { return (properties.stored_dtypes >> dtype & 1u) != 0; }

  // Whether the capabilities have the opcode with a result and operands of these dtypes.
  bool has(uint16_t opcode, std::span<const uint8_t> dtypes) const;
  // Reports the next step, in case the process ends.
  void note(const std::string& text) const;

  const tutti_plugin_api* api;
  std::string plugin_path;
  tutti_device_properties properties;
  sdk::program_sets offered;
  uint32_t device_index;
  uint64_t seed;
  std::chrono::seconds patience{20};  // for operations that should finish soon
  std::function<void(const std::string&)> on_note;
  std::map<std::pair<std::string, uint8_t>, worst_error> worst;  // by operation and dtype
  handle<tutti_device> device;
  handle<tutti_stream> main_stream;
  std::array<std::optional<bool>, 16> flushes_denormals;  // by dtype, see denormals.hpp

 private:
  void read_capabilities();

  std::deque<std::pair<std::string, handle<tutti_program>>> recent_;
};

// The event of enqueued work, which the function hands out as its last argument.
template <typename Function, typename... Arguments>
handle<tutti_event> event_of(const session& s, const char* what, Function function,
                             Arguments... arguments) {
  return made(s.api->stream->event_release, what, function, arguments...);
}

// One named check. `run` returns or throws.
struct group {
  std::string name;
  std::function<void(session&)> run;
};
using groups = std::vector<group>;

// Every file NAME_groups.cpp defines add_NAME_groups, which adds its own.
#define TUTTI_GROUPS(name) void add_##name##_groups(groups& all, const session& s);
#include "verify_groups.inc"
#undef TUTTI_GROUPS
// Random descriptions, one for each seed.
void add_fuzz_groups(groups& all, const session& s, uint64_t first_seed, uint64_t count);

// Elements of one dtype on the host. Values are passed as the bits of their register dtype:
// integers sign or zero extended, floats unchanged, f16 and bf16 as the corresponding float.
class image {
 public:
  image() = default;
  image(uint8_t element_dtype, uint64_t elements);  // filled with a pattern that guards gaps
  uint64_t get(uint64_t index) const;
  void set(uint64_t index, uint64_t register_bits);
  uint64_t size() const { return bytes.size() / sdk::dtype_size(dtype); }

  uint8_t dtype = 0;
  std::vector<std::byte> bytes;
};

using strides = std::array<int64_t, TUTTI_MAX_RANK>;
using extents = std::vector<uint64_t>;

// An image viewed with offset (elements) and strides. `alias` >= 0: an output in the buffer of that
// input.
struct operand {
  image data;
  uint64_t offset = 0;
  strides stride{};
  int alias = -1;
};

tutti_operand to_abi(const operand& o, tutti_buffer* buffer);
uint64_t points_of(const extents& extent);
strides row_major(const extents& extent);
// Element index of the row-major point `index`.
uint64_t locate(const operand& o, const extents& extent, uint64_t index);
// An operand of row-major elements with guards in front and behind.
operand packed(uint8_t dtype, const extents& extent);
std::string list_text(const extents& numbers);                  // "[3,4]"
std::string point_text(const extents& extent, uint64_t index);  // its coordinates

// Uploads, launches, waits and reads the images of the outputs back into `outputs`.
void launch(session& s, const program_spec& spec, const extents& extent,
            const std::vector<operand>& inputs, const std::vector<tutti_scalar>& scalars,
            std::vector<operand>& outputs);

// The same for an existing program.
void launch(session& s, tutti_program* program, const extents& extent,
            const std::vector<operand>& inputs, const std::vector<tutti_scalar>& scalars,
            std::vector<operand>& outputs);

// ---- operators

struct view_spec {
  operand data;
  extents extent;
};
class skipped : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
// The outcome of a launch of the operator on the views, which are read back. Throws `skipped` if
// the device does not support it.
outcome try_operator(session& s, const tutti_operator_desc& desc, std::vector<view_spec>& views);
// The same. Throws `failure` where it fails.
void launch_operator(session& s, int32_t kind, std::vector<view_spec>& views,
                     const void* params = nullptr);

// The views without their memory.
std::vector<tutti_view_desc> describe(const std::vector<view_spec>& views);
// Throw `skipped` if the device does not support it, according to its capabilities or to
// `supports`.
void require_support(const session& s, const tutti_program_desc& desc);
void require_support(const session& s, const tutti_operator_desc& desc);
// A launch without workspace.
tutti_operator_launch launch_of(const std::vector<tutti_range>& operands);

using generator = std::mt19937_64;

}  // namespace tutti::conformance
