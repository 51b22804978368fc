// SPDX-License-Identifier: Apache-2.0
//
// Every operator on its dtypes, over shapes around those at which kernels change their way: the
// host engine gives the bits of the compiled kernels.
#include "sdk/host_engine/host_operators.hpp"

#include <CL/cl.h>

#include "host_engine_rig.hpp"
#include "sdk/validate_operator.hpp"
#include "verify/oracle.hpp"

using namespace tutti;
using namespace tutti::test;

namespace {

constexpr bool everything = TUTTI_TEST_EVERYTHING;

// Of the processor that opencl computes on.
uint32_t vector_bytes_of_device() {
  cl_uint count = 0;
  clGetPlatformIDs(0, nullptr, &count);
  std::vector<cl_platform_id> platforms(count);
  clGetPlatformIDs(count, platforms.data(), nullptr);
  for (cl_platform_id platform : platforms) {
    cl_device_id id = nullptr;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &id, nullptr) != CL_SUCCESS) continue;
    cl_uint lanes = 0;
    clGetDeviceInfo(id, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, sizeof lanes, &lanes, nullptr);
    return std::clamp(lanes * 4, 16u, 64u);
  }
  throw std::runtime_error("no OpenCL device of type CPU");
}

sdk::device_description device_of(uint32_t vector_bytes) {
  sdk::device_description device;
  device.kind = sdk::schedule::cpu;
  device.vector_bytes = vector_bytes;
  device.properties = opened().properties;
  return device;
}

constexpr sdk::host_routines sets[] = {sdk::host_routines::baseline, sdk::host_routines::avx2,
                                       sdk::host_routines::avx512};
uint32_t vector_bytes_of(sdk::host_routines set) { return 16u << static_cast<uint32_t>(set); }

// A description with what it points to.
struct described {
  described(int32_t kind, const std::vector<view_spec>& v, const void* params)
      : views(describe(v)),
        desc(conformance::describe(kind, views, params)),
        owned(&desc, against) {
    BOOST_REQUIRE(against == nullptr);
    sdk::check_operator(owned.call());
  }
  std::vector<tutti_view_desc> views;
  tutti_operator_desc desc;
  const char* against = nullptr;
  sdk::owned_operator owned;
};

void run_on_host(const sdk::host_operator_plan& plan, std::vector<view_spec>& views,
                 const sdk::host_parallel_for& parallel) {
  std::vector<std::byte*> memory;
  for (view_spec& v : views)
    memory.push_back(v.data.data.bytes.data() + v.data.offset * sdk::dtype_size(v.data.data.dtype));
  plan.run(memory.data(), parallel);
}

void require_same(const view_spec& expected, const view_spec& got, const std::string& what) {
  const int64_t at = first_difference(expected.data.data, got.data.data);
  BOOST_TEST(at == -1, what << ": element " << at << " of the memory of " << got.data.data.size()
                            << ", guards included, differs from what was compiled");
}

std::string text_of(int32_t kind, const std::vector<view_spec>& views) {
  std::string text = sdk::operator_name(kind);
  for (const view_spec& v : views)
    text += std::string(" ") + sdk::dtype_name(v.data.data.dtype) + list_text(v.extent);
  return text;
}

// `exact`: sums are the same in any order, so products of every set of instructions are compared.
void compare_operator(int32_t kind, const std::vector<view_spec>& views,
                      const void* params = nullptr, bool exact = false) {
  std::vector<view_spec> compiled = views;
  launch_operator(opened(), kind, compiled, params);
  static const uint32_t device_bytes = vector_bytes_of_device();
  const described what(kind, views, params);
  uint32_t compared = 0;
  for (const sdk::host_routines set : sets) {
    if (!sdk::has_host_routines(set)) continue;
    const bool own_width = kind == TUTTI_OPERATOR_MATMUL && exact;
    const sdk::device_description device =
        device_of(own_width ? vector_bytes_of(set) : device_bytes);
    if (sdk::host_operator_plan::against(device, what.owned.call(), set) != nullptr) continue;
    const sdk::host_operator_plan plan(device, what.owned.call(), set);
    std::vector<view_spec> host = views;
    run_on_host(plan, host, compared % 2 == 0 ? two_threads() : sdk::host_parallel_for());
    require_same(compiled[0], host[0], text_of(kind, views) + " " + std::string(name_of(set)));
    ++compared;
  }
  BOOST_TEST(compared > 0u, text_of(kind, views) << ": no set of routines has it");
}

