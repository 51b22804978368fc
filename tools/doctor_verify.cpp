// SPDX-License-Identifier: Apache-2.0
//
// The part of `tutti verify` in `tutti doctor`: one group for each kind of kernel, in a child
// process.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "child_process.hpp"
#include "probe.hpp"

namespace tutti::tools {
namespace {

using nlohmann::json;

constexpr const char* kinds[] = {
    "memory/copy",  "stream/order", "op/divide/f32/special", "op/add/i64/bits",
    "cast/f32/f16", "philox",       "reduce/sum/inner/f32",  "matmul/f32/sizes",
    "scan/sum/f32", "sort/f32",     "take/f32/i64",          "convolution/f32"};

/// The lines from the child (verify.hpp).
struct heard {
  std::vector<std::string> names;
  std::string running = "the opening of the device";
  std::vector<std::string> failures;
  int passed = 0;

  void take(const json& line) {
    if (line.contains("groups")) names = line["groups"].get<std::vector<std::string>>();
    if (line.contains("group")) {
      const auto number = line["group"].get<std::size_t>();
      if (number < names.size()) running = names[number];
    }
    if (line.contains("problem")) failures.push_back(running + ": " + line.value("problem", ""));
    if (!line.contains("result")) return;
    const std::string outcome = line["result"].value("outcome", "");
    passed += outcome == "passed" ? 1 : 0;
    if (outcome == "failed") failures.push_back(running + ": " + line["result"].value("text", ""));
  }
};

}  // namespace

finding verify_device(const plugins::plugin_file& file, const std::string& device,
                      const time_limits& limits) {
  std::vector<std::string> words = {"verify", "--child", file.path.string(), "--device",
                                    device.substr(device.find(':') + 1)};
  for (const char* kind : kinds) words.insert(words.end(), {"--filter", kind});
  heard all;
  const child_end end = run_self(
      words, [&] { return limits.computing; },
      [&](std::string_view text) {
        const json line = json::parse(text, nullptr, false);
        if (line.is_object()) all.take(line);
      });
  if (end.how != child_end::kind::exited || end.number != 0)
    all.failures.push_back(all.running + ": " + text_of(end, limits.computing));
  finding f{finding::grade::good,
            "known answers",
            device,
            fmt::format("{} groups of `tutti verify` are right", all.passed),
            {}};
  if (all.failures.empty()) return f;
  f.how = finding::grade::problem;
  f.text = fmt::format("{}", fmt::join(all.failures, "\n"));
  f.advice = fmt::format(
      "update the driver, or choose another device by TUTTI_DEVICE; `tutti verify "
      "{}` tells more",
      file.path.string());
  return f;
}

}  // namespace tutti::tools
