// SPDX-License-Identifier: Apache-2.0
//
// What the cuda plugin builds the kernel files of operators with.
#pragma once

#include <string>

#include "cuda/objects.hpp"
#include "sdk/device_layer/kernel_options.hpp"
#include "sdk/device_layer/operators.hpp"

namespace tutti::test {

inline sdk::device_description gpu() {
  sdk::device_description device;
  device.work_group = cuda::work_group;
  return device;
}

// Of a sort or a selection in a row of this dtype.
inline std::string ordering_options(int32_t kind, int32_t dtype) {
  class options_of_launches final : public sdk::operator_launcher {
   public:
    void launch(const sdk::kernel_launch& what) override { options = what.options; }
    void keep(std::span<const std::byte>) override {}
    std::string options;
  };
  const tutti_view row{nullptr, 0, dtype, 2, {1, 5000}, {5000, 1}};
  const tutti_view views[] = {row, row};
  tutti_sort_params sort{};
  tutti_partition_params partition{};
  sort.struct_size = sizeof sort;
  partition.struct_size = sizeof partition;
  sdk::operator_call l{};
  l.kind = kind;
  l.view_count = 2;
  l.views = views;
  l.params = &sort;
  if (kind == TUTTI_OPERATOR_PARTITION) l.params = &partition;
  options_of_launches launches;
  sdk::launch_operator(gpu(), l, launches);
  return launches.options;
}

}  // namespace tutti::test
