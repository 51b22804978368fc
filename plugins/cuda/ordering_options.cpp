// SPDX-License-Identifier: Apache-2.0
//
// What scan.cu, sort.cu and lookup.cu are built with for given dtypes.
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
          std::string("-DTUTTI_INDEX=") + (dtype == TUTTI_I32 ? "int" : "long long")};
}

}  // namespace tutti::cuda
