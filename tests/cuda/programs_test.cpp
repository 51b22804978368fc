// SPDX-License-Identifier: Apache-2.0
//
// Programs of every opcode for every dtype are compiled by NVRTC, which needs no GPU; so are the
// kernels of operators. Compilations are few: kernels of many programs share one source, each in a
// namespace.
#include "programs.hpp"

#include <boost/test/unit_test.hpp>
#include <future>

#include "cuda/objects.hpp"
#include "embedded_kernels.hpp"
#include "options.hpp"
#include "sdk/status.hpp"

using namespace tutti;
using namespace tutti::test;

namespace {

std::string warnings;

// Warnings of NVRTC reach the host's log.
void watch_log() {
  tutti_host host{};
  host.struct_size = sizeof host;
  host.abi_major = TUTTI_ABI_MAJOR;
  host.log = [](void*, int32_t, const char* message) {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    warnings += message;
  };
  sdk::meet_host(&host);
}

// Throws where one does not compile.
void compile_all(const std::vector<kernel_file>& files, const std::string& architecture) {
  for (const kernel_file& f : files)
    if (cuda::compile(std::string(f.text), architecture, f.options, f.name).size() < 1000)
      throw std::runtime_error(f.name + " for " + architecture + " is nothing");
}

void compile_for_old_and_new(const std::vector<kernel_file>& files) {
  watch_log();
  auto other = std::async(std::launch::async, [&] { compile_all(files, "sm_75"); });
  compile_all(files, "compute_90");
  other.get();
  BOOST_TEST(warnings == "");
}

}  // namespace

BOOST_AUTO_TEST_CASE(programs_compile) {
  const std::vector<program_spec> programs = all_programs();
  BOOST_TEST(programs.size() > 150u);
  std::vector<std::string> batches;
  for (size_t n = 0; n < programs.size(); n += 100) {
    const auto first = programs.begin() + static_cast<std::ptrdiff_t>(n);
    const auto count = static_cast<std::ptrdiff_t>(std::min<size_t>(100, programs.size() - n));
    batches.push_back(render_cuda(std::vector(first, first + count)));
  }
  std::vector<kernel_file> files;
  for (const std::string& batch : batches) files.push_back({"batch", batch, cuda::program_options});
  compile_for_old_and_new(files);
}

BOOST_AUTO_TEST_CASE(kernel_files_compile_for_every_type) {
  using enum sdk::combination;
  std::vector<kernel_file> files;
  const auto add_file = [&](std::string_view text, const std::string& options) {
    files.push_back({options, text, options});
  };
  for (int32_t dtype = TUTTI_I8; dtype <= TUTTI_C128; ++dtype) {
    if (dtype == TUTTI_F16 || dtype == TUTTI_BF16) continue;
    const int32_t index = dtype % 2 == 0 ? TUTTI_I32 : TUTTI_I64;
    for (const sdk::combination how : {add, set, multiply, min, max}) {
      const bool complex = dtype >= TUTTI_C64;
      if (complex ? how != multiply : dtype >= TUTTI_U8 && how == set) continue;
      const bool compensated = how == add && (dtype == TUTTI_F32 || dtype == TUTTI_F64);
      add_file(kernels::gather_cu,
               exact(sdk::scatter_options(gpu(), dtype, index, how, compensated)));
    }
    if (dtype < TUTTI_U8)
      add_file(kernels::gather_cu, exact(sdk::take_options(gpu(), dtype, index)));
  }
  for (const int32_t dtype : {TUTTI_F32, TUTTI_F64}) {
    add_file(kernels::convolution_cu, sdk::convolution_options(gpu(), dtype, {32, 3, true}));
    add_file(kernels::fft_cu, exact(sdk::fft_options(gpu(), dtype == TUTTI_F64)));
    for (const uint32_t radix : {2, 4, 8, 13})
      add_file(kernels::fft_cu, exact(sdk::fft_pass_options(gpu(), dtype == TUTTI_F64, radix)));
  }
  for (const int32_t dtype : {TUTTI_F32, TUTTI_F64, TUTTI_C64, TUTTI_C128}) {
    add_file(kernels::recurrence_cu, exact(sdk::number_options(gpu(), dtype)));
    for (const int32_t index : {TUTTI_I32, TUTTI_I64})
      add_file(kernels::spmm_cu, exact(sdk::spmm_options(gpu(), dtype, index)));
  }
  for (const char* product :
       {"-DT=uchar -DACC=uchar -DKIND=0", "-DT=ushort -DACC=ushort -DKIND=0",
        "-DT=uint -DACC=uint -DKIND=0", "-DT=ulong -DACC=ulong -DKIND=0",
        "-DT=float -DACC=float -DKIND=0", "-DT=double -DACC=double -DKIND=0",
        "-DT=ushort -DACC=float -DKIND=1", "-DT=ushort -DACC=float -DKIND=2",
        "-DT=float2 -DACC=float2 -DKIND=3", "-DT=double2 -DACC=double2 -DKIND=3"})
    add_file(kernels::matmul_cu, product);
  for (int32_t dtype = TUTTI_BOOL; dtype <= TUTTI_F64; ++dtype) {
    const bool floating = dtype >= TUTTI_F16;
    for (int32_t scan = TUTTI_SCAN_SUM; scan <= TUTTI_SCAN_LOGSUMEXP; ++scan) {
      const bool sums = scan <= TUTTI_SCAN_PROD;
      if (scan == TUTTI_SCAN_LOGSUMEXP && !floating) continue;
      const int32_t out = sums && !floating ? TUTTI_I64 : dtype;
      for (const bool rows : {false, true})
        add_file(kernels::scan_cu, exact(sdk::scan_options(gpu(), out, dtype, scan, rows)));
    }
    for (const int32_t kind : {TUTTI_OPERATOR_SORT, TUTTI_OPERATOR_ARGSORT})
      add_file(kernels::sort_cu, exact(ordering_options(kind, dtype)));
    for (const int32_t kind : {TUTTI_OPERATOR_PARTITION, TUTTI_OPERATOR_TOPK})
      add_file(kernels::partition_cu, exact(ordering_options(kind, dtype)));
    add_file(kernels::lookup_cu, exact(sdk::search_options(gpu(), dtype)));
    if (dtype == TUTTI_I32 || dtype == TUTTI_I64)
      add_file(kernels::lookup_cu, exact(sdk::count_options(gpu(), dtype)));
  }
  BOOST_TEST(files.size() == 74u + 2 * 5 + 13 * 13 + 10);
  compile_for_old_and_new(files);
}

