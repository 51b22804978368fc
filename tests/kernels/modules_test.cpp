// SPDX-License-Identifier: Apache-2.0
//
// Kernels whose source is a SPIR-V module, on devices that take modules (those that the argument
// `takes_modules` says it of must) and on those that do not.
#include "tutti/plugin.h"
#include "tutti_test/arrays.hpp"
#include "tutti_test/command.hpp"
#include "verify/spirv_module.hpp"

namespace {

bool must_take_modules() {
  const auto& suite = boost::unit_test::framework::master_test_suite();
  return suite.argc > 1 && std::string_view(suite.argv[1]) == "takes_modules";
}

// out[i] = a x[i] + i
tutti::kernel_source scaled() {
  return {.name = "scaled", .spirv = tutti::conformance::scaled_module()};
}

std::vector<std::int32_t> launched(const tutti::kernel& k) {
  const array x = array::from(std::vector<std::int32_t>{5, -7, 2147483647, 0, 11}, {5});
  return k({x}, {.outputs = {{{5}, dtype::i32}}, .scalars = {3}})[0].to_vector<std::int32_t>();
}

const std::vector<std::int32_t> expected = {15, -20, 2147483647, 3, 37};  // products wrap

}  // namespace

BOOST_AUTO_TEST_CASE(a_module_computes_where_it_is_taken) {
  bool taken = true;
  try {
    BOOST_TEST(launched(tutti::kernel(scaled())) == expected, same);
  } catch (const tutti::device_error& e) {
    taken = false;
    const std::string text = e.what();
    BOOST_TEST(e.code() == TUTTI_ERROR_UNSUPPORTED, text);
    const auto split = text.find("; this one has: SPIR-V");
    BOOST_REQUIRE_MESSAGE(split != std::string::npos, text);
    BOOST_TEST(!has(text.substr(0, split), "SPIR-V"), text);
  }
  BOOST_TEST((taken || !must_take_modules()));
}

BOOST_AUTO_TEST_CASE(a_function_on_the_host_stands_in) {
  tutti::kernel_source source = scaled();
  source.host = [](const tutti::kernel_host_call& c) {
    const auto x = c.input<std::int32_t>(0);
    const auto out = c.output<std::int32_t>(0);
    const auto a = static_cast<std::uint32_t>(c.scalar<std::int32_t>(0));
    for (std::uint32_t i = 0; i < out.size(); ++i)
      out[i] = static_cast<std::int32_t>(a * static_cast<std::uint32_t>(x[i]) + i);
  };
  const auto before = tutti::stats().fallbacks;
  BOOST_TEST(launched(tutti::kernel(source)) == expected, same);
  if (must_take_modules()) BOOST_TEST(tutti::stats().fallbacks == before);
}

BOOST_AUTO_TEST_CASE(what_is_no_module_is_refused) {
  tutti::kernel_source source = scaled();
  for (const std::vector<std::uint32_t>& words :
       {std::vector<std::uint32_t>{1, 2, 3}, std::vector<std::uint32_t>(5)}) {
    source.spirv = words;
    FAILS(device_error, launched(tutti::kernel(source)),
          must_take_modules() ? "scaled: the source is no SPIR-V module" : "kernel scaled");
  }
}
