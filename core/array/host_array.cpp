// SPDX-License-Identifier: Apache-2.0
#include "tutti/host_array.hpp"

#include <cstring>

#include "base/fail.hpp"
#include "graph/sizes.hpp"
#include "tutti/error.hpp"
#include "tutti/host_memory.hpp"

namespace tutti {

host_array::host_array(tutti::dtype type, const tutti::shape& extents)
    : type_(type), extents_(extents) {
  const auto count =
      static_cast<std::uint64_t>(graph::checked_elements(extents, type, "host_array"));
  bytes_ = detail::host_vector<std::byte>("host_array", count * size_of(type));
}

host_array host_array::from_bytes(const void* data, std::size_t count, tutti::dtype type,
                                  const tutti::shape& extents) {
  if (graph::checked_elements(extents, type, "host_array") != static_cast<std::int64_t>(count))
    base::fail<shape_error>("host_array: {} values do not fill shape {}", count, extents);
  host_array out(type, extents);
  if (count > 0) std::memcpy(out.bytes_.data(), data, out.bytes_.size());
  return out;
}

host_array host_array::of(const array& a) {
  host_array out(a.dtype(), a.shape());
  a.copy_to(out.bytes_.data(), out.bytes_.size());
  return out;
}

array host_array::to(const device& on) const {
  return array::from_bytes(bytes_.data(), bytes_.size() / size_of(type_), type_, extents_, on);
}

host_array host_array::reshape(const tutti::shape& extents) && {
  extents_ = graph::reshaped_extents(extents_, extents, "host_array::reshape");
  return std::move(*this);
}

void host_array::require(tutti::dtype type) const {
  if (type != type_)
    base::fail<dtype_error>("host_array: the array has dtype {}, not {}", type_, type);
}

}  // namespace tutti
