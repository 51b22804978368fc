// SPDX-License-Identifier: Apache-2.0
//
// What the application's kernels compute, against loops on the host: several results, scalars of
// every dtype, views, empty arrays, order among other work, threads, and life times.
#include "sources.hpp"
#include "tutti/plugin.h"
#include "tutti_test/arrays.hpp"
#include "tutti_test/host_device.hpp"

namespace {

dense linear(float a, const dense& x, const dense& y) {
  dense out = x;
  for (std::size_t i = 0; i < out.values.size(); ++i)
    out.values[i] = a * static_cast<float>(x.values[i]) + static_cast<float>(y.values[i]);
  return out;
}

// Integers, so that a fused multiply-add changes nothing.
dense whole(const tutti::shape& extents, std::uint64_t salt) {
  return random_integers(extents, -100, 100, salt);
}

array run_saxpy(const array& x, const array& y, float a) {
  return saxpy()({x, y}, {.outputs = {{x.shape()}}, .scalars = {a}})[0];
}

}  // namespace

BOOST_AUTO_TEST_CASE(views_of_every_layout) {
  const dense x = whole({5, 7, 3}, 1), y = whole({5, 7, 3}, 2);
  const dense expected = linear(3, x, y);
  const auto xs = layouts<float>(x), ys = layouts<float>(y);
  for (const auto& [x_name, a] : xs)
    for (const auto& [y_name, b] : ys) BOOST_TEST_CONTEXT(x_name << ", " << y_name) {
        BOOST_TEST(matches(run_saxpy(a, b, 3), expected));
      }
}

BOOST_AUTO_TEST_CASE(slices_at_any_offset) {
  // Rows of 32 floats begin where every device's buffers may, those of 5 do not.
  for (const std::int64_t length : {32, 256, 5}) {
    const dense x = whole({9, length}, 3);
    const array whole_array = upload_as<float>(x);
    for (const std::int64_t row : {0, 1, 4, 8}) {
      const dense one = tabulate({length}, [&](const position& i) { return x.at({row, i[0]}); });
      BOOST_TEST(matches(run_saxpy(whole_array[row], whole_array[row], 2), linear(2, one, one)));
    }
    const array several = whole_array(tutti::slice{2, 6});
    const dense part = tabulate({4, length}, [&](position i) { return x.at({i[0] + 2, i[1]}); });
    BOOST_TEST(matches(run_saxpy(several, several, 1), linear(1, part, part)));
  }
}

BOOST_AUTO_TEST_CASE(several_results_of_several_dtypes) {
  const std::vector<std::int32_t> x = {0, 1, -7, 2147483647, -2147483647 - 1, 12};
  const auto results = double_and_odd()({array::from(x, {2, 3})},
                                        {.outputs = {{{2, 3}, dtype::i64}, {{6}, dtype::boolean}}});
  BOOST_TEST_REQUIRE(results.size() == 2u);
  BOOST_TEST((results[0].shape() == tutti::shape{2, 3}));
  BOOST_TEST((results[1].shape() == tutti::shape{6}));
  const auto twice = results[0].to_vector<std::int64_t>();
  const auto odd = results[1].to_vector<bool>();
  for (std::size_t i = 0; i < x.size(); ++i) {
    BOOST_TEST(twice[i] == 2 * static_cast<std::int64_t>(x[i]));
    BOOST_TEST(odd[i] == ((x[i] & 1) != 0));
  }
}

BOOST_AUTO_TEST_CASE(constants_scalars_and_broadcasts_are_inputs) {
  const dense expected = tabulate({4, 6}, [](const position&) { return 2 * 3 + 5; });
  const array threes = tutti::full({4, 6}, 3, dtype::f32);
  const array fives = tutti::broadcast_to(array::from({5.f}), {4, 6});
  BOOST_TEST(matches(run_saxpy(threes, fives, 2), expected));
  const array result = saxpy()({3.0, 5.0}, {.outputs = {{{}}}, .scalars = {2.0f}})[0];
  BOOST_TEST(result.item() == 11);
  BOOST_TEST((result.device() == tutti::default_device()));
}

