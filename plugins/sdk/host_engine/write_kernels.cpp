// SPDX-License-Identifier: Apache-2.0
//
// Generates the operator kernels as C++: write_kernels OUTPUT UNIT SOURCE. SOURCE is the kernel
// file (gather.cl, ..., matmul_cpu.cl) and UNIT its base name or, where a line "// Units for cpu:"
// in it names parts, one of those: scan_float, scan_int, matmul_float, ... The file is included
// once for each set of options that the device layer builds kernels with, in a separate namespace.
// They are number_options, for all kernels of the file, but for the units that have their own
// below.
#include <filesystem>
#include <initializer_list>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "sdk/device_layer/kernel_options.hpp"
#include "sdk/device_layer/matmul_plan.hpp"
#include "sdk/host_engine/generator.hpp"
#include "sdk/op_info.hpp"

using namespace tutti::sdk;

namespace {

using names = std::vector<std::string>;

constexpr int32_t dtypes[] = {TUTTI_BOOL, TUTTI_I8,  TUTTI_I16, TUTTI_I32, TUTTI_I64,
                              TUTTI_U8,   TUTTI_U16, TUTTI_U32, TUTTI_U64, TUTTI_F16,
                              TUTTI_BF16, TUTTI_F32, TUTTI_F64, TUTTI_C64, TUTTI_C128};
constexpr int32_t index_dtypes[] = {TUTTI_I32, TUTTI_I64};

bool is_real(int32_t dtype) { return dtype <= TUTTI_F64; }

device_description any_cpu() {
  device_description device;
  device.kind = schedule::cpu;
  return device;
}

// The kernels built with the same options.
using builds = std::map<std::string, names>;

void add_fft(builds& to) {
  for (const bool is_f64 : {false, true})
    to[fft_options(any_cpu(), is_f64)] = {"tutti_fft_load", "tutti_fft_pass", "tutti_fft_store",
                                          "tutti_fft_lines"};
}

void add_gather(builds& to) {
  const device_description cpu = any_cpu();
  for (const int32_t index : index_dtypes) {
    for (const int32_t dtype : dtypes) {
      if (!is_real(dtype)) continue;
      to[take_options(cpu, dtype, index)] = {"tutti_take"};
      to[scatter_options(cpu, dtype, index, combination::set)] = {"tutti_scatter"};
      if (dtype == TUTTI_BOOL || !is_register(static_cast<uint8_t>(dtype))) continue;
      for (const combination how :
           {combination::add, combination::multiply, combination::min, combination::max})
        to[scatter_options(cpu, dtype, index, how)] = {"tutti_scatter"};
      if (dtype == TUTTI_F32 || dtype == TUTTI_F64)
        to[scatter_options(cpu, dtype, index, combination::add, true)] = {"tutti_scatter"};
    }
  }
}

// Complex numbers only need multiply; other operations use real and imaginary parts.
void add_gather_complex(builds& to) {
  for (const int32_t index : index_dtypes)
    for (const int32_t dtype : {TUTTI_C64, TUTTI_C128})
      to[scatter_options(any_cpu(), dtype, index, combination::multiply)] = {"tutti_scatter"};
}

void add_lookup(builds& to) {
  const device_description cpu = any_cpu();
  for (const int32_t dtype : dtypes)
    if (is_real(dtype)) to[search_options(cpu, dtype)] = {"tutti_search"};
  for (const int32_t index : index_dtypes)
    to[count_options(cpu, index)] = {"tutti_count", "tutti_count_clear", "tutti_count_sums",
                                     "tutti_select"};
}

void add_partition(builds& to) {
  for (const int32_t dtype : dtypes) {
    if (!is_real(dtype)) continue;
    const uint32_t bytes = dtype_size(dtype);
    partition_plan plan{};
    plan.bits = bytes == 1 ? 8 : 11;
    for (const bool payload : {false, true}) {
      plan.payload = payload;
      plan.way = selection_way::passes;
      to[partition_options(any_cpu(), plan, dtype)] = {
          "tutti_partition_counts", "tutti_partition_find", "tutti_partition_moves"};
      plan.way = selection_way::whole_rows;
      to[partition_options(any_cpu(), plan, dtype)] = {"tutti_partition_rows"};
    }
    plan.way = selection_way::few;
    to[partition_options(any_cpu(), plan, dtype)] = {"tutti_topk_chunks", "tutti_topk_rows"};
  }
}

void add_sort(builds& to) {
  for (const int32_t dtype : dtypes) {
    if (!is_real(dtype)) continue;
    sort_plan plan{};
    plan.key_bytes = dtype_size(dtype);
    plan.bits = plan.key_bytes <= 2 ? 8 : 11;
    for (const bool payload : {false, true}) {
      plan.payload = payload;
      plan.whole_rows = false;
      to[sort_options(any_cpu(), plan, dtype)] = {"tutti_sort_counts", "tutti_sort_offsets",
                                                  "tutti_sort_moves"};
      plan.whole_rows = true;
      to[sort_options(any_cpu(), plan, dtype)] = {"tutti_sort_rows"};
    }
  }
}

void add_spmm(builds& to, const std::vector<int32_t>& of) {
  for (const int32_t dtype : of)
    for (const int32_t index : index_dtypes)
      to[spmm_options(any_cpu(), dtype, index)] = {"tutti_spmv", "tutti_spmm", "tutti_sddmm"};
}

// Scans of inputs in the result's or the accumulator's dtype; other inputs are converted first.
void add_scan(builds& to, bool floating) {
  for (const int32_t out : dtypes) {
    if (!is_real(out) || (out >= TUTTI_F16) != floating) continue;
    for (const int32_t scan :
         {TUTTI_SCAN_SUM, TUTTI_SCAN_PROD, TUTTI_SCAN_MIN, TUTTI_SCAN_MAX, TUTTI_SCAN_LOGSUMEXP}) {
      if (out == TUTTI_BOOL && scan <= TUTTI_SCAN_PROD) continue;
      if (scan == TUTTI_SCAN_LOGSUMEXP && !floating) continue;
      for (const int32_t in : {out, int32_t{scan_accumulator(out)}})
        for (const bool rows : {false, true})
          to[scan_options(any_cpu(), out, in, scan, rows)] = {"tutti_scan_totals", "tutti_scan"};
    }
  }
}

void add_convolution(builds& to, int32_t dtype, uint32_t vector_bytes) {
  device_description device = any_cpu();
  device.vector_bytes = vector_bytes;
  to[convolution_options(device, dtype)] = {"tutti_convolution_pack", "tutti_convolution_bands",
                                            "tutti_convolution_sums", "tutti_convolution_dots"};
}

void add_matmul(builds& to, MatmulElement element, int vector_bytes) {
  MatmulDevice device;
  device.vector_bytes = vector_bytes;
  MatmulProblem problem;
  problem.element = element;
  names kernels = {"matmul_tiles_rows",    "matmul_tiles_rows_packed",
                   "matmul_tiles_columns", "matmul_pack_rows",
                   "matmul_pack_columns",  "matmul_tiles_columns_packed",
                   "matmul_sum_splits",    "matvec_rows",
                   "matvec_columns"};
  to[matmul_options(problem, device)] = kernels;
  kernels.push_back("matmul_finish");
  problem.has_bias = true;
  to[matmul_options(problem, device)] = kernels;
}

names kernels_of(const std::string& source) {
  names all;
  const std::regex kernel(R"(KERNEL void (\w+))");
  for (std::sregex_iterator at(source.begin(), source.end(), kernel), end; at != end; ++at)
    all.push_back((*at)[1]);
  return all;
}

// The macros that a source defines, except those inside #ifndef.
std::set<std::string> macros_of(const std::string& source) {
  std::set<std::string> defined;
  bool left = false;  // within #ifndef
  std::istringstream lines(source);
  for (std::string text; std::getline(lines, text);) {
    std::istringstream words(text);
    std::string directive, name;
    words >> directive >> name;
    if (directive == "#ifndef") left = true;
    if (directive == "#endif") left = false;
    if (directive == "#define" && !left) defined.insert(name.substr(0, name.find('(')));
  }
  return defined;
}

struct definition {
  std::string name, value;
};

std::vector<definition> definitions_of(const std::string& options) {
  std::vector<definition> all;
  std::istringstream words(options);
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    all.push_back({word.substr(2, equals - 2), word.substr(equals + 1)});
  }
  return all;
}

