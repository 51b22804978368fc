// SPDX-License-Identifier: Apache-2.0
#include "plugin/support.hpp"

#include "plugin/raii.hpp"

namespace tutti::detail {

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

void run_operator(const opened_device& device, const tutti_operator_desc& desc,
                  std::span<const tutti_range> operands, tutti_stream* stream,
                  std::string_view label) {
  const plugin& p = *device.plugin;
  const plan_handle plan = create_plan(device, desc, label);
  tutti_operator_launch launch{};
  launch.struct_size = sizeof launch;
  launch.operand_size = sizeof(tutti_range);
  launch.operand_count = static_cast<std::uint32_t>(operands.size());
  launch.operands = operands.data();
  check(p.op.workspace(plan.get(), &launch.workspace_bytes), device, "plan", label);
  buffer_handle workspace;
  if (launch.workspace_bytes > 0) workspace = allocate(device, launch.workspace_bytes);
  launch.workspace.buffer = workspace.get();
  check(p.op.launch(stream, plan.get(), &launch, nullptr), device, "launch", label);
  check(p.stream.synchronize(stream), device, "run", label);
}

bool supports(const opened_device& device, const tutti_operator_desc& desc) {
  std::int32_t support = TUTTI_SUPPORT_NO;
  ignore(device.plugin->op.supports(device.handle, &desc, &support, nullptr));
  return support == TUTTI_SUPPORT_YES;
}

bool supports_products(const opened_device& device, dtype type) {
  tutti_view_desc square{};
  square.dtype = static_cast<std::int32_t>(type);
  square.rank = 3;
  for (int d = 0; d < 3; ++d) square.extent[d] = d == 0 ? 1 : 64, square.stride[d] = 1;
  square.stride[0] = 64 * 64, square.stride[1] = 64;
  const tutti_view_desc views[] = {square, square, square};
  return supports(device, describe(TUTTI_OPERATOR_MATMUL, views, nullptr));
}

bool supports_selection(const opened_device& device, tutti_operator kind, dtype type,
                        std::int64_t length) {
  tutti_view_desc row{};
  row.dtype = static_cast<std::int32_t>(type);
  row.rank = 2;
  row.extent[0] = 1, row.extent[1] = static_cast<std::uint64_t>(length);
  row.stride[0] = length, row.stride[1] = 1;
  tutti_view_desc views[] = {row, row};
  if (kind == TUTTI_OPERATOR_TOPK) {
    views[0].dtype = TUTTI_I64;
    const tutti_sort_params first{sizeof first, 0, 0};
    return supports(device, describe(kind, views, &first));
  }
  const tutti_partition_params at_front{sizeof at_front, 0};
  return supports(device, describe(kind, views, &at_front));
}

}  // namespace tutti::detail
