// SPDX-License-Identifier: Apache-2.0
//
// What the device layer launches for each operator, on a device that only listens: kernels that the
// shared files have, the event with the last one, and no more workspace than was said before.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "sdk/device_layer/operators.hpp"
#include "sdk/ordering.hpp"

using namespace tutti;

namespace {

struct launched {
  sdk::kernel_file file;
  std::string kernel, options;
  uint64_t groups;
  bool last;
};

class listener final : public sdk::operator_launcher {
 public:
  void launch(const sdk::kernel_launch& k) override {
    all.push_back({k.file, k.kernel, k.options, k.groups, k.last});
    prepared.emplace_back(k);
  }
  void keep(std::span<const std::byte> constants) override { kept = constants.size(); }
  std::vector<launched> all;
  std::vector<sdk::prepared_launch> prepared;
  size_t kept = 0;
};

std::string text_of(sdk::kernel_file file, sdk::schedule kind) {
  static constexpr const char* names[] = {"gather", "lookup",      "partition", "scan",
                                          "sort",   "convolution", "fft",       "spmm"};
  std::ostringstream text;
  const std::string path = KERNELS + std::string("/") + names[static_cast<int>(file)];
  text << std::ifstream(path + "_shared.cl").rdbuf();
  std::ifstream cpu(path + "_cpu.cl");
  if (kind == sdk::schedule::cpu && cpu) text << cpu.rdbuf();
  return text.str();
}

// An operator over contiguous views of these extents.
struct operation {
  std::vector<tutti_view> views;
  sdk::operator_call launch{};

