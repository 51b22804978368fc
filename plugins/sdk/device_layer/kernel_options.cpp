// SPDX-License-Identifier: Apache-2.0
//
// Maps dtypes to macros of kernels_cl/*_shared.cl and the matching *_cpu.cl.
#include "sdk/device_layer/kernel_options.hpp"

#include "sdk/device_layer/convolution_plan.hpp"
#include "sdk/op_info.hpp"

namespace tutti::sdk {
namespace {

const char* unsigned_name(uint32_t bytes) {
  return bytes == 1 ? "uchar" : bytes == 2 ? "ushort" : bytes == 4 ? "uint" : "ulong";
}
const char* signed_name(uint32_t bytes) {
  return bytes == 1 ? "char" : bytes == 2 ? "short" : bytes == 4 ? "int" : "long";
}

// f16 and bf16 are stored as ushort, bool as uchar.
const char* stored_name(int32_t dtype) {
  static constexpr const char* names[] = {"",      "uchar",  "char",   "short",  "int",    "long",
                                          "uchar", "ushort", "uint",   "ulong",  "ushort", "ushort",
                                          "float", "double", "float2", "double2"};
  return names[dtype];
}

// The half formats in kernel files: 1 f16, 2 bf16, 0 no conversion.
int half_kind(int32_t dtype) { return dtype == TUTTI_F16 ? 1 : dtype == TUTTI_BF16 ? 2 : 0; }

const char* index_name(int32_t dtype) { return dtype == TUTTI_I32 ? "int" : "long"; }

const char* flag(bool set) { return set ? "1" : "0"; }

std::string group_option(const device_description& device) {
  return "-DGROUP=" + std::to_string(device.group_size());
}

// The neutral element of a minimum is the largest value, and vice versa.
std::string neutral(int32_t scan, uint8_t dtype) {
  if (scan == TUTTI_SCAN_SUM) return "0";
  if (scan == TUTTI_SCAN_PROD) return "1";
  const bool largest = scan == TUTTI_SCAN_MIN;
  if (is_floating(dtype)) return largest ? "INFINITY" : "-INFINITY";
  if (dtype >= TUTTI_U8) return largest ? "((ACC)~(ACC)0)" : "0";
  const std::string bits = std::to_string(8 * dtype_size(dtype) - 1);
  const std::string lowest = "((ACC)(1UL<<" + bits + "))";
  return largest ? "((ACC)~" + lowest + ")" : lowest;
}

std::string gather_options(const device_description& device, const char* type, const char* wide,
                           int32_t index, combination how) {
  return group_option(device) + " -DT=" + type + " -DWIDE=" + wide +
         " -DINDEX=" + index_name(index) + " -DCOMBINE=" + std::to_string(static_cast<int>(how));
}

// The bits of infinity, "0" for integers.
const char* infinity_bits(int32_t dtype) {
  return dtype == TUTTI_F16    ? "0x7c00u"
         : dtype == TUTTI_BF16 ? "0x7f80u"
         : dtype == TUTTI_F32  ? "0x7f800000u"
         : dtype == TUTTI_F64  ? "0x7ff0000000000000ul"
                               : "0";
}

// Options of ordering_shared.cl.
std::string key_options(const device_description& device, int32_t dtype, bool payload,
                        uint32_t bits) {
  return group_option(device) + " -DK=" + unsigned_name(dtype_size(dtype)) +
         " -DKEY_KIND=" + std::to_string(static_cast<int>(key_kind_of(dtype))) +
         " -DINF=" + infinity_bits(dtype) + " -DPAYLOAD=" + flag(payload) +
         " -DBITS=" + std::to_string(bits);
}

}  // namespace

std::string fft_options(const device_description& device, bool is_f64) {
  return group_option(device) + " -DT=" + (is_f64 ? "double" : "float") +
         " -DIS_F64=" + flag(is_f64);
}

std::string fft_pass_options(const device_description& device, bool is_f64, uint32_t radix) {
  return fft_options(device, is_f64) + " -DRADIX=" + std::to_string(radix);
}

std::string take_options(const device_description& device, int32_t dtype, int32_t index) {
  const char* type = unsigned_name(dtype_size(dtype));
  return gather_options(device, type, type, index, combination::add) + " -DTAKE_ONLY=1";
}

std::string scatter_options(const device_description& device, int32_t dtype, int32_t index,
                            combination how, bool compensated) {
  const char* by_size = unsigned_name(dtype_size(dtype));
  if (how == combination::set) return gather_options(device, by_size, by_size, index, how);
  // Sums and products of signed integers wrap like those of unsigned ones.
  const bool wraps = is_integer(static_cast<uint8_t>(dtype)) && how <= combination::multiply;
  const char* type = wraps ? by_size : stored_name(dtype);
  const char* wide = wraps && dtype_size(dtype) < 4 ? "uint" : type;
  return gather_options(device, type, wide, index, how) +
         " -DIS_F64=" + flag(dtype == TUTTI_F64 || dtype == TUTTI_C128) +
         " -DIS_COMPLEX=" + flag(is_complex(static_cast<uint8_t>(dtype))) +
         " -DCOMPENSATED=" + flag(compensated);
}

std::string search_options(const device_description& device, int32_t dtype) {
  return group_option(device) + " -DSEARCH=1 -DT=" + stored_name(dtype) +
         " -DKIND=" + std::to_string(half_kind(dtype)) + " -DSAME_NAN=" + flag(dtype >= TUTTI_F16) +
         " -DIS_F64=" + flag(dtype == TUTTI_F64);
}

std::string count_options(const device_description& device, int32_t dtype) {
  return group_option(device) + " -DINDEX=" + index_name(dtype);
}

std::string partition_options(const device_description& device, const partition_plan& plan,
                              int32_t dtype) {
  return key_options(device, dtype, plan.payload, plan.bits) +
         " -DWAY=" + std::to_string(static_cast<int>(plan.way));
}

namespace {

std::string convolution_types(const device_description& device, int32_t dtype) {
  return group_option(device) + " -DT=" + stored_name(dtype) +
         " -DIS_F64=" + flag(dtype == TUTTI_F64);
}

}  // namespace

std::string convolution_options(const device_description& device, int32_t dtype) {
  const convolution_tile tile = convolution_tile_of(device, dtype);
  return convolution_types(device, dtype) + " -DVW=" + std::to_string(tile.lanes) +
         " -DMR=" + std::to_string(tile.rows);
}

std::string convolution_options(const device_description& device, int32_t dtype,
                                const convolution_form& form) {
  return convolution_types(device, dtype) + " -DRUNS=" + std::to_string(form.rows / 32) +
         " -DAXES=" + std::to_string(form.axes) + " -DSPREADS=" + flag(form.spreads);
}

std::string scan_options(const device_description& device, int32_t out, int32_t in, int32_t scan,
                         bool rows) {
  const uint8_t type = scan_accumulator(out);
  const uint32_t bytes = dtype_size(type);
  const bool floating = is_floating(type);
  const bool wraps = scan == TUTTI_SCAN_SUM || scan == TUTTI_SCAN_PROD;
  const char* acc = !floating && wraps ? unsigned_name(bytes) : stored_name(type);
  const bool in_signed = in >= TUTTI_I8 && in <= TUTTI_I64;
  const char* converted = floating ? acc : in_signed ? signed_name(bytes) : unsigned_name(bytes);
  return group_option(device) + " -DIN=" + stored_name(in) +
         " -DIN_KIND=" + std::to_string(half_kind(in)) +
         " -DOUT=" + (floating ? stored_name(out) : acc) +
         " -DOUT_KIND=" + std::to_string(half_kind(out)) + " -DACC=" + acc +
         " -DSIGNED_ACC=" + converted + " -DOP=" + std::to_string(scan) +
         " -DNEUTRAL=" + neutral(scan, type) +
         " -DIS_F64=" + flag(type == TUTTI_F64 || in == TUTTI_F64) + " -DROWS=" + flag(rows);
}

std::string number_options(const device_description& device, int32_t dtype) {
  const bool is_pair = is_complex(static_cast<uint8_t>(dtype));
  const int32_t real = is_pair ? part_dtype(static_cast<uint8_t>(dtype)) : dtype;
  return group_option(device) + " -DT=" + stored_name(real) + " -DIS_COMPLEX=" + flag(is_pair) +
         " -DIS_F64=" + flag(real == TUTTI_F64);
}

std::string spmm_options(const device_description& device, int32_t dtype, int32_t index) {
  return number_options(device, dtype) + " -DINDEX=" + index_name(index);
}

std::string sort_options(const device_description& device, const sort_plan& plan, int32_t dtype) {
  return key_options(device, dtype, plan.payload, plan.bits) +
         " -DWIDE=" + flag(plan.key_bytes == 8) + " -DWHOLE=" + flag(plan.whole_rows);
}

}  // namespace tutti::sdk
