// SPDX-License-Identifier: Apache-2.0
#include "plugin/support.hpp"

#include <span>

#include "plugin/proof/proof.hpp"
#include "plugin/raii.hpp"

namespace tutti::detail {
namespace {

bool supports(const opened_device& device, tutti_operator kind, std::span<const tutti_view> views,
              const void* params) {
  tutti_operator_launch launch{};
  launch.struct_size = sizeof launch;
  launch.kind = kind;
  launch.view_count = static_cast<std::uint32_t>(views.size());
  launch.views = views.data();
  launch.params = params;
  return supports(device, launch);
}

}  // namespace

bool supports(const opened_device& device, const tutti_operator_launch& launch) {
  std::int32_t support = TUTTI_SUPPORT_NO;
  ignore(device.plugin->op.supports(device.handle, &launch, &support, nullptr));
  return support == TUTTI_SUPPORT_YES && switched_off(device, launch) == nullptr;
}

bool supports_products(const opened_device& device, dtype type) {
  tutti_view square{};
  square.dtype = static_cast<std::int32_t>(type);
  square.rank = 3;
  for (int d = 0; d < 3; ++d) square.extent[d] = d == 0 ? 1 : 64, square.stride[d] = 1;
  square.stride[0] = 64 * 64, square.stride[1] = 64;
  const tutti_view views[] = {square, square, square};
  return supports(device, TUTTI_OPERATOR_MATMUL, views, nullptr);
}

bool supports_selection(const opened_device& device, tutti_operator kind, dtype type,
                        std::int64_t length) {
  tutti_view row{};
  row.dtype = static_cast<std::int32_t>(type);
  row.rank = 2;
  row.extent[0] = 1, row.extent[1] = static_cast<std::uint64_t>(length);
  row.stride[0] = length, row.stride[1] = 1;
  tutti_view views[] = {row, row};
  if (kind == TUTTI_OPERATOR_TOPK) {
    views[0].dtype = TUTTI_I64;
    const tutti_sort_params first{sizeof first, 0, 0};
    return supports(device, kind, views, &first);
  }
  const tutti_partition_params at_front{sizeof at_front, 0};
  return supports(device, kind, views, &at_front);
}

}  // namespace tutti::detail