class unit_writer {
 public:
  unit_writer(const std::string& file, const std::string& source)
      : file_(file), macros_(macros_of(source)) {}

  std::string text(const builds& what) {
    std::string text;
    std::map<std::string, std::string> rows;  // sorted for binary search
    for (const auto& [options, kernels] : what) {
      const std::string space = "build" + std::to_string(count_++);
      std::vector<definition> all = definitions_of(options);
      for (const std::string& kernel : kernels) all.push_back({"WANTED_" + kernel, "1"});
      text += "namespace " + space + " {\n";
      for (const definition& d : all) text += "#define " + d.name + " " + d.value + "\n";
      text += "#include \"" + file_ + "\"\n";
      for (const definition& d : all) text += "#undef " + d.name + "\n";
      for (const std::string& name : macros_) text += "#undef " + name + "\n";
      text += "}\n";
      for (const std::string& kernel : kernels)
        rows[options + " " + kernel] = "run_groups<" + space + "::" + kernel + ">";
    }
    text += "constexpr tutti::sdk::routines::kernel_row rows[] = {\n";
    for (const auto& [key, routine] : rows) text += "    {\"" + key + "\", " + routine + "},\n";
    return text + "};\n";
  }

 private:
  std::string file_;
  std::set<std::string> macros_;
  int count_ = 0;
};

