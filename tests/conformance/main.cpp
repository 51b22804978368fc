// SPDX-License-Identifier: Apache-2.0
//
// tutti-conformance PLUGIN.so: checks a backend at the level of plugin.h. Prints a line a group and
// a closing line; exit status 0 when all passed, 1 when a group failed, 2 for wrong usage, and 77
// (skipped) where TUTTI_TEST_SKIP_WITHOUT_DRIVER is set and the driver is absent.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "harness.hpp"

namespace {

using namespace tutti::conformance;

constexpr const char* usage =
    "usage: tutti-conformance PLUGIN.so [--device N] [--list] [--filter TEXT] [--seed N]\n"
    "                         [--exclude TEXT] [--every N] [--quiet]\n"
    "  --device N     index of the device (0)\n"
    "  --list         print the names of the groups\n"
    "  --filter TEXT  run only groups whose name contains TEXT; may be repeated\n"
    "  --exclude TEXT leave out groups whose name contains TEXT; may be repeated\n"
    "  --every N      f32, and of the other dtypes' groups one family in N (1: all)\n"
    "  --seed N       of the random operands and programs (1)\n"
    "  --quiet        print failures only\n";

struct options {
  std::string plugin;
  std::vector<std::string> filters;
  std::vector<std::string> excluded;
  uint32_t device = 0;
  uint64_t seed = 1;
  uint64_t every = 1;
  bool list = false;
  bool quiet = false;
};

uint64_t number(const char* text) {
  char* end = nullptr;
  const uint64_t value = std::strtoull(text, &end, 10);
  if (end == text || *end != 0) throw std::invalid_argument(std::string("not a number: ") + text);
  return value;
}

options parse(int count, char** arguments) {
  options result;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    const auto value = [&] {
      if (++i == count) throw std::invalid_argument(argument + " needs a value");
      return arguments[i];
    };
    if (argument == "--device")
      result.device = static_cast<uint32_t>(number(value()));
    else if (argument == "--seed")
      result.seed = number(value());
    else if (argument == "--every")
      result.every = number(value());
    else if (argument == "--filter")
      result.filters.push_back(value());
    else if (argument == "--exclude")
      result.excluded.push_back(value());
    else if (argument == "--list")
      result.list = true;
    else if (argument == "--quiet")
      result.quiet = true;
    else if (argument.rfind("--", 0) == 0 || !result.plugin.empty())
      throw std::invalid_argument("unknown argument " + argument);
    else
      result.plugin = argument;
  }
  if (result.every == 0) throw std::invalid_argument("--every needs a number above 0");
  if (result.plugin.empty()) throw std::invalid_argument("no plugin given");
  return result;
}

// A fixed sample: groups that differ in their last word only share programs and stay together.
bool sampled(const std::string& name, uint64_t every) {
  const bool by_dtype = name.rfind("op/", 0) == 0 || name.rfind("cast/", 0) == 0 ||
                        name.rfind("layout/", 0) == 0 || name.rfind("reduce/", 0) == 0;
  if (every == 1 || !by_dtype || name.find("/f32") != std::string::npos) return true;
  uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (char c : name.substr(0, name.rfind('/')))
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return (hash >> 32) % every == 0;
}

bool selected(const std::string& name, const options& chosen) {
  const auto has = [&](const std::string& text) { return name.find(text) != std::string::npos; };
  if (!sampled(name, chosen.every) || std::ranges::any_of(chosen.excluded, has)) return false;
  return chosen.filters.empty() || std::ranges::any_of(chosen.filters, has);
}

enum class verdict { passed, failed, skipped };

verdict run(const group& g, session& s, bool quiet) {
  try {
    g.run(s);
  } catch (const skipped& reason) {
    std::printf("skip  %s: %s\n", g.name.c_str(), reason.what());
    return verdict::skipped;
  } catch (const std::exception& error) {
    std::printf("FAIL  %s: %s\n", g.name.c_str(), error.what());
    std::fflush(stdout);
    take(s.api->stream->synchronize(s.main_stream.get()));
    return verdict::failed;
  }
  if (!quiet) std::printf("ok    %s\n", g.name.c_str());
  std::fflush(stdout);
  return verdict::passed;
}

int run_all(const options& chosen) {
  session s(chosen.plugin, chosen.device, chosen.seed);
  groups all;
  add_abi_groups(all, s);
  add_memory_groups(all, s);
  add_host_groups(all, s);
  add_elementwise_groups(all, s);
  add_complex_groups(all, s);
  add_layout_groups(all, s);
  add_chain_groups(all, s);
  add_reduction_groups(all, s);
  add_operator_groups(all, s);
  add_ordering_groups(all, s);
  add_kernel_groups(all, s);
  add_plan_groups(all, s);

  if (!chosen.list) {
    std::printf("%s %s, device %u: %s (%s, schedule %s), seed %llu\n", s.api->name, s.api->version,
                chosen.device, s.properties.name, s.properties.driver,
                s.properties.schedule != nullptr ? s.properties.schedule : "?",
                static_cast<unsigned long long>(chosen.seed));
  }
  unsigned count[3] = {};
  for (const group& g : all) {
    if (!selected(g.name, chosen)) continue;
    if (chosen.list)
      std::printf("%s\n", g.name.c_str());
    else
      ++count[static_cast<int>(run(g, s, chosen.quiet))];
  }
  if (chosen.list) return 0;
  std::printf("%u passed, %u failed", count[0], count[1]);
  if (count[2] > 0) std::printf(", %u skipped", count[2]);
  std::printf("\n");
  return count[1] > 0 || count[0] == 0 ? 1 : 0;
}

}  // namespace

int main(int count, char** arguments) {
  options chosen;
  try {
    chosen = parse(count, arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tutti-conformance: %s\n%s", error.what(), usage);
    return 2;
  }
  try {
    return run_all(chosen);
  } catch (const no_driver& absent) {
    std::fprintf(stderr, "tutti-conformance: no driver: %s\n", absent.what());
    return std::getenv("TUTTI_TEST_SKIP_WITHOUT_DRIVER") != nullptr ? 77 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tutti-conformance: %s\n", error.what());
    return 1;
  }
}
