// SPDX-License-Identifier: Apache-2.0
//
// Exchange of arrays with other libraries, without a copy if the memory can be shared: DLPack
// (https://dmlc.github.io/dlpack/latest/). The structs are only declared here: include your own
// dlpack.h or tutti/dlpack_structs.h.
#pragma once

#include <cstdint>
#include <optional>

#include "tutti/array.hpp"
#include "tutti/device.hpp"

struct DLManagedTensor;
struct DLManagedTensorVersioned;

namespace tutti {

struct dlpack_options {
  bool to_cpu = false;  ///< kDLCPU for any device: a copy unless the device is the host
  bool copy = false;    ///< in separate memory, which the consumer may modify
};

/// Exports `a` for another library, as DLPack 1.0. Evaluates the array, and waits until its values
/// are available, so that the consumer needs no synchronisation: it can use any of its streams or
/// queues (the `stream` of the Python protocol is not needed).
///
/// The caller owns the result and must call its deleter, or pass it to a consumer that does, once
/// and from any thread; work that uses the memory must have finished by then. The memory stays
/// valid until then, independently of `a`. Without `copy` it is shared with arrays, which never
/// change: the flag READ_ONLY is set; a copy has the flag IS_COPIED instead.
///
/// - Views are exported as views: strides, never NULL, count elements and may be 0 or negative.
/// - reference and other host plugins: kDLCPU. data points to the first element, byte_offset is 0.
/// - cuda: kDLCUDA and the CUDA ordinal. data is the address of the first element in the device's
///   primary context, byte_offset is 0 (PyTorch ignores it).
/// - opencl: kDLOpenCL and the number N of "opencl:N". data is the cl_mem, as the specification
///   requires; the first element is at byte_offset. Its context is that of clGetMemObjectInfo. The
///   specification leaves the device number and the context to agreement between both sides; TVM,
///   for example, has its own descriptor in data, and can take these values only through to_cpu.
/// - Without elements data is NULL.
///
/// Throws value_error for an invalid handle, device_error if the work failed or if the device's
/// plugin has no native handles (to_cpu works in that case), out_of_memory.
TUTTI_API DLManagedTensorVersioned* to_dlpack(const array& a, const dlpack_options& options = {});

/// The same in the form without version and flags that older consumers need (a capsule named
/// "dltensor"): it does not indicate that memory is shared, and consumers must not write to it.
TUTTI_API DLManagedTensor* to_dlpack_legacy(const array& a, const dlpack_options& options = {});

struct dlpack_device {
  std::int32_t type = 0;  ///< DLDeviceType
  std::int32_t id = 0;
  friend bool operator==(const dlpack_device&, const dlpack_device&) = default;
};

/// The device from which to_dlpack would export `a`, as returned by Python's `__dlpack_device__`.
/// Throws device_error if the plugin has no native handles.
TUTTI_API dlpack_device dlpack_device_of(const array& a);

/// An array over the memory of another library. Takes ownership of `tensor` in any case, even if it
/// throws: the deleter is called once, as soon as nothing uses the memory any more (the array, its
/// views, arrays still to be computed from it, work on the device). It may be called in any thread,
/// but never while a lock of the library is held; a failed or hanging copy to another device keeps
/// the memory permanently. A deleter that throws ends the process: it is a C function, so nothing
/// can catch the exception.
///
/// The values must be available (synchronise the producer's stream or queue first), and must not
/// change while arrays use them. The library never writes to them, with or without READ_ONLY.
///
/// Without `on` the array is created on the device of the memory:
/// - kDLCPU: the default device if its plugin uses host memory, otherwise "reference". Copied only
///   if elements are not aligned to their size.
/// - kDLCUDA, kDLCUDAHost, kDLCUDAManaged: the cuda device with that number.
/// - kDLOpenCL: the opencl device with that number. data is a cl_mem of the plugin's context, which
///   an exported array provides.
/// Host, managed and OpenCL memory is used by `on` directly if possible. Any other `on` gets a
/// copy, which is made before this function returns.
///
/// Strides of all kinds become a view, including overlapping ones (which is safe, as values do not
/// change); without strides the values are row-major.
///
/// Throws value_error for tensors that cannot be an array (another major version, more than 8
/// dimensions, negative extents, too many elements, no data, elements not aligned), dtype_error for
/// dtypes that the library or the device lacks, plugin_error or device_error if the device does not
/// exist, or refuses the memory because it belongs to another device.
TUTTI_API array from_dlpack(DLManagedTensorVersioned* tensor, std::optional<device> on = {});
TUTTI_API array from_dlpack(DLManagedTensor* tensor, std::optional<device> on = {});

}  // namespace tutti