MatmulElement element_named(const std::string& name) {
  const std::map<std::string, MatmulElement> all = {
      {"float", MatmulElement::f32},  {"double", MatmulElement::f64},
      {"uchar", MatmulElement::int8}, {"ushort", MatmulElement::int16},
      {"uint", MatmulElement::int32}, {"ulong", MatmulElement::int64}};
  return all.at(name);
}

std::string unit_text(const std::string& unit, const std::string& path) {
  const std::string source = generator::read(path);
  unit_writer writer(std::filesystem::path(path).filename(), source);
  if (unit.starts_with("matmul_") || unit.starts_with("convolution_")) {
    // The vector width is that of the instruction set.
    std::string text;
    for (const int bytes : {64, 32, 16}) {
      builds all;
      if (unit == "convolution_float") add_convolution(all, TUTTI_F32, bytes);
      if (unit == "convolution_double") add_convolution(all, TUTTI_F64, bytes);
      if (unit.starts_with("matmul_")) add_matmul(all, element_named(unit.substr(7)), bytes);
      text += "#if TUTTI_VECTOR_BYTES == " + std::to_string(bytes) + "\n" + writer.text(all) +
              "#endif\n";
    }
    return text;
  }
  builds all;
  if (unit == "fft") add_fft(all);
  if (unit == "gather_real") add_gather(all);
  if (unit == "gather_complex") add_gather_complex(all);
  if (unit == "lookup") add_lookup(all);
  if (unit == "partition") add_partition(all);
  if (unit == "sort") add_sort(all);
  std::vector<int32_t> numbers = {TUTTI_F32, TUTTI_F64};
  if (unit.ends_with("_complex")) numbers = {TUTTI_C64, TUTTI_C128};
  if (unit.starts_with("spmm_")) add_spmm(all, numbers);
  if (unit == "scan_int") add_scan(all, false);
  if (unit == "scan_float") add_scan(all, true);
  if (all.empty())
    for (const int32_t dtype : numbers) all[number_options(any_cpu(), dtype)] = kernels_of(source);
  return writer.text(all);
}

}  // namespace

int main(int count, char** words) {
  return generator::run("write_kernels", "UNIT SOURCE", 2, count, words, [](const auto& arguments) {
    return unit_text(arguments[0], arguments[1]);
  });
}
