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

// Of kernels that round as programs do.
std::string exact(const std::string& options) { return options + ' ' + cuda::program_options; }

std::string scan_options(int32_t out, int32_t in, int32_t scan, bool rows) {
  return exact(sdk::scan_options(gpu(), out, in, scan, rows));
}

void compile_all(const std::vector<std::string>& sources) {
  watch_log();
  const auto compile_for = [&](const char* architecture) {
    size_t bytes = 0;
    for (const std::string& source : sources) {
      bytes += cuda::compile(source, architecture, cuda::program_options, "batch").size();
    }
    return bytes;
  };
  auto other = std::async(std::launch::async, compile_for, "sm_75");
  BOOST_TEST(compile_for("compute_90") > 100000u);
  BOOST_TEST(other.get() > 100000u);
  BOOST_TEST(warnings == "");
}

// Kernel files for one architecture.
class kernel_compiler {
 public:
  explicit kernel_compiler(std::string architecture) : architecture_(std::move(architecture)) {}
  bool operator()(std::string_view file, const std::string& options) const {
    return cuda::compile(std::string(file), architecture_, options, "file").size() > 0;
  }

 private:
  const std::string architecture_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(programs_compile) {
  const std::vector<test_program> programs = all_programs();
  BOOST_TEST(programs.size() > 150u);
  std::vector<std::string> batches;
  for (size_t n = 0; n < programs.size(); n += 100) {
    const auto first = programs.begin() + static_cast<std::ptrdiff_t>(n);
    const auto count = static_cast<std::ptrdiff_t>(std::min<size_t>(100, programs.size() - n));
    batches.push_back(render_cuda(std::vector(first, first + count)));
  }
  compile_all(batches);
}

BOOST_AUTO_TEST_CASE(kernel_files_compile_for_every_type) {
  watch_log();
  using enum sdk::combination;
  const auto compile_for = [](const std::string& architecture) {
    const kernel_compiler built(architecture);
    int count = 0;
    for (int32_t dtype = TUTTI_I8; dtype <= TUTTI_C128; ++dtype) {
      if (dtype == TUTTI_F16 || dtype == TUTTI_BF16) continue;
      const int32_t index = dtype % 2 == 0 ? TUTTI_I32 : TUTTI_I64;
      for (const sdk::combination how : {add, set, multiply, min, max}) {
        const bool complex = dtype >= TUTTI_C64;
        if (complex ? how != multiply : dtype >= TUTTI_U8 && how == set) continue;
        const bool compensated = how == add && (dtype == TUTTI_F32 || dtype == TUTTI_F64);
        count += built(kernels::gather_cu,
                       exact(sdk::scatter_options(gpu(), dtype, index, how, compensated)));
      }
      if (dtype < TUTTI_U8)
        count += built(kernels::gather_cu, exact(sdk::take_options(gpu(), dtype, index)));
    }
    for (const int32_t dtype : {TUTTI_F32, TUTTI_F64}) {
      count +=
          built(kernels::convolution_cu, sdk::convolution_options(gpu(), dtype, {32, 3, true}));
      count += built(kernels::fft_cu, exact(sdk::fft_options(gpu(), dtype == TUTTI_F64)));
      for (const uint32_t radix : {2, 4, 8, 13})
        count +=
            built(kernels::fft_cu, exact(sdk::fft_pass_options(gpu(), dtype == TUTTI_F64, radix)));
    }
    for (const int32_t dtype : {TUTTI_F32, TUTTI_F64, TUTTI_C64, TUTTI_C128}) {
      count += built(kernels::recurrence_cu, exact(sdk::number_options(gpu(), dtype)));
      for (const int32_t index : {TUTTI_I32, TUTTI_I64})
        count += built(kernels::spmm_cu, exact(sdk::spmm_options(gpu(), dtype, index)));
    }
    const char* const products[][3] = {{"uchar", "uchar", "0"},   {"ushort", "ushort", "0"},
                                       {"uint", "uint", "0"},     {"ulong", "ulong", "0"},
                                       {"float", "float", "0"},   {"double", "double", "0"},
                                       {"ushort", "float", "1"},  {"ushort", "float", "2"},
                                       {"float2", "float2", "3"}, {"double2", "double2", "3"}};
    for (const auto& product : products) {
      count += built(kernels::matmul_cu, std::string("-DT=") + product[0] + " -DACC=" + product[1] +
                                             " -DKIND=" + product[2]);
    }
    return count;
  };
  auto other = std::async(std::launch::async, compile_for, "sm_75");
  BOOST_TEST(compile_for("compute_90") == 74 + 2 * 5);
  BOOST_TEST(other.get() == 74 + 2 * 5);
  BOOST_TEST(warnings == "");
}

BOOST_AUTO_TEST_CASE(scans_and_sorts_compile_for_every_type) {
  watch_log();
  const auto compile_for = [](const std::string& architecture) {
    const kernel_compiler built(architecture);
    int count = 0;
    for (int32_t dtype = TUTTI_BOOL; dtype <= TUTTI_F64; ++dtype) {
      const bool floating = dtype >= TUTTI_F16;
      for (int32_t scan = TUTTI_SCAN_SUM; scan <= TUTTI_SCAN_LOGSUMEXP; ++scan) {
        const bool sums = scan <= TUTTI_SCAN_PROD;
        if (scan == TUTTI_SCAN_LOGSUMEXP && !floating) continue;
        const int32_t out = sums && !floating ? TUTTI_I64 : dtype;
        for (const bool rows : {false, true})
          count += built(kernels::scan_cu, scan_options(out, dtype, scan, rows));
      }
      for (const int32_t kind : {TUTTI_OPERATOR_SORT, TUTTI_OPERATOR_ARGSORT})
        count += built(kernels::sort_cu, exact(ordering_options(kind, dtype)));
      for (const int32_t kind : {TUTTI_OPERATOR_PARTITION, TUTTI_OPERATOR_TOPK})
        count += built(kernels::partition_cu, exact(ordering_options(kind, dtype)));
      count += built(kernels::lookup_cu, exact(sdk::search_options(gpu(), dtype)));
      if (dtype == TUTTI_I32 || dtype == TUTTI_I64)
        count += built(kernels::lookup_cu, exact(sdk::count_options(gpu(), dtype)));
    }
    return count;
  };
  auto other = std::async(std::launch::async, compile_for, "sm_75");
  BOOST_TEST(compile_for("compute_90") == 13 * 13 + 10);
  BOOST_TEST(other.get() == 13 * 13 + 10);
  BOOST_TEST(warnings == "");
}

// TUTTI_CUDA_ARCHITECTURES of the build: typical programs and each kernel file to the machine code
// of each, and to PTX, without a word of warning.
BOOST_AUTO_TEST_CASE(every_architecture_compiles) {
  watch_log();
  const std::pair<std::string_view, std::string> files[] = {
      {kernels::gather_cu,
       exact(sdk::scatter_options(gpu(), TUTTI_F32, TUTTI_I32, sdk::combination::max))},
      {kernels::convolution_cu, sdk::convolution_options(gpu(), TUTTI_F32, {64, 2, false})},
      {kernels::fft_cu, exact(sdk::fft_options(gpu(), false))},
      {kernels::fft_cu, exact(sdk::fft_pass_options(gpu(), false, 8))},
      {kernels::spmm_cu, exact(sdk::spmm_options(gpu(), TUTTI_F32, TUTTI_I32))},
      {kernels::spmm_cu, exact(sdk::spmm_options(gpu(), TUTTI_C128, TUTTI_I64))},
      {kernels::recurrence_cu, exact(sdk::number_options(gpu(), TUTTI_F32))},
      {kernels::matmul_cu, "-DT=float -DACC=float -DKIND=0"},
      {kernels::matmul_cu, "-DT=ushort -DACC=float -DKIND=1"},
      {kernels::matmul_cu, "-DT=ushort -DACC=float -DKIND=2"},
      {kernels::matmul_cu, "-DT=float2 -DACC=float2 -DKIND=3"},
      {kernels::scan_cu, scan_options(TUTTI_I64, TUTTI_I32, TUTTI_SCAN_SUM, true)},
      {kernels::scan_cu, scan_options(TUTTI_I64, TUTTI_I32, TUTTI_SCAN_SUM, false)},
      {kernels::sort_cu, exact(ordering_options(TUTTI_OPERATOR_ARGSORT, TUTTI_F32))},
      {kernels::partition_cu, exact(ordering_options(TUTTI_OPERATOR_TOPK, TUTTI_F32))},
      {kernels::lookup_cu, exact(sdk::search_options(gpu(), TUTTI_F32))},
      {kernels::lookup_cu, exact(sdk::count_options(gpu(), TUTTI_I32))}};
  const std::string source = render_cuda(typical_programs());
  std::istringstream list(ARCHITECTURES);
  int count = 0;
  for (std::string architecture; list >> architecture; ++count) {
    BOOST_TEST(cuda::compile(source, architecture, cuda::program_options, "all").size() > 1000u,
               architecture);
    for (const auto& [file, options] : files) {
      BOOST_TEST(cuda::compile(std::string(file), architecture, options, "file").size() > 1000u,
                 architecture);
    }
  }
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