// ---- memory

view_spec made(uint8_t dtype, const extents& extent, uint64_t seed, double size = 8) {
  view_spec v;
  v.extent = extent;
  v.data = packed(dtype, extent);
  fill_random(v.data, size, seed);
  return v;
}

// Every second element along the last axis, from the other end.
view_spec every_second(uint8_t dtype, const extents& extent, uint64_t seed) {
  view_spec v = made(dtype, extent, seed);
  v.data.data = image(dtype, 2 * v.data.data.size());
  fill_random(v.data, 8, seed);
  for (int64_t& step : v.data.stride) step *= 2;
  return v;
}

// Whole numbers, so that sums of products are exact in every dtype.
void fill_whole(view_spec& v, int low, int high, uint64_t seed) {
  std::mt19937_64 random(seed);
  const uint8_t type = sdk::register_dtype(v.data.data.dtype);
  const auto count = static_cast<uint64_t>(high - low + 1);
  for (uint64_t i = 0; i < v.data.data.size(); ++i) {
    const auto value = static_cast<int64_t>(random() % count) + low;
    v.data.data.set(i, sdk::is_floating(type) ? bits_of(type, value)
                                              : from_storage(type, static_cast<uint64_t>(value)));
  }
}

view_spec numbers(uint8_t dtype, uint64_t count, uint64_t below, uint64_t seed) {
  view_spec v = made(dtype, {count}, seed);
  std::mt19937_64 random(seed);
  for (uint64_t i = 0; i < v.data.data.size(); ++i) v.data.data.set(i, random() % below);
  return v;
}

template <typename T>
std::vector<T> some(std::vector<T> all, std::vector<T> in_an_ordinary_run) {
  return everything ? all : in_an_ordinary_run;
}

const std::vector<uint8_t> real_dtypes = {TUTTI_BOOL, TUTTI_I8,  TUTTI_I16, TUTTI_I32, TUTTI_I64,
                                          TUTTI_U8,   TUTTI_U16, TUTTI_U32, TUTTI_U64, TUTTI_F16,
                                          TUTTI_BF16, TUTTI_F32, TUTTI_F64};
const std::vector<uint8_t> computed_dtypes = {TUTTI_I8,  TUTTI_I16, TUTTI_I32, TUTTI_I64,
                                              TUTTI_U8,  TUTTI_U16, TUTTI_U32, TUTTI_U64,
                                              TUTTI_F32, TUTTI_F64};

bool is_float(uint8_t dtype) { return dtype >= TUTTI_F16 && dtype <= TUTTI_F64; }

// ---- rows by an index

struct rows_case {
  uint64_t outer, rows, picked, inner;
};
constexpr rows_case rows_cases[] = {{1, 10, 25, 1},   {1, 10, 7, 64},     {3, 5, 170, 33},
                                    {2, 1000, 1, 15}, {1, 1, 300, 5},     {4, 31, 1000, 1},
                                    {2, 0, 0, 3},     {1, 40, 900, 4100}, {1, 500, 40000, 1},
                                    {2, 31, 9000, 3}, {3, 12, 70, 2},     {1, 9, 130, 4}};

