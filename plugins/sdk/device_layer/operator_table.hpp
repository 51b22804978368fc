// SPDX-License-Identifier: Apache-2.0
//
// The operator group of the ABI for a backend: checks of the views, then the operator.
#pragma once

#include "sdk/device_layer/backend.hpp"
#include "sdk/ordering.hpp"
#include "sdk/validate_operator.hpp"

namespace tutti::sdk {

/// The launches of one operator on a stream.
template <device_backend B>
class operator_run final : public operator_launcher {
 public:
  operator_run(typename B::stream& stream, const tutti_operator_launch& l, tutti_event** event)
      : device_(*stream.device), l_(l), recording_(stream, event) {}

  void require_workspace(uint64_t bytes, const char* what) override {
    if (bytes == 0) return;
    memory_on<B>(device_, l_.workspace, what);
    const typename B::buffer& buffer = *l_.workspace;
    validate_workspace(l_, bytes, buffer.bytes, what);
  }

  void launch(const kernel_launch& k) override {
    constexpr uint32_t most = 8;
    typename B::memory memory[most];
    const void* values[most];
    size_t bytes[most];
    uint32_t n = 0;
    for (const operand o : k.memory) {
      memory[n] = memory_of(o);
      values[n] = &memory[n];
      bytes[n++] = sizeof memory[0];
    }
    values[n] = k.shape;
    bytes[n++] = k.shape_bytes;
    auto&& kernel = B::kernel_of(device_, k.file, k.options, k.kernel);
    recording_.launch(kernel, {values, bytes, n}, k.groups, device_.info->group_size(), k.last,
                      k.label);
  }

  void finish() { recording_.finish(); }

 private:
  typename B::memory memory_of(operand o) const {
    const typename B::buffer* buffer =
        o == operand::workspace ? l_.workspace : l_.views[static_cast<int>(o)].buffer;
    return buffer->memory;
  }

  typename B::device& device_;
  const tutti_operator_launch& l_;
  typename B::recording recording_;
};

template <device_backend B>
struct operator_functions {
  static tutti_status* supports(tutti_device* device, const tutti_operator_launch* launch,
                                int32_t* support, const char** reason) {
    return guarded([&] {
      deref(support, "support") = TUTTI_SUPPORT_NO;
      const char* ignored = nullptr;
      const char** why = reason != nullptr ? reason : &ignored;
      *why = "";
      typename B::device& d = deref(device, "device");
      const tutti_operator_launch l = read_struct(launch, "operator launch");
      if (operator_name(l.kind) == nullptr) {
        *why = "an operator that this plugin does not know";
        return;
      }
      const tutti_operator_launch good = checked_operator(launch);
      [[maybe_unused]] const typename B::scope scope(d);
      if (can(d, good, why)) *support = TUTTI_SUPPORT_YES;
    });
  }

  static tutti_status* workspace(tutti_device* device, const tutti_operator_launch* launch,
                                 uint64_t* bytes) {
    return guarded([&] {
      deref(bytes, "bytes") = 0;
      typename B::device& d = deref(device, "device");
      const tutti_operator_launch l = checked_operator(launch);
      [[maybe_unused]] const typename B::scope scope(d);
      *bytes = l.kind == TUTTI_OPERATOR_MATMUL ? B::matmul_workspace(d, l)
                                               : operator_workspace(*d.info, l);
    });
  }

  static tutti_status* launch(tutti_stream* stream, const tutti_operator_launch* given,
                              tutti_event** event) {
    return guarded([&] {
      if (event != nullptr) *event = nullptr;
      typename B::stream& s = deref(stream, "stream");
      const tutti_operator_launch l =
          checked_operator(given, [&](tutti_buffer* view, const char* name) {
            memory_on<B>(*s.device, view, name);
            const typename B::buffer& buffer = *view;
            return buffer.bytes;
          });
      [[maybe_unused]] const typename B::scope scope(*s.device);
      const char* reason = "";
      if (!can(*s.device, l, &reason)) throw_unsupported(reason);
      if (l.kind == TUTTI_OPERATOR_MATMUL) return B::matmul(s, l, event);
      operator_run<B> run(s, l, event);
      launch_operator(*s.device->info, l, run);
      run.finish();
    });
  }

  static constexpr tutti_operator_api api = {sizeof(tutti_operator_api), supports, workspace,
                                             launch};

 private:
  static bool can(typename B::device& device, const tutti_operator_launch& l, const char** why) {
    return l.kind == TUTTI_OPERATOR_MATMUL ? B::matmul_supported(device, l, why)
                                           : supports_operator(*device.info, l, why);
  }
};

}  // namespace tutti::sdk
