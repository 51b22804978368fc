// SPDX-License-Identifier: Apache-2.0
//
// What scan.cu, sort.cu, lookup.cu and gather.cu are built with for given dtypes.
#include "cuda/ordering_options.hpp"

#include "cuda/type_names.hpp"
#include "sdk/op_info.hpp"
#include "sdk/ordering.hpp"

namespace tutti::cuda {
namespace {

// The neutral element of minima and maxima is the other end of the type.
std::string neutral(int32_t scan, uint8_t dtype) {
  if (scan == TUTTI_SCAN_SUM) return "((ACC)0)";
  if (scan == TUTTI_SCAN_PROD) return "((ACC)1)";
  const bool largest = scan == TUTTI_SCAN_MIN;
  if (sdk::is_floating(dtype)) return largest ? "((ACC)INFINITY)" : "((ACC)-INFINITY)";
  if (dtype >= TUTTI_U8) return largest ? "((ACC)~(ACC)0)" : "((ACC)0)";
  const std::string lowest =
      "((ACC)(1ull<<" + std::to_string(8 * sdk::dtype_size(dtype) - 1) + "))";
  return largest ? "((ACC)~" + lowest + ")" : lowest;
}

const char* index_name(int32_t dtype) { return dtype == TUTTI_I32 ? "int" : "long long"; }

std::vector<std::string> gather_options(const char* element, int32_t index, bool complex,
                                        bool narrow, sdk::combination how) {
  return {std::string("-DTUTTI_T=") + element,
          std::string("-DTUTTI_WIDE=") + (narrow ? "unsigned int" : element),
          std::string("-DTUTTI_INDEX=") + index_name(index),
          std::string("-DTUTTI_COMPLEX=") + (complex ? "1" : "0"),
          "-DTUTTI_COMBINE=" + std::to_string(static_cast<int>(how))};
}

}  // namespace

std::vector<std::string> scan_options(int32_t out, int32_t in, int32_t scan) {
  const uint8_t type = sdk::scan_accumulator(out);
  const bool wraps = scan == TUTTI_SCAN_SUM || scan == TUTTI_SCAN_PROD;
  const bool floating = sdk::is_floating(type);
  const std::string acc =
      !floating && wraps ? unsigned_name(sdk::dtype_size(type)) : stored_name(type);
  return {std::string("-DTUTTI_IN=") + stored_name(in),
          "-DTUTTI_IN_KIND=" + std::to_string(half_kind(in)),
          "-DTUTTI_OUT=" + (floating ? std::string(stored_name(out)) : acc),
          "-DTUTTI_OUT_KIND=" + std::to_string(half_kind(out)),
          "-DTUTTI_ACC=" + acc,
          "-DTUTTI_SCAN=" + std::to_string(scan),
          "-DTUTTI_NEUTRAL=" + neutral(scan, type),
          "--fmad=false"};
}

std::vector<std::string> sort_options(int32_t dtype, bool payload) {
  return {std::string("-DTUTTI_K=") + unsigned_name(sdk::dtype_size(dtype)),
          "-DTUTTI_KEY_KIND=" + std::to_string(static_cast<int>(sdk::key_kind_of(dtype))),
          std::string("-DTUTTI_INF=") + sdk::infinity_bits(dtype),
          std::string("-DTUTTI_PAYLOAD=") + (payload ? "1" : "0")};
}

std::vector<std::string> lookup_options(int32_t dtype) {
  return {std::string("-DTUTTI_T=") + stored_name(dtype),
          "-DTUTTI_KIND=" + std::to_string(half_kind(dtype)),
          std::string("-DTUTTI_INDEX=") + index_name(dtype)};
}

std::vector<std::string> take_options(int32_t dtype, int32_t index) {
  return gather_options(unsigned_name(sdk::dtype_size(dtype)), index, false, false,
                        sdk::combination::add);
}

std::vector<std::string> scatter_options(int32_t dtype, int32_t index, sdk::combination how) {
  if (how == sdk::combination::set)
    return gather_options(unsigned_name(sdk::dtype_size(dtype)), index, false, false, how);
  const auto type = static_cast<uint8_t>(dtype);
  const bool complex = sdk::is_complex(type);
  const bool wraps = sdk::is_integer(type) && how <= sdk::combination::multiply;
  const char* element = complex ? (type == TUTTI_C64 ? "float2" : "double2")
                        : wraps ? unsigned_name(sdk::dtype_size(dtype))
                                : stored_name(dtype);
  const bool narrow = wraps && sdk::dtype_size(dtype) < 4;
  return gather_options(element, index, complex, narrow, how);
}

}  // namespace tutti::cuda