std::vector<view_spec> rows_of(const rows_case& c, uint8_t dtype, uint8_t index, bool take,
                               bool strided) {
  const uint64_t from = take ? c.rows : c.picked, to = take ? c.picked : c.rows;
  return {made(dtype, {c.outer, to, c.inner}, 1),
          strided ? every_second(dtype, {c.outer, from, c.inner}, 2)
                  : made(dtype, {c.outer, from, c.inner}, 2),
          numbers(index, c.picked, std::max<uint64_t>(c.rows, 1), 3)};
}

}  // namespace

BOOST_AUTO_TEST_CASE(rows_taken) {
  for (const uint8_t dtype : some<uint8_t>(real_dtypes, {TUTTI_U8, TUTTI_F32}))
    for (const uint8_t index : some<uint8_t>({TUTTI_I32, TUTTI_I64}, {TUTTI_I64}))
      for (const rows_case& c : rows_cases)
        for (const bool strided : {false, true})
          compare_operator(TUTTI_OPERATOR_TAKE, rows_of(c, dtype, index, true, strided));
}

BOOST_AUTO_TEST_CASE(an_index_outside_takes_the_nearest_row) {
  std::vector<view_spec> views = rows_of({1, 10, 25, 3}, TUTTI_F32, TUTTI_I64, true, false);
  views[2].data.data.set(views[2].data.offset + 2, 10);
  views[2].data.data.set(views[2].data.offset + 3, static_cast<uint64_t>(int64_t{-1}));
  compare_operator(TUTTI_OPERATOR_TAKE, views);
}

BOOST_AUTO_TEST_CASE(rows_added) {
  for (const uint8_t dtype : some<uint8_t>(computed_dtypes, {TUTTI_I16, TUTTI_F32}))
    for (const uint8_t index : some<uint8_t>({TUTTI_I32, TUTTI_I64}, {TUTTI_I32}))
      for (const rows_case& c : rows_cases)
        compare_operator(TUTTI_OPERATOR_SCATTER_ADD,
                         rows_of(c, dtype, index, false, dtype % 2 == 0));
}

BOOST_AUTO_TEST_CASE(rows_combined) {
  for (const int32_t how :
       {TUTTI_SCATTER_SET, TUTTI_SCATTER_MULTIPLY, TUTTI_SCATTER_MIN, TUTTI_SCATTER_MAX}) {
    const tutti_scatter_params params{sizeof params, how, 0};
    std::vector<uint8_t> dtypes = how == TUTTI_SCATTER_SET ? real_dtypes : computed_dtypes;
    if (how == TUTTI_SCATTER_MULTIPLY)
      dtypes.insert(dtypes.end(), {uint8_t{TUTTI_C64}, uint8_t{TUTTI_C128}});
    if (!everything)
      dtypes = {how == TUTTI_SCATTER_MULTIPLY ? uint8_t{TUTTI_C64} : uint8_t{TUTTI_F64}};
    for (const uint8_t dtype : dtypes)
      for (const rows_case& c : rows_cases)
        compare_operator(TUTTI_OPERATOR_SCATTER, rows_of(c, dtype, TUTTI_I64, false, false),
                         &params);
  }
}