  void add(int32_t dtype, std::vector<uint64_t> extent) {
    tutti_view view{};
    view.dtype = dtype;
    view.rank = static_cast<uint32_t>(extent.size());
    int64_t step = 1;
    for (size_t d = extent.size(); d-- > 0;) {
      view.extent[d] = extent[d];
      view.stride[d] = step;
      step *= static_cast<int64_t>(extent[d]);
    }
    views.push_back(view);
  }
};

union any_params {
  tutti_scan_params scan;
  tutti_sort_params sort;
  tutti_search_params search;
  tutti_partition_params partition;
};

operation make(int32_t kind, uint64_t rows, uint64_t length, const any_params& params) {
  operation o;
  const bool gathers = !sdk::is_ordering(kind);
  const bool finds = kind == TUTTI_OPERATOR_ARGSORT || kind == TUTTI_OPERATOR_TOPK;
  if (kind == TUTTI_OPERATOR_SPMM) {
    o.add(TUTTI_F32, {length, rows});
    o.add(TUTTI_I32, {length + 1});
    o.add(TUTTI_I32, {3 * length});
    o.add(TUTTI_F32, {3 * length});
    o.add(TUTTI_F32, {50, rows});
  } else if (kind == TUTTI_OPERATOR_SDDMM) {
    o.add(TUTTI_F32, {length});
    o.add(TUTTI_I32, {length});
    o.add(TUTTI_I32, {length});
    o.add(TUTTI_F32, {20, rows});
    o.add(TUTTI_F32, {50, rows});
  } else if (gathers) {
    o.add(TUTTI_F32, {1, length, 7});
    o.add(TUTTI_F32, {1, length, 7});
    o.add(TUTTI_I64, {length});
  } else if (kind == TUTTI_OPERATOR_SCAN) {
    o.add(TUTTI_F32, {rows, length, 1});
    o.add(TUTTI_F32, {rows, length, 1});
  } else if (kind == TUTTI_OPERATOR_COUNT || kind == TUTTI_OPERATOR_SELECT) {
    o.add(TUTTI_I64, {100});
    o.add(TUTTI_I64, {length});
  } else if (kind == TUTTI_OPERATOR_SEARCH) {
    o.add(TUTTI_I64, {rows, 30});
    o.add(TUTTI_F32, {rows, length});
    o.add(TUTTI_F32, {rows, 30});
  } else {
    o.add(finds ? TUTTI_I64 : TUTTI_F32, {rows, kind == TUTTI_OPERATOR_TOPK ? 5 : length});
    o.add(TUTTI_F32, {rows, length});
  }
  o.launch.kind = kind;
  o.launch.view_count = static_cast<uint32_t>(o.views.size());
  o.launch.params = &params;
  return o;
}

sdk::device_description device_of(sdk::schedule kind) {
  sdk::device_description device;
  device.kind = kind;
  device.properties.compute_units = 8;
  device.properties.computed_dtypes = ~0u;
  return device;
}

constexpr int32_t kinds[] = {
    TUTTI_OPERATOR_TAKE,    TUTTI_OPERATOR_SCATTER_ADD, TUTTI_OPERATOR_SCAN,  TUTTI_OPERATOR_SORT,
    TUTTI_OPERATOR_ARGSORT, TUTTI_OPERATOR_SEARCH,      TUTTI_OPERATOR_COUNT, TUTTI_OPERATOR_SELECT,
    TUTTI_OPERATOR_TOPK,    TUTTI_OPERATOR_PARTITION,   TUTTI_OPERATOR_SPMM,  TUTTI_OPERATOR_SDDMM};

// Operands that begin elsewhere move the offsets of the shape, each by whole elements of it, and
// the workspace only those that lie within what was asked for.
void check_offsets(const operation& o, const std::vector<sdk::prepared_launch>& launches,
                   uint64_t workspace_bytes) {
  sdk::operator_memory at_start{}, elsewhere{};
  for (tutti_range& range : elsewhere.operands) range.offset = 4096;
  elsewhere.workspace.offset = 1 << 20;
  for (const sdk::prepared_launch& l : launches) {
    sdk::filled_shape before, after;
    l.shape_at(at_start, before);
    l.shape_at(elsewhere, after);
    BOOST_TEST_REQUIRE(l.shape.size() <= sizeof before);
    BOOST_TEST(std::equal(l.shape.begin(), l.shape.end(), before.bytes));
    for (const sdk::shape_offset& at : l.offsets) {
      int64_t first = 0, second = 0;
      std::memcpy(&first, before.bytes + at.field, sizeof first);
      std::memcpy(&second, after.bytes + at.field, sizeof second);
      const bool work = at.of == sdk::operand::workspace;
      BOOST_TEST(second - first == (work ? 1 << 20 : 4096) / at.unit);
      BOOST_TEST((work ? first >= 0 : first == 0), o.launch.kind);
      if (work) BOOST_TEST(static_cast<uint64_t>(first) * at.unit <= workspace_bytes);
      std::memcpy(after.bytes + at.field, &first, sizeof first);
    }
    BOOST_TEST(std::equal(l.shape.begin(), l.shape.end(), after.bytes));  // nothing else moved
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_operator_launches_kernels_of_its_file) {
  any_params params{};
  params.scan.struct_size = sizeof params;
  for (const sdk::schedule kind : {sdk::schedule::cpu, sdk::schedule::gpu}) {
    const sdk::device_description device = device_of(kind);
    for (const int32_t op : kinds) {
      for (const uint64_t length : {3u, 5000u, 3000000u}) {
        operation o = make(op, 2, length, params);
        o.launch.views = o.views.data();
        const char* reason = "";
        BOOST_TEST(sdk::supports_operator(device, o.launch, &reason), op << ": " << reason);
        listener heard;
        sdk::launch_operator(device, o.launch, heard);
        BOOST_TEST_REQUIRE(!heard.all.empty());
        check_offsets(o, heard.prepared, sdk::operator_workspace(device, o.launch));
        for (const launched& l : heard.all) {
          const std::string text = text_of(l.file, kind);
          BOOST_TEST((text.find("void " + l.kernel + "(") != std::string::npos), l.kernel);
          BOOST_TEST(l.groups > 0u);
          BOOST_TEST(l.last == (&l == &heard.all.back()), op << ": " << l.kernel);
          // Values have no spaces: plugins split options there.
          std::istringstream words(l.options);
          for (std::string word; words >> word;) {
            BOOST_TEST(word.starts_with("-D"), l.options);
            BOOST_TEST((word.find('=') != std::string::npos), l.options);
          }
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(nothing_is_launched_over_nothing) {
  any_params params{};
  params.scan.struct_size = sizeof params;
  for (const sdk::schedule kind : {sdk::schedule::cpu, sdk::schedule::gpu}) {
    const sdk::device_description device = device_of(kind);
    for (const int32_t op : kinds) {
      // An empty search space or count still has results.
      if (op == TUTTI_OPERATOR_SEARCH || op == TUTTI_OPERATOR_COUNT) continue;
      operation o = make(op, 2, 0, params);
      o.launch.views = o.views.data();
      listener heard;
      sdk::launch_operator(device, o.launch, heard);
      BOOST_TEST(heard.all.empty(), op);
    }
  }
}
