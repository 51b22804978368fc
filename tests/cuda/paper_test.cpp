// SPDX-License-Identifier: Apache-2.0
//
// Speed on paper: no kernel spills, contiguous maps and reductions move 16 bytes at once, and each
// kernel but products leaves a multiprocessor at least half full. With TUTTI_CUDA_PAPER=FILE also
// writes the table of docs/cuda.md, for sm_90 and sm_80.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "cubin.hpp"
#include "cuda/objects.hpp"
#include "embedded_kernels.hpp"
#include "options.hpp"
#include "programs.hpp"
#include "samples/custom_kernel/sources.hpp"
#include "sdk/op_info.hpp"

namespace tutti::test {
namespace {

struct paper_row {
  std::string name;                      // program or kernel file, and what it was built for
  uint32_t block;                        // threads of a block
  bool contiguous;                       // every operand moves element by element
  bool tiled;                            // see kernel_file
  uint32_t widest_loads, widest_stores;  // operands of the widest dtype, where contiguous
  kernel_figures figures;
};

void add_programs(const std::string& architecture, std::vector<paper_row>& rows) {
  std::vector<program_spec> programs = typical_programs();
  for (program_spec& p : contiguous_programs()) programs.push_back(std::move(p));
  const std::vector<kernel_figures> kernels = read_cubin(
      cuda::compile(render_cuda(programs), architecture, cuda::program_options, "programs"));
  for (size_t n = 0; n < programs.size(); ++n) {
    const program_spec& p = programs[n];
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
        rows.push_back({p.label, cuda::work_group, contiguous, false, of_widest(p.inputs),
                        maps ? of_widest(p.outputs) : 0, k});
      if (k.name == "finish_" + std::to_string(n) && p.label == "reduce1_f32_inner")
        rows.push_back({"parts of " + p.label, cuda::work_group, false, false, 0, 0, k});
    }
  }
}

// Typical and contiguous programs and each kernel file of operators, for "sm_90" and the like.
std::vector<paper_row> paper_rows(const std::string& architecture) {
  std::vector<paper_row> rows;
  add_programs(architecture, rows);
  for (const kernel_file& f : typical_kernel_files()) {
    for (const kernel_figures& k :
         read_cubin(cuda::compile(std::string(f.text), architecture, f.options, f.name)))
      rows.push_back({k.name + ", " + f.name,
                      k.name == "tutti_matmul_small" ? 512u : cuda::work_group, false, f.tiled, 0,
                      0, k});
  }
  return rows;
}

void write_table(const std::vector<paper_row>& newer, const std::vector<paper_row>& older,
                 std::ostream& out) {
  out << "| kernel | registers | shared | loads of 16, 8, less | stores | occupancy |\n"
         "| --- | ---: | ---: | ---: | ---: | ---: |\n";
  const auto accesses = [](const access_counts& c) {
    return std::to_string(c.whole) + ", " + std::to_string(c.wide) + ", " +
           std::to_string(c.narrow);
  };
  for (size_t n = 0; n < newer.size(); ++n) {
    const kernel_figures &k = newer[n].figures, &o = older[n].figures;
    const auto percent = [&](const kernel_figures& f, int architecture) {
      return static_cast<int>(100 * f.occupancy(newer[n].block, architecture));
    };
    out << "| " << newer[n].name << " | " << k.registers << " / " << o.registers << " | "
        << k.shared_bytes << " | " << accesses(k.loads) << " | " << accesses(k.stores) << " | "
        << percent(k, 90) << " / " << percent(o, 80) << " |\n";
  }
}

void check(const std::vector<paper_row>& rows, int architecture) {
  size_t contiguous = 0;
  for (const paper_row& row : rows) {
    BOOST_TEST_CONTEXT(row.name << " for sm_" << architecture) {
      const kernel_figures& k = row.figures;
      BOOST_TEST(k.registers >= 8u);
      BOOST_TEST(k.instructions > 10u);
      // sin and cos of f64 hold the digits of 2 / pi that a large angle needs in an array.
      if (row.name != "expm1_c128") {
        BOOST_TEST(k.stack_bytes == 0u);
        BOOST_TEST(k.local_loads + k.local_stores == 0u);
      }
      BOOST_TEST(k.occupancy(row.block, architecture) >= (row.tiled ? 0.125 : 0.5));
      if (!row.contiguous) continue;
      ++contiguous;
      BOOST_TEST(k.loads.whole >= row.widest_loads);
      BOOST_TEST(k.stores.whole >= row.widest_stores);
    }
  }
  BOOST_TEST(contiguous > 20u);
  BOOST_TEST(rows.size() > 45u);
}

}  // namespace

