// SPDX-License-Identifier: Apache-2.0
//
// The native-handle group: native buffers are plain host pointers.
#include "sdk/host_device/objects.hpp"

namespace tutti::host_device {
namespace {

using sdk::deref;
using sdk::guarded;

tutti_status* buffer(tutti_buffer* handle, void** native) {
  return guarded([&] { deref(native, "handle") = deref(handle, "buffer").memory; });
}

tutti_status* wrap(tutti_device* owner, void* memory, uint64_t bytes, void (*deleter)(void*),
                   void* deleter_context, tutti_buffer** result) {
  return guarded([&] {
    deref(owner, "device");
    deref(result, "buffer") = nullptr;
    if (memory == nullptr && bytes > 0) sdk::throw_invalid("wrap: handle is NULL");
    *result = new tutti_buffer{
        owner, static_cast<std::byte*>(memory), bytes, deleter, deleter_context, false};
  });
}

}  // namespace

const tutti_native_api native_api = {sizeof(tutti_native_api), TUTTI_NATIVE_HOST, buffer, wrap};

}  // namespace tutti::host_device
