// SPDX-License-Identifier: Apache-2.0
#include "paper.hpp"

#include <algorithm>

#include "cuda/objects.hpp"
#include "dialects.hpp"
#include "embedded_kernels.hpp"
#include "options.hpp"
#include "sdk/op_info.hpp"

namespace tutti::test {
namespace {

void add_programs(const std::string& architecture, std::vector<paper_row>& rows) {
  std::vector<test_program> programs = typical_programs();
  for (test_program& p : contiguous_programs()) programs.push_back(std::move(p));
  const std::vector<kernel_figures> kernels = read_cubin(
      cuda::compile(render_cuda(programs), architecture, cuda::program_options, "programs"));
  for (size_t n = 0; n < programs.size(); ++n) {
    const test_program& p = programs[n];
    const bool maps = p.reduction == TUTTI_REDUCE_NONE;
    const auto moves = [](const tutti_program_operand& o) { return o.access == TUTTI_ACCESS_UNIT; };
    std::vector<tutti_program_operand> moving = p.inputs;
    if (maps) moving.insert(moving.end(), p.outputs.begin(), p.outputs.end());
    uint32_t widest = 0;
    for (const tutti_program_operand& o : moving)
      if (moves(o)) widest = std::max(widest, sdk::dtype_size(o.dtype));
    const auto of_widest = [&](const std::vector<tutti_program_operand>& operands) {
      return static_cast<uint32_t>(
          std::count_if(operands.begin(), operands.end(), [&](const tutti_program_operand& o) {
            return moves(o) && sdk::dtype_size(o.dtype) == widest;
          }));
    };
    const bool contiguous = widest > 0 && std::all_of(moving.begin(), moving.end(), moves);
    for (const kernel_figures& k : kernels) {
      if (k.name == "main_" + std::to_string(n))
        rows.push_back({p.name, cuda::work_group, contiguous, false, of_widest(p.inputs),
                        maps ? of_widest(p.outputs) : 0, k});
      if (k.name == "finish_" + std::to_string(n) && p.name == "reduce1_f32_inner")
        rows.push_back({"parts of " + p.name, cuda::work_group, false, false, 0, 0, k});
    }
  }
}

}  // namespace

std::vector<paper_row> paper_rows(const std::string& architecture) {
  std::vector<paper_row> rows;
  add_programs(architecture, rows);
  const std::string exact = std::string(" ") + cuda::program_options;
  const std::string scan_rows =
      sdk::scan_options(gpu(), TUTTI_F32, TUTTI_F32, TUTTI_SCAN_SUM, true);
  const std::string scan_columns =
      sdk::scan_options(gpu(), TUTTI_F32, TUTTI_F32, TUTTI_SCAN_SUM, false);
  struct file {
    const char* name;
    std::string_view text;
    std::string options;
    bool tiled = false;
  };
  const auto pass = [&](bool is_f64, uint32_t radix) {
    return sdk::fft_pass_options(gpu(), is_f64, radix) + exact;
  };
  const file files[] = {
      {"f32, rows", kernels::scan_cu, scan_rows + exact},
      {"f32, columns", kernels::scan_cu, scan_columns + exact},
      {"f32", kernels::gather_cu, sdk::take_options(gpu(), TUTTI_F32, TUTTI_I32)},
      {"f32, sums", kernels::gather_cu,
       sdk::scatter_options(gpu(), TUTTI_F32, TUTTI_I32, sdk::combination::add, true)},
      {"f32", kernels::matmul_cu, "-DT=float -DACC=float -DKIND=0", true},
      {"c64", kernels::matmul_cu, "-DT=float2 -DACC=float2 -DKIND=3", true},
      {"f32", kernels::convolution_cu, sdk::convolution_options(gpu(), TUTTI_F32, {64, 2, false}),
       true},
      {"f64", kernels::convolution_cu, sdk::convolution_options(gpu(), TUTTI_F64, {64, 2, false}),
       true},
      {"f32", kernels::fft_cu, sdk::fft_options(gpu(), false) + exact},
      {"f32, factor 4", kernels::fft_cu, pass(false, 4)},
      {"f32, factor 8", kernels::fft_cu, pass(false, 8)},
      {"f32, factor 13", kernels::fft_cu, pass(false, 13), true},
      {"f64, factor 8", kernels::fft_cu, pass(true, 8)},
      {"f64, factor 13", kernels::fft_cu, pass(true, 13), true},
      {"f32", kernels::spmm_cu, sdk::spmm_options(gpu(), TUTTI_F32, TUTTI_I32) + exact},
      {"argsort of f32", kernels::sort_cu, ordering_options(TUTTI_OPERATOR_ARGSORT, TUTTI_F32)},
      {"top k of f32", kernels::partition_cu, ordering_options(TUTTI_OPERATOR_TOPK, TUTTI_F32)},
      {"f32", kernels::lookup_cu, sdk::search_options(gpu(), TUTTI_F32)},
      {"i32", kernels::lookup_cu, sdk::count_options(gpu(), TUTTI_I32)}};
  for (const file& f : files) {
    for (const kernel_figures& k :
         read_cubin(cuda::compile(std::string(f.text), architecture, f.options, f.name)))
      rows.push_back({k.name + ", " + f.name,
                      k.name == "tutti_matmul_small" ? 512u : cuda::work_group, false, f.tiled, 0,
                      0, k});
  }
  return rows;
}

}  // namespace tutti::test
