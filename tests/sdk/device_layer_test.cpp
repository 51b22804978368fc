// SPDX-License-Identifier: Apache-2.0
//
// What the device layer launches for each operator, on a device that only listens: kernels that the
// shared files have, the event with the last one, and no more workspace than was said before.
#include <boost/test/unit_test.hpp>
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
  void require_workspace(uint64_t bytes, const char*) override { workspace = bytes; }
  void launch(const sdk::kernel_launch& k) override {
    all.push_back({k.file, k.kernel, k.options, k.groups, k.last});
  }
  uint64_t workspace = 0;
  std::vector<launched> all;
};

std::string text_of(sdk::kernel_file file, sdk::schedule kind) {
  static constexpr const char* names[] = {"gather", "lookup", "partition", "scan", "sort"};
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
  tutti_operator_launch launch{};

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
  if (gathers) {
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
  o.launch.struct_size = sizeof o.launch;
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
    TUTTI_OPERATOR_TOPK,    TUTTI_OPERATOR_PARTITION};

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
        BOOST_TEST(heard.workspace == sdk::operator_workspace(device, o.launch));
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
