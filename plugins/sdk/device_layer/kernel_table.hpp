// SPDX-License-Identifier: Apache-2.0
//
// The group of application kernels for a backend: checks, and arguments as addresses and sizes; the
// backend builds and launches kernels.
#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <vector>

#include "sdk/device_layer/backend.hpp"
#include "sdk/kernel_launch.hpp"

namespace tutti::sdk {

/// Backend-independent data of a kernel; tutti_kernel derives from it.
template <typename B>
struct application_kernel {
  typename B::device* device = nullptr;
  std::string label;
  kernel_limits limits{};
  uint32_t argument_count = TUTTI_KERNEL_ARGUMENTS_UNKNOWN;
};

/// Requirements besides device_backend:
/// - kernel_memory: the kernel argument for a buffer at an offset; value() is valid while the
///   launch is being enqueued
/// - kernel_languages: the languages of a device
/// - shared_is_argument: whether group-local memory is a kernel argument
template <typename B>
concept kernel_backend = requires(typename B::device& device, typename B::buffer& buffer) {
  typename B::kernel_memory;
  requires std::constructible_from<typename B::kernel_memory, typename B::device&,
                                   typename B::buffer&, uint64_t>;
  { B::kernel_languages(device) } -> std::same_as<uint32_t>;
  { B::shared_is_argument } -> std::convertible_to<bool>;
};

/// Kernel is tutti_kernel, which the plugin derives from application_kernel<B>:
/// - build(desc): compiles, sets limits and argument_count
/// - launch(stream, arguments, launch, event): enqueues
template <device_backend B, typename Kernel>
requires kernel_backend<B>
struct kernel_functions {
  static tutti_status* languages(tutti_device* device, uint32_t* result) {
    return guarded([&] {
      deref(result, "languages") = 0;
      *result = B::kernel_languages(deref(device, "device"));
    });
  }

  static tutti_status* create(tutti_device* device, const tutti_kernel_desc* desc,
                              tutti_kernel** result) {
    return guarded([&] {
      deref(result, "kernel") = nullptr;
      typename B::device& d = deref(device, "device");
      const tutti_kernel_desc given = read_struct(desc, "kernel description");
      validate_kernel(given, B::kernel_languages(d), d.info->name);
      [[maybe_unused]] const typename B::scope scope(d);
      auto kernel = std::make_unique<Kernel>();
      kernel->device = &d;
      kernel->label = label_of(given);
      kernel->build(given);
      *result = kernel.release();
    });
  }

  static void release(tutti_kernel* kernel) { delete static_cast<Kernel*>(kernel); }

  static tutti_status* info(tutti_kernel* kernel, tutti_kernel_info* result) {
    return guarded([&] {
      const Kernel& k = deref(kernel, "kernel");
      write_struct(
          result,
          tutti_kernel_info{0, k.limits.work_group, k.limits.shared_bytes, k.argument_count, 0},
          "kernel info");
    });
  }

  static tutti_status* launch(tutti_stream* stream, tutti_kernel* kernel,
                              const tutti_kernel_launch* given, tutti_event** event) {
    return guarded([&] {
      if (event != nullptr) *event = nullptr;
      Kernel& k = deref(kernel, "kernel");
      const char* label = k.label.c_str();
      const tutti_kernel_launch l = read_struct(given, "kernel launch");
      typename B::stream& s = deref(stream, "stream");
      require_same_device<B>(*k.device, *s.device, k.label, "the kernel");
      validate_kernel_sizes(l, k.limits, label);
      if (k.argument_count != TUTTI_KERNEL_ARGUMENTS_UNKNOWN &&
          k.argument_count != l.argument_count + (B::shared_is_argument && l.shared_bytes > 0)) {
        throw_invalid(k.label, ": ", l.argument_count, " arguments for a kernel of ",
                      k.argument_count);
      }
      [[maybe_unused]] const typename B::scope scope(*k.device);
      argument_list arguments(k, l);
      k.launch(s, arguments.get(), l, event);
    });
  }

  static constexpr tutti_kernel_api api = {
      sizeof(tutti_kernel_api), languages, create, release, info, launch};

 private:
  class argument_list {
   public:
    argument_list(const Kernel& k, const tutti_kernel_launch& l) {
      memory_.reserve(l.argument_count);  // keeps addresses stable
      const char* label = k.label.c_str();
      for (uint32_t n = 0; n < l.argument_count; ++n) {
        const tutti_kernel_argument a = kernel_argument_at(l, n, label);
        if (a.kind == TUTTI_KERNEL_SCALAR) {
          values_.push_back(a.scalar);
          bytes_.push_back(a.bytes);
          continue;
        }
        memory_on<B>(*k.device, a.buffer, label);
        typename B::buffer& buffer = *a.buffer;
        validate_kernel_buffer(a, k.device->info->properties.alignment, buffer.bytes, label);
        const auto& memory = memory_.emplace_back(*k.device, buffer, a.offset);
        values_.push_back(&memory.value());
        bytes_.push_back(sizeof memory.value());
      }
    }
    kernel_arguments get() const {
      return {values_.data(), bytes_.data(), static_cast<uint32_t>(values_.size())};
    }

   private:
    std::vector<typename B::kernel_memory> memory_;
    std::vector<const void*> values_;
    std::vector<size_t> bytes_;
  };
};

}  // namespace tutti::sdk
