// SPDX-License-Identifier: Apache-2.0
//
// What the opencl plugin claims, the cuda plugin claims as well, or it stands in a list here with
// the reason: dtypes that are stored and computed in, operators by dtype.
#include <boost/test/unit_test.hpp>

#include "plugin.hpp"
#include "sdk/op_info.hpp"

using namespace tutti;
using namespace tutti::test;

namespace {

struct exception {
  int kind, dtype;
  const char* reason;
};
// Nothing is missing at present.
const std::vector<exception> exceptions = {};

const tutti_plugin_api& opencl() {
  static const tutti_plugin_api* const api = [] {
    void* library = dlopen(OPENCL_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error(dlerror());
    return reinterpret_cast<tutti_plugin_entry_fn>(dlsym(library, "tutti_plugin_entry"))(nullptr);
  }();
  return *api;
}

tutti_view view(int32_t dtype, std::initializer_list<uint64_t> extents) {
  tutti_view v{};
  v.dtype = dtype;
  v.rank = static_cast<uint32_t>(extents.size());
  std::copy(extents.begin(), extents.end(), v.extent);
  int64_t stride = 1;
  for (uint32_t d = v.rank; d-- > 0; stride *= static_cast<int64_t>(v.extent[d])) {
    v.stride[d] = stride;
  }
  return v;
}

// Views of an operator over elements of `dtype`, its parameters all zero.
std::vector<tutti_view> views_of(int kind, int dtype) {
  switch (kind) {
    case TUTTI_OPERATOR_SCAN:
      return {view(dtype, {2, 6, 5}), view(dtype, {2, 6, 5})};
    case TUTTI_OPERATOR_SORT:
    case TUTTI_OPERATOR_PARTITION:
      return {view(dtype, {2, 6}), view(dtype, {2, 6})};
    case TUTTI_OPERATOR_ARGSORT:
      return {view(TUTTI_I64, {2, 6}), view(dtype, {2, 6})};
    case TUTTI_OPERATOR_TOPK:
      return {view(TUTTI_I64, {2, 3}), view(dtype, {2, 6})};
    case TUTTI_OPERATOR_SEARCH:
      return {view(TUTTI_I64, {2, 6}), view(dtype, {2, 5}), view(dtype, {2, 6})};
    case TUTTI_OPERATOR_COUNT:
    case TUTTI_OPERATOR_SELECT:
      return {view(TUTTI_I64, {3}), view(dtype, {6})};
    case TUTTI_OPERATOR_MATMUL:
      return {view(dtype, {2, 3, 5}), view(dtype, {2, 3, 4}), view(dtype, {2, 4, 5})};
    default:
      return {view(dtype, {2, 6, 5}), view(dtype, {2, 6, 5}), view(TUTTI_I64, {6})};
  }
}

bool claims(const tutti_plugin_api& api, tutti_device* device, int kind, int dtype) {
  const std::vector<tutti_view> views = views_of(kind, dtype);
  tutti_scan_params params{};  // the largest of them; the others begin alike
  params.struct_size = sizeof params;
  tutti_operator_launch l{};
  l.struct_size = sizeof l;
  l.kind = kind;
  l.view_count = static_cast<uint32_t>(views.size());
  l.params = &params;
  l.views = views.data();
  int32_t support = TUTTI_SUPPORT_NO;
  const char* reason = nullptr;
  const outcome result = take(api.op->supports(device, &l, &support, &reason));
  return result.code == TUTTI_OK && support != TUTTI_SUPPORT_NO;
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
  for (int kind = TUTTI_OPERATOR_MATMUL; kind < 64; ++kind) {
    for (int dtype = TUTTI_BOOL; dtype <= TUTTI_C128; ++dtype) {
      if (!claims(opencl(), theirs, kind, dtype)) continue;
      ++compared;
      bool listed = false;
      for (const exception& e : exceptions) listed |= e.kind == kind && e.dtype == dtype;
      BOOST_TEST((listed || claims(plugin(), ours, kind, dtype)),
                 "operator " << kind << " of " << sdk::dtype_name(dtype));
    }
  }
  BOOST_TEST(compared >= 80);
  opencl().device->release(theirs);
  plugin().device->release(ours);
}
