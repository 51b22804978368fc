// SPDX-License-Identifier: Apache-2.0
//
// The operators whose kernels are written once for all languages (kernels_cl/*_shared.cl): what
// each launches, in which order and with which arguments. Everything but matrix products.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>

#include "sdk/device_layer/description.hpp"

namespace tutti::sdk {

enum class kernel_file { gather, lookup, partition, scan, sort };

/// Memory that a kernel takes: that of a view of the operator, or its workspace.
enum class operand { view0, view1, view2, workspace };

/// One launch. The arguments are `memory` in this order, then the shape by value.
struct kernel_launch {
  kernel_file file;
  const std::string& options;  // "-DNAME=VALUE ...", without spaces in values
  const char* kernel;
  const char* label;  // of errors
  std::initializer_list<operand> memory;
  const void* shape;
  size_t shape_bytes;
  uint64_t groups;
  bool last;  // of the operator
};

/// A stream for the length of one operator.
class operator_launcher {
 public:
  /// Throws TUTTI_ERROR_INVALID_ARGUMENT where the operator brought less workspace.
  virtual void require_workspace(uint64_t bytes, const char* what) = 0;
  virtual void launch(const kernel_launch& what) = 0;

 protected:
  ~operator_launcher() = default;
};

/// Whether such a device does the operator, a checked one that is no matrix product; else `reason`.
bool supports_operator(const device_description& device, const tutti_operator_launch& l,
                       const char** reason);
uint64_t operator_workspace(const device_description& device, const tutti_operator_launch& l);
/// Launches nothing where there is nothing to do.
void launch_operator(const device_description& device, const tutti_operator_launch& l,
                     operator_launcher& on);

// The parts of these by kernel file.
bool supports_gather(const device_description& device, const tutti_operator_launch& l,
                     const char** reason);
void launch_gather(const device_description& device, const tutti_operator_launch& l,
                   operator_launcher& on);
uint64_t lookup_workspace(const device_description& device, const tutti_operator_launch& l);
void launch_lookup(const device_description& device, const tutti_operator_launch& l,
                   operator_launcher& on);
uint64_t partition_workspace(const device_description& device, const tutti_operator_launch& l);
void launch_partition(const device_description& device, const tutti_operator_launch& l,
                      operator_launcher& on);
uint64_t scan_workspace(const device_description& device, const tutti_operator_launch& l);
void launch_scan(const device_description& device, const tutti_operator_launch& l,
                 operator_launcher& on);
uint64_t sort_workspace(const device_description& device, const tutti_operator_launch& l);
void launch_sort(const device_description& device, const tutti_operator_launch& l,
                 operator_launcher& on);

/// Throws TUTTI_ERROR_INVALID_ARGUMENT unless the workspace that the launch brought has `bytes`
/// bytes and lies inside its buffer.
void validate_workspace(const tutti_operator_launch& l, uint64_t bytes, uint64_t buffer_bytes,
                        const char* what);

/// Elements before the first one of a view in its buffer.
int64_t view_elements(const tutti_view& view);

}  // namespace tutti::sdk
