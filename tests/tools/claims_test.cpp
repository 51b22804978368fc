// SPDX-License-Identifier: Apache-2.0
//
// A plugin claims the operators that tools/function_table.def says, for the dtypes that it says:
// test_operators_claims -- NAME PLUGIN.so
#include <dlfcn.h>

#include <boost/test/unit_test.hpp>
#include <set>

#include "operators_document.hpp"
#include "tutti_test/environment_host.hpp"
#include "verify/operator_claims.hpp"

namespace {

using namespace tutti::tools;

void good(tutti_status* status) {
  if (status == nullptr) return;
  const std::string message = status->message;
  status->release(status);
  throw std::runtime_error(message);
}

constexpr std::uint32_t halves = TUTTI_DTYPE_BIT(TUTTI_F16) | TUTTI_DTYPE_BIT(TUTTI_BF16);

}  // namespace

BOOST_AUTO_TEST_CASE(claims_are_those_of_the_table) {
  const auto& suite = boost::unit_test::framework::master_test_suite();
  BOOST_TEST_REQUIRE(suite.argc == 3);
  const std::string name = suite.argv[1];
  void* const library = dlopen(suite.argv[2], RTLD_NOW | RTLD_LOCAL);
  BOOST_TEST_REQUIRE(library != nullptr, dlerror());
  const auto entry = reinterpret_cast<tutti_plugin_entry_fn>(dlsym(library, "tutti_plugin_entry"));
  const tutti_plugin_api& api = *entry(tutti_test::environment_host());
  tutti_device* device = nullptr;
  good(api.device->open(0, &device));
  tutti_device_properties properties{};
  properties.struct_size = sizeof properties;
  good(api.device->properties(0, &properties));

  std::set<int> listed;
  for (const operator_row& row : operator_rows()) {
    if (row.number == 0) continue;
    listed.insert(row.number);
    dtype_set said = name == "opencl" ? row.opencl : name == "cuda" ? row.cuda : row.reference;
    if (said.bits & device_halves.bits) said.bits |= halves & properties.computed_dtypes;
    said.bits &= properties.stored_dtypes;
    std::uint32_t claimed = 0;
    for (int dtype = TUTTI_BOOL; dtype <= TUTTI_C128; ++dtype)
      if (tutti::conformance::claims(api, device, row.number, dtype))
        claimed |= TUTTI_DTYPE_BIT(dtype);
    BOOST_TEST(claimed == said.bits,
               row.id << ": " << name << " claims " << claimed << ", the table says " << said.bits);
  }
  for (const tutti::host::operator_row& row : tutti::host::operator_rows)
    BOOST_TEST(listed.contains(row.number), row.name << " has no row in tools/function_table.def");
  api.device->release(device);
}
