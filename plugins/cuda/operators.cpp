// SPDX-License-Identifier: Apache-2.0
//
// The operator table: checks of the views, then the operator.
#include "cuda/operators.hpp"

#include "sdk/ordering.hpp"
#include "sdk/validate_operator.hpp"

namespace tutti::cuda {
namespace {

tutti_operator_launch checked(const tutti_operator_launch* given, const tutti_device& device) {
  return sdk::checked_operator(given, [&device](tutti_buffer* buffer, const char* name) {
    memory_on(device, buffer, name);
    return buffer->bytes;
  });
}

tutti_status* supports(tutti_device* device, const tutti_operator_launch* launch, int32_t* support,
                       const char** reason) {
  return sdk::guarded([&] {
    sdk::deref(support, "support") = TUTTI_SUPPORT_NO;
    const char* ignored = nullptr;
    const char** why = reason != nullptr ? reason : &ignored;
    *why = "";
    sdk::deref(device, "device");
    const tutti_operator_launch l = sdk::read_struct(launch, "operator launch");
    if (sdk::operator_name(l.kind) == nullptr) {
      *why = "an operator that this plugin does not know";
      return;
    }
    const tutti_operator_launch good = sdk::checked_operator(launch);
    const scoped_context context(*device);
    const bool can = sdk::is_ordering(good.kind) ? ordering_supported(good, why)
                     : good.kind == TUTTI_OPERATOR_MATMUL
                         ? matmul_supported(*device, good, why)
                         : gather_supported(*device->info, good, why);
    *support = can ? TUTTI_SUPPORT_YES : TUTTI_SUPPORT_NO;
  });
}

tutti_status* workspace(tutti_device* device, const tutti_operator_launch* launch,
                        uint64_t* bytes) {
  return sdk::guarded([&] {
    sdk::deref(bytes, "bytes") = 0;
    sdk::deref(device, "device");
    const tutti_operator_launch l = sdk::checked_operator(launch);
    const scoped_context context(*device);
    if (l.kind == TUTTI_OPERATOR_MATMUL) *bytes = matmul_workspace(*device, l);
    if (sdk::is_ordering(l.kind)) *bytes = ordering_workspace(*device, l);
  });
}

tutti_status* launch(tutti_stream* stream, const tutti_operator_launch* given,
                     tutti_event** event) {
  return sdk::guarded([&] {
    if (event != nullptr) *event = nullptr;
    const tutti_operator_launch l = checked(given, *sdk::deref(stream, "stream").device);
    const scoped_context context(*stream->device);
    const char* reason = "";
    if (sdk::is_ordering(l.kind)) {
      if (!ordering_supported(l, &reason)) sdk::throw_unsupported(reason);
      order(*stream, l, event);
    } else if (l.kind == TUTTI_OPERATOR_MATMUL) {
      if (!matmul_supported(*stream->device, l, &reason)) sdk::throw_unsupported(reason);
      matmul(*stream, l, event);
    } else {
      if (!gather_supported(*stream->device->info, l, &reason)) sdk::throw_unsupported(reason);
      gather(*stream, l, event);
    }
  });
}

}  // namespace

const tutti_operator_api operator_api = {sizeof(tutti_operator_api), supports, workspace, launch};

}  // namespace tutti::cuda
