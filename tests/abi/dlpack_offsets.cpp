// SPDX-License-Identifier: Apache-2.0
//
// The structs of DLPack as its specification lays them out: offsets and numbers as literals.
#include <boost/test/unit_test.hpp>
#include <cstddef>

#include "tutti/dlpack_structs.h"

namespace {

struct row {
  const char* name;
  std::size_t actual, expected;
};

#define FIELD(type, field, offset) \
  { #type "." #field, offsetof(type, field), offset }
// clang-format off
const row rows[] = {
    {"DLTensor", sizeof(DLTensor), 48},
    FIELD(DLTensor, data, 0),
    FIELD(DLTensor, device.device_type, 8),
    FIELD(DLTensor, device.device_id, 12),
    FIELD(DLTensor, ndim, 16),
    FIELD(DLTensor, dtype.code, 20),
    FIELD(DLTensor, dtype.bits, 21),
    FIELD(DLTensor, dtype.lanes, 22),
    FIELD(DLTensor, shape, 24),
    FIELD(DLTensor, strides, 32),
    FIELD(DLTensor, byte_offset, 40),
    {"DLManagedTensor", sizeof(DLManagedTensor), 64},
    FIELD(DLManagedTensor, dl_tensor, 0),
    FIELD(DLManagedTensor, manager_ctx, 48),
    FIELD(DLManagedTensor, deleter, 56),
    {"DLManagedTensorVersioned", sizeof(DLManagedTensorVersioned), 80},
    FIELD(DLManagedTensorVersioned, version.major, 0),
    FIELD(DLManagedTensorVersioned, version.minor, 4),
    FIELD(DLManagedTensorVersioned, manager_ctx, 8),
    FIELD(DLManagedTensorVersioned, deleter, 16),
    FIELD(DLManagedTensorVersioned, flags, 24),
    FIELD(DLManagedTensorVersioned, dl_tensor, 32),
    {"kDLCPU", kDLCPU, 1}, {"kDLCUDA", kDLCUDA, 2}, {"kDLCUDAHost", kDLCUDAHost, 3},
    {"kDLOpenCL", kDLOpenCL, 4}, {"kDLCUDAManaged", kDLCUDAManaged, 13},
    {"kDLInt", kDLInt, 0}, {"kDLUInt", kDLUInt, 1}, {"kDLFloat", kDLFloat, 2},
    {"kDLBfloat", kDLBfloat, 4}, {"kDLComplex", kDLComplex, 5}, {"kDLBool", kDLBool, 6},
    {"READ_ONLY", DLPACK_FLAG_BITMASK_READ_ONLY, 1},
    {"IS_COPIED", DLPACK_FLAG_BITMASK_IS_COPIED, 2},
    {"major", DLPACK_MAJOR_VERSION, 1},
};
// clang-format on

}  // namespace

BOOST_AUTO_TEST_CASE(dlpack_structs_are_those_of_the_specification) {
  for (const row& r : rows)
    BOOST_CHECK_MESSAGE(r.actual == r.expected,
                        r.name << " is " << r.actual << ", specified as " << r.expected);
}
