// SPDX-License-Identifier: Apache-2.0
//
// What a failing device does to arrays: clear errors that name the op, nothing lost, no hang.
#include "faulty_control.hpp"
#include "tutti_test/arrays.hpp"
#include "tutti_test/dlpack.hpp"

namespace {

array ramp(std::int64_t n) { return tutti::arange(n, tutti::dtype::f32); }

}  // namespace

BOOST_AUTO_TEST_CASE(an_enqueue_that_fails_names_the_op_and_can_be_repeated) {
  const array x = array::from({1.f, 2.f, 3.f});
  const array y = tutti::exp(x) + x;
  arm(fault_enqueue, 1);
  const std::string text = message_of<tutti::device_error>([&] { y.eval(); });
  BOOST_TEST(text.find("exp") != std::string::npos, text);
  BOOST_TEST(text.find("-77") != std::string::npos, text);
  BOOST_TEST(y.to_vector<float>()[0] == std::exp(1.f) + 1.f);
}

BOOST_AUTO_TEST_CASE(a_kernel_that_fails_while_running_surfaces_at_the_next_read) {
  const array x = array::from({1.f, 4.f, 9.f});
  x.wait();
  arm(fault_run, 1);
  const array y = tutti::sqrt(x);
  y.eval();  // enqueues, and does not know yet
  const std::string text = message_of<tutti::device_error>([&] { y.to_vector<float>(); });
  BOOST_TEST(text.find("sqrt") != std::string::npos, text);
  BOOST_TEST(text.find("as told") != std::string::npos, text);
  // What is computed from the failed value fails as well; what is not, does not.
  BOOST_CHECK_THROW((y + 1.f).eval(), tutti::device_error);
  BOOST_TEST((x + 1.f).to_vector<float>()[2] == 10.f);
}

BOOST_AUTO_TEST_CASE(a_failed_read_after_later_work_still_throws) {
  const array x = array::from({1.f, 4.f, 9.f});
  arm(fault_run, 1);
  const array y = tutti::square(x);
  y.eval();
  const array z = y * 3.f;
  z.eval();
  FAILS(device_error, z.to_vector<float>(), "square");
}

BOOST_AUTO_TEST_CASE(out_of_memory_is_retried_once_after_trimming) {
  array big = ramp(1 << 20) * 2.f;
  big.wait();
  big = array();  // its block is free now
  arm(fault_out_of_memory, 1);
  const array other = ramp(1 << 19) + 1.f;
  BOOST_TEST(other.to_vector<float>()[3] == 4.f);
}

BOOST_AUTO_TEST_CASE(out_of_memory_that_lasts_is_an_exception_of_its_own_and_loses_nothing) {
  const array x = ramp(300000) * 0.5f;
  arm(fault_out_of_memory, -1);
  const std::string text = message_of<tutti::out_of_memory>([&] { x.eval(); });
  BOOST_TEST(text.ends_with(" of its " +
                            std::to_string(tutti::default_device().properties().memory_bytes) +
                            " bytes are free"),
             text);
  BOOST_CHECK_THROW(array::from(std::vector<float>(12345, 1.f)), tutti::out_of_memory);
  arm(fault_out_of_memory, 0);
  BOOST_TEST(x.to_vector<float>()[10] == 5.f);
}

BOOST_AUTO_TEST_CASE(a_program_that_does_not_compile_says_so_and_is_tried_again) {
  const array x = array::from({0.5f});
  const array y = tutti::cosh(tutti::atan(x) - 0.25f);
  arm(fault_compile, 1);
  FAILS(device_error, y.eval(), "atan");
  BOOST_TEST(std::abs(y.item<float>() - std::cosh(std::atan(0.5) - 0.25)) < 1e-6);
}

BOOST_AUTO_TEST_CASE(a_failure_in_the_middle_leaves_the_rest_pending) {
  const array x = array::from({1.f, 2.f, 3.f, 4.f}).reshape({2, 2});
  const array first = tutti::matmul(x, x);
  const array second = tutti::sum(first, 0);
  arm(fault_enqueue, 1);
  BOOST_CHECK_THROW(second.eval(), tutti::device_error);
  BOOST_TEST(second.to_vector<float>() == (std::vector<float>{22.f, 32.f}), same);
}

BOOST_AUTO_TEST_CASE(unsupported_operators_run_on_the_reference_device) {
  const array x = array::from({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}).reshape({2, 3});
  arm(fault_no_operators, 1);
  const auto before = tutti::stats().fallbacks;
  const array product = tutti::matmul(x, x.T());
  BOOST_TEST(product.to_vector<float>() == (std::vector<float>{14.f, 32.f, 32.f, 77.f}), same);
  BOOST_TEST(tutti::stats().fallbacks == before + 1);
  setenv("TUTTI_FALLBACK", "error", 1);
  FAILS(device_error, tutti::matmul(x + 1.f, x.T()).eval(), "told not to");
  unsetenv("TUTTI_FALLBACK");
  arm(fault_no_operators, 0);
}

