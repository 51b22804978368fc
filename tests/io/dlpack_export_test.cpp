// SPDX-License-Identifier: Apache-2.0
//
// to_dlpack on every device: what a consumer finds in the structs and in host memory, round trips
// on the device, and how long the memory lives. The oracle is a walk over the strides.
#include "tutti_test/arrays.hpp"
#include "tutti_test/dlpack.hpp"

using tutti::from_dlpack;
using tutti::to_dlpack;

namespace {

struct dtype_row {
  dtype type;
  int code, bits;
};
constexpr dtype_row dtypes[] = {
    {dtype::boolean, 6, 8}, {dtype::i8, 0, 8},   {dtype::i16, 0, 16},  {dtype::i32, 0, 32},
    {dtype::i64, 0, 64},    {dtype::u8, 1, 8},   {dtype::u16, 1, 16},  {dtype::u32, 1, 32},
    {dtype::u64, 1, 64},    {dtype::f16, 2, 16}, {dtype::bf16, 4, 16}, {dtype::f32, 2, 32},
    {dtype::f64, 2, 64},    {dtype::c64, 5, 64}, {dtype::c128, 5, 128}};

bool is_stored(dtype type) {
  return (tutti::default_device().properties().stored_dtypes >> static_cast<int>(type) & 1) != 0;
}

// Distinct bytes, of which those of a bool are 0 or 1.
std::string bytes_for(dtype type, std::size_t count) {
  std::string bytes(count * size_of(type), '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<char>(type == dtype::boolean ? i % 3 == 0 : i * 7 + 1);
  return bytes;
}

consumed to_host(const array& a) { return consumed(to_dlpack(a, {.to_cpu = true})); }

array counted_array(const shape& extents) {
  return array::from(counted(static_cast<std::size_t>(extents.size())), extents);
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_dtype_goes_out_and_comes_back) {
  for (const dtype_row& row : dtypes) {
    if (!is_stored(row.type)) continue;
    const std::string bytes = bytes_for(row.type, 15);
    const array a = array::from_bytes(bytes.data(), 15, row.type, {3, 5});
    const consumed host = to_host(a);
    const DLTensor& t = host->dl_tensor;
    BOOST_TEST(t.dtype.code == row.code);
    BOOST_TEST(t.dtype.bits == row.bits);
    BOOST_TEST(t.dtype.lanes == 1);
    BOOST_TEST(t.device.device_type == kDLCPU);
    BOOST_TEST(t.device.device_id == 0);
    BOOST_TEST((elements_of(t, t.data) == bytes));
    const array back = from_dlpack(to_dlpack(a));
    BOOST_TEST((back.dtype() == row.type));
    BOOST_TEST((back.shape() == shape{3, 5}));
    BOOST_TEST((back.device() == a.device()));
    BOOST_TEST((bytes_of(back) == bytes));
    BOOST_TEST((bytes_of(from_dlpack(to_dlpack_legacy(a))) == bytes));
  }
}

BOOST_AUTO_TEST_CASE(structs_say_what_they_hold) {
  const array a = counted_array({2, 3, 4});
  const consumed shared(to_dlpack(a)), copy(to_dlpack(a, {.copy = true}));
  BOOST_TEST(shared->version.major == 1u);
  BOOST_TEST(shared->flags == DLPACK_FLAG_BITMASK_READ_ONLY);
  BOOST_TEST(copy->flags == DLPACK_FLAG_BITMASK_IS_COPIED);
  for (const consumed* each : {&shared, &copy}) {
    const DLTensor& t = (*each)->dl_tensor;
    BOOST_TEST_REQUIRE(t.ndim == 3);
    BOOST_TEST(
        std::vector<std::int64_t>(t.shape, t.shape + 3) == (std::vector<std::int64_t>{2, 3, 4}),
        same);
    BOOST_TEST(std::vector<std::int64_t>(t.strides, t.strides + 3) ==
                   (std::vector<std::int64_t>{12, 4, 1}),
               same);
    BOOST_TEST((tutti::dlpack_device_of(a) ==
                tutti::dlpack_device{t.device.device_type, t.device.device_id}));
  }
  BOOST_TEST(shared->dl_tensor.data != copy->dl_tensor.data);
  const std::string backend = tutti::default_device().backend();
  const int expected = backend == "opencl" ? 4 : backend == "cuda" ? 2 : 1;
  BOOST_TEST(tutti::dlpack_device_of(a).type == expected);
  FAILS(value_error, to_dlpack(array()), "to_dlpack: the array is empty");
}

BOOST_AUTO_TEST_CASE(views_keep_their_strides) {
  const array a = counted_array({4, 6});
  const struct {
    array view;
    std::vector<std::int64_t> strides;
    std::vector<float> values;
  } cases[] = {
      {a.transpose()({{1, 3}, {0, 2}}), {1, 6}, {1, 7, 2, 8}},
      {a({{1, 4, 2}, {5, 0, -2}}), {12, -2}, {11, 9, 7, 23, 21, 19}},
      {a({{3, {}, -1}, {4, 6}}), {-6, 1}, {22, 23, 16, 17, 10, 11, 4, 5}},
      {tutti::broadcast_to(a[2]({{1, 3}}), {2, 2}), {0, 1}, {13, 14, 13, 14}},
      {a[3][5], {}, {23}},
  };
  for (const auto& c : cases) {
    BOOST_TEST(values_of<float>(to_host(c.view)->dl_tensor) == c.values, same);
    DLManagedTensorVersioned* out = to_dlpack(c.view);
    BOOST_TEST(out->dl_tensor.ndim == static_cast<int>(c.strides.size()));
    BOOST_TEST(std::vector<std::int64_t>(out->dl_tensor.strides,
                                         out->dl_tensor.strides + out->dl_tensor.ndim) == c.strides,
               same);
    if (out->dl_tensor.device.device_type == kDLCPU)
      BOOST_TEST(values_of<float>(out->dl_tensor) == c.values, same);
    const array back = from_dlpack(out);
    BOOST_TEST(back.to_vector<float>() == c.values, same);
  }
}

BOOST_AUTO_TEST_CASE(scalars_constants_and_nothing) {
  for (const array& a :
       {array(2.5), tutti::full({}, 2.5, dtype::f32), counted_array({3})[2] + 0.5f}) {
    const consumed t = to_host(a);
    BOOST_TEST(t->dl_tensor.ndim == 0);
    BOOST_TEST(values_of<float>(t->dl_tensor) == std::vector<float>{2.5f}, same);
    BOOST_TEST(from_dlpack(to_dlpack(a)).item() == 2.5);
  }
  const array zeros = tutti::zeros({2, 2}, dtype::i32);
  const consumed t(to_dlpack(zeros));
  BOOST_TEST(t->flags == DLPACK_FLAG_BITMASK_IS_COPIED);  // a constant has no memory to share
  BOOST_TEST(values_of<std::int32_t>(to_host(zeros)->dl_tensor) == std::vector<std::int32_t>(4),
             same);
  for (const bool cpu : {false, true}) {
    const consumed none(to_dlpack(tutti::zeros({3, 0, 2}, dtype::u8), {.to_cpu = cpu}));
    BOOST_TEST(none->dl_tensor.data == nullptr);
    BOOST_TEST_REQUIRE(none->dl_tensor.ndim == 3);
    BOOST_TEST(none->dl_tensor.shape[1] == 0);
    BOOST_TEST(none->dl_tensor.strides != nullptr);
  }
  const array none = from_dlpack(to_dlpack(tutti::zeros({3, 0, 2}, dtype::u8)));
  BOOST_TEST((none.shape() == shape{3, 0, 2}));
  BOOST_TEST((none.device() == tutti::default_device()));
}

BOOST_AUTO_TEST_CASE(memory_outlives_the_array_and_is_not_used_again) {
  std::vector<float> expected(1000);
  std::iota(expected.begin(), expected.end(), 1.f);
  array a = counted_array({1000}) + 1.f;  // not computed yet
  consumed out(to_dlpack(a));
  // A kernel that would write its result over its only input.
  a = tutti::sqrt(a);
  a.wait();
  for (int i = 0; i < 20; ++i) (counted_array({1000}) * 3.f).wait();
  BOOST_TEST(from_dlpack(out.release()).to_vector<float>() == expected, same);
}

BOOST_AUTO_TEST_CASE(a_copy_is_the_consumers_own) {
  const array a = counted_array({4, 3}).transpose();
  const std::vector<float> before = a.to_vector<float>();
  for (const bool cpu : {false, true}) {
    consumed out(to_dlpack(a, {.to_cpu = cpu, .copy = true}));
    BOOST_TEST(out->flags == DLPACK_FLAG_BITMASK_IS_COPIED);
    if (out->dl_tensor.device.device_type != kDLCPU) {
      BOOST_TEST(from_dlpack(out.release()).to_vector<float>() == before, same);
      continue;
    }
    BOOST_TEST(values_of<float>(out->dl_tensor) == before, same);
    std::memset(out->dl_tensor.data, 0xff, 12 * sizeof(float));
    BOOST_TEST(a.to_vector<float>() == before, same);
  }
}

BOOST_AUTO_TEST_CASE(exports_may_be_deleted_anywhere) {
  const array a = counted_array({64});
  const std::vector<float> expected = a.to_vector<float>();
  std::atomic<int> wrong{0};
  at_once(4, [&](int n) {
    for (int i = 0; i < 50; ++i) {
      consumed out(to_dlpack(a, {.to_cpu = i % 3 == 0, .copy = i % 5 == 0}));
      std::thread([out = std::move(out)]() mutable { out.reset(); }).join();
      const array back = from_dlpack(to_dlpack_legacy(a + float(n)));
      if (back.to_vector<float>()[63] != expected[63] + float(n)) ++wrong;
    }
  });
  BOOST_TEST(wrong == 0);
}
