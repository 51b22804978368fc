// SPDX-License-Identifier: Apache-2.0
//
// Arrays that move between the first two devices of TUTTI_DEVICE: bits and views, order against
// later work, gradients, and what readers learn of a source that fails or hangs.
#include "faulty_control.hpp"
#include "graph/build.hpp"
#include "plugin/opened_device.hpp"
#include "tutti_test/arrays.hpp"

namespace {

tutti::device here() { return tutti::devices().at(0); }
tutti::device there() { return tutti::devices().at(1); }

std::vector<float> ramp(std::int64_t n, float step = 1) {
  std::vector<float> values(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) * step;
  return values;
}

bool faulty_first() { return here().backend() == "faulty"; }

}  // namespace

BOOST_AUTO_TEST_CASE(bits_survive_the_way_there_and_back) {
  const std::vector<std::uint32_t> bits = {0x7fc12345u, 0xff800000u, 0x80000000u, 1u, 0x3f800000u};
  std::vector<float> values;
  for (std::uint32_t b : bits) values.push_back(std::bit_cast<float>(b));
  const array a = array::from(values, here());
  const array b = a.to(there());
  BOOST_TEST(b.device().name() == there().name());
  BOOST_TEST(a.device().name() == here().name());
  const auto back = b.to(here()).to_vector<float>();
  for (std::size_t i = 0; i < bits.size(); ++i)
    BOOST_TEST(std::bit_cast<std::uint32_t>(back[i]) == bits[i]);
}

BOOST_AUTO_TEST_CASE(every_dtype_moves) {
  for (const dtype type :
       {dtype::boolean, dtype::i8, dtype::i16, dtype::i32, dtype::i64, dtype::u8, dtype::u16,
        dtype::u32, dtype::u64, dtype::f16, dtype::bf16, dtype::f32, dtype::f64}) {
    const array a = (tutti::arange(37, dtype::i32, here()) % 5).astype(type);
    const auto got = a.to(there()).astype(dtype::i32).to_vector<std::int32_t>();
    for (std::size_t i = 0; i < got.size(); ++i) {
      const auto value = static_cast<std::int32_t>(i % 5);
      BOOST_TEST(got[i] == (type == dtype::boolean ? std::min(value, 1) : value));
    }
  }
}

BOOST_AUTO_TEST_CASE(sizes_around_the_pieces_of_a_copy) {
  for (const std::int64_t n : {1, 3, 1000, 262143, 262144, 262145, 3 * 262144 + 7}) {
    const array a = array::from(ramp(n, 0.5f), here());
    BOOST_TEST((a.to(there()).to_vector<float>() == ramp(n, 0.5f)), "n = " << n);
    const array b = array::from(ramp(n, 0.25f), there());
    BOOST_TEST((b.to(here()).to_vector<float>() == ramp(n, 0.25f)), "n = " << n);
  }
}

BOOST_AUTO_TEST_CASE(views_empty_arrays_scalars_and_constants) {
  const array m = array::from(ramp(24), {4, 6}, here());
  BOOST_TEST(m.T().to(there()).to_vector<float>()[1] == 6.f);
  BOOST_TEST(m({{1, 3}}).to(there()).to_vector<float>()[0] == 6.f);  // in order, with an offset
  BOOST_TEST(m({{}, {5, {}, -2}}).to(there()).to_vector<float>()[1] == 3.f);  // backwards
  BOOST_TEST(m.to(there()).T().to_vector<float>()[1] == 6.f);
  BOOST_TEST(array::from(std::vector<float>{}, here()).to(there()).size() == 0);
  BOOST_TEST(tutti::sum(m).to(there()).item() == 276.0);
  const array one = tutti::full({3}, 1.5, dtype::f32, here()).to(there());
  BOOST_TEST(one.device().name() == there().name());
  BOOST_TEST(one.to_vector<float>()[2] == 1.5f);
  BOOST_TEST(m.to(here()).node().get() == m.node().get());  // already there: the same array
}