BOOST_AUTO_TEST_CASE(a_fallback_that_fails_keeps_no_memory_and_can_be_repeated) {
  const array x = array::from({1.f, 2.f, 3.f, 4.f}).reshape({2, 2});
  arm(fault_no_operators, 1);
  const array product = tutti::matmul(x, x);
  const auto before = tutti::stats().pool_bytes_in_use;
  for (const int read : {1, 2}) {
    arm(fault_read, read);
    const std::string text = message_of<tutti::device_error>([&] { product.eval(); });
    BOOST_TEST(text.find("matmul") != std::string::npos, text);
    BOOST_TEST(text.find("read refused") != std::string::npos, text);
    BOOST_TEST(tutti::stats().pool_bytes_in_use == before);
  }
  BOOST_TEST(product.to_vector<float>()[3] == 22.f);
  arm(fault_no_operators, 0);
}

BOOST_AUTO_TEST_CASE(a_fallback_from_a_failed_value_is_an_error) {
  const array x = array::from({1.f, 2.f, 3.f, 4.f}).reshape({2, 2});
  x.wait();
  arm(fault_no_operators, 1);
  arm(fault_run, 1);
  const array product = tutti::matmul(tutti::sqrt(x), x);
  FAILS(device_error, product.to_vector<float>(), "sqrt");
  BOOST_TEST(tutti::matmul(x, x).to_vector<float>()[0] == 7.f);  // has nothing to do with it
  arm(fault_no_operators, 0);
}

// Of which each takes one call at a time.
BOOST_AUTO_TEST_CASE(a_fallback_and_reads_beside_it_share_the_transfer_stream) {
  const array x = array::from({1.f, 2.f, 3.f, 4.f}).reshape({2, 2});
  x.wait();
  arm(fault_no_operators, 1);
  std::atomic<bool> stop = false;
  std::atomic<int> wrong = 0;
  std::thread reader([&] {
    while (!stop)
      if (x.to_vector<float>()[1] != 2.f) ++wrong;
  });
  for (int i = 0; i < 50; ++i)
    if (tutti::matmul(x, x).to_vector<float>()[0] != 7.f) ++wrong;
  stop = true;
  reader.join();
  BOOST_TEST(wrong.load() == 0);
  arm(fault_no_operators, 0);
}

// The producer's memory is in use until the device is done with it, arrays or not.
BOOST_AUTO_TEST_CASE(imported_memory_goes_back_after_the_work) {
  std::vector<float> memory(64, 4.f);
  tutti_test::fate end;
  arm(fault_hang, 1);
  {
    const array x =
        tutti::from_dlpack(tutti_test::produce(memory.data(), tutti_test::dl_f32, {64}, {}, end));
    BOOST_TEST(x.device().name() == "faulty:0");
    tutti::sqrt(x).eval();
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  BOOST_TEST(end.deletions == 0);
  arm(fault_hang, 0);
  BOOST_TEST(tutti_test::eventually([&] { return end.deletions == 1; }));
}

// The copy of the first part is under way when the second part ends the concatenation.
BOOST_AUTO_TEST_CASE(imported_memory_goes_back_after_copies_that_lead_nowhere) {
  std::vector<float> memory(64, 4.f);
  tutti_test::fate end;
  arm(fault_run, 1);
  const array failed = tutti::sqrt(tutti::ones({64}) + array::from({3.f}));
  FAILS(device_error, failed.wait(), "sqrt");
  arm(fault_hang, 1);
  tutti::sqrt(array::from({4.f})).eval();
  {
    const array x =
        tutti::from_dlpack(tutti_test::produce(memory.data(), tutti_test::dl_f32, {64}, {}, end));
    FAILS(device_error, tutti::concatenate({x, failed}).eval(), "sqrt");
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  BOOST_TEST(end.deletions == 0);
  arm(fault_hang, 0);
  BOOST_TEST(tutti_test::eventually([&] { return end.deletions == 1; }));
}

BOOST_AUTO_TEST_CASE(failed_work_is_not_exported_and_gives_imports_back) {
  std::vector<float> memory(64, 4.f);
  tutti_test::fate end;
  array x =
      tutti::from_dlpack(tutti_test::produce(memory.data(), tutti_test::dl_f32, {64}, {}, end));
  arm(fault_run, 1);
  const array y = tutti::sqrt(x);
  x = {};
  FAILS(device_error, tutti::to_dlpack(y), "sqrt");
  BOOST_TEST(tutti_test::eventually([&] { return end.deletions == 1; }));
}

// With TUTTI_FAULTY_NATIVE_OFF.
BOOST_AUTO_TEST_CASE(without_native_handles, *boost::unit_test::disabled()) {
  const array x = array::from({1.f, 4.f, 9.f});
  FAILS(device_error, tutti::to_dlpack(x), "to_dlpack: the plugin of faulty:0");
  FAILS(device_error, tutti::dlpack_device_of(x), "gives no native handles");
  const tutti_test::consumed host(tutti::to_dlpack(x, {.to_cpu = true}));
  const std::vector<float> expected = {1.f, 4.f, 9.f};
  BOOST_TEST(tutti_test::values_of<float>(host->dl_tensor) == expected, same);
  tutti_test::fate end;
  std::vector<float> memory = {5, 6};
  const array y =
      tutti::from_dlpack(tutti_test::produce(memory.data(), tutti_test::dl_f32, {2}, {}, end),
                         tutti::default_device());
  BOOST_TEST(y.device().name() == "faulty:0");
  BOOST_TEST(y.to_vector<float>() == memory, same);
  BOOST_TEST(tutti_test::eventually([&] { return end.deletions == 1; }));
}
