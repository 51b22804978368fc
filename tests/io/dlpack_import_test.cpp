// SPDX-License-Identifier: Apache-2.0
//
// from_dlpack of host memory on every device: layouts, when the producer gets its memory back, that
// nothing writes to it, and everything that is refused.
#include "tutti_test/arrays.hpp"
#include "tutti_test/dlpack.hpp"
#include "tutti_test/host_device.hpp"

namespace dlpack_import_test {

using tutti::from_dlpack;

namespace {

using strides = std::vector<std::int64_t>;
}  // namespace

BOOST_AUTO_TEST_CASE(layouts_become_views) {
  std::vector<float> memory = counted(24);
  const struct {
    std::int64_t first;
    strides extents, steps;
  } cases[] = {{0, {24}, {}},
               {0, {2, 3, 4}, {}},
               {0, {2, 3, 4}, {12, 4, 1}},
               {0, {4, 6}, {1, 4}},
               {23, {24}, {-1}},
               {20, {3, 4}, {-8, 1}},
               {3, {6, 4}, {4, -1}},
               {5, {}, {}},
               {2, {3, 5}, {0, 2}},
               {0, {5, 4}, {3, 1}},
               {7, {1, 2}, {-999, 1}},
               {1, {2, 1, 3}, {8, 77, 2}},
               {23, {2, 3}, {-12, -4}}};
  fate end;
  int count = 0;
  for (const auto& c : cases) {
    strides steps = c.steps;
    if (steps.empty())
      for (std::size_t i = 0; i < c.extents.size(); ++i)
        steps.push_back(std::accumulate(c.extents.begin() + std::ptrdiff_t(i) + 1, c.extents.end(),
                                        std::int64_t{1}, std::multiplies<>()));
    auto* oracle = produce(memory.data(), dl_f32, c.extents, steps, end);
    oracle->dl_tensor.byte_offset = static_cast<std::uint64_t>(c.first) * sizeof(float);
    const std::vector<float> expected = values_of<float>(oracle->dl_tensor);
    oracle->deleter(oracle);
    for (const bool here : {false, true}) {
      auto* tensor = produce(memory.data(), dl_f32, c.extents, c.steps, end);
      tensor->dl_tensor.byte_offset = static_cast<std::uint64_t>(c.first) * sizeof(float);
      tensor->flags = here ? DLPACK_FLAG_BITMASK_READ_ONLY : 0;
      const array a = here ? from_dlpack(tensor, tutti::default_device()) : from_dlpack(tensor);
      BOOST_TEST(a.to_vector<float>() == expected, same);
      const array doubled = a * 2.f - a;
      BOOST_TEST(doubled.to_vector<float>() == expected, same);
      BOOST_TEST(tutti::sum(a).item() == std::accumulate(expected.begin(), expected.end(), 0.0));
    }
    count += 3;
  }
  BOOST_TEST(eventually([&] { return end.deletions == count; }));
  BOOST_TEST(memory == counted(24), same);
}

BOOST_AUTO_TEST_CASE(host_memory_is_shared_where_the_device_is_the_host) {
  alignas(16) float memory[4] = {1, 2, 3, 4};
  fate end;
  const array a = from_dlpack(produce(memory, dl_f32, {4}, {}, end));
  memory[2] = 30;  // against the rules, but shows that this is the memory
  BOOST_TEST(a.to_vector<float>() == (std::vector<float>{1, 2, 30, 4}), same);
  const array b = from_dlpack(produce<DLManagedTensor>(memory, dl_f32, {2, 2}, {1, 2}, end));
  BOOST_TEST(b.to_vector<float>() == (std::vector<float>{1, 30, 2, 4}), same);
  BOOST_TEST(end.deletions == 0);
}

BOOST_AUTO_TEST_CASE(unaligned_memory_is_copied) {
  std::vector<char> memory(4 * 5 + 1);
  const float values[] = {1, 2, 3, 4, 5};
  std::memcpy(memory.data() + 1, values, sizeof values);
  fate end;
  const array a = from_dlpack(produce(memory.data() + 1, dl_f32, {3}, {2}, end));
  BOOST_TEST(end.deletions == 1);
  memory.assign(memory.size(), 'x');
  BOOST_TEST(a.to_vector<float>() == (std::vector<float>{1, 3, 5}), same);
}

BOOST_AUTO_TEST_CASE(another_device_gets_a_copy_at_once) {
  std::vector<float> memory = counted(12);
  fate end;
  const tutti::device reference("reference");
  const tutti::device here = tutti::default_device();
  if (on_host()) return;  // which has it in place
  const array a = from_dlpack(produce(memory.data(), dl_f32, {4, 3}, {1, 4}, end), here);
  BOOST_TEST((a.device() == here));
  BOOST_TEST(eventually([&] { return end.deletions == 1; }));
  const std::vector<float> expected = {0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11};
  memory.assign(12, -1.f);
  BOOST_TEST(a.to_vector<float>() == expected, same);
  BOOST_TEST((from_dlpack(to_dlpack(a), reference).device() == reference));
  BOOST_TEST(from_dlpack(to_dlpack(a), reference).to_vector<float>() == expected, same);
}

BOOST_AUTO_TEST_CASE(the_producer_gets_its_memory_back_once) {
  std::vector<float> memory = counted(6);
  fate end;
  array a = from_dlpack(produce(memory.data(), dl_f32, {6}, {}, end));
  array view = a.reshape({2, 3}).transpose();
  a = {};
  BOOST_TEST(end.deletions == 0);
  view = {};
  BOOST_TEST(end.deletions == 1);  // no work was using it

  a = from_dlpack(produce(memory.data(), dl_f32, {6}, {}, end));
  array lazy = tutti::sum(a * 2.f);
  a = {};
  BOOST_TEST(end.deletions == 1);
  BOOST_TEST(lazy.item() == 30.0);
  BOOST_TEST(eventually([&] { return end.deletions == 2; }));

  a = from_dlpack(produce(memory.data(), dl_f32, {6}, {}, end));
  const array kept = a + 1.f;
  kept.wait();
  BOOST_TEST(end.deletions == 2);
  a = {};
  BOOST_TEST(eventually([&] { return end.deletions == 3; }));
  BOOST_TEST(kept.to_vector<float>() == (std::vector<float>{1, 2, 3, 4, 5, 6}), same);

  auto* without = produce(memory.data(), dl_f32, {6}, {}, end);
  auto* owner = static_cast<produced<DLManagedTensorVersioned>*>(without->manager_ctx);
  without->deleter = nullptr;
  BOOST_TEST(tutti::sum(from_dlpack(without)).item() == 15.0);
  delete owner;
  BOOST_TEST(end.deletions == 3);
}

BOOST_AUTO_TEST_CASE(nothing_writes_to_foreign_memory) {
  std::vector<float> memory = counted(256);
  fate end;
  array a = from_dlpack(produce(memory.data(), dl_f32, {256}, {}, end));
  // Results that could take over the memory of their last input.
  a = tutti::sqrt(a) * 3.f;
  a.wait();
  BOOST_TEST(eventually([&] { return end.deletions == 1; }));
  array b = from_dlpack(produce(memory.data(), dl_f32, {256}, {}, end));
  const tutti::slice part{8, 16};
  b = tutti::slice_update(b, tutti::zeros({8}).to(b.device()), {&part, 1});
  b.wait();
  BOOST_TEST(b.to_vector<float>()[9] == 0.f);
  BOOST_TEST(eventually([&] { return end.deletions == 2; }));
  BOOST_TEST(memory == counted(256), same);
}

// A deleter may use the library: it must not run in a thread that holds a device.
BOOST_AUTO_TEST_CASE(deleters_may_compute) {
  std::vector<float> memory = counted(32);
  fate end;
  double seen = 0;
  end.at_deletion = [&] {
    seen = tutti::sum(tutti::arange(std::int64_t{10}, dtype::f32) * 2.f).item();
  };
  array a = from_dlpack(produce(memory.data(), dl_f32, {32}, {}, end));
  array b = tutti::exp(a);
  a = {};
  b.eval();  // drops the last reference while it runs
  BOOST_TEST(eventually([&] { return end.deletions == 1; }));
  BOOST_TEST(seen == 90.0);
}

BOOST_AUTO_TEST_CASE(imports_may_be_dropped_anywhere) {
  std::vector<float> memory = counted(64);
  fate end;
  at_once(4, [&](int) {
    for (int i = 0; i < 50; ++i) {
      array a = from_dlpack(produce(memory.data(), dl_f32, {8, 8}, {1, 8}, end));
      array b = tutti::sum(a);
      std::thread([a = std::move(a)]() mutable { a = {}; }).join();
      if (i % 2 == 0) b.eval();
    }
  });
  BOOST_TEST(eventually([&] { return end.deletions == 200; }));
}

// Rows that overlap, which no operation of the library makes.
BOOST_AUTO_TEST_CASE(products_and_reshapes_of_sliding_windows) {
  std::vector<float> memory = counted(8);
  fate end;
  const array windows = from_dlpack(produce(memory.data(), dl_f32, {5, 4}, {1, 1}, end));
  const array weights = array::from<float>({1, 10, 100, 1000}, windows.device());
  std::vector<float> expected, flat;
  for (std::size_t i = 0; i < 5; ++i) {
    expected.push_back(memory[i] + 10 * memory[i + 1] + 100 * memory[i + 2] + 1000 * memory[i + 3]);
    flat.insert(flat.end(), memory.begin() + std::ptrdiff_t(i),
                memory.begin() + std::ptrdiff_t(i) + 4);
  }
  BOOST_TEST(tutti::matmul(windows, weights).to_vector<float>() == expected, same);
  BOOST_TEST(windows.flatten().to_vector<float>() == flat, same);
  BOOST_TEST(tutti::sum(windows.transpose()[1]).item() == 15.0);
}

BOOST_AUTO_TEST_CASE(gradients_flow_through_imports) {
  std::vector<float> memory = {1, 2, 3, 4};
  fate end;
  const array a = from_dlpack(produce(memory.data(), dl_f32, {2, 2}, {1, 2}, end));
  const auto slope =
      tutti::grad([](const std::vector<array>& x) { return tutti::sum(x[0] * x[0] * x[0]); });
  BOOST_TEST(slope({a})[0].to_vector<float>() == (std::vector<float>{3, 27, 12, 48}), same);
}

namespace {

// What f makes of a good tensor is refused with `text`, and the deleter runs once.
template <class Exception>
void refuses(const std::string& text, const std::function<void(DLManagedTensorVersioned&)>& spoil) {
  static std::vector<float> memory(64);
  fate end;
  auto* tensor = produce(memory.data(), dl_f32, {2, 3}, {3, 1}, end);
  spoil(*tensor);
  BOOST_TEST(fails<Exception>([&] { from_dlpack(tensor); }, text));
  BOOST_TEST(end.deletions == 1, text);
}

}  // namespace

BOOST_AUTO_TEST_CASE(bad_tensors_are_refused_and_deleted) {
  using tutti::device_error, tutti::dtype_error, tutti::value_error;
  using managed = DLManagedTensorVersioned&;
  refuses<value_error>("from_dlpack: the tensor is of DLPack 2.7, this library knows version 1",
                       [](managed m) {
                         m.version = {2, 7};
                       });
  refuses<value_error>("of DLPack 0.8", [](managed m) { m.version = {0, 8}; });
  const auto typed = [](DLDataType type) { return [=](managed m) { m.dl_tensor.dtype = type; }; };
  refuses<dtype_error>("no dtype for float32x4", typed({kDLFloat, 32, 4}));
  refuses<dtype_error>("no dtype for float8", typed({kDLFloat, 8, 1}));
  refuses<dtype_error>("no dtype for code 12 of 8 bits", typed({12, 8, 1}));
  refuses<dtype_error>("no dtype for opaque handle64", typed({kDLOpaqueHandle, 64, 1}));
  refuses<dtype_error>("no dtype for int128", typed({kDLInt, 128, 1}));
  refuses<dtype_error>("no dtype for bool1", typed({kDLBool, 1, 1}));
  refuses<dtype_error>("no dtype for float32x0", typed({kDLFloat, 32, 0}));
  refuses<value_error>("negative extent in [2,-3]", [](managed m) { m.dl_tensor.shape[1] = -3; });
  refuses<value_error>("9 dimensions", [](managed m) { m.dl_tensor.ndim = 9; });
  refuses<value_error>("-1 dimensions", [](managed m) { m.dl_tensor.ndim = -1; });
  refuses<value_error>("without a shape", [](managed m) { m.dl_tensor.shape = nullptr; });
  refuses<value_error>("too many elements in [4611686018427387904,3]",
                       [](managed m) { m.dl_tensor.shape[0] = std::int64_t{1} << 62; });
  refuses<value_error>("strides [4611686018427387904,1] are too long",
                       [](managed m) { m.dl_tensor.strides[0] = std::int64_t{1} << 62; });
  refuses<value_error>("are too long", [](managed m) { m.dl_tensor.strides[0] = INT64_MIN; });
  refuses<value_error>("no data for shape [2,3]", [](managed m) { m.dl_tensor.data = nullptr; });
  refuses<value_error>("byte_offset 18446744073709551612 is too large",
                       [](managed m) { m.dl_tensor.byte_offset = std::uint64_t(-4); });
  refuses<device_error>("no plugin takes memory of kDLMetal (8), device 1", [](managed m) {
    m.dl_tensor.device = {kDLMetal, 1};
  });
  refuses<value_error>("device -2 of kDLCUDA (2)", [](managed m) {
    m.dl_tensor.device = {kDLCUDA, -2};
  });
  refuses<tutti::error>("from_dlpack: kDLOpenCL (4), device 99", [](managed m) {
    m.dl_tensor.device = {kDLOpenCL, 99};
  });
  FAILS(value_error, from_dlpack(static_cast<DLManagedTensor*>(nullptr)),
        "from_dlpack: the tensor is NULL");
  FAILS(value_error, from_dlpack(static_cast<DLManagedTensorVersioned*>(nullptr)), "is NULL");
}

BOOST_AUTO_TEST_CASE(nothing_needs_no_data) {
  fate end;
  const array a = from_dlpack(produce(nullptr, dl_i32, {4, 0}, {}, end));
  BOOST_TEST(end.deletions == 1);
  BOOST_TEST((a.shape() == shape{4, 0}));
  BOOST_TEST((a.dtype() == dtype::i32));
  const array b = from_dlpack(produce(nullptr, dl_i32, {0}, {1}, end), tutti::default_device());
  BOOST_TEST((b.device() == tutti::default_device()));
  BOOST_TEST(end.deletions == 2);
}

// Each tensor holds the memory of the one before it.
BOOST_AUTO_TEST_CASE(memory_that_was_passed_on_often_goes_back) {
  array x = tutti::ones({3}) + 1.f;
  for (int i = 0; i < 100000; ++i) x = from_dlpack(tutti::to_dlpack(x), tutti::default_device());
  BOOST_TEST(x.to_vector<float>()[2] == 2.f);
  x = array();
}

}  // namespace dlpack_import_test