BOOST_AUTO_TEST_CASE(moving_waits_for_nothing_and_later_work_does_not_change_what_moves) {
  array x = array::from(ramp(100000), here());
  std::vector<array> sent;
  for (int i = 0; i < 20; ++i) {
    x = x + 1.f;  // may take over the memory of what is being sent
    sent.push_back(x.to(there()));
    tutti::eval({x, sent.back()});
  }
  for (std::size_t i = 0; i < sent.size(); ++i)
    BOOST_TEST(sent[i].to_vector<float>()[7] == 8.f + static_cast<float>(i));
}

BOOST_AUTO_TEST_CASE(chains_between_devices_are_one_evaluation) {
  const array a = array::from(ramp(1001), here());
  array x = a;
  for (int i = 0; i < 6; ++i) x = (x.to(i % 2 == 0 ? there() : here()) + 1.f) * 2.f;
  const array both = x + tutti::sqrt(a);  // x ended where it began
  float want = 9.f;
  for (int i = 0; i < 6; ++i) want = (want + 1.f) * 2.f;
  BOOST_TEST(both.to_vector<float>()[9] == want + 3.f);
  const array y = tutti::exp(a * 0.001f);
  const array u = y.to(there()), v = y.to(there());  // the same value: copied once
  tutti::reset_stats();
  (u + v).wait();
  BOOST_TEST(tutti::stats().bytes_copied == 4004u);
}

BOOST_AUTO_TEST_CASE(gradients_come_back_to_where_the_argument_is) {
  const array a = array::from(ramp(5), here());
  const auto f = tutti::value_and_grad([&](const std::vector<array>& p) {
    return tutti::sum(tutti::square(p[0].to(there()) * 3.f).to(here()) * p[0]);
  });
  const auto [value, gradients] = f({a});  // 9 a^3
  tutti::eval({value, gradients[0]});
  BOOST_TEST(value.item() == 900.0);
  BOOST_TEST(gradients[0].device().name() == here().name());
  BOOST_TEST(gradients[0].to_vector<float>()[3] == 243.f);
}

BOOST_AUTO_TEST_CASE(operands_on_two_devices) {
  const array a = array::from(ramp(3), here()), b = array::from(ramp(3), there());
  const char* setting = std::getenv("TUTTI_TRANSFER");
  if (setting != nullptr) {
    BOOST_TEST((a + b).device().name() == here().name());
    BOOST_TEST((b * a).device().name() == there().name());
    BOOST_TEST((a + b).to_vector<float>()[2] == 4.f);
    BOOST_TEST(tutti::matmul(a, b).item() == 5.0);
    BOOST_TEST(tutti::concatenate({b, a}).to_vector<float>()[5] == 2.f);
    const array rows = array::from({2, 0}, there());
    BOOST_TEST(tutti::take(a, rows).to_vector<float>()[0] == 2.f);
    return;
  }
  for (const auto& op : {+[](const array&x, const array&y) { return x + y; },
                         +[](const array&x, const array&y) { return tutti::matmul(x, y); },
                         +[](const array&x, const array&y) {
                           return tutti::concatenate({x, y});
                         }}) {
    const std::string text = error_of<tutti::device_error>([&] { op(a, b); }).what();
    BOOST_TEST(text.find(here().name()) != std::string::npos, text);
    BOOST_TEST(text.find(there().name()) != std::string::npos, text);
  }
}

BOOST_AUTO_TEST_CASE(a_source_that_fails_is_an_error_of_the_target) {
  if (!faulty_first()) return;
  const array a = array::from(ramp(4), here());
  a.wait();
  tutti_test::arm(fault_run, 1);
  const auto e =
      error_of<tutti::device_error>([&] { (tutti::sqrt(a).to(there()) + 1.f).to_vector<float>(); });
  const std::string text = e.what();
  BOOST_TEST(text.find("sqrt") != std::string::npos, text);
  BOOST_TEST(text.find("as told") != std::string::npos, text);
  BOOST_TEST(e.device() == here().name());
  tutti_test::disarm_all();
  BOOST_TEST((array::from(ramp(4), there()) + 1.f).to_vector<float>()[3] == 4.f);
}

