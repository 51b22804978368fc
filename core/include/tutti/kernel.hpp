// SPDX-License-Identifier: Apache-2.0
//
// Kernels that the application provides, for work that cannot be composed of the library's
// operations: one object contains the source for each kind of device, and each launch selects one.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tutti/array.hpp"

namespace tutti {

/// Data of one launch for the host function of a kernel (kernel_source::host): row-major elements
/// of inputs and outputs, and the scalars, each by its index in its list. Throws index_error for an
/// invalid index, dtype_error if the type differs from that of the array or the scalar. Valid
/// during the call.
class TUTTI_API kernel_host_call {
 public:
  template <class T>
  std::span<const T> input(std::size_t i) const {
    const field& f = find(inputs_, i, "input", dtype_of<T>);
    return {static_cast<const T*>(f.memory), f.elements};
  }
  template <class T>
  std::span<T> output(std::size_t i) const {
    const field& f = find(outputs_, i, "output", dtype_of<T>);
    return {static_cast<T*>(f.memory), f.elements};
  }
  template <class T>
  T scalar(std::size_t i) const {
    T value;
    std::memcpy(&value, find(scalars_, i, "scalar", dtype_of<T>).memory, sizeof value);
    return value;
  }
  /// Extents of the launch: as many as were specified, all at least 1.
  const shape& global() const { return global_; }
  /// Extents of a work-group; empty if the launch did not specify them.
  const shape& local() const { return local_; }

  /// For internal use.
  struct field {
    void* memory = nullptr;
    std::size_t elements = 0;
    dtype type = dtype::u8;
  };
  kernel_host_call(std::string name, std::vector<field> inputs, std::vector<field> outputs,
                   std::vector<field> scalars, const shape& global, const shape& local)
      : name_(std::move(name)),
        inputs_(std::move(inputs)),
        outputs_(std::move(outputs)),
        scalars_(std::move(scalars)),
        global_(global),
        local_(local) {}

 private:
  const field& find(const std::vector<field>& list, std::size_t i, std::string_view what,
                    dtype asked) const;

  std::string name_;
  std::vector<field> inputs_, outputs_, scalars_;
  shape global_, local_;
};

/// One kernel in every language that the application provides. The compilers get the texts without
/// changes: line 1 of a compiler message is line 1 of the text. Each text must be self-contained:
/// the cache of compiled programs depends on texts and options, not on included files.
///
/// The kernel's parameters are, in this order: a pointer for each input, one for each output, the
/// scalars. In OpenCL C a launch with shared_bytes adds a `local` pointer at the end; in CUDA it is
/// the dynamic shared memory (extern __shared__).
struct kernel_source {
  std::string name = {};            ///< of the kernel in each text, and in messages and traces
  std::string opencl = {};          ///< OpenCL C, for OpenCL devices
  std::string opencl_options = {};  ///< compiler options: "-cl-fast-relaxed-math -DN=4"
  std::string cuda = {};            ///< CUDA C++; the kernel is extern "C" __global__
  std::string cuda_options = {};    ///< NVRTC options: "--use_fast_math -DN=4"
  std::string ptx = {};             ///< PTX, for CUDA devices if `cuda` is empty
  /// The words of a SPIR-V module for OpenCL, for devices that support modules (OpenCL 2.1, or
  /// cl_khr_il_program) if `opencl` is empty. It is not checked, so it must be valid.
  std::vector<std::uint32_t> spirv = {};
  std::string spirv_options = {};  ///< options of the device's compiler
  /// The same on the host, in row-major order over the whole launch. It runs on devices that run on
  /// the host, and instead of any device that supports none of the texts; like operators that a
  /// device lacks, this is counted, logged once, and an error with TUTTI_FALLBACK=error. It is
  /// called later, from another thread. An exception fails the results: reading them throws a
  /// device_error with its text and code TUTTI_ERROR_INVALID_ARGUMENT (TUTTI_ERROR_OUT_OF_MEMORY
  /// for bad_alloc). It must not compute with arrays.
  std::function<void(const kernel_host_call&)> host = {};
};

/// An output array of a launch.
struct kernel_output {
  tutti::shape shape = {};
  tutti::dtype dtype = tutti::dtype::f32;
  /// Its initial value, broadcast to the shape and converted: a copy. If it is invalid (the
  /// default), the memory is uninitialised, and the kernel must write every element.
  array initial = {};
};

/// A number that a launch passes by value, with its C++ type: float is `float` in the kernel,
/// std::int64_t `long`, bool an unsigned char of 0 or 1, std::complex<float> a float2.
class kernel_scalar {
 public:
  template <detail::arithmetic T>
  kernel_scalar(T value) : type_(dtype_of<T>) {
    std::memcpy(bytes_, &value, sizeof value);
  }
  template <std::floating_point T>
  kernel_scalar(std::complex<T> value) : type_(dtype_of<std::complex<T>>) {
    std::memcpy(bytes_, &value, sizeof value);
  }
  kernel_scalar(float16 value) : type_(tutti::dtype::f16) {
    std::memcpy(bytes_, &value, sizeof value);
  }
  kernel_scalar(bfloat16 value) : type_(tutti::dtype::bf16) {
    std::memcpy(bytes_, &value, sizeof value);
  }

