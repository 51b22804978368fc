// SPDX-License-Identifier: Apache-2.0
//
// kDLOpenCL: what is exported is read, and what is imported is written, by plain OpenCL calls.
#define CL_TARGET_OPENCL_VERSION 120

#include "tutti_test/dlpack.hpp"

#include <CL/cl.h>

#include "tutti_test/arrays.hpp"

using tutti::from_dlpack;
using tutti::to_dlpack;

namespace {

array counted_array(const tutti::shape& extents) {
  return array::from(counted(static_cast<std::size_t>(extents.size())), extents);
}

void good(cl_int code) { BOOST_TEST_REQUIRE(code == CL_SUCCESS); }

// What an application has: the context of an exported buffer, and a queue of its own.
struct foreign {
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;

  explicit foreign(cl_mem memory) {
    good(clGetMemObjectInfo(memory, CL_MEM_CONTEXT, sizeof context, &context, nullptr));
    good(clRetainContext(context));
    cl_device_id devices[64];
    std::size_t bytes = 0;
    good(clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof devices, devices, &bytes));
    cl_int code = 0;
    queue = clCreateCommandQueue(context, devices[0], 0, &code);
    good(code);
  }
  ~foreign() {
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
  }
  // The whole buffer.
  std::vector<float> read(cl_mem memory) const {
    std::size_t bytes = 0;
    good(clGetMemObjectInfo(memory, CL_MEM_SIZE, sizeof bytes, &bytes, nullptr));
    std::vector<float> out(bytes / sizeof(float));
    good(clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, out.size() * sizeof(float), out.data(), 0,
                             nullptr, nullptr));
    return out;
  }
  cl_mem buffer(const std::vector<float>& values) const {
    cl_int code = 0;
    cl_mem made =
        clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                       values.size() * sizeof(float), const_cast<float*>(values.data()), &code);
    good(code);
    return made;
  }
};

cl_uint references(cl_mem memory) {
  cl_uint count = 0;
  good(clGetMemObjectInfo(memory, CL_MEM_REFERENCE_COUNT, sizeof count, &count, nullptr));
  return count;
}

constexpr DLDevice dl_opencl = {kDLOpenCL, 0};

}  // namespace

BOOST_AUTO_TEST_CASE(exported_buffers_are_read_by_opencl) {
  const array a = counted_array({4, 6});
  const array cases[] = {a,    a.transpose(), a({{1, 4, 2}, {5, 0, -2}}),
                         a[2], a * 2.f + 1.f, tutti::full({2}, 7.0, tutti::dtype::f32)};
  for (const array& c : cases) {
    const consumed out(to_dlpack(c));
    const DLTensor& t = out->dl_tensor;
    BOOST_TEST(t.device.device_type == kDLOpenCL);
    BOOST_TEST(t.device.device_id == static_cast<int>(tutti::default_device().index()));
    const auto memory = static_cast<cl_mem>(t.data);
    const foreign other(memory);
    const std::vector<float> whole = other.read(memory);
    BOOST_TEST(values_of<float>(t, whole.data()) == c.to_vector<float>(), same);
  }
  const consumed part(to_dlpack(a({{2, 4}, {1, 3}})));
  BOOST_TEST(part->dl_tensor.byte_offset == 13 * sizeof(float));
}

BOOST_AUTO_TEST_CASE(buffers_of_the_context_are_used_in_place) {
  const consumed seed(to_dlpack(counted_array({1})));
  const foreign other(static_cast<cl_mem>(seed->dl_tensor.data));
  std::vector<float> values(24);
  std::iota(values.begin(), values.end(), 0.f);
  const cl_mem memory = other.buffer(values);
  fate end;
  const auto import = [&](std::vector<std::int64_t> extents, std::vector<std::int64_t> strides,
                          std::uint64_t first) {
    auto* tensor = produce(memory, dl_f32, std::move(extents), std::move(strides), end, dl_opencl);
    tensor->dl_tensor.byte_offset = first * sizeof(float);
    return from_dlpack(tensor);
  };
  array a = import({4, 6}, {}, 0);
  BOOST_TEST(a.to_vector<float>() == values, same);
  BOOST_TEST(references(memory) == 2u);
  array b = import({2, 3}, {-6, 2}, 13);
  BOOST_TEST(b.to_vector<float>() == (std::vector<float>{13, 15, 17, 7, 9, 11}), same);
  BOOST_TEST((b.device() == tutti::default_device()));
  // The same memory, not a copy of it.
  const float changed = 50;
  good(clEnqueueWriteBuffer(other.queue, memory, CL_TRUE, 15 * sizeof(float), sizeof changed,
                            &changed, 0, nullptr, nullptr));
  BOOST_TEST(b.to_vector<float>()[1] == 50.f);
  const consumed again(to_dlpack(b));
  BOOST_TEST(again->dl_tensor.data == memory);
  BOOST_TEST(again->dl_tensor.byte_offset == 13 * sizeof(float));
  a = tutti::sqrt(a);  // would overwrite its input, were that the library's own
  a.wait();
  BOOST_TEST(eventually([&] { return end.deletions == 1; }));
  BOOST_TEST(other.read(memory)[16] == 16.f);
  const array moved =
      from_dlpack(produce(memory, dl_f32, {3}, {}, end, dl_opencl), tutti::device("reference"));
  BOOST_TEST(moved.to_vector<float>() == (std::vector<float>{0, 1, 2}), same);
  b = {};
  BOOST_TEST(end.deletions == 2);  // of `moved`; `again` holds b's
  const_cast<consumed&>(again).reset();
  BOOST_TEST(eventually([&] { return end.deletions == 3; }));
  BOOST_TEST(references(memory) == 1u);
  clReleaseMemObject(memory);
}

BOOST_AUTO_TEST_CASE(other_buffers_are_refused) {
  const consumed seed(to_dlpack(counted_array({1})));
  const foreign other(static_cast<cl_mem>(seed->dl_tensor.data));
  const cl_mem memory = other.buffer({1, 2, 3, 4});
  fate end;
  const auto refused = [&](void* handle, const std::string& text, std::uint64_t offset = 0,
                           std::int64_t stride = 1) {
    auto* tensor = produce(handle, dl_f32, {4}, {stride}, end, dl_opencl);
    tensor->dl_tensor.byte_offset = offset;
    const int before = end.deletions;
    FAILS(error, from_dlpack(tensor), text);
    BOOST_TEST(end.deletions == before + 1);
  };
  refused(memory, "wrap: 20 bytes of a cl_mem of 16", 4);
  refused(memory, "from_dlpack: elements of 4 bytes at byte 2 of a cl_mem", 2);
  refused(memory, "from_dlpack: elements of 4 bytes at byte -12 of a cl_mem", 0, -1);
  cl_device_id device = nullptr;
  good(clGetContextInfo(other.context, CL_CONTEXT_DEVICES, sizeof device, &device, nullptr));
  cl_int code = 0;
  const cl_context stranger = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
  good(code);
  const cl_mem theirs = clCreateBuffer(stranger, CL_MEM_READ_WRITE, 16, nullptr, &code);
  good(code);
  refused(theirs, "from_dlpack: kDLOpenCL (4), device 0: opencl:0");
  refused(theirs, "the cl_mem belongs to another context");
  clReleaseMemObject(theirs);
  clReleaseContext(stranger);
  BOOST_TEST(references(memory) == 1u);
  clReleaseMemObject(memory);
}
