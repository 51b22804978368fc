// SPDX-License-Identifier: Apache-2.0
//
// The application's own kernels: the cache, and PTX, for which the emulator takes CUDA C++.
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "plugin.hpp"
#include "tutti_test/command.hpp"

using namespace tutti::test;
using tutti_test::has;

namespace {

constexpr const char* fill =
    "extern \"C\" __global__ void fill(float* out, long long n) {\n"
    "  out[blockIdx.x * blockDim.x + threadIdx.x] = n + NUMBER;\n"
    "}\n";

outcome create(const open_device& d, const std::string& text, tutti_kernel** kernel,
               int32_t language, const char* options = "") {
  tutti_kernel_desc desc{};
  desc.struct_size = sizeof desc;
  desc.language = language;
  desc.source = text.c_str();
  desc.source_bytes = text.size();
  desc.entry = desc.label = "fill";
  desc.options = options;
  return take(plugin().kernel->create(d.device, &desc, kernel));
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_cache_tells_options_and_sources_apart) {
  open_device d;
  host().compiled.clear();
  tutti_kernel* kernel = nullptr;
  for (const char* options : {"-DNUMBER=100", "-DNUMBER=100", "-DNUMBER=200"}) {
    BOOST_TEST_REQUIRE(create(d, fill, &kernel, TUTTI_KERNEL_CUDA_CXX, options).message == "");
    plugin().kernel->release(kernel);
  }
  const std::vector<std::string> expected = {"fill fresh", "fill cached", "fill fresh"};
  BOOST_TEST(host().compiled == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(ptx_is_finished_by_the_driver) {
  open_device d;
  tutti_kernel* kernel = nullptr;
  const outcome loaded =
      create(d, std::string("#define NUMBER 1\n") + fill, &kernel, TUTTI_KERNEL_PTX);
  BOOST_TEST_REQUIRE(loaded.message == "");
  tutti_buffer* const memory = d.buffer(256);
  const int64_t number = 7;
  const tutti_kernel_argument arguments[] = {{TUTTI_KERNEL_BUFFER, 0, memory, 0, nullptr},
                                             {TUTTI_KERNEL_SCALAR, 8, nullptr, 0, &number}};
  tutti_kernel_launch launch{};
  launch.struct_size = sizeof launch;
  launch.arguments = arguments;
  launch.argument_count = 2;
  launch.argument_size = sizeof arguments[0];
  launch.global[0] = 64;
  launch.global[1] = launch.global[2] = 1;
  good(plugin().kernel->launch(d.stream, kernel, &launch, nullptr));
  std::vector<float> out(64);
  good(plugin().transfer->read(d.stream, memory, 0, out.data(), 256, 1, nullptr));
  BOOST_TEST(out == std::vector<float>(64, 8), boost::test_tools::per_element());
  plugin().memory->release(memory);
  plugin().kernel->release(kernel);
  const outcome broken = create(d, "nonsense", &kernel, TUTTI_KERNEL_PTX);
  BOOST_TEST(broken.code == TUTTI_ERROR_COMPILE);
  BOOST_TEST(has(broken.message, "nonsense"), broken.message);
  const outcome opencl = create(d, "kernel void x() {}", &kernel, TUTTI_KERNEL_OPENCL_C);
  BOOST_TEST(opencl.code == TUTTI_ERROR_UNSUPPORTED);
  BOOST_TEST(has(opencl.message, "takes CUDA C++, PTX, not OpenCL C"), opencl.message);
}
