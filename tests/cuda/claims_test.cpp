// SPDX-License-Identifier: Apache-2.0
//
// What the opencl plugin claims, the cuda plugin claims as well, or it stands in a list here with
// the reason: dtypes that are stored and computed in, operators by dtype.
#include <boost/test/unit_test.hpp>

#include "plugin.hpp"
#include "sdk/op_info.hpp"
#include "tutti_test/paths.hpp"
#include "verify/operator_claims.hpp"

using namespace tutti;
using namespace tutti::test;
using tutti::conformance::claims;

namespace {

struct exception {
  int kind, dtype;
  const char* reason;
};
const std::vector<exception> exceptions = [] {
  std::vector<exception> all;
  for (int kind = TUTTI_OPERATOR_CHOLESKY; kind <= TUTTI_OPERATOR_EIG; ++kind)
    for (const int dtype : {TUTTI_F32, TUTTI_F64, TUTTI_C64, TUTTI_C128})
      all.push_back({kind, dtype, "linear algebra runs on the host: no cuSOLVER yet"});
  return all;
}();

const tutti_plugin_api& opencl() {
  static const tutti_plugin_api* const api = [] {
    void* library = dlopen(tutti_test::paths::opencl_plugin, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error(dlerror());
    return reinterpret_cast<tutti_plugin_entry_fn>(dlsym(library, "tutti_plugin_entry"))(nullptr);
  }();
  return *api;
}

}  // namespace

BOOST_AUTO_TEST_CASE(cuda_claims_what_opencl_claims) {
  tutti_device *theirs = nullptr, *ours = nullptr;
  good(opencl().device->open(0, &theirs));
  good(plugin().device->open(0, &ours));
  tutti_device_properties a{}, b{};
  a.struct_size = b.struct_size = sizeof a;
  good(opencl().device->properties(0, &a));
  good(plugin().device->properties(0, &b));
  BOOST_TEST((a.stored_dtypes & ~b.stored_dtypes) == 0u);
  BOOST_TEST((a.computed_dtypes & ~b.computed_dtypes) == 0u);
  int compared = 0;
  for (const host::operator_row& row : host::operator_rows) {
    const int kind = row.number;
    for (int dtype = TUTTI_BOOL; dtype <= TUTTI_C128; ++dtype) {
      if (!claims(opencl(), theirs, kind, dtype)) continue;
      ++compared;
      bool listed = false;
      for (const exception& e : exceptions) listed |= e.kind == kind && e.dtype == dtype;
      BOOST_TEST((listed || claims(plugin(), ours, kind, dtype)),
                 row.name << " of " << sdk::dtype_name(dtype));
    }
  }
  BOOST_TEST(compared >= 80);
  opencl().device->release(theirs);
  plugin().device->release(ours);
}
