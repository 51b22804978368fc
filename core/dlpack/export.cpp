// SPDX-License-Identifier: Apache-2.0
//
// Arrays as DLPack tensors. A tensor shares the block of memory, not the array.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <new>

#include "dlpack/types.hpp"
#include "graph/build.hpp"
#include "plugin/raii.hpp"
#include "tutti/dlpack.hpp"
#include "tutti/error.hpp"

namespace tutti {
namespace {

constexpr std::align_val_t alignment{256};  // required by the specification

struct free_host {
  void operator()(void* memory) const { ::operator delete(memory, alignment); }
};

// A tensor with the data it points to, in either form.
template <class Managed>
struct exported {
  Managed tensor{};
  std::int64_t extents[max_rank] = {};
  std::int64_t strides[max_rank] = {};
  dlpack::block_handle block;
  std::unique_ptr<void, free_host> host;
};

template <class Managed>
void destroy(Managed* self) {
  delete static_cast<exported<Managed>*>(self->manager_ctx);
}

const dlpack::memory_kind& kind_of(const detail::opened_device& device, const char* op) {
  const dlpack::memory_kind* kind = dlpack::kind_of(device);
  if (kind == nullptr)
    throw device_error(std::string(op) + ": the plugin of " + device.title +
                           " gives no native handles that DLPack knows; to_cpu makes a copy",
                       TUTTI_ERROR_UNSUPPORTED, 0, false, device.name);
  return *kind;
}

dlpack_device device_of(const detail::opened_device& device, const dlpack::memory_kind& kind) {
  const bool host = kind.native == TUTTI_NATIVE_HOST;
  return {kind.type, host ? 0 : static_cast<std::int32_t>(device.index)};
}

void set_layout(DLTensor& to, const shape& extents, const shape& strides, std::int64_t* extents_at,
                std::int64_t* strides_at) {
  std::copy(extents.begin(), extents.end(), extents_at);
  std::copy(strides.begin(), strides.end(), strides_at);
  to.ndim = extents.rank();
  to.shape = extents_at;
  to.strides = strides_at;
}

void set_device(DLTensor& to, const dlpack_device& device) {
  to.device = {static_cast<DLDeviceType>(device.type), device.id};
}

// The memory of `a`, computed or being computed.
template <class Managed>
void share(exported<Managed>& out, const array& a, const detail::opened_device& device,
           const dlpack::memory_kind& kind, const char* op) {
  a.wait();
  const graph::node& n = *a.node();
  const graph::node& base = graph::base_of(n);
  const graph::layout where = graph::layout_of(n);
  DLTensor& tensor = out.tensor.dl_tensor;
  set_layout(tensor, n.extents, where.strides, out.extents, out.strides);
  set_device(tensor, device_of(device, kind));
  base.storage->retain();
  runtime::buffer_block* const block = runtime::block_of(base);
  out.block.reset(block);
  const auto offset =
      static_cast<std::uint64_t>(base.storage_offset + where.offset) * size_of(n.type);
  void* handle = nullptr;
  plugins::check(device.plugin->native.buffer(block->handle(), &handle), device, op);
  plugins::require_made(device.plugin->native.buffer, handle, device);
  if (kind.native == TUTTI_NATIVE_OPENCL) {
    tensor.data = handle;
    tensor.byte_offset = offset;
  } else {
    tensor.data = static_cast<std::byte*>(handle) + offset;
  }
}

template <class Managed>
void copy_to_host(exported<Managed>& out, const array& a) {
  DLTensor& tensor = out.tensor.dl_tensor;
  set_layout(tensor, a.shape(), graph::contiguous_strides(a.shape()), out.extents, out.strides);
  set_device(tensor, {kDLCPU, 0});
  if (a.size() == 0) return;
  out.host.reset(::operator new(a.nbytes(), alignment));
  a.copy_to(out.host.get(), a.nbytes());
  tensor.data = out.host.get();
}

// The memory, and whether it is a copy.
template <class Managed>
bool fill(exported<Managed>& out, const array& a, const dlpack_options& options, const char* op) {
  const graph::node& n = graph::get(a, op);
  out.tensor.dl_tensor.dtype = dlpack::to_dl(n.type);
  out.tensor.manager_ctx = &out;
  out.tensor.deleter = destroy<Managed>;
  const detail::opened_device& device = detail::get(a.device());
  const dlpack::memory_kind* known = dlpack::kind_of(device);
  const bool host = known != nullptr && known->native == TUTTI_NATIVE_HOST;
  if (options.to_cpu && !host) {
    copy_to_host(out, a);
    return true;
  }
  const dlpack::memory_kind& kind = kind_of(device, op);
  if (n.elements == 0) {
    set_layout(out.tensor.dl_tensor, n.extents, graph::contiguous_strides(n.extents), out.extents,
               out.strides);
    set_device(out.tensor.dl_tensor, device_of(device, kind));
    return options.copy;
  }
  const bool copied = options.copy || n.is_constant();  // a constant has no memory
  share(out, copied ? graph::duplicate(a, op) : a, device, kind, op);
  return copied;
}

}  // namespace

DLManagedTensorVersioned* to_dlpack(const array& a, const dlpack_options& options) {
  auto out = std::make_unique<exported<DLManagedTensorVersioned>>();
  const bool copied = fill(*out, a, options, "to_dlpack");
  out->tensor.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  out->tensor.flags = copied ? DLPACK_FLAG_BITMASK_IS_COPIED : DLPACK_FLAG_BITMASK_READ_ONLY;
  return &out.release()->tensor;
}

DLManagedTensor* to_dlpack_legacy(const array& a, const dlpack_options& options) {
  auto out = std::make_unique<exported<DLManagedTensor>>();
  fill(*out, a, options, "to_dlpack_legacy");
  return &out.release()->tensor;
}

dlpack_device dlpack_device_of(const array& a) {
  graph::get(a, "dlpack_device_of");
  const detail::opened_device& device = detail::get(a.device());
  return device_of(device, kind_of(device, "dlpack_device_of"));
}

}  // namespace tutti
