// SPDX-License-Identifier: Apache-2.0
//
// kDLCUDA and its relatives through the library, over the emulator, whose device memory the host
// reaches: what is exported is looked at, what is imported is made by the driver's own functions.
#include "tutti_test/dlpack.hpp"

#include <cuda.h>

#include "plugin.hpp"
#include "tutti_test/arrays.hpp"

using tutti::from_dlpack;
using tutti::to_dlpack;

namespace {

// Memory of another user of the driver.
struct device_memory {
  CUdeviceptr at = 0;
  explicit device_memory(const std::vector<float>& values) {
    // The library opened the device, whose context is CUDA's primary one.
    CUcontext context = nullptr;
    CALL(cuDevicePrimaryCtxRetain)(&context, 0);
    CALL(cuCtxSetCurrent)(context);
    BOOST_REQUIRE(CALL(cuMemAlloc_v2)(&at, values.size() * sizeof(float)) == CUDA_SUCCESS);
    std::memcpy(pointer(), values.data(), values.size() * sizeof(float));
  }
  ~device_memory() { CALL(cuMemFree_v2)(at); }
  float* pointer() const { return reinterpret_cast<float*>(at); }
};

}  // namespace

BOOST_AUTO_TEST_CASE(exports_are_addresses) {
  for (int index = 0; index < 2; ++index) {
    const tutti::device on("cuda:" + std::to_string(index));
    const array a = array::from(counted(24), {4, 6}, on);
    const array view = a({{1, 4, 2}, {5, 0, -2}});
    const consumed out(to_dlpack(view));
    BOOST_TEST(out->dl_tensor.device.device_type == kDLCUDA);
    BOOST_TEST(out->dl_tensor.device.device_id == index);
    BOOST_TEST(out->dl_tensor.byte_offset == 0u);
    BOOST_TEST(values_of<float>(out->dl_tensor) == (std::vector<float>{11, 9, 7, 23, 21, 19}),
               same);
    const consumed host(to_dlpack(a, {.to_cpu = true}));
    BOOST_TEST(host->dl_tensor.device.device_type == kDLCPU);
    BOOST_TEST(values_of<float>(host->dl_tensor) == counted(24), same);
    const array back = from_dlpack(to_dlpack(a));
    BOOST_TEST((back.device() == on));
    BOOST_TEST(back.to_vector<float>() == counted(24), same);
  }
}

BOOST_AUTO_TEST_CASE(memory_of_the_device_is_used_in_place) {
  const device_memory memory(counted(12));
  fate end;
  array a = from_dlpack(produce(memory.pointer(), dl_f32, {3, 4}, {}, end, {kDLCUDA, 0}));
  BOOST_TEST(a.device().name() == "cuda:0");
  BOOST_TEST(a.to_vector<float>() == counted(12), same);
  const consumed again(to_dlpack(a));
  BOOST_TEST(again->dl_tensor.data == memory.pointer());
  // In the middle of an allocation, with strides that go back.
  const consumed view(to_dlpack(
      from_dlpack(produce(memory.pointer() + 7, dl_f32, {2, 2}, {-4, 1}, end, {kDLCUDA, 0}))));
  BOOST_TEST(values_of<float>(view->dl_tensor) == (std::vector<float>{7, 8, 3, 4}), same);
  const array managed =
      from_dlpack(produce(memory.pointer(), dl_f32, {2}, {}, end, {kDLCUDAManaged, 0}));
  BOOST_TEST(managed.device().name() == "cuda:0");
  a = {};
  BOOST_TEST(end.deletions == 0);
  const_cast<consumed&>(again).reset();
  BOOST_TEST(end.deletions == 1);
}

BOOST_AUTO_TEST_CASE(pinned_memory_is_of_both_sides) {
  const device_memory context_is_current({0});
  void* pinned = nullptr;
  BOOST_REQUIRE(CALL(cuMemHostAlloc)(&pinned, 16, 0) == CUDA_SUCCESS);
  const float values[] = {1, 2, 3, 4};
  std::memcpy(pinned, values, sizeof values);
  {
    fate end;
    const array a = from_dlpack(produce(pinned, dl_f32, {4}, {}, end, {kDLCUDAHost, 0}));
    BOOST_TEST(a.device().name() == "cuda:0");
    BOOST_TEST(a.to_vector<float>() == (std::vector<float>{1, 2, 3, 4}), same);
    const array b = from_dlpack(produce(pinned, dl_f32, {4}, {}, end, {kDLCUDAHost, 0}),
                                tutti::device("reference"));
    const consumed out(to_dlpack(b));
    BOOST_TEST(out->dl_tensor.data == pinned);
    BOOST_TEST(end.deletions == 0);
  }
  CALL(cuMemFreeHost)(pinned);
}

BOOST_AUTO_TEST_CASE(what_is_not_the_devices_is_refused) {
  const device_memory memory(counted(4));
  alignas(16) float host[4] = {};
  fate end;
  const auto refused = [&](void* data, DLDevice where, const std::string& text,
                           std::int64_t extent = 4) {
    auto* tensor = produce(data, dl_f32, {extent}, {}, end, where);
    const int before = end.deletions;
    FAILS(error, from_dlpack(tensor), text);
    BOOST_TEST(end.deletions == before + 1);
  };
  refused(host, {kDLCUDA, 0}, "from_dlpack: kDLCUDA (2), device 0: cuda:0");
  refused(host, {kDLCUDA, 0}, "the address is no memory of CUDA");
  refused(memory.pointer(), {kDLCUDA, 0}, "20 bytes of an allocation of 16 from byte 0", 5);
  refused(memory.pointer() + 2, {kDLCUDA, 0}, "12 bytes of an allocation of 16 from byte 8", 3);
  refused(reinterpret_cast<char*>(memory.pointer()) + 2, {kDLCUDA, 0}, "which is not aligned", 2);
  refused(memory.pointer(), {kDLCUDA, 8}, "from_dlpack: kDLCUDA (2), device 8: ");
}