BOOST_AUTO_TEST_CASE(scans) {
  const std::vector<extents> shapes = {{1, 1, 1},   {2, 15, 1},     {1, 1003, 1}, {2, 70001, 1},
                                       {3, 50, 37}, {1, 4000, 301}, {0, 5, 2}};
  const auto compare_scans = [&](uint8_t out, uint8_t in, int32_t scan) {
    for (const extents& extent : shapes)
      for (const uint32_t flags : {0u, 1u, 2u, 3u}) {
        const tutti_scan_params params{sizeof params, scan, flags & 1u, flags >> 1, 0};
        // Products leave the finite numbers late, so that they are compared on the way.
        const double size = scan == TUTTI_SCAN_PROD ? 1.3 : 8;
        std::vector<view_spec> views = {made(out, extent, 1), made(in, extent, 2, size)};
        if (scan == TUTTI_SCAN_SUM || scan == TUTTI_SCAN_PROD)
          if (is_float(in) && flags != 3) fill_whole(views[1], 1, 3, flags);
        compare_operator(TUTTI_OPERATOR_SCAN, views, &params);
      }
  };
  for (const int32_t scan : {TUTTI_SCAN_SUM, TUTTI_SCAN_PROD, TUTTI_SCAN_MIN, TUTTI_SCAN_MAX}) {
    const bool sums = scan == TUTTI_SCAN_SUM || scan == TUTTI_SCAN_PROD;
    for (const uint8_t dtype : some<uint8_t>(real_dtypes, {TUTTI_F32}))
      if (!sums || dtype != TUTTI_BOOL) compare_scans(dtype, dtype, scan);
  }
  for (const uint8_t dtype :
       some<uint8_t>({TUTTI_F16, TUTTI_BF16, TUTTI_F32, TUTTI_F64}, {TUTTI_F32}))
    compare_scans(dtype, dtype, TUTTI_SCAN_LOGSUMEXP);
  compare_scans(TUTTI_I64, TUTTI_BOOL, TUTTI_SCAN_SUM);
  if (!everything) return;
  compare_scans(TUTTI_BF16, TUTTI_BF16, TUTTI_SCAN_SUM);
  compare_scans(TUTTI_F32, TUTTI_F16, TUTTI_SCAN_SUM);
  compare_scans(TUTTI_F32, TUTTI_I64, TUTTI_SCAN_SUM);
  compare_scans(TUTTI_U64, TUTTI_U8, TUTTI_SCAN_PROD);
  compare_scans(TUTTI_I8, TUTTI_I32, TUTTI_SCAN_MIN);
  compare_scans(TUTTI_F32, TUTTI_F64, TUTTI_SCAN_SUM);
  compare_scans(TUTTI_F32, TUTTI_F64, TUTTI_SCAN_LOGSUMEXP);
}

BOOST_AUTO_TEST_CASE(searches) {
  for (const uint8_t dtype : some<uint8_t>(real_dtypes, {TUTTI_F16, TUTTI_F32}))
    for (const uint32_t right : {0u, 1u})
      for (const extents& extent : {extents{1, 1}, {3, 17}, {1, 5000}, {2, 0}}) {
        view_spec sorted = made(dtype, extent, 1), order = sorted;
        const tutti_sort_params up{sizeof up, 0, 0};
        std::vector<view_spec> sort = {sorted, sorted};
        launch_operator(opened(), TUTTI_OPERATOR_SORT, sort, &up);
        const tutti_search_params params{sizeof params, right, 0};
        compare_operator(
            TUTTI_OPERATOR_SEARCH,
            {made(TUTTI_I64, {extent[0], 37}, 3), sort[0], made(dtype, {extent[0], 37}, 4)},
            &params);
      }
}

BOOST_AUTO_TEST_CASE(counts_and_positions_of_flags) {
  for (const uint8_t index : {uint8_t{TUTTI_I32}, uint8_t{TUTTI_I64}})
    for (const uint64_t count : {0, 1, 1000, 100001}) {
      for (const uint64_t bins : {1, 7, 3000})
        compare_operator(TUTTI_OPERATOR_COUNT,
                         {made(TUTTI_I64, {bins}, 1), numbers(index, count, bins + 2, 2)});
      view_spec so_far = made(index, {count}, 2);
      std::mt19937_64 random(count);
      uint64_t found = 0;
      for (uint64_t i = 0; i < count; ++i)
        so_far.data.data.set(so_far.data.offset + i, found += random() % 3 == 0 ? 1 : 0);
      compare_operator(TUTTI_OPERATOR_SELECT, {made(TUTTI_I64, {found}, 1), so_far});
    }
}

