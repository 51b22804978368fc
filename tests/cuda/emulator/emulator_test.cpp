// SPDX-License-Identifier: Apache-2.0
//
// What the emulator computes and what it refuses, by the driver's own functions. A fault ends a
// device, so that each case has one of its own.
#include <cuda.h>
#include <nvrtc.h>

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "../plugin.hpp"

namespace {

#define GOOD(...) BOOST_TEST_REQUIRE((__VA_ARGS__) == 0)

void fault_tells(const std::string& text) {
  const std::string found = CALL(emulator_last_fault)();
  BOOST_TEST(found.find(text) != std::string::npos, "found: " << found);
}

const std::vector<char>& object() {
  static const std::vector<char> made = [] {
    std::ifstream in(tutti_test::paths::faulty_kernels);
    const std::string source{std::istreambuf_iterator<char>(in), {}};
    nvrtcProgram program = nullptr;
    GOOD(CALL(nvrtcCreateProgram)(&program, source.c_str(), "faulty.cu", 0, nullptr, nullptr));
    GOOD(CALL(nvrtcCompileProgram)(program, 0, nullptr));
    size_t bytes = 0;
    GOOD(CALL(nvrtcGetCUBINSize)(program, &bytes));
    std::vector<char> image(bytes);
    GOOD(CALL(nvrtcGetCUBIN)(program, image.data()));
    GOOD(CALL(nvrtcDestroyProgram)(&program));
    return image;
  }();
  return made;
}

// A device with two streams, 64 floats of 1, 2, 3 ... and 64 to be written.
struct fixture {
  fixture() {
    static int used = 0;
    CUcontext context = nullptr;
    GOOD(CALL(cuDevicePrimaryCtxRetain)(&context, used++));
    GOOD(CALL(cuCtxSetCurrent)(context));
    for (CUstream& s : streams) GOOD(CALL(cuStreamCreate)(&s, 0));
    GOOD(CALL(cuModuleLoadData)(&code, object().data()));
    for (CUdeviceptr* at : {&from, &to}) GOOD(CALL(cuMemAlloc_v2)(at, 256));
    std::vector<float> values(64);
    for (size_t n = 0; n < values.size(); ++n) values[n] = static_cast<float>(n + 1);
    GOOD(CALL(cuMemcpyHtoDAsync_v2)(from, values.data(), 256, streams[0]));
    GOOD(CALL(cuStreamSynchronize)(streams[0]));
  }
  ~fixture() {
    CALL(cuModuleUnload)(code);
    for (CUstream s : streams) CALL(cuStreamDestroy_v2)(s);
  }
  CUresult launch(const char* name, unsigned blocks, unsigned threads, unsigned shared = 0) {
    CUfunction kernel = nullptr;
    GOOD(CALL(cuModuleGetFunction)(&kernel, code, name));
    void* arguments[] = {&from, &to};
    return CALL(cuLaunchKernel)(kernel, blocks, 1, 1, threads, 1, 1, shared, streams[0], arguments,
                                nullptr);
  }
  CUresult finish() { return CALL(cuStreamSynchronize)(streams[0]); }
  std::vector<float> result() {
    std::vector<float> values(64);
    GOOD(CALL(cuMemcpyDtoHAsync_v2)(values.data(), to, 256, streams[0]));
    return values;
  }
  CUstream streams[2] = {};
  CUmodule code = nullptr;
  CUdeviceptr from = 0, to = 0;
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(computes, fixture) {
  GOOD(launch("copy", 1, 64));
  BOOST_TEST(result()[63] == 64);
  GOOD(launch("sum", 1, 64, 256));
  BOOST_TEST(result()[0] == 64 * 65 / 2);
  GOOD(launch("neighbours", 1, 64));
  BOOST_TEST(result()[0] == 2);
  BOOST_TEST(result()[31] == 32);  // the last of its warp has none
}

BOOST_FIXTURE_TEST_CASE(wrong_launches_are_refused, fixture) {
  BOOST_TEST(launch("copy", 0, 64) == CUDA_ERROR_INVALID_VALUE);
  BOOST_TEST(launch("copy", 1, 0) == CUDA_ERROR_INVALID_VALUE);
  BOOST_TEST(launch("copy", 1, 65) == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);  // its launch bounds
  BOOST_TEST(launch("neighbours", 1, 1025) == CUDA_ERROR_INVALID_VALUE);
  BOOST_TEST(launch("sum", 1, 64, 48 * 1024 + 4) == CUDA_ERROR_INVALID_VALUE);
  BOOST_TEST(finish() == CUDA_SUCCESS);
}

BOOST_AUTO_TEST_CASE(wrong_kernels_end_their_device) {
  const struct {
    const char* kernel;
    unsigned blocks, threads, shared;
    CUresult code;
    const char* text;
  } faults[] = {
      {"copy", 2, 64, 0, CUDA_ERROR_ILLEGAL_ADDRESS, "out of bounds"},
      {"load_pairs", 1, 1, 0, CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned access of 8 bytes"},
      {"sum_in_step", 1, 64, 256, CUDA_ERROR_LAUNCH_FAILED, "dynamic shared memory"},
      {"unwritten", 1, 64, 256, CUDA_ERROR_LAUNCH_FAILED, "that nothing has written"},
      {"same_place", 2, 64, 0, CUDA_ERROR_LAUNCH_FAILED, "in a race with a thread of another"},
      {"unwritten_static", 1, 64, 0, CUDA_ERROR_LAUNCH_FAILED, "that nothing has written"},
      {"static_without_barrier", 1, 64, 0, CUDA_ERROR_LAUNCH_FAILED, "shared memory"},
      {"global_without_barrier", 1, 64, 0, CUDA_ERROR_LAUNCH_FAILED, "in a race with"},
      {"counts_without_atomics", 1, 64, 0, CUDA_ERROR_LAUNCH_FAILED, "in a race with"},
      {"no_address", 1, 1, 0, CUDA_ERROR_ILLEGAL_ADDRESS, "outside of all allocations"},
      {"left_barrier", 1, 64, 0, CUDA_ERROR_LAUNCH_FAILED, "a barrier that not all threads reach"},
      {"two_barriers", 1, 64, 0, CUDA_ERROR_LAUNCH_FAILED, "wait at different barriers"},
      {"half_a_mask", 1, 64, 0, CUDA_ERROR_LAUNCH_FAILED, "that its mask leaves out"},
      {"half_a_warp", 1, 64, 0, CUDA_ERROR_LAUNCH_FAILED, "names a thread that has ended"}};
  for (const auto& f : faults) {
    BOOST_TEST_CONTEXT(f.kernel) {
      fixture on;
      GOOD(on.launch(f.kernel, f.blocks, f.threads, f.shared));
      BOOST_TEST(on.finish() == f.code);
      fault_tells(f.text);
      BOOST_TEST(on.finish() == f.code);  // the device stays lost
    }
  }
}

// The copy and the free have no order; one in which the free comes first turns up soon.
BOOST_FIXTURE_TEST_CASE(memory_freed_by_another_stream, fixture) {
  CUresult found = CUDA_SUCCESS;
  for (int n = 0; n < 200 && found == CUDA_SUCCESS; ++n) {
    CUdeviceptr memory = 0;
    GOOD(CALL(cuMemAlloc_v2)(&memory, 256));
    GOOD(CALL(cuMemcpyDtoDAsync_v2)(to, memory, 256, streams[0]));
    GOOD(CALL(cuMemFreeAsync)(memory, streams[1]));
    found = CALL(cuStreamSynchronize)(streams[1]);
  }
  BOOST_TEST(found == CUDA_ERROR_ILLEGAL_ADDRESS);
  fault_tells("that was freed");
}

BOOST_FIXTURE_TEST_CASE(streams_keep_no_order_but_that_of_events, fixture) {
  CUevent begin = nullptr, end = nullptr;
  GOOD(CALL(cuEventCreate)(&begin, 0));
  GOOD(CALL(cuEventCreate)(&end, 0));
  float milliseconds = 0;
  const auto elapsed =
      tutti::test::emulator_function<CUresult(float*, CUevent, CUevent)>("cuEventElapsedTime");
  BOOST_TEST(elapsed(&milliseconds, begin, end) == CUDA_ERROR_INVALID_HANDLE);  // never recorded
  bool seen[2] = {};
  for (int n = 0; n < 200 && !(seen[0] && seen[1]); ++n) {
    GOOD(CALL(cuEventRecord)(begin, streams[0]));
    GOOD(CALL(cuEventRecord)(end, streams[1]));
    BOOST_TEST(elapsed(&milliseconds, begin, end) == CUDA_ERROR_NOT_READY);
    for (CUstream s : streams) GOOD(CALL(cuStreamSynchronize)(s));
    GOOD(elapsed(&milliseconds, begin, end));
    seen[milliseconds > 0 ? 1 : 0] = true;
  }
  BOOST_TEST((seen[0] && seen[1]));
  for (int n = 0; n < 50; ++n) {
    GOOD(CALL(cuEventRecord)(begin, streams[0]));
    GOOD(CALL(cuStreamWaitEvent)(streams[1], begin, 0));
    GOOD(CALL(cuEventRecord)(end, streams[1]));
    GOOD(CALL(cuStreamSynchronize)(streams[1]));
    GOOD(elapsed(&milliseconds, begin, end));
    BOOST_TEST(milliseconds >= 0);
  }
  for (CUevent e : {begin, end}) GOOD(CALL(cuEventDestroy_v2)(e));
}
