// SPDX-License-Identifier: Apache-2.0
//
// Names of OpenCL's errors, and their ABI codes.
#include "opencl/objects.hpp"

namespace tutti::opencl {
namespace {

struct named {
  cl_int code;
  const char* name;
};

#define NAMED(code) \
  { code, #code }
constexpr named names[] = {
    NAMED(CL_DEVICE_NOT_FOUND),
    NAMED(CL_DEVICE_NOT_AVAILABLE),
    NAMED(CL_COMPILER_NOT_AVAILABLE),
    NAMED(CL_MEM_OBJECT_ALLOCATION_FAILURE),
    NAMED(CL_OUT_OF_RESOURCES),
    NAMED(CL_OUT_OF_HOST_MEMORY),
    NAMED(CL_PROFILING_INFO_NOT_AVAILABLE),
    NAMED(CL_MEM_COPY_OVERLAP),
    NAMED(CL_BUILD_PROGRAM_FAILURE),
    NAMED(CL_MAP_FAILURE),
    NAMED(CL_MISALIGNED_SUB_BUFFER_OFFSET),
    NAMED(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
    NAMED(CL_KERNEL_ARG_INFO_NOT_AVAILABLE),
    NAMED(CL_INVALID_VALUE),
    NAMED(CL_INVALID_DEVICE_TYPE),
    NAMED(CL_INVALID_PLATFORM),
    NAMED(CL_INVALID_DEVICE),
    NAMED(CL_INVALID_CONTEXT),
    NAMED(CL_INVALID_QUEUE_PROPERTIES),
    NAMED(CL_INVALID_COMMAND_QUEUE),
    NAMED(CL_INVALID_HOST_PTR),
    NAMED(CL_INVALID_MEM_OBJECT),
    NAMED(CL_INVALID_BINARY),
    NAMED(CL_INVALID_BUILD_OPTIONS),
    NAMED(CL_INVALID_PROGRAM),
    NAMED(CL_INVALID_PROGRAM_EXECUTABLE),
    NAMED(CL_INVALID_KERNEL_NAME),
    NAMED(CL_INVALID_KERNEL),
    NAMED(CL_INVALID_ARG_INDEX),
    NAMED(CL_INVALID_ARG_VALUE),
    NAMED(CL_INVALID_ARG_SIZE),
    NAMED(CL_INVALID_KERNEL_ARGS),
    NAMED(CL_INVALID_WORK_DIMENSION),
    NAMED(CL_INVALID_WORK_GROUP_SIZE),
    NAMED(CL_INVALID_WORK_ITEM_SIZE),
    NAMED(CL_INVALID_GLOBAL_OFFSET),
    NAMED(CL_INVALID_EVENT_WAIT_LIST),
    NAMED(CL_INVALID_EVENT),
    NAMED(CL_INVALID_OPERATION),
    NAMED(CL_INVALID_BUFFER_SIZE),
    NAMED(CL_INVALID_GLOBAL_WORK_SIZE),
    NAMED(CL_INVALID_PROPERTY),
    {-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
    {collective_earlier_work, "work of a participant before a collective failed"},
};
#undef NAMED

tutti_code code_of(cl_int code) {
  switch (code) {
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_RESOURCES:
    case CL_OUT_OF_HOST_MEMORY:
      return TUTTI_ERROR_OUT_OF_MEMORY;
    case CL_DEVICE_NOT_AVAILABLE:
      return TUTTI_ERROR_DEVICE_LOST;
    case CL_PROFILING_INFO_NOT_AVAILABLE:
      return TUTTI_ERROR_UNSUPPORTED;
    default:
      return TUTTI_ERROR_DRIVER;
  }
}

}  // namespace

const char* error_name(cl_int code) {
  for (const named& known : names) {
    if (known.code == code) return known.name;
  }
  return "unknown OpenCL error";
}

sdk::plugin_error error_of(cl_int code, const std::string& what) {
  const tutti_code mapped = code_of(code);
  return sdk::plugin_error(mapped,
                           what + ": " + error_name(code) + " (" + std::to_string(code) + ")", code,
                           mapped == TUTTI_ERROR_OUT_OF_MEMORY);
}

void throw_error(cl_int code, const std::string& what) { throw error_of(code, what); }

}  // namespace tutti::opencl
