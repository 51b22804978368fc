// SPDX-License-Identifier: Apache-2.0
//
// What is refused of the application's kernels: the exception, the kernel's name and the values.
#include <regex>

#include "sources.hpp"
#include "tutti_test/arrays.hpp"
#include "tutti_test/command.hpp"
#include "tutti_test/host_device.hpp"

namespace errors_test {

namespace {

template <class Exception>
boost::test_tools::assertion_result refused(const tutti::kernel& k,
                                            const std::vector<array>& inputs,
                                            const tutti::kernel_launch& launch,
                                            std::string_view text) {
  return fails<Exception>([&] { k(inputs, launch)[0].wait(); }, text);
}

std::string message_of(const tutti::kernel& k, const std::vector<array>& inputs,
                       const tutti::kernel_launch& launch) {
  try {
    k(inputs, launch);
  } catch (const tutti::device_error& e) {
    return std::to_string(e.code()) + ": " + e.what();
  }
  return {};
}

}  // namespace

BOOST_AUTO_TEST_CASE(kernels_without_name_or_source) {
  FAILS(value_error, tutti::kernel k({.opencl = "x"}), "no name");
  FAILS(value_error, tutti::kernel k({.name = "empty"}), "kernel empty: it has no source");
}

BOOST_AUTO_TEST_CASE(what_is_moved_from_keeps_its_source) {
  tutti::kernel first({.name = "fill", .host = [](const tutti::kernel_host_call& call) {
                         for (float& value : call.output<float>(0)) value = 3;
                       }});
  tutti::kernel second = std::move(first);
  tutti::kernel third({.name = "other", .opencl = "x"});
  third = std::move(second);
  for (const tutti::kernel* k : {&first, &second, &third}) {
    BOOST_TEST(k->name() == "fill");
    FAILS(value_error, (*k)({}, {}), "kernel fill: a launch needs");
  }
}

BOOST_AUTO_TEST_CASE(sizes_of_a_launch) {
  const array x = tutti::ones({12});
  const auto bad = [&](const tutti::kernel_launch& launch, std::string_view text) {
    BOOST_TEST(refused<tutti::value_error>(places(), {}, launch, text));
  };
  bad({}, "kernel places: a launch needs at least one output");
  const std::vector<tutti::kernel_output> twelve = {{{12}, dtype::i32}};
  bad({.outputs = twelve, .global = {0}}, "global size [0] is zero");
  bad({.outputs = twelve, .global = {3, 0, 2}}, "global size [3,0,2] is zero");
  bad({.outputs = twelve, .global = {-3}}, "global size [-3] is negative");
  bad({.outputs = twelve, .global = {std::int64_t{1} << 40, std::int64_t{1} << 40}},
      "global size [1099511627776,1099511627776] is too large");
  bad({.outputs = twelve, .global = {2, 2, 2, 2}}, "has more than 3 dimensions");
  bad({.outputs = twelve, .global = {12}, .local = {5}},
      "local size [5] does not divide global size [12]");
  bad({.outputs = twelve, .global = {12}, .local = {0}}, "local size [0] does not divide");
  bad({.outputs = twelve, .global = {12}, .local = {-4}}, "local size [-4] does not divide");
  bad({.outputs = twelve, .global = {12}, .local = {3, 1}}, "local size [3,1] does not divide");
  BOOST_TEST(refused<tutti::shape_error>(places(), {}, {.outputs = {{{3, -1}, dtype::i32}}},
                                         "kernel places: negative extent in [3,-1]"));
  BOOST_TEST(refused<tutti::shape_error>(
      places(), {}, {.outputs = {{{std::int64_t{1} << 40, std::int64_t{1} << 40}, dtype::i32}}},
      "is too large"));
  BOOST_TEST(refused<tutti::value_error>(places(), {array()}, {.outputs = twelve}, "empty"));
  if (on_host()) return;  // which has no limits of its own
  const std::int64_t huge = 1 << 20;
  bad({.outputs = {{{huge}, dtype::i32}}, .global = {huge}, .local = {huge}},
      "work-groups of [1048576] work-items");
  BOOST_TEST(refused<tutti::value_error>(
      reverse_groups(), {x},
      {.outputs = {{{12}}}, .global = {12}, .local = {12}, .shared_bytes = std::size_t{1} << 40},
      "kernel reverse_groups: shared_bytes is 1099511627776"));
}

BOOST_AUTO_TEST_CASE(a_device_that_takes_none_of_the_sources) {
  const tutti::kernel elsewhere({.name = "elsewhere", .ptx = ".version 8.0"});
  const tutti::device device = tutti::default_device();
  if (device.backend() == "cuda") return;
  const std::string message = message_of(elsewhere, {}, {.outputs = {{{3}}}});
  BOOST_TEST(has(message, "3: kernel elsewhere: " + device.name()), message);
  BOOST_TEST(has(message, std::string("takes kernels in: ") +
                              (on_host() ? "a function on the host" : "OpenCL C")),
             message);
  BOOST_TEST(has(message, "; this one has: PTX"), message);
}

BOOST_AUTO_TEST_CASE(source_that_does_not_compile) {
  if (on_host()) return;
  const std::string text = "\n\nint helper(int x) { return x; }\nthis is line four\n";
  const tutti::kernel broken({.name = "broken", .opencl = text, .cuda = text});
  for (int round = 0; round < 2; ++round) {  // nothing is remembered of the first time
    const std::string message = message_of(broken, {}, {.outputs = {{{3}}}});
    BOOST_TEST(has(message, "6: "), message);
    BOOST_TEST(has(message, "compile broken"), message);
    BOOST_TEST(std::regex_search(message, std::regex("[:(]4[:)]")), message);
  }
  const tutti::kernel misnamed(
      {.name = "misnamed",
       .opencl = "kernel void other(global float* o) { o[0] = 1; }",
       .cuda = "extern \"C\" __global__ void other(float* o) { o[0] = 1; }"});
  const std::string message = message_of(misnamed, {}, {.outputs = {{{1}}}});
  BOOST_TEST(has(message, "6: "), message);
  BOOST_TEST(has(message, "the source has no kernel misnamed"), message);
}

BOOST_AUTO_TEST_CASE(options_reach_the_compiler) {
  if (on_host()) return;
  const auto with = [](const std::string& options) {
    return tutti::kernel(
        {.name = "number",
         .opencl = "kernel void number(global int* o) { o[get_global_id(0)] = NUMBER; }",
         .opencl_options = options,
         .cuda = "extern \"C\" __global__ void number(int* o) {"
                 " o[blockIdx.x * blockDim.x + threadIdx.x] = NUMBER; }",
         .cuda_options = options});
  };
  for (const int n : {3, 14}) {
    const array out =
        with("-DNUMBER=" + std::to_string(n))({}, {.outputs = {{{2}, dtype::i32}}})[0];
    BOOST_TEST(out.to_vector<std::int32_t>()[1] == n);
  }
  BOOST_TEST(has(message_of(with(""), {}, {.outputs = {{{2}, dtype::i32}}}), "NUMBER"));
}

BOOST_AUTO_TEST_CASE(arguments_that_are_not_the_kernels) {
  if (on_host()) return;
  const array x = tutti::ones({4});
  const std::string few = message_of(saxpy(), {x}, {.outputs = {{{4}}}, .scalars = {1.f}});
  BOOST_TEST(has(few, "saxpy: 3 arguments for a kernel of 4"), few);
  const std::string many = message_of(saxpy(), {x, x}, {.outputs = {{{4}}}, .scalars = {1.f, 2.f}});
  BOOST_TEST(has(many, "saxpy: 5 arguments for a kernel of 4"), many);
  const std::string wide = message_of(saxpy(), {x, x}, {.outputs = {{{4}}}, .scalars = {1.0}});
  BOOST_TEST(has(wide, "saxpy: argument 3, of 8 bytes, is not what the kernel takes there"), wide);
  // The kernel is as it was.
  BOOST_TEST(saxpy()({x, x}, {.outputs = {{{4}}}, .scalars = {1.f}})[0].to_vector<float>()[3] ==
             2.f);
}

BOOST_AUTO_TEST_CASE(what_an_output_begins_with_fits_it) {
  const array x = tutti::ones({4});
  BOOST_TEST(refused<tutti::shape_error>(
      add_to(), {x}, {.outputs = {{{4}, dtype::f32, tutti::ones({3})}, {{4}}}}, "[3]"));
}

}  // namespace errors_test
