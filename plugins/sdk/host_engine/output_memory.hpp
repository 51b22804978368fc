// SPDX-License-Identifier: Apache-2.0
//
// Stores the values of a program in its outputs.
#pragma once

#include "sdk/host_engine/dispatch.hpp"
#include "sdk/host_engine/memory_walk.hpp"

namespace tutti::sdk {

// The conversion from a computed value to the stored one.
struct output_form {
  uint32_t element = 0;                    // bytes, stored
  routines::block_routine cast = nullptr;  // from a total to the output's register dtype
  routines::block_routine copy = nullptr;  // from there to the stored dtype
  bool same = false;                       // the value is stored as it is
};

// One output of one launch.
class output_memory {
 public:
  static constexpr uint32_t most = 2048;

  output_memory(const output_form& form, const walk_space& kept, const tutti_operand& operand,
                std::byte* base)
      : form_(form), space_(kept), access_(kept, operand.stride, form.element), base_(base) {}

  // The address where values may be written without a copy, or NULL.
  std::byte* direct() const {
    const bool dense = access_.kind == walk_kind::dense && form_.same && form_.cast == nullptr;
    return dense ? base_ : nullptr;
  }
  uint32_t element() const { return form_.element; }

  // Stores at most `most` values. `streams`: bypass the caches.
  void store(const std::byte* values, uint64_t first, uint64_t count, bool streams = false) const {
    alignas(64) std::byte cast_values[most * 16], stored[most * 16];
    const auto n = static_cast<long>(count);
    if (form_.cast != nullptr) {
      const void* const from[] = {values};
      form_.cast(from, cast_values, n);
      values = cast_values;
    }
    const void* const from[] = {values};
    if (access_.kind == walk_kind::dense && !(streams && form_.same)) {
      form_.copy(from, base_ + first * form_.element, n);
      return;
    }
    if (!form_.same) {
      form_.copy(from, stored, n);
      values = stored;
    }
    scatter(space_, access_, walk_point(space_, first), values, count, base_, streams);
  }

 private:
  const output_form& form_;
  const walk_space& space_;
  walk_access access_;
  std::byte* base_;
};

}  // namespace tutti::sdk
