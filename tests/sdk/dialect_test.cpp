// SPDX-License-Identifier: Apache-2.0
//
// Languages whose kernels number their parameters and get their indices among them, as Metal's do.
#include <boost/test/unit_test.hpp>
#include <string>

#include "sdk/renderer.hpp"
#include "tutti_test/program.hpp"

namespace {

using namespace tutti::sdk;

dialect numbered() {
  dialect d;
  d.name = "numbered";
  d.kernel = "kernel";
  d.global = "device ";
  d.local = "threadgroup ";
  d.barrier = "threadgroup_barrier(mem_flags::mem_threadgroup);";
  d.group_index = "group.x";
  d.group_count = "groups.x";
  d.local_index = "local.x";
  d.global_index = "thread.x";
  d.global_size = "threads.x";
  d.array_parameter = "$t $x [[buffer($n)]]";
  d.value_parameter = "constant $t& $x [[buffer($n)]]";
  d.index_parameters =
      "uint3 group [[threadgroup_position_in_grid]], uint3 thread [[thread_position_in_grid]]";
  d.types[TUTTI_BOOL] = d.types[TUTTI_U8] = "uchar";
  d.types[TUTTI_I32] = "int";
  d.types[TUTTI_I64] = "long";
  d.types[TUTTI_U32] = "uint";
  d.types[TUTTI_U64] = "ulong";
  d.types[TUTTI_F32] = "float";
  d.size_type = "ulong";
  return d;
}

// The parameters of a kernel, lines joined.
std::string parameters_of(const std::string& source, const std::string& kernel) {
  const size_t begin = source.find("kernel void " + kernel + "(");
  BOOST_REQUIRE(begin != std::string::npos);
  const size_t end = source.find(") {", begin);
  BOOST_REQUIRE(end != std::string::npos);
  const size_t from = source.find('(', begin) + 1;
  std::string text, line = source.substr(from, end - from);
  for (const char c : line) {
    if (c == '\n') continue;
    if (c == ' ' && (text.empty() || text.back() == ' ')) continue;
    text += c == ' ' && text.back() == ',' ? ' ' : c;
  }
  return text;
}

// in0 + scalar, summed or not.
std::string rendered(uint8_t reduction) {
  tutti_test::test_program p;
  if (reduction != TUTTI_REDUCE_NONE) {
    p.reduced_rank = 1;
    p.reduction = reduction;
    p.accumulator = TUTTI_F32;
  }
  const uint32_t in = p.input(TUTTI_F32), scalar = p.scalar(TUTTI_F32);
  p.output(TUTTI_F32, p.compute(TUTTI_OP_add, TUTTI_F32, {in, scalar}));
  render_options options;
  options.kind = schedule::gpu;
  return render(p.desc(), numbered(), options).source;
}

const std::string indices =
    "uint3 group [[threadgroup_position_in_grid]], uint3 thread [[thread_position_in_grid]]";

}  // namespace

BOOST_AUTO_TEST_SUITE(sdk_dialect)

BOOST_AUTO_TEST_CASE(parameters_are_declared_as_the_language_says) {
  const std::string source = rendered(TUTTI_REDUCE_NONE);
  BOOST_TEST(parameters_of(source, main_kernel) ==
             "device const float* in0 [[buffer(0)]], device float* out0 [[buffer(1)]], "
             "constant float& v1 [[buffer(2)]], constant tutti_geometry& g [[buffer(3)]], " +
                 indices);
  BOOST_TEST(source.find("get_global_id") == std::string::npos);
  BOOST_TEST(source.find("thread.x") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_finishing_kernel_numbers_its_own) {
  const std::string source = rendered(TUTTI_REDUCE_SUM);
  const std::string workspace =
      "device uchar* workspace [[buffer(@0)]], constant ulong& partial_offset [[buffer(@1)]], "
      "constant ulong& partial_at_offset [[buffer(@2)]], " +
      indices;
  const auto numbered_from = [&](int first) {
    std::string text = workspace;
    for (int n = 0; n < 3; ++n)
      text.replace(text.find("@" + std::to_string(n)), 2, std::to_string(first + n));
    return text;
  };
  BOOST_TEST(parameters_of(source, main_kernel) ==
             "device const float* in0 [[buffer(0)]], device float* out0 [[buffer(1)]], "
             "constant float& v1 [[buffer(2)]], constant tutti_geometry& g [[buffer(3)]], " +
                 numbered_from(4));
  BOOST_TEST(parameters_of(source, finish_kernel) ==
             "device float* out0 [[buffer(0)]], constant tutti_geometry& g [[buffer(1)]], " +
                 numbered_from(2));
}

BOOST_AUTO_TEST_SUITE_END()
