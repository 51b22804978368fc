// SPDX-License-Identifier: Apache-2.0
//
// What the launches of sorts, selections and searches share.
#pragma once

#include <initializer_list>
#include <string>

#include "opencl/operators.hpp"
#include "opencl/type_names.hpp"
#include "sdk/op_info.hpp"
#include "sdk/ordering.hpp"

namespace tutti::opencl {

inline int64_t elements(const tutti_view& view) {
  return static_cast<int64_t>(view.offset / sdk::dtype_size(view.dtype));
}

inline size_t group_size(const device_info& info) {
  return info.kind == sdk::schedule::cpu ? 1 : info.work_group;
}

inline std::string group_option(const device_info& info) {
  return " -DGROUP=" + std::to_string(group_size(info));
}

// One launch of a kernel with memory first, then the geometry.
template <typename Shape>
void run(tutti_stream& stream, std::string_view source, const std::string& options,
         const char* name, std::initializer_list<cl_mem> memory, const Shape& shape,
         uint64_t groups, tutti_event** event) {
  shared_kernel& kernel = stream.device->kernel(source, options, name);
  const std::lock_guard lock(kernel.mutex);
  cl_uint n = 0;
  for (const cl_mem m : memory) set_argument(kernel.kernel.get(), n++, m);
  set_argument(kernel.kernel.get(), n, shape);
  enqueue(stream.queue, kernel.kernel.get(), groups, group_size(*stream.device->info), event, name);
}

// Of ordering.cl.
inline std::string key_options(const device_info& info, int32_t dtype, bool payload) {
  return std::string(base_options) + " -DK=" + unsigned_name(sdk::dtype_size(dtype)) +
         " -DKEY_KIND=" + std::to_string(static_cast<int>(sdk::key_kind_of(dtype))) +
         " -DINF=" + sdk::infinity_bits(dtype) + " -DPAYLOAD=" + (payload ? "1" : "0") +
         group_option(info);
}

}  // namespace tutti::opencl