// Rows that are empty, short, long enough for several sums, and long.
BOOST_AUTO_TEST_CASE(sparse_products) {
  const std::pair<uint8_t, uint8_t> types[] = {
      {TUTTI_F32, TUTTI_I32}, {TUTTI_C64, TUTTI_I64}, {TUTTI_F64, TUTTI_I64}};
  for (const auto& [dtype, index] : types) {
    if (dtype == TUTTI_F64 && !everything) continue;
    constexpr uint64_t depth = 83;
    for (const uint64_t rows : {1, 40, 700}) {
      std::vector<uint64_t> starts = {0};
      for (uint64_t m = 0; m < rows; ++m)
        starts.push_back(starts.back() + (m % 29 == 3 ? 300 + m : m % 5 == 0 ? 0 : m * m % 27));
      view_spec at = made(index, {rows + 1}, 1);
      for (uint64_t m = 0; m <= rows; ++m) at.data.data.set(at.data.offset + m, starts[m]);
      const uint64_t count = starts.back();
      for (const uint64_t width : {1, 3, 8, 45})
        compare_operator(TUTTI_OPERATOR_SPMM,
                         {made(dtype, {rows, width}, 2), at, numbers(index, count, depth, 3),
                          made(dtype, {count}, 4), made(dtype, {depth, width}, 5)});
    }
  }
}

BOOST_AUTO_TEST_CASE(products_at_sparse_places) {
  const std::pair<uint8_t, uint8_t> types[] = {
      {TUTTI_F32, TUTTI_I32}, {TUTTI_C64, TUTTI_I64}, {TUTTI_F64, TUTTI_I64}};
  for (const auto& [dtype, index] : types) {
    if (dtype == TUTTI_F64 && !everything) continue;
    for (const uint64_t count : {1, 900})
      for (const uint64_t width : {1, 3, 8, 45, 203})
        compare_operator(
            TUTTI_OPERATOR_SDDMM,
            {made(dtype, {count}, 2), numbers(index, count, 31, 3), numbers(index, count, 83, 4),
             made(dtype, {31, width}, 5), made(dtype, {83, width}, 6)});
  }
}

BOOST_AUTO_TEST_CASE(sorts) {
  for (const uint8_t dtype : some<uint8_t>(real_dtypes, {TUTTI_I8, TUTTI_F32}))
    for (const extents& extent : {extents{1, 1}, {5, 31}, {3, 700}, {2, 5003}, {1, 140001}, {3, 0}})
      for (const uint32_t descending : {0u, 1u}) {
        const tutti_sort_params params{sizeof params, descending, 0};
        const view_spec x = made(dtype, extent, 2);
        compare_operator(TUTTI_OPERATOR_SORT, {made(dtype, extent, 1), x}, &params);
        compare_operator(TUTTI_OPERATOR_ARGSORT, {made(TUTTI_I64, extent, 1), x}, &params);
      }
}

BOOST_AUTO_TEST_CASE(selections) {
  for (const uint8_t dtype : some<uint8_t>(real_dtypes, {TUTTI_I16, TUTTI_F32}))
    for (const extents& extent : {extents{1, 1}, {5, 31}, {3, 700}, {1, 140001}}) {
      const view_spec x = made(dtype, extent, 2);
      for (const uint64_t wanted : {uint64_t{1}, extent[1] / 40, extent[1] / 2, extent[1]}) {
        if (wanted == 0) continue;
        const tutti_sort_params params{sizeof params, wanted % 2 == 0, 0};
        compare_operator(TUTTI_OPERATOR_TOPK, {made(TUTTI_I64, {extent[0], wanted}, 1), x},
                         &params);
        const tutti_partition_params place{sizeof place, wanted - 1};
        compare_operator(TUTTI_OPERATOR_PARTITION, {made(dtype, extent, 1), x}, &place);
      }
    }
}

