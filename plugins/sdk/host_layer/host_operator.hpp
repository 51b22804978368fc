// SPDX-License-Identifier: Apache-2.0
//
// The operators of the ABI over host memory, as plain loops shared by threads.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "sdk/host_layer/host_memory.hpp"
#include "sdk/host_layer/thread_team.hpp"
#include "sdk/operator_call.hpp"
#include "tutti/plugin.h"

namespace tutti::sdk {

/// The reason why the loops do not support an operator that has passed check_operator, or null.
const char* against_on_host(const operator_call& call);

/// The full-size description, or null and the reason in `against`. Throws plugin_error if it is
/// malformed. Packed operands and extents to be measured are not supported.
std::shared_ptr<const owned_operator> read_for_host(const tutti_operator_desc* desc,
                                                    const char*& against);

/// A view with its memory.
struct host_view {
  std::byte* data;  // the element at index 0
  int32_t dtype;
  uint32_t rank;
  const uint64_t* extent;
  const int64_t* stride;  // elements
};

/// An operator with the memory of one launch.
struct host_call {
  const operator_call* what;
  const host_view* views;
  thread_team* team;
};

/// One launch, ready for a stream. Keeps the description alive, so the plan may be released.
class host_operator {
 public:
  /// Throws plugin_error if an operand has no memory.
  host_operator(std::shared_ptr<const owned_operator> what, const operator_memory& memory,
                find_memory find);

  /// Throws plugin_error if an operand exceeds its buffer. Results do not depend on the threads.
  void run(thread_team& team) const;
  /// The address of each operand's element at index 0. Throws as run does.
  std::array<std::byte*, most_operands> addresses() const;

 private:
  std::array<host_view, most_operands> checked_views() const;

  struct place {
    host_block memory{nullptr, 0};
    uint64_t offset = 0;
  };
  std::shared_ptr<const owned_operator> what_;
  std::array<place, most_operands> places_{};
};

// ---- internal

/// One function per operator: search_on_host etc. Linear algebra throws INVALID_ARGUMENT naming a
/// matrix that has no result.
#define TUTTI_OPERATOR(number, NAME, name, ...) void name##_on_host(const host_call& call);
#include "tutti/operator.def"
#undef TUTTI_OPERATOR
/// Linear algebra for one matrix of the batch, on the calling thread.
void matrix_on_host(const host_call& call, uint64_t matrix);
/// f(S(), T()) for elements of type S, f32, f64, c64 or c128, which are computed as the wider T.
template <typename F>
void with_wider(int32_t dtype, F&& f) {
  switch (dtype) {
    case TUTTI_F32:
      return f(float(), double());
    case TUTTI_F64:
      return f(double(), static_cast<long double>(0));
    case TUTTI_C64:
      return f(std::complex<float>(), std::complex<double>());
    default:
      return f(std::complex<double>(), std::complex<long double>());
  }
}
/// Splits `items` of `steps` steps each into pieces of a few thousand steps.
void share_rows(const host_call& call, uint64_t items, uint64_t steps,
                const thread_team::range& body);

}  // namespace tutti::sdk