// TUTTI_CUDA_ARCHITECTURES of the build: typical programs and each kernel file to the machine code
// of each, and to PTX.
BOOST_AUTO_TEST_CASE(every_architecture_compiles) {
  watch_log();
  const std::string source = render_cuda(typical_programs());
  std::vector<kernel_file> files = typical_kernel_files();
  files.push_back({"programs", source, cuda::program_options});
  files.push_back(
      {"scatter", kernels::gather_cu,
       exact(sdk::scatter_options(gpu(), TUTTI_F32, TUTTI_I32, sdk::combination::max))});
  files.push_back(
      {"c128", kernels::spmm_cu, exact(sdk::spmm_options(gpu(), TUTTI_C128, TUTTI_I64))});
  files.push_back(
      {"recurrence", kernels::recurrence_cu, exact(sdk::number_options(gpu(), TUTTI_F32))});
  files.push_back({"f16", kernels::matmul_cu, "-DT=ushort -DACC=float -DKIND=1"});
  files.push_back({"bf16", kernels::matmul_cu, "-DT=ushort -DACC=float -DKIND=2"});
  for (const bool rows : {true, false})
    files.push_back({"i64", kernels::scan_cu,
                     exact(sdk::scan_options(gpu(), TUTTI_I64, TUTTI_I32, TUTTI_SCAN_SUM, rows))});
  files.push_back({"partition", kernels::partition_cu,
                   exact(ordering_options(TUTTI_OPERATOR_PARTITION, TUTTI_F32))});
  std::istringstream list(ARCHITECTURES);
  int count = 0;
  for (std::string architecture; list >> architecture; ++count) compile_all(files, architecture);
  BOOST_TEST(count >= 2);
  BOOST_TEST(warnings == "");
}

BOOST_AUTO_TEST_CASE(architectures_follow_the_compiler) {
  BOOST_TEST(cuda::architecture_for(9, 0) == "sm_90");
  BOOST_TEST(cuda::architecture_for(99, 0).rfind("compute_", 0) == 0u);  // PTX for what is newer
  BOOST_CHECK_THROW(cuda::architecture_for(1, 0), sdk::plugin_error);
}

BOOST_AUTO_TEST_CASE(a_compile_error_carries_the_log) {
  try {
    cuda::compile("__global__ void f() { nonsense; }", "sm_90", "", "broken");
    BOOST_FAIL("compiled");
  } catch (const sdk::plugin_error& error) {
    BOOST_TEST(error.code == TUTTI_ERROR_COMPILE);
    BOOST_TEST(std::string(error.what()).find("nonsense") != std::string::npos);
  }
}
