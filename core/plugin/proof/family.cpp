// SPDX-License-Identifier: Apache-2.0
#include "plugin/proof/family.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>

#include "tutti/dtype.hpp"

namespace tutti::detail {
namespace {

using kinds = kernel_family::kinds;

/// Integers and bool go together: their instructions are the same few of the compiler's.
std::uint8_t class_of(std::uint8_t type) {
  return type <= TUTTI_U64 ? std::uint8_t{TUTTI_I64} : type;
}

std::string class_name(std::uint8_t type) {
  return type == TUTTI_I64 ? "integers" : std::string(name(static_cast<dtype>(type)));
}

kernel_family of_operator(int kind, int variant, int type) {
  return {static_cast<std::uint8_t>(kinds::operators + kind), static_cast<std::uint8_t>(variant),
          static_cast<std::uint8_t>(type)};
}

template <class Params>
Params params_of(const tutti_operator_desc& l) {
  return l.params != nullptr ? *static_cast<const Params*>(l.params) : Params{};
}

bool has_short_indices(const tutti_operator_desc& l) { return l.views[2].dtype == TUTTI_I32; }

bool is_by_vector(const tutti_operator_desc& l) { return l.views[0].extent[1] == 1; }

product_variant product_of(const tutti_operator_desc& l) {
  const tutti_matmul_params params = params_of<tutti_matmul_params>(l);
  if (params.activation != TUTTI_ACTIVATION_NONE)
    return params.has_bias != 0 ? product_variant::bias_and_relu : product_variant::relu;
  if (params.has_bias != 0) return product_variant::bias;
  const std::uint64_t rows = l.views[0].extent[1], columns = l.views[0].extent[2];
  if (rows == 1 || columns == 1) return product_variant::vector;
  const std::uint64_t shortest = std::min({rows, columns, l.views[1].extent[2]});
  return shortest >= 128 ? product_variant::large : product_variant::small;
}

bool has_epilogue(const tutti_operator_desc& l) {
  const auto params = params_of<tutti_convolution_params>(l);
  return params.has_bias != 0 || params.activation != TUTTI_ACTIVATION_NONE;
}

std::string reduction_name(const kernel_family& f) {
  const char* const along = f.variant >= 3 ? "columns" : "rows";
  const std::string numbers = class_name(f.type);
  switch (static_cast<reduced>(f.variant % 3)) {
    case reduced::values:
      return fmt::format("reductions of {} along {}", numbers, along);
    case reduced::truths:
      return fmt::format("any and all along {}", along);
    case reduced::positions:
      return fmt::format("positions of extremes of {} along {}", numbers, along);
  }
  return {};
}

std::string operator_name(const kernel_family& f) {
  static constexpr const char* products[] = {
      "products",          "large products",    "products by vectors",
      "products and bias", "products and relu", "products, bias and relu"};
  static constexpr const char* scans[] = {"sums", "products", "minima", "maxima", "logsumexp"};
  static constexpr const char* scatters[] = {"scatters that set", "scatters that multiply",
                                             "scatters of minima", "scatters of maxima"};
  const auto by_index = [&](const char* what) {
    return fmt::format("{} by {} indices", what, f.variant % 2 != 0 ? "i32" : "i64");
  };
  const auto ordered = [&](const char* what) {
    return fmt::format("{} {}", f.variant != 0 ? "descending" : "ascending", what);
  };
  switch (f.kind - kinds::operators) {
    case TUTTI_OPERATOR_MATMUL:
      return products[f.variant % std::size(products)];
    case TUTTI_OPERATOR_TAKE:
      return by_index("gathers");
    case TUTTI_OPERATOR_SCATTER_ADD:
      return by_index("scatters that add");
    case TUTTI_OPERATOR_SCATTER:
      return by_index(scatters[f.variant / 2 % 4]);
    case TUTTI_OPERATOR_SCAN:
      return fmt::format("running {} along {}", scans[f.variant / 2 % 5],
                         f.variant % 2 != 0 ? "columns" : "rows");
    case TUTTI_OPERATOR_SORT:
      return ordered("sorts");
    case TUTTI_OPERATOR_ARGSORT:
      return ordered("sorting permutations");
    case TUTTI_OPERATOR_TOPK:
      return ordered("first positions");
    case TUTTI_OPERATOR_SEARCH:
      return f.variant != 0 ? "binary searches from the right" : "binary searches";
    case TUTTI_OPERATOR_COUNT:
      return "counts";
    case TUTTI_OPERATOR_SELECT:
      return "positions of flags";
    case TUTTI_OPERATOR_PARTITION:
      return "partitions";
    case TUTTI_OPERATOR_CONVOLUTION:
      return f.variant != 0 ? "convolutions, bias and relu" : "convolutions";
    case TUTTI_OPERATOR_FFT:
      return "Fourier transforms";
    case TUTTI_OPERATOR_SPMM:
      return by_index(f.variant >= 2 ? "sparse products by vectors" : "sparse products");
    case TUTTI_OPERATOR_SDDMM:
      return by_index("products at sparse places");
    default:
      return fmt::format("operator {}", f.kind - kinds::operators);
  }
}

void add_class(std::vector<kernel_family>& all, std::uint8_t type) {
  const kernel_family f{kinds::arithmetic, 0, class_of(type)};
  if (std::find(all.begin(), all.end(), f) == all.end()) all.push_back(f);
}

void add_all(std::vector<kernel_family>& all, int kind, std::initializer_list<int> variants,
             std::uint8_t type) {
  for (const int variant : variants) all.push_back(of_operator(kind, variant, type));
}

void add_operators(std::vector<kernel_family>& all, std::uint8_t type) {
  add_all(all, TUTTI_OPERATOR_TAKE, {0, 1}, type);
  add_all(all, TUTTI_OPERATOR_SCATTER_ADD, {0}, type);
  add_all(all, TUTTI_OPERATOR_SCATTER, {0, 2, 4, 6}, type);
  add_all(all, TUTTI_OPERATOR_SCAN, {0, 1, 2, 4, 6}, type);
  for (const int kind : {TUTTI_OPERATOR_SORT, TUTTI_OPERATOR_ARGSORT, TUTTI_OPERATOR_TOPK})
    add_all(all, kind, {0, 1}, type);
  add_all(all, TUTTI_OPERATOR_PARTITION, {0}, type);
  add_all(all, TUTTI_OPERATOR_SEARCH, {0, 1}, type);
}

}  // namespace

std::string name_of(const kernel_family& f) {
  switch (f.kind) {
    case kinds::transfers:
      return "transfers";
    case kinds::arithmetic:
      return "arithmetic of " + class_name(f.type);
    case kinds::random_bits:
      return "random bits";
    case kinds::reductions:
      return reduction_name(f);
    default:
      return fmt::format("{} of {}", operator_name(f), name(static_cast<dtype>(f.type)));
  }
}

std::vector<kernel_family> families_of(const tutti_program_desc& desc) {
  std::vector<kernel_family> all;
  for (std::uint32_t i = 0; i < desc.input_count; ++i) add_class(all, desc.inputs[i].dtype);
  for (std::uint32_t i = 0; i < desc.output_count; ++i) add_class(all, desc.outputs[i].dtype);
  bool has_philox = false;
  for (std::uint32_t i = 0; i < desc.instruction_count; ++i) {
    add_class(all, desc.instructions[i].dtype);
    has_philox = has_philox || desc.instructions[i].opcode == TUTTI_OP_philox;
  }
  if (has_philox) all.push_back({kinds::random_bits, 0, 0});
  if (desc.reduction == TUTTI_REDUCE_NONE) return all;
  const bool logical = desc.reduction == TUTTI_REDUCE_ANY || desc.reduction == TUTTI_REDUCE_ALL;
  const reduced what = logical                                 ? reduced::truths
                       : desc.reduction >= TUTTI_REDUCE_ARGMIN ? reduced::positions
                                                               : reduced::values;
  all.push_back({kinds::reductions,
                 reduction_variant(desc.reduce_layout == TUTTI_REDUCE_OUTER, what),
                 class_of(desc.accumulator)});
  return all;
}

std::optional<kernel_family> family_of(const tutti_operator_desc& l) {
  switch (l.kind) {
    case TUTTI_OPERATOR_MATMUL:
      return of_operator(l.kind, static_cast<int>(product_of(l)), l.views[0].dtype);
    case TUTTI_OPERATOR_TAKE:
    case TUTTI_OPERATOR_SCATTER_ADD:
      return of_operator(l.kind, has_short_indices(l), l.views[1].dtype);
    case TUTTI_OPERATOR_SCATTER:
      return of_operator(l.kind,
                         params_of<tutti_scatter_params>(l).scatter * 2 + has_short_indices(l),
                         l.views[1].dtype);
    case TUTTI_OPERATOR_SCAN:
      return of_operator(
          l.kind, params_of<tutti_scan_params>(l).scan * 2 + (l.views[0].extent[2] > 1 ? 1 : 0),
          l.views[0].dtype);
    case TUTTI_OPERATOR_SORT:
    case TUTTI_OPERATOR_ARGSORT:
    case TUTTI_OPERATOR_TOPK:
      return of_operator(l.kind, params_of<tutti_sort_params>(l).descending != 0 ? 1 : 0,
                         l.views[1].dtype);
    case TUTTI_OPERATOR_SEARCH:
      return of_operator(l.kind, params_of<tutti_search_params>(l).right != 0 ? 1 : 0,
                         l.views[1].dtype);
    case TUTTI_OPERATOR_PARTITION:
    case TUTTI_OPERATOR_COUNT:
    case TUTTI_OPERATOR_SELECT:
      return of_operator(l.kind, 0, l.views[1].dtype);
    case TUTTI_OPERATOR_CONVOLUTION:
      return of_operator(l.kind, has_epilogue(l) ? 1 : 0, l.views[0].dtype);
    case TUTTI_OPERATOR_FFT:  // by the dtype of its complex side
      return of_operator(l.kind, 0, std::max(l.views[0].dtype, l.views[1].dtype));
    case TUTTI_OPERATOR_SPMM:
      return of_operator(l.kind, (is_by_vector(l) ? 2 : 0) + (has_short_indices(l) ? 1 : 0),
                         l.views[0].dtype);
    case TUTTI_OPERATOR_SDDMM:
      return of_operator(l.kind, has_short_indices(l), l.views[0].dtype);
    default:
      return std::nullopt;
  }
}

int variants_of(tutti_operator kind) {
  switch (kind) {
    case TUTTI_OPERATOR_MATMUL:
      return 6;
    case TUTTI_OPERATOR_SCAN:  // five scans, along rows or columns
      return 10;
    case TUTTI_OPERATOR_SCATTER:  // four ways, by indices of i64 or i32
      return 8;
    case TUTTI_OPERATOR_SPMM:  // with a matrix or a vector, by indices of i64 or i32
      return 4;
    case TUTTI_OPERATOR_FFT:
    case TUTTI_OPERATOR_COUNT:
    case TUTTI_OPERATOR_SELECT:
    case TUTTI_OPERATOR_PARTITION:
      return 1;
    default:
      return 2;
  }
}

std::vector<kernel_family> sample_families(std::uint32_t computed_dtypes) {
  std::vector<kernel_family> all(basic_families.begin(), basic_families.end());
  const auto computes = [&](int type) { return (computed_dtypes & TUTTI_DTYPE_BIT(type)) != 0; };
  for (const std::uint8_t type :
       {TUTTI_I64, TUTTI_F16, TUTTI_BF16, TUTTI_F64, TUTTI_C64, TUTTI_C128})
    if (type == TUTTI_F16 || type == TUTTI_BF16 || computes(type)) add_class(all, type);
  all.push_back({kinds::random_bits, 0, 0});
  for (const bool outer : {false, true}) {
    for (const std::uint8_t type : {TUTTI_F32, TUTTI_I64, TUTTI_F64})
      if (computes(type))
        all.push_back({kinds::reductions, reduction_variant(outer, reduced::values), type});
    all.push_back({kinds::reductions, reduction_variant(outer, reduced::truths), TUTTI_I64});
    all.push_back({kinds::reductions, reduction_variant(outer, reduced::positions), TUTTI_F32});
  }
  add_all(all, TUTTI_OPERATOR_MATMUL, {0, 1, 2}, TUTTI_F32);
  for (const std::uint8_t type : {TUTTI_F16, TUTTI_BF16, TUTTI_F64})
    add_all(all, TUTTI_OPERATOR_MATMUL, {0}, type);
  add_operators(all, TUTTI_F32);
  if (computes(TUTTI_C64)) add_all(all, TUTTI_OPERATOR_FFT, {0}, TUTTI_C64);
  add_all(all, TUTTI_OPERATOR_CONVOLUTION, {0, 1}, TUTTI_F32);
  add_all(all, TUTTI_OPERATOR_SPMM, {1, 3}, TUTTI_F32);
  add_all(all, TUTTI_OPERATOR_SDDMM, {1}, TUTTI_F32);
  add_all(all, TUTTI_OPERATOR_COUNT, {0}, TUTTI_I64);
  add_all(all, TUTTI_OPERATOR_SELECT, {0}, TUTTI_I64);
  return all;
}

}  // namespace tutti::detail
