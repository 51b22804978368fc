// SPDX-License-Identifier: Apache-2.0
//
// DLPack tensors as arrays: everything in the structs is checked, the memory is wrapped by the
// plugin of its device, and strides become a view of it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "dlpack/types.hpp"
#include "graph/build.hpp"
#include "plugin/raii.hpp"
#include "runtime/execute/executor.hpp"
#include "runtime/memory/foreign_memory.hpp"
#include "tutti/dlpack.hpp"
#include "tutti/error.hpp"

namespace tutti {
namespace {

constexpr const char* from_dlpack_name = "from_dlpack";

// Owns the tensor until a buffer takes ownership.
struct release_tensor {
  void (*release)(void*) = nullptr;
  void operator()(void* tensor) const { release(tensor); }
};
using owner = std::unique_ptr<void, release_tensor>;

template <class Managed>
void call_deleter(void* tensor) {
  auto* const managed = static_cast<Managed*>(tensor);
  if (managed->deleter != nullptr) managed->deleter(managed);
}

// A checked tensor. Elements are at `first` + (index . strides), where `first` counts elements from
// the lowest one in use.
struct checked {
  dtype type = dtype::f32;
  shape extents;
  shape strides;
  std::int64_t elements = 0;
  std::int64_t first = 0;
  std::int64_t span = 0;  // elements from the lowest to the highest, inclusive
  std::uint64_t bytes() const { return static_cast<std::uint64_t>(span) * size_of(type); }
};

template <class... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> text, Args&&... args) {
  base::fail<value_error>("{}: {}", from_dlpack_name,
                          fmt::format(text, std::forward<Args>(args)...));
}

std::string listed(const std::int64_t* values, int count) {
  return fmt::format("[{}]", fmt::join(std::span(values, static_cast<std::size_t>(count)), ","));
}

bool add_product(std::int64_t& sum, std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(sum, product, &sum);
}

shape extents_of(const DLTensor& t) {
  if (t.ndim < 0 || t.ndim > max_rank)
    refuse("{} dimensions, an array has 0 to {}", t.ndim, max_rank);
  if (t.ndim > 0 && t.shape == nullptr) refuse("{} dimensions without a shape", t.ndim);
  shape extents;
  for (int i = 0; i < t.ndim; ++i) {
    if (t.shape[i] < 0) refuse("negative extent in {}", listed(t.shape, t.ndim));
    extents.push_back(t.shape[i]);
  }
  return extents;
}

checked check(const DLTensor& t) {
  checked c;
  const auto type = dlpack::from_dl(t.dtype);
  if (!type)
    base::fail<dtype_error>("{}: no dtype for {}", from_dlpack_name, dlpack::describe(t.dtype));
  c.type = *type;
  c.extents = extents_of(t);
  const auto largest = std::numeric_limits<std::int64_t>::max() / 64;  // the bytes fit as well
  c.elements = 1;
  for (const std::int64_t e : c.extents) {
    if (e == 0) {
      c.elements = 0;
      return c;
    }
    if (c.elements > largest / e) refuse("too many elements in {}", c.extents.str());
    c.elements *= e;
  }
  c.strides = graph::contiguous_strides(c.extents);
  std::int64_t low = 0, high = 0;
  for (int i = 0; i < t.ndim; ++i) {
    // The stride of an axis of extent 1 is meaningless.
    if (c.extents[i] > 1 && t.strides != nullptr) c.strides[i] = t.strides[i];
    if (c.extents[i] > 1 &&
        !add_product(c.strides[i] < 0 ? low : high, c.strides[i], c.extents[i] - 1))
      refuse("strides {} are too long", listed(t.strides, t.ndim));
  }
  if (low < -largest || high > largest) refuse("strides {} are too long", c.strides.str());
  c.first = -low;
  c.span = high - low + 1;
  if (t.data == nullptr) refuse("no data for shape {}", c.extents.str());
  if (t.byte_offset > static_cast<std::uint64_t>(largest))
    refuse("byte_offset {} is too large", t.byte_offset);
  return c;
}

// f() with error messages that begin with the operation.
template <class F>
auto prefixed(const std::string& what, F&& f) {
  const auto text = [&](const std::exception& e) {
    return fmt::format("{}: {}: {}", from_dlpack_name, what, e.what());
  };
  try {
    return f();
  } catch (const device_error& e) {
    throw device_error(text(e), e.code(), e.vendor_code(), e.retryable(), e.device());
  } catch (const plugin_error& e) {
    throw plugin_error(text(e));
  } catch (const value_error& e) {
    throw value_error(text(e));
  }
}

std::string describe(const DLDevice& d) {
  return fmt::format("{}, device {}", dlpack::describe(d.device_type), d.device_id);
}

// The device that wraps memory of `from`.
device home_of(const DLDevice& from, const std::optional<device>& on) {
  const dlpack::memory_kind* const kind = dlpack::kind_of(from.device_type);
  if (kind == nullptr)
    throw device_error(
        fmt::format("{}: no plugin takes memory of {}", from_dlpack_name, describe(from)),
        TUTTI_ERROR_UNSUPPORTED);
  const bool host = kind->native == TUTTI_NATIVE_HOST;
  if (from.device_id < 0) refuse("device {} of {}", from.device_id, dlpack::describe(kind->type));
  // Pinned and managed memory is host memory as well.
  const bool on_host_too = kind->native == TUTTI_NATIVE_CUDA && !kind->numbered;
  const auto takes = [&](const device& d, bool any) {
    const dlpack::memory_kind* theirs = dlpack::kind_of(detail::get(d));
    if (theirs == nullptr) return false;
    if (on_host_too && any && theirs->native == TUTTI_NATIVE_HOST) return true;
    return theirs->native == kind->native &&
           (any || host || d.index() == static_cast<std::uint32_t>(from.device_id));
  };
  return prefixed(describe(from), [&] {
    if (on && takes(*on, !kind->numbered)) return *on;
    if (takes(default_device(), false)) return default_device();
    return device(fmt::format("{}:{}", kind->backend, host ? 0 : from.device_id));
  });
}

// An array with c's layout over `span` elements, the lowest of which is at `offset` of the block.
array laid_out(const checked& c, const array& span) {
  const graph::layout where{c.first, c.strides};
  return graph::view(span, c.extents, where, graph::view_op::identity);
}

array adopt(const checked& c, dlpack::block_handle block, std::int64_t offset,
            const detail::opened_device& device) {
  if (graph::is_contiguous(c.extents, c.strides))
    return runtime::array_over(block.release(), offset, c.type, c.extents, &device,
                               from_dlpack_name);
  return laid_out(
      c, runtime::array_over(block.release(), offset, c.type, {c.span}, &device, from_dlpack_name));
}

// A copy of host memory whose elements are not aligned.
array upload(const checked& c, const std::byte* lowest, const detail::opened_device& device) {
  std::vector<std::max_align_t> aligned(c.bytes() / sizeof(std::max_align_t) + 1);
  std::memcpy(aligned.data(), lowest, c.bytes());
  return laid_out(c, runtime::upload(aligned.data(), c.type, {c.span}, &device));
}

array wrap(const DLTensor& t, const checked& c, owner tensor, const detail::opened_device& device) {
  const bool is_handle = device.plugin->native.kind == TUTTI_NATIVE_OPENCL;
  const auto width = static_cast<std::int64_t>(size_of(c.type));
  const auto lowest = static_cast<std::int64_t>(t.byte_offset) - c.first * width;
  void* handle = t.data;
  std::uint64_t bytes = c.bytes();
  std::int64_t offset = 0;
  if (is_handle) {
    if (lowest < 0 || lowest % width != 0)
      refuse("elements of {} bytes at byte {} of a cl_mem", width, lowest);
    offset = lowest / width;
    bytes += static_cast<std::uint64_t>(lowest);
  } else {
    const auto address = reinterpret_cast<std::uintptr_t>(t.data) +
                         static_cast<std::uintptr_t>(static_cast<std::uint64_t>(lowest));
    handle = reinterpret_cast<void*>(address);
    if (address % static_cast<std::uintptr_t>(width) != 0) {
      if (device.plugin->native.kind == TUTTI_NATIVE_HOST)
        return upload(c, static_cast<const std::byte*>(handle), device);
      refuse("elements of {} bytes at address {:#x}, which is not aligned", width, address);
    }
  }
  return prefixed(describe(t.device), [&] {
    tutti_buffer* made = nullptr;
    plugins::check(device.plugin->native.wrap(device.handle, handle, bytes,
                                              tensor.get_deleter().release, tensor.get(), &made),
                   device, "wrap");
    plugins::require_made(device.plugin->native.wrap, made, device);
    static_cast<void>(tensor.release());
    dlpack::block_handle block(runtime::adopt(device, plugins::own(*device.plugin, made), bytes));
    return adopt(c, std::move(block), offset, device);
  });
}

array import(const DLTensor& t, owner tensor, const std::optional<device>& on) {
  const checked c = check(t);
  const device home = home_of(t.device, on);
  const detail::opened_device& opened = detail::get(home);
  if (c.elements == 0)
    return graph::constant(c.extents, c.type, std::int64_t{0}, on ? &detail::get(*on) : &opened);
  const array here = wrap(t, c, std::move(tensor), opened);
  if (!on || *on == home) return here;
  const array there = here.to(*on);
  there.wait();
  return there;
}

}  // namespace

array from_dlpack(DLManagedTensorVersioned* tensor, std::optional<device> on) {
  if (tensor == nullptr) refuse("the tensor is NULL");
  owner owned(tensor, {call_deleter<DLManagedTensorVersioned>});
  if (tensor->version.major != DLPACK_MAJOR_VERSION)
    refuse("the tensor is of DLPack {}.{}, this library knows version {}", tensor->version.major,
           tensor->version.minor, DLPACK_MAJOR_VERSION);
  return import(tensor->dl_tensor, std::move(owned), on);
}

array from_dlpack(DLManagedTensor* tensor, std::optional<device> on) {
  if (tensor == nullptr) refuse("the tensor is NULL");
  owner owned(tensor, {call_deleter<DLManagedTensor>});
  return import(tensor->dl_tensor, std::move(owned), on);
}

}  // namespace tutti
