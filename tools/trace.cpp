// SPDX-License-Identifier: Apache-2.0
//
// `tutti trace merge`: merges the files that the ranks of a job wrote with TUTTI_TRACE. Each rank
// is a process in the result; the names of its rows begin with its devices, which are processes in
// its own file.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/one_line.hpp"
#include "command.hpp"
#include "new_file.hpp"
#include "tutti/error.hpp"

namespace tutti::tools {
namespace {

using nlohmann::json;

struct trace_choice {
  CLI::App* parser;
  std::string output;
  std::vector<std::string> files;
};

struct rank_trace {
  std::string file;
  double zero = 0;  ///< microseconds since 1970
  json events;
};

[[noreturn]] void refuse_trace(const std::string& file, const std::string& reason) {
  throw io_error(fmt::format("{}: {}", file, base::one_line(reason)));
}

json read_json(const std::string& file) {
  if (!std::filesystem::is_regular_file(file)) refuse_trace(file, "there is no such file");
  std::ifstream in(file, std::ios::binary);
  if (!in) refuse_trace(file, "cannot be read");
  try {
    return json::parse(in);
  } catch (const json::exception& e) {
    refuse_trace(file, fmt::format("is no trace, or only a part of one: {}", e.what()));
  }
}

void add_file(std::map<int, rank_trace>& ranks, const std::string& file) {
  json all = read_json(file);
  const json::json_pointer rank("/otherData/rank"), zero("/otherData/zero_unix_us");
  const bool is_trace = all.contains(rank) && all[rank].is_number_unsigned() &&
                        all[rank].get<std::uint64_t>() <= std::numeric_limits<int>::max() &&
                        all.contains(zero) && all[zero].is_number() &&
                        all.contains("traceEvents") && all["traceEvents"].is_array();
  if (!is_trace) refuse_trace(file, "is no trace of a rank, as TUTTI_TRACE writes them");
  rank_trace trace{file, all[zero].get<double>(), std::move(all["traceEvents"])};
  const auto [entry, is_new] = ranks.try_emplace(all[rank].get<int>(), std::move(trace));
  if (!is_new)
    refuse_trace(file, file == entry->second.file ? "is given twice"
                                                  : fmt::format("is of rank {}, as {} is",
                                                                entry->first, entry->second.file));
}

/// The event in the merged file; null if it is not needed. `devices`: of the file, by pid.
json moved(json event, int rank, double shift, std::map<std::int64_t, std::string>& devices) {
  const std::string kind = event.at("ph"), name = event.at("name");
  std::string& device = devices[event.at("pid").get<std::int64_t>()];
  if (kind == "M") {
    const std::string title = event.at("args").at("name");
    if (name == "process_name") {
      device = title;
      return {};
    }
    event["args"]["name"] = device + ": " + title;
  } else {
    event["ts"] = event.at("ts").get<double>() + shift;
    if (kind == "C") event["name"] = device + ": " + name;  // distinguished by name, not by row
  }
  event["pid"] = rank;
  return event;
}

/// Appends the rank's events to the merged file and returns their number.
std::size_t append_rank(std::string& text, int rank, rank_trace& trace, double shift) {
  text += fmt::format(
      R"({}{{"ph":"M","name":"process_name","pid":{},"tid":0,"args":{{"name":"rank {}"}}}})",
      text.ends_with('[') ? "\n" : ",\n", rank, rank);
  std::map<std::int64_t, std::string> devices;
  std::size_t events = 0, at = 0;
  try {
    for (; at < trace.events.size(); ++at) {
      const json event = moved(std::move(trace.events[at]), rank, shift, devices);
      if (event.is_null()) continue;
      text += ",\n" + event.dump();
      if (event["ph"] != "M") ++events;
    }
  } catch (const json::exception& e) {
    refuse_trace(trace.file, fmt::format("event {}: {}", at, e.what()));
  }
  return events;
}

int merge_traces(const trace_choice& choice) {
  std::map<int, rank_trace> ranks;
  for (const std::string& file : choice.files) add_file(ranks, file);
  double zero = std::numeric_limits<double>::infinity();
  for (const auto& [rank, trace] : ranks) zero = std::min(zero, trace.zero);

  std::string text = R"({"displayTimeUnit":"ns","traceEvents":[)";
  std::size_t events = 0;
  for (auto& [rank, trace] : ranks) events += append_rank(text, rank, trace, trace.zero - zero);
  write_new_file(choice.output, text + "\n]}\n", 0666);
  fmt::print("{}: {} events of {} ranks\n", choice.output, events, ranks.size());
  return 0;
}

}  // namespace

command add_trace(CLI::App& app) {
  const auto choice = std::make_shared<trace_choice>();
  choice->parser = app.add_subcommand("trace", "Merge the traces of ranks (TUTTI_TRACE)");
  choice->parser->require_subcommand(1);
  CLI::App* const merge = choice->parser->add_subcommand(
      "merge",
      "merge run.0.json, run.1.json, ... into one file for https://ui.perfetto.dev, with a process "
      "per "
      "rank, on one time axis according to the clocks of their machines");
  merge->add_option("output", choice->output, "Output file")->required();
  merge->add_option("files", choice->files, "Files of the ranks")->required();
  return {choice->parser, [choice] { return merge_traces(*choice); }};
}

}  // namespace tutti::tools
