// SPDX-License-Identifier: Apache-2.0
//
// The application's own kernels over the stub driver: what NVRTC makes of them, the cache, PTX.
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "plugin.hpp"
#include "samples/custom_kernel/sources.hpp"

using namespace tutti::test;

namespace {

// The stub gives a kernel whose name ends in a digit that many parameters, of 8 bytes each.
constexpr const char* good_text =
    "extern \"C\" __global__ void fill_2(float* out, long long n) {\n"
    "  out[blockIdx.x * blockDim.x + threadIdx.x] = n + NUMBER;\n"
    "}\n";

struct rig {
  tutti_device* device = nullptr;
  tutti_stream* stream = nullptr;
  tutti_buffer* memory = nullptr;
  tutti_kernel_argument arguments[2] = {};
  int64_t number = 7;
  tutti_kernel_launch launch{};

  explicit rig(uint32_t flags = 0) {
    STUB_CALL(stub_heal)();
    good(plugin().device->open(0, &device));
    good(create_stream(device, flags, &stream));
    good(allocate(device, 4096, &memory));
    arguments[0] = {TUTTI_KERNEL_BUFFER, 0, memory, 0, nullptr};
    arguments[1] = {TUTTI_KERNEL_SCALAR, 8, nullptr, 0, &number};
    launch.struct_size = sizeof launch;
    launch.arguments = arguments;
    launch.argument_count = 2;
    launch.argument_size = sizeof arguments[0];
    launch.global[0] = 64;
    launch.global[1] = launch.global[2] = 1;
  }
  ~rig() {
    plugin().memory->release(memory);
    plugin().stream->release(stream);
    plugin().device->release(device);
  }
  outcome create(const char* text, tutti_kernel** kernel, const char* options = "-DNUMBER=1",
                 int32_t language = TUTTI_KERNEL_CUDA_CXX, const char* entry = "fill_2") {
    tutti_kernel_desc desc{};
    desc.struct_size = sizeof desc;
    desc.language = language;
    desc.source = text;
    desc.source_bytes = std::strlen(text);
    desc.entry = entry;
    desc.options = options;
    desc.label = "fill";
    return take(plugin().kernel->create(device, &desc, kernel));
  }
  // What the driver was asked for.
  std::string run(tutti_kernel* kernel) {
    good(plugin().kernel->launch(stream, kernel, &launch, nullptr));
    return STUB_CALL(stub_launch)(STUB_CALL(stub_count)().launches - 1);
  }
};

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_kernel_of_the_sample_compiles) {
  rig r;
  for (const char* options : {"-DREAL=float", "-DREAL=double"}) {
    tutti_kernel* kernel = nullptr;
    const outcome made = r.create(custom_kernel::cuda_source.c_str(), &kernel, options,
                                  TUTTI_KERNEL_CUDA_CXX, "kepler");
    BOOST_TEST_REQUIRE(made.message == "");
    plugin().kernel->release(kernel);
  }
}

BOOST_AUTO_TEST_CASE(errors_have_the_lines_of_the_source) {
  rig r;
  tutti_kernel* kernel = nullptr;
  const outcome broken = r.create("\n\nint two;\nthis is line four\n", &kernel);
  BOOST_TEST(broken.code == TUTTI_ERROR_COMPILE);
  BOOST_TEST(holds(broken.message, "fill.cu(4): error"), broken.message);
  BOOST_TEST(kernel == nullptr);
  const outcome undefined = r.create(good_text, &kernel, "");
  BOOST_TEST(holds(undefined.message, "fill.cu(2): error"), undefined.message);
  STUB_CALL(stub_fail)("cuModuleGetFunction", 500, 1);
  const outcome absent = r.create(good_text, &kernel);
  BOOST_TEST(absent.code == TUTTI_ERROR_COMPILE);
  BOOST_TEST(holds(absent.message, "the source has no kernel fill_2"), absent.message);
}

BOOST_AUTO_TEST_CASE(the_cache_tells_options_and_sources_apart) {
  rig r;
  host().compiled.clear();
  tutti_kernel* kernel = nullptr;
  for (const char* options : {"-DNUMBER=100", "-DNUMBER=100", "-DNUMBER=200"}) {
    BOOST_TEST_REQUIRE(r.create(good_text, &kernel, options).message == "");
    plugin().kernel->release(kernel);
  }
  const std::vector<std::string> expected = {"fill fresh", "fill cached", "fill fresh"};
  BOOST_TEST(host().compiled == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(ptx_is_finished_by_the_driver) {
  rig r;
  tutti_kernel* kernel = nullptr;
  const int before = STUB_CALL(stub_count)().modules;
  const outcome loaded = r.create(".version 8.0\n.target sm_90\n", &kernel, "", TUTTI_KERNEL_PTX);
  BOOST_TEST_REQUIRE(loaded.message == "");
  BOOST_TEST(r.run(kernel) == "fill_2 1 1 64");
  plugin().kernel->release(kernel);
  BOOST_TEST(STUB_CALL(stub_count)().modules == before);
  const outcome broken = r.create("nonsense", &kernel, "", TUTTI_KERNEL_PTX);
  BOOST_TEST(broken.code == TUTTI_ERROR_COMPILE);
  BOOST_TEST(holds(broken.message, "ptxas: no .version"), broken.message);
  const outcome opencl = r.create("kernel void x() {}", &kernel, "", TUTTI_KERNEL_OPENCL_C);
  BOOST_TEST(opencl.code == TUTTI_ERROR_UNSUPPORTED);
  BOOST_TEST(holds(opencl.message, "takes CUDA C++, PTX, not OpenCL C"), opencl.message);
}