namespace {

template <class T>
void check_scalar(const char* opencl, const char* cuda, T value, std::size_t bytes = sizeof(T)) {
  const std::string body = "* out, $ value) { out[0] = value; }";
  const auto text = [&](std::string head, const std::string& type) {
    head += type + body;
    return head.replace(head.find('$'), 1, type);
  };
  const tutti::kernel keep(
      {.name = "keep",
       .opencl = text("kernel void keep(global ", opencl),
       .cuda = text("extern \"C\" __global__ void keep(", cuda),
       .host = [](const tutti::kernel_host_call& c) { c.output<T>(0)[0] = c.scalar<T>(0); }});
  const dtype type = tutti::dtype_of<T>;
  BOOST_TEST_CONTEXT(tutti::name(type)) {
    const tutti::kernel_scalar scalar(value);
    BOOST_TEST((scalar.dtype() == type));
    const array out = keep({}, {.outputs = {{{}, type}}, .scalars = {scalar}})[0];
    std::vector<unsigned char> got(bytes), expected(bytes);
    out.copy_to(got.data(), bytes);
    std::memcpy(expected.data(), &value, bytes);
    BOOST_TEST(got == expected, same);
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(scalars_of_every_dtype) {
  check_scalar("uchar", "unsigned char", true);
  check_scalar("char", "signed char", std::int8_t{-128});
  check_scalar("short", "short", std::int16_t{-12345});
  check_scalar("int", "int", std::int32_t{-1234567890});
  check_scalar("long", "long long", std::int64_t{-1234567890123456789});
  check_scalar("uchar", "unsigned char", std::uint8_t{200});
  check_scalar("ushort", "unsigned short", std::uint16_t{54321});
  check_scalar("uint", "unsigned", std::uint32_t{4234567890});
  check_scalar("ulong", "unsigned long long", std::uint64_t{12345678901234567890u});
  check_scalar("ushort", "unsigned short", tutti::float16{0x3e01});
  check_scalar("ushort", "unsigned short", tutti::bfloat16{0x4049});
  check_scalar("float", "float", 1.1f);
  check_scalar("float2", "float2", std::complex<float>(1.5f, -2.25f));
  const auto stored = tutti::default_device().properties().stored_dtypes;
  if ((stored >> static_cast<unsigned>(dtype::f64) & 1) == 0) return;
  check_scalar("double", "double", 1.1);
  check_scalar("double2", "double2", std::complex<double>(0.1, -1e300));
}

BOOST_AUTO_TEST_CASE(arrays_without_elements) {
  tutti::reset_stats();
  const array none = tutti::zeros({0, 3});
  const array out = run_saxpy(none, none, 2);
  BOOST_TEST((out.shape() == tutti::shape{0, 3}));
  BOOST_TEST(out.to_vector<float>().empty());
  BOOST_TEST(tutti::stats().launches == 0u);
  // One result may be empty where another is not, and an input too.
  const auto some = double_and_odd()({array::from({3, 4})},
                                     {.outputs = {{{2}, dtype::i64}, {{2}, dtype::boolean}}});
  BOOST_TEST(some[0].to_vector<std::int64_t>()[1] == 8);
  const tutti::kernel first(
      {.name = "first",
       .opencl = "kernel void first(global const float* none, global int* out, global int* no) {"
                 " out[get_global_id(0)] = 7; }",
       .cuda = "extern \"C\" __global__ void first(const float* none, int* out, int* no) {"
               " out[blockIdx.x * blockDim.x + threadIdx.x] = 7; }",
       .host = [](const tutti::kernel_host_call& c) {
         BOOST_TEST(c.input<float>(0).empty());
         BOOST_TEST(c.output<std::int32_t>(1).empty());
         for (std::int32_t& x : c.output<std::int32_t>(0)) x = 7;
       }});
  const auto both =
      first({tutti::zeros({4, 0})}, {.outputs = {{{3}, dtype::i32}, {{0}, dtype::i32}}});
  BOOST_TEST(both[0].to_vector<std::int32_t>() == (std::vector<std::int32_t>{7, 7, 7}), same);
  BOOST_TEST((both[1].shape() == tutti::shape{0}));
}

BOOST_AUTO_TEST_CASE(work_before_and_behind_it_keeps_its_order) {
  const std::size_t n = 50'000;
  array x = tutti::arange(static_cast<std::int64_t>(n), dtype::f32);
  x = tutti::remainder(x, 31.f);
  std::vector<float> expected(n);
  for (std::size_t i = 0; i < n; ++i) expected[i] = static_cast<float>(i % 31);
  const tutti::kernel multiply = product(), add = saxpy();
  for (int round = 0; round < 12; ++round) {
    const array shifted = x + 1.f;                                           // pending work
    x = multiply({shifted, x}, {.outputs = {{x.shape()}}})[0];               // a kernel
    x = tutti::remainder(x, 31.f) + 2.f;                                     // fused behind it
    x = add({x, x}, {.outputs = {{x.shape()}}, .scalars = {1.f}})[0] - 3.f;  // another one
    x = tutti::remainder(x, 31.f);
    for (float& v : expected) {
      v = std::fmod((v + 1) * v, 31.f) + 2;
      v = std::fmod(2 * v - 3 + 31, 31.f);
    }
  }
  BOOST_TEST(all_close(x.to_vector<float>(), expected));
}

BOOST_AUTO_TEST_CASE(outputs_that_hold_something_before) {
  const dense x = whole({1000}, 5), y = whole({1000}, 6);
  const array given = upload_as<float>(x), start = upload_as<float>(y);
  const auto out =
      add_to()({given}, {.outputs = {{{1000}, dtype::f32, start}, {{1000}, dtype::f32, 0}}});
  BOOST_TEST(matches(out[0], linear(1, x, y)));
  const dense zeros = tabulate({1000}, [](const position&) { return 0; });
  BOOST_TEST(matches(out[1], linear(-1, x, zeros)));
  BOOST_TEST(matches(start, y));  // a copy was changed
  // Two that begin alike are two, also where what they begin with is still to be computed.
  const array lazy = tutti::zeros({1000}) + 4.f;
  const auto both =
      add_to()({given}, {.outputs = {{{1000}, dtype::f32, lazy}, {{1000}, dtype::f32, lazy}}});
  const dense fours = tabulate({1000}, [](const position&) { return 4; });
  BOOST_TEST(matches(both[0], linear(1, x, fours)));
  BOOST_TEST(matches(both[1], linear(-1, x, fours)));
  BOOST_TEST(matches(lazy, fours));
}

BOOST_AUTO_TEST_CASE(groups_share_memory) {
  const dense x = whole({6 * 16}, 7);
  const array out = reverse_groups()(
      {upload_as<float>(x)},
      {.outputs = {{{96}}}, .global = {96}, .local = {16}, .shared_bytes = 16 * sizeof(float)})[0];
  const dense expected =
      tabulate({96}, [&](const position& i) { return x.at({i[0] / 16 * 16 + 15 - i[0] % 16}); });
  BOOST_TEST(matches(out, expected));
}

BOOST_AUTO_TEST_CASE(launches_of_three_dimensions) {
  const dense expected =
      tabulate({2, 6, 8}, [](const position& i) { return 100 * i[0] + 10 * i[1] + i[2]; });
  for (const tutti::shape& local : {tutti::shape{}, tutti::shape{4, 3, 1}}) {
    const array out = places()(
        {}, {.outputs = {{{2, 6, 8}, dtype::i32}}, .global = {8, 6, 2}, .local = local})[0];
    BOOST_TEST(matches(out, expected));
  }
}

BOOST_AUTO_TEST_CASE(threads_share_a_kernel) {
  const tutti::kernel shared = saxpy();
  const dense x = whole({4096}, 8), y = whole({4096}, 9);
  const array a = upload_as<float>(x), b = upload_as<float>(y);
  std::vector<std::vector<float>> got(4);
  at_once(4, [&](int t) {
    array sum = b;
    for (int round = 0; round < 20; ++round)
      sum = shared({a, sum}, {.outputs = {{{4096}}}, .scalars = {static_cast<float>(t)}})[0];
    got[static_cast<std::size_t>(t)] = sum.to_vector<float>();
  });
  for (std::size_t t = 0; t < got.size(); ++t) {
    const dense expected = linear(20.f * static_cast<float>(t), x, y);
    const std::vector<double> values(got[t].begin(), got[t].end());
    BOOST_TEST(all_close(values, expected.values));
  }
}

BOOST_AUTO_TEST_CASE(kernels_and_inputs_may_go_before_they_have_run) {
  const dense x = whole({20'000}, 10), y = whole({20'000}, 11);
  std::vector<array> results;
  for (int round = 0; round < 50; ++round) {
    const tutti::kernel one = saxpy();
    results.push_back(one({upload_as<float>(x), upload_as<float>(y)},
                          {.outputs = {{{20'000}}}, .scalars = {static_cast<float>(round)}})[0]);
  }
  for (std::size_t round = 0; round < results.size(); ++round)
    BOOST_TEST(matches(results[round], linear(static_cast<float>(round), x, y)));
}

BOOST_AUTO_TEST_CASE(equal_sources_are_compiled_once) {
  if (on_host()) return;
  // No earlier process has compiled it.
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  const std::string heading = "// " + std::to_string(now) + "\n";
  const auto twice = [&](float marker) {
    return tutti::kernel({.name = "twice",
                          .opencl = heading +
                                    "kernel void twice(global float* o) { o[get_global_id(0)] = " +
                                    std::to_string(marker) + "f; }",
                          .cuda = heading +
                                  "extern \"C\" __global__ void twice(float* o) { o[blockIdx.x * "
                                  "blockDim.x + threadIdx.x] = " +
                                  std::to_string(marker) + "f; }"});
  };
  const auto run = [&](float marker) {
    return twice(marker)({}, {.outputs = {{{3}}}})[0].to_vector<float>()[2];
  };
  tutti::reset_stats();
  BOOST_TEST(run(4.5f) == 4.5f);
  const auto compiles = tutti::stats().compiles, launches = tutti::stats().launches;
  BOOST_TEST(compiles == 1u);
  BOOST_TEST(launches == 1u);
  BOOST_TEST(run(4.5f) == 4.5f);
  BOOST_TEST(tutti::stats().compiles == compiles);
  BOOST_TEST(run(5.5f) == 5.5f);
  BOOST_TEST(tutti::stats().compiles == compiles + 1);
}

// A device that takes none of the sources runs the host's function.
BOOST_AUTO_TEST_CASE(the_function_on_the_host_stands_in) {
  tutti::reset_stats();
  const tutti::kernel only_host({.name = "only_host", .host = [](const tutti::kernel_host_call& c) {
                                   const auto x = c.input<float>(0);
                                   for (std::size_t i = 0; i < x.size(); ++i) {
                                     c.output<float>(0)[i] = x[i] * c.scalar<float>(0);
                                     c.output<std::int32_t>(1)[i] += static_cast<std::int32_t>(i);
                                   }
                                 }});
  const array x = tutti::arange(8, dtype::f32) + 1.f;
  const auto out = only_host({x(tutti::slice{1, 6})},
                             {.outputs = {{{5}}, {{5}, dtype::i32, 10}}, .scalars = {2.f}});
  BOOST_TEST(matches(out[0] + 1.f, {{5}, {5, 7, 9, 11, 13}}));
  BOOST_TEST(matches(out[1], {{5}, {10, 11, 12, 13, 14}}));
  BOOST_TEST(tutti::stats().fallbacks == (on_host() ? 0u : 1u));
}

BOOST_AUTO_TEST_CASE(what_the_function_throws_comes_with_the_results) {
  const tutti::kernel broken({.name = "broken", .host = [](const tutti::kernel_host_call&) {
                                throw std::runtime_error("the sky is too low");
                              }});
  // On another device the function runs at once, on the reference device in the queue's turn.
  const auto read = [&] {
    const auto out = broken({}, {.outputs = {{{3}}}});
    out[0].to_vector<float>();
  };
  BOOST_TEST(fails<tutti::device_error>(read, "kernel broken"));
  BOOST_TEST(fails<tutti::device_error>(read, "the sky is too low"));
  BOOST_CHECK_EXCEPTION(read(), tutti::device_error, [](const tutti::device_error& e) {
    return e.code() == TUTTI_ERROR_INVALID_ARGUMENT;  // nothing is wrong with the library
  });
  BOOST_TEST((tutti::ones({3}) + 1).to_vector<float>()[0] == 2.f);
  FAILS(shape_error, broken({}, {.outputs = {{{4}, dtype::f32, tutti::ones({3})}}}),
        "kernel broken, what an output begins with: [3] does not broadcast to [4]");
  const tutti::kernel wrong({.name = "wrong", .host = [](const tutti::kernel_host_call& c) {
                               c.output<double>(0)[0] = 1;
                             }});
  FAILS(device_error, wrong({}, {.outputs = {{{3}}}})[0].wait(),
        "kernel wrong: output 0 is f32, not f64");
  const tutti::kernel beyond({.name = "beyond", .host = [](const tutti::kernel_host_call& c) {
                                static_cast<void>(c.input<float>(1));
                              }});
  FAILS(device_error, beyond({tutti::ones({3})}, {.outputs = {{{3}}}})[0].wait(),
        "kernel beyond: input 1 of 1");
}

// The state of a function lives as long as a launch of it is in line, and no longer.
BOOST_AUTO_TEST_CASE(functions_are_let_go) {
  const auto state = std::make_shared<float>(3.f);
  {
    const tutti::kernel keeps({.name = "keeps", .host = [state](const tutti::kernel_host_call& c) {
                                 c.output<float>(0)[0] = *state;
                               }});
    const array out = keeps({}, {.outputs = {{{1}}}})[0];
    BOOST_TEST(out.to_vector<float>()[0] == 3.f);
  }
  tutti::synchronize();
  BOOST_TEST(state.use_count() == 1);
}
