// SPDX-License-Identifier: Apache-2.0
//
// Collectives as plain loops over the memory of all participants in rank order, so that all get the
// same bits. Halves are summed as f32 and rounded once.
#include <cstring>

#include "sdk/host_device/collective_group.hpp"
#include "sdk/host_types.hpp"
#include "semantics/host_math.hpp"

namespace tutti::host_device {
namespace {

using part = collective_operation::part;
using bytes = std::vector<std::byte>;

template <typename T>
T join(int32_t reduction, T a, T b) {
  switch (reduction) {
    case TUTTI_REDUCE_PROD:
      return host::multiply(a, b);
    case TUTTI_REDUCE_MIN:
      return host::minimum(a, b);
    case TUTTI_REDUCE_MAX:
      return host::maximum(a, b);
    default:
      return host::add(a, b);
  }
}

template <>
bool join(int32_t reduction, bool a, bool b) {
  return reduction == TUTTI_REDUCE_ANY ? a || b : a && b;
}

// Reduces all inputs.
bytes reduced(const sdk::collective_shape& shape, const std::vector<part>& parts) {
  bytes result(shape.count * sdk::dtype_size(shape.dtype));
  sdk::with_real_stored_type(static_cast<uint8_t>(shape.dtype), [&](auto tag) {
    using element = typename decltype(tag)::type;
    for (uint64_t i = 0; i < shape.count; ++i) {
      const uint64_t at = i * element::bytes;
      auto total = element::load(parts[0].in + at);
      for (size_t n = 1; n < parts.size(); ++n)
        total = join(shape.reduction, total, element::load(parts[n].in + at));
      element::store(result.data() + at, total);
    }
  });
  return result;
}

void put(std::byte* to, const std::byte* from, uint64_t count) {
  if (count > 0) std::memcpy(to, from, static_cast<size_t>(count));
}

bool receives(const sdk::collective_shape& shape, size_t number) {
  if (shape.kind == sdk::collective_kind::send_receive) return number == 1;
  return shape.kind != sdk::collective_kind::reduce || number == shape.root;
}

void append(bytes& to, const std::byte* from, uint64_t count) {
  if (count > 0) to.insert(to.end(), from, from + count);
}

// The values of each participant's output.
std::vector<bytes> results_of(const sdk::collective_shape& shape, const std::vector<part>& parts) {
  const uint64_t all = shape.count * sdk::dtype_size(shape.dtype), share = all / parts.size();
  std::vector<bytes> results(1);
  switch (shape.kind) {
    case sdk::collective_kind::broadcast:
      append(results[0], parts[shape.root].in, all);
      break;
    case sdk::collective_kind::send_receive:
      append(results[0], parts[0].in, all);
      break;
    case sdk::collective_kind::all_gather:
      for (const part& from : parts) append(results[0], from.in, all);
      break;
    case sdk::collective_kind::all_to_all:
      results.resize(parts.size());
      for (size_t to = 0; to < parts.size(); ++to)
        for (const part& from : parts) append(results[to], from.in + to * share, share);
      break;
    default:
      results[0] = reduced(shape, parts);
  }
  return results;
}

}  // namespace

void run_collective(const sdk::collective_shape& shape, const std::vector<part>& parts) {
  const std::vector<bytes> results = results_of(shape, parts);
  for (size_t n = 0; n < parts.size(); ++n) {
    if (!receives(shape, n)) continue;
    const bytes& result = results[results.size() > 1 ? n : 0];
    if (shape.kind == sdk::collective_kind::reduce_scatter) {
      const uint64_t share = result.size() / parts.size();
      put(parts[n].out, result.data() + n * share, share);
    } else {
      put(parts[n].out, result.data(), result.size());
    }
  }
}

}  // namespace tutti::host_device
