// SPDX-License-Identifier: Apache-2.0
//
// The group of application kernels: host functions that run in stream order.
#include <cstring>
#include <string>
#include <vector>

#include "sdk/host_device/objects.hpp"
#include "sdk/kernel_launch.hpp"

namespace {

// Shared by the handle and its queued launches; the last owner releases the context.
struct host_function {
  std::string label;
  tutti_status* (*run)(void*, const tutti_host_kernel_call*) = nullptr;
  void* context = nullptr;
  void (*release)(void*) = nullptr;

  host_function() = default;
  host_function(host_function&&) = delete;
  ~host_function() {
    if (release != nullptr) release(context);
  }
};

}  // namespace

struct tutti_kernel {
  std::shared_ptr<const host_function> function;
};

namespace tutti::host_device {
namespace {

using sdk::deref;
using sdk::guarded;

tutti_status* languages(tutti_device* device, uint32_t* result) {
  return guarded([&] {
    deref(device, "device");
    deref(result, "languages") = TUTTI_KERNEL_LANGUAGE_BIT(TUTTI_KERNEL_HOST);
  });
}

tutti_status* create(tutti_device* device, const tutti_kernel_desc* desc, tutti_kernel** kernel) {
  return guarded([&] {
    deref(device, "device");
    deref(kernel, "kernel") = nullptr;
    const tutti_kernel_desc given = sdk::read_struct(desc, "kernel description");
    sdk::validate_kernel(given, TUTTI_KERNEL_LANGUAGE_BIT(TUTTI_KERNEL_HOST),
                         std::string("the ") + plugin_name + " device");
    auto function = std::make_shared<host_function>();
    function->label = sdk::label_of(given);
    auto made = std::make_unique<tutti_kernel>();
    function->run = given.host;
    function->context = given.host_context;
    made->function = function;
    function->release = given.host_release;  // last: nothing throws after it
    *kernel = made.release();
  });
}

void release(tutti_kernel* kernel) { delete kernel; }

tutti_status* info(tutti_kernel* kernel, tutti_kernel_info* result) {
  return guarded([&] {
    deref(kernel, "kernel");
    sdk::write_struct(
        result,
        tutti_kernel_info{0, UINT64_MAX, uint64_t{1} << 30, TUTTI_KERNEL_ARGUMENTS_UNKNOWN, 0},
        "kernel info");
  });
}

// The call passed to the function: addresses, and the scalars' bytes until it has run.
struct owned_call {
  std::vector<void*> addresses;
  std::vector<sdk::kernel_scalar_bytes> scalars;
  std::vector<std::max_align_t> shared;
  tutti_host_kernel_call call{};
};

void run(const host_function& function, const owned_call& call) {
  tutti_status* const status = function.run(function.context, &call.call);
  if (status == nullptr) return;
  const sdk::plugin_error error(static_cast<tutti_code>(status->code), status->message,
                                status->vendor_code, status->retryable != 0);
  status->release(status);
  throw error;
}

tutti_status* launch(tutti_stream* stream, tutti_kernel* kernel, const tutti_kernel_launch* given,
                     tutti_event** event) {
  return guarded([&] {
    if (event != nullptr) *event = nullptr;
    deref(stream, "stream");
    const auto function = deref(kernel, "kernel").function;
    const tutti_kernel_launch l = sdk::read_struct(given, "kernel launch");
    sdk::validate_kernel_sizes(l, {UINT64_MAX, uint64_t{1} << 30}, function->label.c_str());
    auto owned = std::make_shared<owned_call>();
    owned->scalars.resize(l.argument_count);  // keeps addresses stable
    for (uint32_t n = 0; n < l.argument_count; ++n) {
      const tutti_kernel_argument a = sdk::kernel_argument_at(l, n, function->label.c_str());
      if (a.kind == TUTTI_KERNEL_SCALAR) {
        std::memcpy(owned->scalars[n].bytes, a.scalar, a.bytes);
        owned->addresses.push_back(owned->scalars[n].bytes);
        continue;
      }
      sdk::validate_kernel_buffer(a, buffer_alignment, deref(a.buffer, "buffer").bytes,
                                  function->label.c_str());
      owned->addresses.push_back(a.buffer->memory + a.offset);
    }
    owned->shared.resize((l.shared_bytes + sizeof(std::max_align_t) - 1) /
                         sizeof(std::max_align_t));
    tutti_host_kernel_call& call = owned->call;
    call.struct_size = sizeof call;
    std::copy(l.global, l.global + 3, call.global);
    std::copy(l.local, l.local + 3, call.local);
    call.arguments = owned->addresses.data();
    call.argument_count = l.argument_count;
    call.shared = owned->shared.data();
    call.shared_bytes = l.shared_bytes;
    enqueue(*stream, event, [function, owned] { run(*function, *owned); });
  });
}

}  // namespace

const tutti_kernel_api kernel_api = {
    sizeof(tutti_kernel_api), languages, create, release, info, launch};

}  // namespace tutti::host_device
