// SPDX-License-Identifier: Apache-2.0
//
// What the cuda plugin builds the kernel files of operators with.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cuda/objects.hpp"
#include "embedded_kernels.hpp"
#include "sdk/device_layer/kernel_options.hpp"
#include "sdk/device_layer/operators.hpp"

namespace tutti::test {

inline sdk::device_description gpu() {
  sdk::device_description device;
  device.work_group = cuda::work_group;
  return device;
}

// Of kernels that round as programs do.
inline std::string exact(const std::string& options) {
  return options + ' ' + cuda::program_options;
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

struct kernel_file {
  std::string name;
  std::string_view text;
  std::string options;
  bool tiled = false;  // independent sums of each thread hide latency, not the number of threads
};

// Each kernel file of operators, as applications mostly use it.
inline std::vector<kernel_file> typical_kernel_files() {
  const auto scan = [](bool rows) {
    return exact(sdk::scan_options(gpu(), TUTTI_F32, TUTTI_F32, TUTTI_SCAN_SUM, rows));
  };
  const auto pass = [](bool is_f64, uint32_t radix) {
    return exact(sdk::fft_pass_options(gpu(), is_f64, radix));
  };
  return {{"f32, rows", kernels::scan_cu, scan(true)},
          {"f32, columns", kernels::scan_cu, scan(false)},
          {"f32", kernels::gather_cu, sdk::take_options(gpu(), TUTTI_F32, TUTTI_I32)},
          {"f32, sums", kernels::gather_cu,
           sdk::scatter_options(gpu(), TUTTI_F32, TUTTI_I32, sdk::combination::add, true)},
          {"f32", kernels::matmul_cu, "-DT=float -DACC=float -DKIND=0", true},
          {"c64", kernels::matmul_cu, "-DT=float2 -DACC=float2 -DKIND=3", true},
          {"f32", kernels::convolution_cu,
           sdk::convolution_options(gpu(), TUTTI_F32, {64, 2, false}), true},
          {"f64", kernels::convolution_cu,
           sdk::convolution_options(gpu(), TUTTI_F64, {64, 2, false}), true},
          {"f32", kernels::fft_cu, exact(sdk::fft_options(gpu(), false))},
          {"f32, factor 4", kernels::fft_cu, pass(false, 4)},
          {"f32, factor 8", kernels::fft_cu, pass(false, 8)},
          {"f32, factor 13", kernels::fft_cu, pass(false, 13), true},
          {"f64, factor 8", kernels::fft_cu, pass(true, 8)},
          {"f64, factor 13", kernels::fft_cu, pass(true, 13), true},
          {"f32", kernels::spmm_cu, exact(sdk::spmm_options(gpu(), TUTTI_F32, TUTTI_I32))},
          {"argsort of f32", kernels::sort_cu, ordering_options(TUTTI_OPERATOR_ARGSORT, TUTTI_F32)},
          {"top k of f32", kernels::partition_cu, ordering_options(TUTTI_OPERATOR_TOPK, TUTTI_F32)},
          {"f32", kernels::lookup_cu, sdk::search_options(gpu(), TUTTI_F32)},
          {"i32", kernels::lookup_cu, sdk::count_options(gpu(), TUTTI_I32)}};
}

}  // namespace tutti::test
