// SPDX-License-Identifier: Apache-2.0
//
// Arrays from and for other libraries, without a copy where the memory can be shared: DLPack
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
  bool to_cpu = false;  ///< kDLCPU whatever the device: a copy unless the device is the host
  bool copy = false;    ///< in memory of its own, which the consumer may write to
};

/// The values of `a` for another library, as DLPack 1.0. Evaluates, and waits until they are there,
/// so that the consumer needs no synchronisation: any stream or queue of its own will do (what the
/// Python protocol passes as `stream` is not needed).
///
/// The caller owns the result and calls its deleter, or hands it to a consumer who does, once and
/// from any thread; work that uses the memory must be done by then. The memory stays until then,
/// whatever becomes of `a`. Without `copy` it is shared with arrays, which never change: the flag
/// READ_ONLY is set; a copy has the flag IS_COPIED instead.
///
/// - Views are exported as views: strides, never NULL, count elements and may be 0 or negative.
/// - reference and other host plugins: kDLCPU. data points to the first element, byte_offset is 0.
/// - cuda: kDLCUDA and the CUDA ordinal. data is the address of the first element in the device's
///   primary context, byte_offset is 0 (PyTorch ignores it).
/// - opencl: kDLOpenCL and the number N of "opencl:N". data is the cl_mem, as the specification
///   says; the first element is at byte_offset. Its context is clGetMemObjectInfo's. That number
///   and the context are what the specification leaves to both sides to agree on; TVM, for one, has
///   a descriptor of its own in data, and takes these values through to_cpu only.
/// - Without elements data is NULL.
///
/// Throws value_error for an invalid handle, device_error where the work failed or the device's
/// plugin gives no native handles (to_cpu works there as well), out_of_memory.
TUTTI_API DLManagedTensorVersioned* to_dlpack(const array& a, const dlpack_options& options = {});

/// The same in the form without version and flags, which older consumers want (a capsule named
/// "dltensor"): nothing tells them that memory is shared, and they must not write to it.
TUTTI_API DLManagedTensor* to_dlpack_legacy(const array& a, const dlpack_options& options = {});

struct dlpack_device {
  std::int32_t type = 0;  ///< DLDeviceType
  std::int32_t id = 0;
  friend bool operator==(const dlpack_device&, const dlpack_device&) = default;
};

/// Where to_dlpack would export `a` from: what Python's `__dlpack_device__` gives. Throws
/// device_error where the plugin gives no native handles.
TUTTI_API dlpack_device dlpack_device_of(const array& a);

/// An array over the memory of another library. Takes `tensor` over in any case, also when it
/// throws: the deleter is called once, as soon as nothing uses the memory any more: the array,
/// views of it, arrays yet to be computed from it, work on the device. That may be in any thread,
/// and never with a lock of the library held; a failed or hanging copy to another device keeps the
/// memory for good. A deleter that throws ends the process: it is a C function, and nobody is there
/// to catch.
///
/// The values must be there (a producer's stream or queue is to be synchronised first), and must
/// not change while arrays use them. Nothing here writes to them, whether READ_ONLY or not.
///
/// Without `on` the array is where the memory is:
/// - kDLCPU: the default device where its plugin's memory is the host's, else "reference". No copy
///   but where elements are not aligned to their size.
/// - kDLCUDA, kDLCUDAHost, kDLCUDAManaged: the cuda device of that number.
/// - kDLOpenCL: the opencl device of that number. data is a cl_mem of the plugin's context, which
/// an
///   exported array tells.
/// Host, managed and OpenCL memory is taken by `on` itself where it can. Any other `on` gets a
/// copy, made before this returns.
///
/// Strides of all kinds become a view, overlapping ones included (values do not change, so nothing
/// goes wrong); without strides the values are row-major.
///
/// Throws value_error for what cannot be an array (another major version, more than 8 dimensions,
/// negative extents, too many elements, no data, elements not aligned), dtype_error for dtypes that
/// the library or the device lacks, plugin_error or device_error where the device is not there, or
/// refuses the memory as not its own.
TUTTI_API array from_dlpack(DLManagedTensorVersioned* tensor, std::optional<device> on = {});
TUTTI_API array from_dlpack(DLManagedTensor* tensor, std::optional<device> on = {});

}  // namespace tutti
