// SPDX-License-Identifier: Apache-2.0
//
// The application's own kernels over the stub driver: what NVRTC makes of them, how launches are
// cut into grid and blocks, the cache, PTX, and what is refused.
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
    sizes(64, 1, 1);
  }
  ~rig() {
    plugin().memory->release(memory);
    plugin().stream->release(stream);
    plugin().device->release(device);
  }
  void sizes(uint64_t x, uint64_t y, uint64_t z) {
    launch.global[0] = x;
    launch.global[1] = y;
    launch.global[2] = z;
  }
  void groups(uint64_t x, uint64_t y, uint64_t z) {
    launch.local[0] = x;
    launch.local[1] = y;
    launch.local[2] = z;
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
  outcome refused(tutti_kernel* kernel) {
    return take(plugin().kernel->launch(stream, kernel, &launch, nullptr));
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

BOOST_AUTO_TEST_CASE(launches_are_cut_into_blocks) {
  rig r;
  tutti_kernel* kernel = nullptr;
  BOOST_TEST_REQUIRE(r.create(good_text, &kernel).message == "");
  BOOST_TEST(r.run(kernel) == "fill_2 1 1 64");
  r.sizes(1000, 1, 1);
  BOOST_TEST(r.run(kernel) == "fill_2 4 1 250");  // the largest divisor up to 256
  r.sizes(1009, 1, 1);                            // a prime
  BOOST_TEST(r.run(kernel) == "fill_2 1009 1 1");
  r.sizes(512, 6, 4);
  BOOST_TEST(r.run(kernel) == "fill_2 2 6 256 also 4 1 1 0");
  r.groups(128, 3, 2);
  r.launch.shared_bytes = 100'000;
  BOOST_TEST(r.run(kernel) == "fill_2 4 2 128 also 2 3 2 100000");
  tutti_kernel_info info{};
  info.struct_size = sizeof info;
  good(plugin().kernel->info(kernel, &info));
  BOOST_TEST(info.max_work_group_size == 1024u);
  BOOST_TEST(info.max_shared_bytes == 232448u);
  BOOST_TEST(info.argument_count == 2u);
  plugin().kernel->release(kernel);
}

BOOST_AUTO_TEST_CASE(launches_that_are_refused) {
  rig r;
  tutti_kernel* kernel = nullptr;
  BOOST_TEST_REQUIRE(r.create(good_text, &kernel).message == "");
  const auto refuse = [&](const char* text) {
    const outcome result = r.refused(kernel);
    BOOST_TEST(result.code == TUTTI_ERROR_INVALID_ARGUMENT);
    BOOST_TEST(holds(result.message, text), result.message);
    r.sizes(64, 1, 1);
    r.groups(0, 0, 0);
    r.launch.shared_bytes = 0;
    r.launch.argument_count = 2;
    r.arguments[0].offset = 0;
    r.arguments[1].bytes = 8;
  };
  r.sizes(64, 70000, 1);
  refuse("70000 blocks along dimension 1, CUDA takes 65535");
  r.sizes(uint64_t{1} << 45, 1, 1);
  r.groups(1024, 1, 1);
  refuse("blocks along dimension 0, CUDA takes 2147483647");
  r.groups(64, 1, 1);
  r.launch.shared_bytes = 300'000;
  refuse("300000 bytes of shared memory, the device has 232448");
  r.sizes(4096, 1, 1);
  r.groups(2048, 1, 1);
  refuse("work-groups of 2048 x 1 x 1 work-items, the device takes 1024");
  r.launch.argument_count = 1;
  refuse("fill: 1 arguments for a kernel of 2");
  r.arguments[1].bytes = 4;
  refuse("argument 1, of 4 bytes, is not what the kernel takes there (8)");
  r.arguments[0].offset = 12;
  refuse("no multiple of the device's alignment");
  BOOST_TEST(r.run(kernel) == "fill_2 1 1 64");
  plugin().kernel->release(kernel);
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

BOOST_AUTO_TEST_CASE(profiled_launches_carry_times) {
  rig r(TUTTI_STREAM_PROFILE);
  tutti_kernel* kernel = nullptr;
  BOOST_TEST_REQUIRE(r.create(good_text, &kernel).message == "");
  tutti_event* event = nullptr;
  good(plugin().kernel->launch(r.stream, kernel, &r.launch, &event));
  BOOST_TEST_REQUIRE(event != nullptr);
  tutti_event_times times{};
  times.struct_size = sizeof times;
  good(plugin().profile->event_times(event, &times));
  BOOST_TEST(times.end_ns > times.begin_ns);
  plugin().stream->event_release(event);
  plugin().kernel->release(kernel);
}