BOOST_AUTO_TEST_CASE(kernels_fit_the_hardware) {
  const char* const file = std::getenv("TUTTI_CUDA_PAPER");
  if (file == nullptr) return check(paper_rows("sm_90"), 90);
  const std::vector<paper_row> newer = paper_rows("sm_90"), older = paper_rows("sm_80");
  check(newer, 90);
  check(older, 80);
  BOOST_REQUIRE(newer.size() == older.size());
  std::ofstream out(file);
  write_table(newer, older, out);
}

BOOST_AUTO_TEST_CASE(the_reader_sees_what_the_source_says) {
  const char* const text =
      "extern \"C\" __global__ void moves(const float4* a, float4* b, double* c, const char* d) {\n"
      "  b[threadIdx.x] = a[threadIdx.x];\n"
      "  c[threadIdx.x] = d[threadIdx.x];\n"
      "}\n"
      "extern \"C\" __global__ void keeps(const float* x, float* y, int n) {\n"
      "  __shared__ float part[300];\n"
      "  float all[40];\n"
      "  for (int k = 0; k < 40; ++k) all[k] = k;\n"
      "  for (int k = 0; k < n; ++k) all[(int)x[k]] += x[k + 1];\n"
      "  part[threadIdx.x] = all[n];\n"
      "  __syncthreads();\n"
      "  y[threadIdx.x] = part[n];\n"
      "}\n";
  for (const char* architecture : {"sm_75", "sm_80", "sm_90", "sm_120"}) {
    const auto kernels = read_cubin(tutti::cuda::compile(text, architecture, "", "known"));
    BOOST_TEST_REQUIRE(kernels.size() == 2u);
    const kernel_figures &keeps = kernels[0], &moves = kernels[1];
    BOOST_TEST(moves.name == "moves");
    BOOST_TEST(moves.loads.whole == 1u);
    BOOST_TEST(moves.loads.narrow == 1u);
    BOOST_TEST(moves.loads.all() == 2u);
    BOOST_TEST(moves.stores.whole == 1u);
    BOOST_TEST(moves.stores.wide == 1u);
    BOOST_TEST(moves.stores.all() == 2u);
    BOOST_TEST(moves.stack_bytes + moves.local_loads + moves.local_stores == 0u);
    BOOST_TEST(keeps.stack_bytes >= 160u);
    BOOST_TEST(keeps.local_loads > 0u);
    BOOST_TEST(keeps.local_stores > 0u);
    BOOST_TEST(keeps.shared_bytes >= 1200u);
    BOOST_TEST(keeps.shared_bytes <= 2300u);
  }
}

// Kernels of applications, also with the options after crashes of the compiler.
BOOST_AUTO_TEST_CASE(the_kernel_of_the_sample_compiles) {
  for (const char* options : {"-DREAL=float", "-DREAL=double", "-DREAL=float --device-debug"}) {
    const auto image = tutti::cuda::compile(custom_kernel::cuda_source, "sm_90", options, "kepler");
    BOOST_TEST(!image.empty());
  }
}

// 256 threads are 8 warps; 64 registers of 2048 threads are twice what there is.
BOOST_AUTO_TEST_CASE(occupancy_by_hand) {
  kernel_figures k;
  k.registers = 32;
  BOOST_TEST(k.occupancy(256, 90) == 1.0);
  k.registers = 64;
  BOOST_TEST(k.occupancy(256, 90) == 0.5);
  k.registers = 65;  // counts as 72: 3 blocks
  BOOST_TEST(k.occupancy(256, 90) == 0.375);
  k.registers = 32;
  k.shared_bytes = 40u << 10;  // 5 blocks of 228; with the system's 41, 4 of 164
  BOOST_TEST(k.occupancy(256, 90) == 0.625);
  BOOST_TEST(k.occupancy(256, 80) == 0.5);
}

}  // namespace tutti::test
