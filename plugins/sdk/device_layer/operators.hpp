// SPDX-License-Identifier: Apache-2.0
//
// The operators whose kernels are written once for all languages (kernels_cl/*_shared.cl): what
// each launches, in which order and with which arguments. Everything but matrix products.
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

enum class kernel_file { gather, lookup, partition, scan, sort, convolution, fft, spmm };

/// Memory that a kernel takes: that of a view of the operator, its workspace, or what its plan
/// keeps.
enum class operand { view0, view1, view2, view3, view4, workspace, constants };

/// A field of a shape, an int64_t, that counts elements of `unit` bytes in a buffer: a launch adds
/// where the operand begins to it.
struct shape_offset {
  size_t field;  // bytes from the start of the shape
  operand of;
  uint32_t unit;
};

/// One launch. The arguments are `memory` in this order, then the shape by value, whose offsets
/// count from the start of each operand.
struct kernel_launch {
  kernel_file file;
  const std::string& options;  // "-DNAME=VALUE ...", without spaces in values
  const char* kernel;
  const char* label;  // of errors
  std::initializer_list<operand> memory;
  const void* shape;
  size_t shape_bytes;
  std::span<const shape_offset> offsets;
  uint64_t groups;
  bool last;  // of the operator
};

/// What takes the launches of one operator, in their order.
class operator_launcher {
 public:
  virtual void launch(const kernel_launch& what) = 0;
  /// What operand::constants of all launches is; at most once, before them.
  virtual void keep(std::span<const std::byte> constants) = 0;

 protected:
  ~operator_launcher() = default;
};

/// Whether such a device does the operator, a checked one that is no matrix product; else `reason`.
bool supports_operator(const device_description& device, const operator_call& l,
                       const char** reason);
uint64_t operator_workspace(const device_description& device, const operator_call& l);
/// All of it, without memory. Launches nothing where there is nothing to do.
void launch_operator(const device_description& device, const operator_call& l,
                     operator_launcher& on);

// The parts of these by kernel file.
bool supports_gather(const device_description& device, const operator_call& l, const char** reason);
void launch_gather(const device_description& device, const operator_call& l, operator_launcher& on);
uint64_t gather_workspace(const device_description& device, const operator_call& l);
/// `reason` where it does not.
bool supports_convolution(const device_description& device, const operator_call& l,
                          const char** reason);
uint64_t convolution_workspace(const device_description& device, const operator_call& l);
void launch_convolution(const device_description& device, const operator_call& l,
                        operator_launcher& on);
bool supports_fourier(const device_description& device, const operator_call& l,
                      const char** reason);
uint64_t fourier_workspace(const device_description& device, const operator_call& l);
void launch_fourier(const device_description& device, const operator_call& l,
                    operator_launcher& on);
bool supports_spmm(const device_description& device, const operator_call& l, const char** reason);
uint64_t spmm_workspace(const device_description& device, const operator_call& l);
void launch_spmm(const device_description& device, const operator_call& l, operator_launcher& on);
bool supports_sddmm(const device_description& device, const operator_call& l, const char** reason);
void launch_sddmm(const device_description& device, const operator_call& l, operator_launcher& on);
uint64_t lookup_workspace(const device_description& device, const operator_call& l);
void launch_lookup(const device_description& device, const operator_call& l, operator_launcher& on);
uint64_t partition_workspace(const device_description& device, const operator_call& l);
void launch_partition(const device_description& device, const operator_call& l,
                      operator_launcher& on);
uint64_t scan_workspace(const device_description& device, const operator_call& l);
void launch_scan(const device_description& device, const operator_call& l, operator_launcher& on);
uint64_t sort_workspace(const device_description& device, const operator_call& l);
void launch_sort(const device_description& device, const operator_call& l, operator_launcher& on);
/// Part of an operator on a GPU: see plan_order. The workspace of the plan begins that of the
/// operator.
sort_plan plan_order_on(const device_description& device, int64_t length, uint64_t limit);
void launch_order(const device_description& device, const sort_plan& plan, operator_launcher& on);

/// Throws TUTTI_ERROR_INVALID_ARGUMENT unless the workspace that a launch brought has `bytes`
/// bytes, lies inside its buffer and begins at a multiple of `alignment`.
void validate_workspace(const operator_memory& given, uint64_t bytes, uint64_t buffer_bytes,
                        uint64_t alignment, const char* what);

/// Room for the largest shape.
struct alignas(8) filled_shape {
  std::byte bytes[704];
};

/// A kernel_launch that has been kept, and what of it a launch fills in.
struct prepared_launch {
  explicit prepared_launch(const kernel_launch& from);
  /// The shape as it is for operands that begin there.
  void shape_at(const operator_memory& where, filled_shape& to) const;

  std::vector<operand> memory;
  std::vector<std::byte> shape;
  std::vector<shape_offset> offsets;
  uint64_t groups;
  bool last;
  const char* label;
};

}  // namespace tutti::sdk
