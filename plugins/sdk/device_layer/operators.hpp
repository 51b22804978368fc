// SPDX-License-Identifier: Apache-2.0
//
// The operators whose kernels are shared by all languages (kernels_cl/*_shared.cl): their launches
// in order, with arguments. All operators except matrix products.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "sdk/device_layer/description.hpp"
#include "sdk/operator_call.hpp"

namespace tutti::sdk {

struct sort_plan;

/// Memory that a kernel uses: a view of the operator, its workspace, or the constants of its plan.
enum class operand { view0, view1, view2, view3, view4, workspace, constants };

/// An int64_t field of a shape that counts elements of `unit` bytes; launches add the offset.
struct shape_offset {
  size_t field;  // bytes from the start of the shape
  operand of;
  uint32_t unit;
};

/// One launch. The arguments are `memory` in this order, then the shape by value, whose offsets are
/// relative to each operand.
struct kernel_launch {
  const char* file;            // the name of kernels_cl/NAME_shared.cl
  const std::string& options;  // "-DNAME=VALUE ...", without spaces in values
  const char* kernel;
  const char* label;  // for errors
  std::initializer_list<operand> memory;
  const void* shape;
  size_t shape_bytes;
  std::span<const shape_offset> offsets;
  uint64_t groups;
  bool last;  // of the operator
};

/// Receives the launches of one operator in order.
class operator_launcher {
 public:
  virtual void launch(const kernel_launch& what) = 0;
  /// Sets operand::constants of all launches; at most once, before them.
  virtual void keep(std::span<const std::byte> constants) = 0;

 protected:
  ~operator_launcher() = default;
};

/// Launches that share a kernel file, options, and a shape with its offsets. The label is `label`
/// or, if it is null, the kernel's name.
struct launch_series {
  operator_launcher& on;
  const char* file;
  const std::string& options;
  const char* label;
  const void* shape;
  size_t shape_bytes;
  std::span<const shape_offset> offsets;

  void operator()(const char* kernel, std::initializer_list<operand> memory, uint64_t groups,
                  bool last) const {
    on.launch({file, options, kernel, label != nullptr ? label : kernel, memory, shape, shape_bytes,
               offsets, groups, last});
  }
};

/// The reason why the device does not support a checked operator other than a matrix product, or
/// null.
const char* against_operator(const device_description& device, const operator_call& l);
/// Makes all launches of the operator, without memory, and returns the size of its workspace in
/// bytes. Does nothing for an empty operator.
uint64_t launch_operator(const device_description& device, const operator_call& l,
                         operator_launcher& on);

// ---- internal

/// These two functions for one operator; null where there are no kernels for it.
struct device_operator {
  decltype(&against_operator) against;
  decltype(&launch_operator) launch;
};
/// One per operator, in the file of its launches: search_on_device etc.
#define TUTTI_OPERATOR(number, NAME, name, ...) extern const device_operator name##_on_device;
#include "tutti/operator.def"
#undef TUTTI_OPERATOR
/// Reasons against sorts, searches and scans.
const char* against_ordering(const device_description& device, const operator_call& l);
/// Reasons against floats and complex numbers in whose parts the device does not compute.
const char* against_numbers(const device_description& device, const operator_call& l);
/// The number of groups for `items` independent items.
uint64_t groups_on(const device_description& device, int64_t items);
/// Part of an operator on a GPU: see plan_order. Its workspace comes first in the operator's.
sort_plan plan_order_on(const device_description& device, int64_t length, uint64_t limit);
void launch_order(const device_description& device, const sort_plan& plan, operator_launcher& on);

/// Throws TUTTI_ERROR_INVALID_ARGUMENT unless the workspace of a launch has `bytes` bytes, lies
/// inside its buffer and begins at a multiple of `alignment`.
void validate_workspace(const operator_memory& given, uint64_t bytes, uint64_t buffer_bytes,
                        uint64_t alignment, const char* what);

/// Storage for the largest shape.
struct alignas(8) filled_shape {
  std::byte bytes[704];
};

/// A stored kernel_launch; a launch fills in the operands.
struct prepared_launch {
  explicit prepared_launch(const kernel_launch& from);
  /// The shape for operands that begin there.
  void shape_at(const operator_memory& where, filled_shape& to) const;

  std::vector<operand> memory;
  std::vector<std::byte> shape;
  std::vector<shape_offset> offsets;
  uint64_t groups;
  bool last;
  const char* label;
};

}  // namespace tutti::sdk
