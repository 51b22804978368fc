// SPDX-License-Identifier: Apache-2.0
//
// Tables of dtypes and memory kinds.
#include "dlpack/types.hpp"

#include <fmt/format.h>

#include <utility>

namespace tutti::dlpack {
namespace {

struct dtype_row {
  dtype type;
  DLDataTypeCode code;
};

constexpr dtype_row dtypes[] = {
    {dtype::boolean, kDLBool}, {dtype::i8, kDLInt},      {dtype::i16, kDLInt},
    {dtype::i32, kDLInt},      {dtype::i64, kDLInt},     {dtype::u8, kDLUInt},
    {dtype::u16, kDLUInt},     {dtype::u32, kDLUInt},    {dtype::u64, kDLUInt},
    {dtype::f16, kDLFloat},    {dtype::bf16, kDLBfloat}, {dtype::f32, kDLFloat},
    {dtype::f64, kDLFloat},    {dtype::c64, kDLComplex}, {dtype::c128, kDLComplex},
};

// The first row of a native kind is used for export.
constexpr memory_kind memories[] = {
    {kDLCPU, TUTTI_NATIVE_HOST, "reference", false},
    {kDLCUDA, TUTTI_NATIVE_CUDA, "cuda", true},
    {kDLCUDAHost, TUTTI_NATIVE_CUDA, "cuda", false},
    {kDLCUDAManaged, TUTTI_NATIVE_CUDA, "cuda", false},
    {kDLOpenCL, TUTTI_NATIVE_OPENCL, "opencl", false},
};

constexpr std::pair<DLDeviceType, const char*> names[] = {
    {kDLCPU, "kDLCPU"},           {kDLCUDA, "kDLCUDA"},
    {kDLCUDAHost, "kDLCUDAHost"}, {kDLOpenCL, "kDLOpenCL"},
    {kDLVulkan, "kDLVulkan"},     {kDLMetal, "kDLMetal"},
    {kDLROCM, "kDLROCM"},         {kDLROCMHost, "kDLROCMHost"},
    {kDLOneAPI, "kDLOneAPI"},     {kDLCUDAManaged, "kDLCUDAManaged"},
};

const char* name_of(DLDeviceType type) {
  for (const auto& [known, name] : names)
    if (known == type) return name;
  return "device type";
}

}  // namespace

DLDataType to_dl(dtype type) {
  for (const dtype_row& row : dtypes)
    if (row.type == type)
      return {static_cast<std::uint8_t>(row.code), static_cast<std::uint8_t>(8 * size_of(type)), 1};
  return {kDLOpaqueHandle, 0, 0};
}

std::optional<dtype> from_dl(DLDataType type) {
  if (type.lanes != 1) return std::nullopt;
  for (const dtype_row& row : dtypes)
    if (row.code == type.code && 8 * size_of(row.type) == type.bits) return row.type;
  return std::nullopt;
}

std::string describe(DLDataType type) {
  constexpr const char* words[] = {"int",    "uint",    "float", "opaque handle",
                                   "bfloat", "complex", "bool"};
  const std::string lanes = type.lanes == 1 ? "" : fmt::format("x{}", type.lanes);
  if (type.code < std::size(words))
    return fmt::format("{}{}{}", words[type.code], type.bits, lanes);
  return fmt::format("code {} of {} bits{}", type.code, type.bits, lanes);
}

std::string describe(DLDeviceType type) {
  return fmt::format("{} ({})", name_of(type), static_cast<std::int32_t>(type));
}

const memory_kind* kind_of(DLDeviceType type) {
  for (const memory_kind& row : memories)
    if (row.type == type) return &row;
  return nullptr;
}

const memory_kind* kind_of(const detail::opened_device& device) {
  if (!device.plugin->has_native) return nullptr;
  for (const memory_kind& row : memories)
    if (row.native == device.plugin->native.kind) return &row;
  return nullptr;
}

}  // namespace tutti::dlpack
