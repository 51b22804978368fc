// SPDX-License-Identifier: Apache-2.0
//
// Numbers have three significant digits in the table and full precision in the JSON.
#include "report.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "peers.hpp"
#include "team.hpp"
#include "tutti/device.hpp"

namespace tutti::bench {
namespace {

std::string processor() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const auto colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "unknown processor";
}

double memory_gib() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE)) /
         (1 << 30);
}

std::string today() { return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr))); }

std::string ratio(double value) { return value > 0 ? fmt::format("{:.2f}", value) : "-"; }

std::string compared(const std::string& what, double value) {
  return value > 0 ? fmt::format("{} {:.3g}", what, value) : what;
}

}  // namespace

void print_heading() {
  const device on = default_device();
  fmt::print("{}, {}, {} cores, {:.0f} GiB\n", today(), processor(), cores(), memory_gib());
  fmt::print("device {}: {}, {}, schedule {}\n", on.name(), on.properties().description,
             on.properties().driver, on.properties().schedule);
  fmt::print("OpenBLAS kernels for {}, {} threads\n", peer::openblas_core(), cores());
  fmt::print(
      "A ratio above 1 means that Tutti is better. Floor and peer are medians of the same "
      "run.\n\n");
  std::fflush(stdout);
}

void print_table_head() {
  fmt::print(
      "| case | device | value | unit | runs from - to | floor | ratio to floor | peer | "
      "ratio to peer | goal | met |\n");
  fmt::print("| --- | --- | ---: | --- | --- | --- | ---: | --- | ---: | --- | --- |\n");
}

void print_row(const row& r) {
  const std::string met = r.goal.empty() ? "-" : r.met ? "yes" : "no";
  fmt::print("| {} | {} | {:.3g} | {} | {:.3g} - {:.3g} | {} | {} | {} | {} | {} | {} |\n", r.name,
             r.device, r.value, r.unit, r.low, r.high, compared(r.floor, r.floor_value),
             ratio(r.floor_ratio), compared(r.peer, r.peer_value), ratio(r.peer_ratio),
             r.goal.empty() ? "-" : r.goal, met);
  if (!r.error.empty()) fmt::print(stderr, "{}: {}\n", r.name, r.error);
  std::fflush(stdout);
}

void write_json(const std::string& path, const std::vector<row>& rows) {
  const auto known = [](double value) {
    return value > 0 ? nlohmann::json(value) : nlohmann::json();
  };
  nlohmann::ordered_json out;
  out["date"] = today();
  out["processor"] = processor();
  out["cores"] = cores();
  out["memory_gib"] = memory_gib();
  out["device"] = default_device().name();
  out["driver"] = default_device().properties().driver;
  out["schedule"] = default_device().properties().schedule;
  out["openblas_core"] = peer::openblas_core();
  out["cases"] = nlohmann::ordered_json::array();
  for (const row& r : rows) {
    out["cases"].push_back({{"name", r.name},
                            {"device", r.device},
                            {"value", r.value},
                            {"unit", r.unit},
                            {"low", r.low},
                            {"high", r.high},
                            {"runs", r.runs},
                            {"floor", r.floor},
                            {"floor_value", known(r.floor_value)},
                            {"ratio_to_floor", known(r.floor_ratio)},
                            {"peer", r.peer},
                            {"peer_value", known(r.peer_value)},
                            {"ratio_to_peer", known(r.peer_ratio)},
                            {"goal", r.goal},
                            {"met", r.met},
                            {"error", r.error}});
  }
  std::ofstream file(path);
  file << out.dump(2) << '\n';
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

}  // namespace tutti::bench