// Those that write into what was moved take over its memory, and with it how its copy ended.
BOOST_AUTO_TEST_CASE(a_copy_that_failed_is_an_error_of_updates_in_place) {
  if (!faulty_first()) return;
  const array a = array::from(ramp(4), here());
  const array rows = array::from({2, 0}, there()), update = array::from(ramp(2), there());
  tutti::eval({a, rows, update});
  const auto scattered = [&](const array& x) { return tutti::scatter_set(x, rows, update); };
  const tutti::slice middle{1, 3};
  const auto sliced = [&](const array& x) { return tutti::slice_update(x, update, {&middle, 1}); };
  for (const auto& into : {std::function<array(const array&)>(scattered),
                           std::function<array(const array&)>(sliced)}) {
    tutti_test::arm(fault_run, 1);
    array moved = tutti::sqrt(a).to(there());
    moved.eval();
    BOOST_CHECK_THROW(moved.wait(), tutti::device_error);  // known from now on
    array result = into(moved);
    moved = array();
    const std::string text =
        error_of<tutti::device_error>([&] { result.to_vector<float>(); }).what();
    BOOST_TEST(text.find("as told") != std::string::npos, text);
    tutti_test::disarm_all();
    moved = (a * 2.f).to(there());
    result = into(moved);
    moved = array();
    BOOST_TEST(result.to_vector<float>()[3] == 6.f);
  }
}

BOOST_AUTO_TEST_CASE(a_source_that_hangs_is_an_error_of_the_target_in_time) {
  if (!faulty_first()) return;
  const array a = array::from(ramp(4), here());
  const auto& from = tutti::detail::get(here());
  tutti_test::arm(fault_hang, 1);
  const array y =
      tutti::graph::move_to(tutti::sqrt(a), &tutti::detail::get(there()), {0.2, "send"});
  const array z = y + 1.f;
  z.eval();  // the target's stream waits already
  const auto e = error_of<tutti::device_error>([&] { z.to_vector<float>(); });
  BOOST_TEST(e.code() == TUTTI_ERROR_TIMEOUT);
  BOOST_TEST(e.device() == from.name);
  const std::string text = e.what();
  for (const std::string& part :
       {std::string("send"), here().name(), there().name(), std::string("0.2 s")})
    BOOST_TEST(text.find(part) != std::string::npos, text);
  // The target goes on.
  BOOST_TEST((array::from(ramp(4), there()) + 1.f).to_vector<float>()[3] == 4.f);
  BOOST_CHECK_THROW((z * 2.f).to_vector<float>(), tutti::device_error);
  tutti_test::disarm_all();
  BOOST_TEST((tutti::sqrt(a).to(there()) + 1.f).to_vector<float>()[1] == 2.f);
}

BOOST_AUTO_TEST_CASE(a_source_that_is_lost_is_an_error_of_the_target) {
  if (!faulty_first()) return;
  const array a = array::from(ramp(4), here());
  a.wait();
  tutti_test::arm(fault_disappear, 1);
  BOOST_CHECK_THROW((tutti::sqrt(a).to(there()) + 1.f).to_vector<float>(), tutti::device_error);
  tutti_test::disarm_all();
  BOOST_TEST((tutti::sqrt(a).to(there()) + 1.f).to_vector<float>()[1] == 2.f);
}

BOOST_AUTO_TEST_CASE(a_time_limit_of_centuries_is_none) {
  const std::string before = std::getenv("TUTTI_TIMEOUT");
  ::setenv("TUTTI_TIMEOUT", "1e10", 1);
  const array x = array::from({1.f, 2.f}, here()) * 2.f;
  BOOST_CHECK_NO_THROW(x.to(there()).wait());
  BOOST_TEST(x.to(there()).to_vector<float>()[1] == 4.f);
  ::setenv("TUTTI_TIMEOUT", before.c_str(), 1);
}