namespace {

struct product_case {
  uint64_t batches, rows, cols, depth;
};
// Tiles, vectors along rows and along columns, split sums, packed operands, nothing to sum.
constexpr product_case product_cases[] = {
    {1, 1, 1, 1},    {1, 3, 5, 7},      {1, 64, 64, 64},   {2, 33, 17, 65},  {1, 1, 300, 200},
    {3, 300, 1, 70}, {1, 5, 1000, 64},  {1, 4, 4, 5000},   {2, 13, 20, 0},   {1, 450, 530, 300},
    {4, 1, 33, 20},  {1, 7, 70000, 30}, {2, 70, 90, 2050}, {1, 1, 40, 9000}, {0, 3, 4, 5}};

view_spec matrix(uint8_t dtype, uint64_t batches, uint64_t rows, uint64_t cols, bool transposed,
                 uint64_t seed, bool exact) {
  view_spec v =
      made(dtype, transposed ? extents{batches, cols, rows} : extents{batches, rows, cols}, seed);
  if (exact) fill_whole(v, is_float(dtype) ? -3 : 0, 3, seed);
  if (transposed) {
    std::swap(v.extent[1], v.extent[2]);
    std::swap(v.data.stride[1], v.data.stride[2]);
  }
  return v;
}

void compare_products(uint8_t dtype, uint32_t transposed, bool has_bias, bool relu, bool exact) {
  for (const product_case& c : product_cases) {
    std::vector<view_spec> views = {
        matrix(dtype, c.batches, c.rows, c.cols, false, 1, false),
        matrix(dtype, c.batches, c.rows, c.depth, (transposed & 1u) != 0, 2, exact),
        matrix(dtype, c.batches, c.depth, c.cols, (transposed & 2u) != 0, 3, exact)};
    if (c.batches == 3) views[2].data.stride[0] = 0;  // one right side for all
    if (has_bias) {
      views.push_back(matrix(dtype, 1, 1, c.cols, false, 4, exact));
      views[3].extent = {c.batches, c.rows, c.cols};
      views[3].data.stride[0] = views[3].data.stride[1] = 0;
    }
    const tutti_matmul_params params{
        sizeof params, relu ? TUTTI_ACTIVATION_RELU : TUTTI_ACTIVATION_NONE, has_bias ? 1u : 0u};
    compare_operator(TUTTI_OPERATOR_MATMUL, views, &params, exact);
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(products_of_any_numbers) {
  for (const uint8_t dtype : some<uint8_t>(computed_dtypes, {TUTTI_F32}))
    for (const uint32_t transposed : some<uint32_t>({0, 1, 2, 3}, {0, 3}))
      compare_products(dtype, transposed, false, false, false);
}

BOOST_AUTO_TEST_CASE(products_of_whole_numbers_by_every_set) {
  for (const uint8_t dtype : some<uint8_t>(computed_dtypes, {TUTTI_F32, TUTTI_U8}))
    compare_products(dtype, dtype % 4, false, false, true);
}

BOOST_AUTO_TEST_CASE(products_with_epilogues) {
  for (const uint8_t dtype : some<uint8_t>({TUTTI_F32, TUTTI_F64, TUTTI_I32}, {TUTTI_F32}))
    for (const bool relu : {false, true})
      for (const bool bias : {false, true}) {
        if ((relu && !is_float(dtype)) || (!relu && !bias)) continue;
        compare_products(dtype, dtype % 4, bias, relu, false);
      }
}

BOOST_AUTO_TEST_CASE(a_processor_without_the_width_is_said) {
  const described what(
      TUTTI_OPERATOR_MATMUL,
      {made(TUTTI_F32, {1, 4, 4}, 1), made(TUTTI_F32, {1, 4, 4}, 2), made(TUTTI_F32, {1, 4, 4}, 3)},
      nullptr);
  const char* why = sdk::host_operator_plan::against(device_of(64), what.owned.call(),
                                                     sdk::host_routines::baseline);
  BOOST_REQUIRE(why != nullptr);
  BOOST_TEST(std::string(why).find("width") != std::string::npos);
}