  tutti::dtype dtype() const { return type_; }
  const void* data() const { return bytes_; }

 private:
  tutti::dtype type_;
  alignas(16) std::byte bytes_[16] = {};
};

/// How a kernel is launched.
struct kernel_launch {
  std::vector<kernel_output> outputs = {};
  std::vector<kernel_scalar> scalars = {};
  /// Number of work-items along up to three dimensions (in CUDA: threads of the grid, not blocks).
  /// Default: one for each element of the first output.
  shape global = {};
  /// Size of a work-group (block), which divides `global`. By default the device chooses; CUDA uses
  /// the largest divisor of global[0] up to 256, so if global[0] has few divisors, specify a size
  /// and round `global` up to it.
  shape local = {};
  std::size_t shared_bytes = 0;  ///< work-group memory in addition to what the source declares
  /// The device, if there are no inputs; by default the default device.
  std::optional<device> on = {};
};

/// A kernel of the application. Copies share compiled code; any thread may launch.
///
///     tutti::kernel saxpy({.name = "saxpy",
///                          .opencl = "kernel void saxpy(global const float* x, ...) {...}",
///                          .cuda = "extern \"C\" __global__ void saxpy(const float* x, ...)
///                          {...}", .host = [](const tutti::kernel_host_call& c) {...}});
///     array out = saxpy({x, y}, {.outputs = {{x.shape(), dtype::f32}}, .scalars = {2.0f}})[0];
class TUTTI_API kernel {
 public:
  /// Does not compile anything yet. Throws value_error without a name or without any source.
  explicit kernel(kernel_source source);
  // Without moves, which would leave a kernel without source.
  kernel(const kernel&) = default;
  kernel& operator=(const kernel&) = default;

  const std::string& name() const;

  /// Evaluates the inputs and enqueues the kernel after them on their device, without waiting: this
  /// is the only operation that is not lazy. The results are ordinary arrays, one for each of
  /// `launch.outputs`; work that reads them runs after the kernel. The first launch on a device
  /// compiles, through the cache of compiled programs.
  ///
  /// Inputs are row-major and contiguous: other views are copied first. The kernel must not write
  /// to them. If no output has elements, nothing is launched.
  ///
  /// Throws value_error without outputs, for sizes that are zero, exceed the limits of the device
  /// or are not divisible by those of a work-group, and for an argument that is being
  /// differentiated (wrap the kernel in custom_vjp()); shape_error and dtype_error for invalid
  /// outputs; device_error for inputs on different devices, for a device that supports none of the
  /// sources (TUTTI_ERROR_UNSUPPORTED), for source that does not compile (TUTTI_ERROR_COMPILE, with
  /// the compiler log) and for a wrong number of arguments.
  std::vector<array> operator()(const std::vector<array>& inputs,
                                const kernel_launch& launch) const;

 private:
  std::shared_ptr<const kernel_source> source_;
};

}  // namespace tutti
