// SPDX-License-Identifier: Apache-2.0
//
// Kernels that the application brings, for what is not composed of the library's operations: one
// object holds the source for each kind of device, and each launch takes that of its device.
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

/// What one launch gives to the function that a kernel has for the host (kernel_source::host):
/// row-major elements of inputs and outputs, and the scalars, each by its place in its list.
/// Throws index_error for a place that is not there, dtype_error for another type than the
/// array's or the scalar's. Valid during the call.
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
  /// Extents of the launch: as many as it named, all 1 or more.
  const shape& global() const { return global_; }
  /// Of one work-group; empty where the launch left it open.
  const shape& local() const { return local_; }

  /// For the library itself.
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

/// One kernel in every language that the application has it in. The compilers get the texts as they
/// are: line 1 of a compiler's message is line 1 of the text. Each is complete by itself: the cache
/// of compiled programs goes by texts and options, not by files that they include.
///
/// The kernel's parameters are, in this order: a pointer for each input, one for each output, the
/// scalars. In OpenCL C a launch with shared_bytes adds a `local` pointer at the end; in CUDA it is
/// the dynamic shared memory (extern __shared__).
struct kernel_source {
  std::string name = {};            ///< of the kernel in each text, and in messages and traces
  std::string opencl = {};          ///< OpenCL C, for devices of OpenCL
  std::string opencl_options = {};  ///< of its compiler: "-cl-fast-relaxed-math -DN=4"
  std::string cuda = {};            ///< CUDA C++; the kernel is extern "C" __global__
  std::string cuda_options = {};    ///< of NVRTC: "--use_fast_math -DN=4"
  std::string ptx = {};             ///< PTX, for CUDA devices where `cuda` is empty
  /// The words of a SPIR-V module of OpenCL's kind, for devices that take modules (OpenCL 2.1, or
  /// cl_khr_il_program) where `opencl` is empty. It comes as it is, so it has to be valid.
  std::vector<std::uint32_t> spirv = {};
  std::string spirv_options = {};  ///< of the device's compiler
  /// The same on the host, in row-major order over all of the launch. It runs on the reference
  /// device, and instead of any device that takes none of the texts, as operators do that a device
  /// lacks: counted, said once, refused with TUTTI_FALLBACK=error. It is called from another
  /// thread, later, and what it throws fails the results: whoever reads them gets a device_error
  /// with its text, of code TUTTI_ERROR_INVALID_ARGUMENT (TUTTI_ERROR_OUT_OF_MEMORY for bad_alloc).
  /// It must not compute with arrays.
  std::function<void(const kernel_host_call&)> host = {};
};

/// An array that a launch makes.
struct kernel_output {
  tutti::shape shape = {};
  tutti::dtype dtype = tutti::dtype::f32;
  /// What it holds before, broadcast to the shape and converted: a copy of it. Where it is invalid,
  /// as by default, the memory holds anything, and the kernel has to write every element.
  array initial = {};
};

/// A number that a launch passes by value, of the type that it has in C++: float is `float` in the
/// kernel, std::int64_t `long`, bool an unsigned char of 0 or 1, std::complex<float> a float2.
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
  /// Work-items along up to three dimensions (in CUDA: threads of the grid, not blocks). Left out,
  /// one for each element of the first output.
  shape global = {};
  /// Of one work-group (block), dividing `global`. Left out, the device chooses; on CUDA the
  /// largest divisor of global[0] up to 256, so name one, and round `global` up to it, where
  /// global[0] has few divisors.
  shape local = {};
  std::size_t shared_bytes = 0;  ///< memory of each work-group beside what the source declares
  /// The device, where no input says it: the default one where this is left out.
  std::optional<device> on = {};
};

/// A kernel of the application's own. Copies share what is compiled; any thread may launch.
///
///     tutti::kernel saxpy({.name = "saxpy",
///                          .opencl = "kernel void saxpy(global const float* x, ...) {...}",
///                          .cuda = "extern \"C\" __global__ void saxpy(const float* x, ...)
///                          {...}", .host = [](const tutti::kernel_host_call& c) {...}});
///     array out = saxpy({x, y}, {.outputs = {{x.shape(), dtype::f32}}, .scalars = {2.0f}})[0];
class TUTTI_API kernel {
 public:
  /// Compiles nothing yet. Throws value_error where there is no name or no source.
  explicit kernel(kernel_source source);
  // Without moves, which would leave one behind that has no source.
  kernel(const kernel&) = default;
  kernel& operator=(const kernel&) = default;

  const std::string& name() const;

  /// Evaluates the inputs and enqueues the kernel behind them on their device, without waiting:
  /// this is the one operation that is not lazy. The results are arrays like any other, one for
  /// each of `launch.outputs`; work that reads them comes after the kernel. The first launch on a
  /// device compiles, through the cache of compiled programs.
  ///
  /// Inputs arrive row-major and contiguous: views that are not are copied before. The kernel must
  /// not write to them. Where all outputs are without elements, nothing is launched.
  ///
  /// Throws value_error for no outputs, for sizes that are zero, beyond what the device takes or
  /// not divided by those of a work-group, and for an argument that is being differentiated (wrap
  /// the kernel in custom_vjp()); shape_error and dtype_error for outputs that no array can be;
  /// device_error for inputs on different devices, for a device that takes none of the sources
  /// (TUTTI_ERROR_UNSUPPORTED), for source that does not compile (TUTTI_ERROR_COMPILE, with the
  /// compiler's log) and where the number of arguments is not the kernel's.
  std::vector<array> operator()(const std::vector<array>& inputs,
                                const kernel_launch& launch) const;

 private:
  std::shared_ptr<const kernel_source> source_;
};

}  // namespace tutti
