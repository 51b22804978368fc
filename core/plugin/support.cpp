// SPDX-License-Identifier: Apache-2.0
#include "plugin/support.hpp"

#include <array>
#include <cstddef>
#include <cstring>

#include "plugin/raii.hpp"
#include "semantics/operator_rows.hpp"

namespace tutti::plugins {

tutti_operator_desc describe(tutti_operator kind, std::span<const tutti_view_desc> views,
                             const void* params, std::uint32_t outputs) {
  tutti_operator_desc desc{};
  desc.struct_size = sizeof desc;
  desc.kind = kind;
  desc.output_count = outputs;
  desc.input_count = static_cast<std::uint32_t>(views.size()) - outputs;
  desc.view_size = sizeof(tutti_view_desc);
  desc.views = views.data();
  desc.params = params;
  return desc;
}

bool supports(const opened_device& device, const tutti_operator_desc& desc) {
  std::int32_t support = TUTTI_SUPPORT_NO;
  ignore(device.plugin->op.supports(device.handle, &desc, &support, nullptr));
  return support == TUTTI_SUPPORT_YES;
}

bool supports(const opened_device& device, tutti_operator kind, dtype type, std::int64_t length) {
  const host::operator_row& row = *host::find_operator(kind);
  const auto views = host::least_views(row, static_cast<std::int32_t>(type), [&](char letter) {
    return letter == 'O' || letter == 'B' ? 1 : static_cast<std::uint64_t>(length);
  });
  alignas(std::uint64_t) std::array<std::byte, host::most_params> params{};
  std::memcpy(params.data(), &row.params_size, sizeof row.params_size);
  return supports(device, describe(kind, views, params.data()));
}

}  // namespace tutti::plugins
