// SPDX-License-Identifier: Apache-2.0
//
// Writer of trace-event JSON (the array form inside an object, as Perfetto and chrome://tracing
// read it). Each flush ends the file with the closing brackets, which the next one overwrites.
#include "base/trace.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/env.hpp"
#include "base/fail.hpp"
#include "base/launcher.hpp"
#include "base/log.hpp"
#include "base/process.hpp"
#include "base/signals.hpp"
#include "tutti/error.hpp"

namespace tutti::base {
namespace {

constexpr size_t flush_at = 64 * 1024;
constexpr std::string_view closing = "\n]}\n";

std::string json_text(std::string_view text) {
  return nlohmann::json(std::string(text))
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

double microseconds(uint64_t ns) { return static_cast<double>(ns) * 1e-3; }

std::string opening(int rank) {
  using namespace std::chrono;
  const auto zero = system_clock::now().time_since_epoch() - nanoseconds(trace_now_ns());
  return fmt::format(
      R"({{"displayTimeUnit":"ns","otherData":{{"rank":{},"zero_unix_us":{}}},"traceEvents":[)",
      rank, duration_cast<std::chrono::microseconds>(zero).count());
}

}  // namespace

struct trace_writer::state {
  struct row {
    uint32_t process, thread;
  };
  std::mutex mutex;
  std::FILE* file = nullptr;
  std::string pending;
  bool first = true;
  bool failed = false;
  std::map<std::string, uint32_t, std::less<>> processes;
  std::map<std::pair<uint32_t, std::string>, uint32_t> tracks;
  std::vector<row> rows;

  void append(std::string_view event) {
    pending += first ? "\n" : ",\n";
    first = false;
    pending += event;
    if (pending.size() >= flush_at) flush();
  }

  void flush() {
    if (failed || pending.empty()) return;
    const limits_are_errors here;
    pending += closing;
    failed = std::fwrite(pending.data(), 1, pending.size(), file) != pending.size() ||
             std::fflush(file) != 0 ||
             std::fseek(file, -static_cast<long>(closing.size()), SEEK_CUR) != 0;
    if (failed) logging::warn("TUTTI_TRACE: writing failed, the trace ends here");
    pending.clear();
  }

  row at(uint32_t track) const { return track < rows.size() ? rows[track] : row{0, 0}; }
};

trace_writer::trace_writer(const std::string& path, int rank) : state_(std::make_unique<state>()) {
  std::error_code code;
  const auto status = std::filesystem::status(path, code);
  // Opening a pipe would wait for a reader.
  if (std::filesystem::is_fifo(status) || std::filesystem::is_socket(status))
    base::fail<io_error>("cannot write {}: it is not a regular file", path);
  state_->file = std::fopen(path.c_str(), "wbe");
  if (state_->file == nullptr) base::fail<io_error>("cannot write {}", path);
  state_->pending = opening(rank);
  state_->flush();
}

trace_writer::~trace_writer() {
  flush();
  std::fclose(state_->file);
}

uint32_t trace_writer::track(std::string_view process, std::string_view thread) {
  const std::lock_guard lock(state_->mutex);
  state& s = *state_;
  auto known = s.processes.find(process);
  if (known == s.processes.end()) {
    const auto pid = static_cast<uint32_t>(s.processes.size() + 1);
    known = s.processes.emplace(process, pid).first;
    s.append(
        fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"tid":0,"args":{{"name":{}}}}})",
                    pid, json_text(process)));
  }
  const uint32_t pid = known->second;
  const auto [track, is_new] =
      s.tracks.try_emplace({pid, std::string(thread)}, static_cast<uint32_t>(s.rows.size()));
  if (is_new) {
    const uint32_t tid = track->second + 1;
    s.rows.push_back({pid, tid});
    s.append(
        fmt::format(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})",
                    pid, tid, json_text(thread)));
  }
  return track->second;
}

void trace_writer::complete(uint32_t track, std::string_view name, uint64_t begin_ns,
                            uint64_t end_ns, const trace_args& args) {
  std::string details;
  const auto add = [&](std::string_view key, const std::string& value) {
    details += fmt::format("{}\"{}\":{}", details.empty() ? "" : ",", key, value);
  };
  if (!args.ops.empty()) add("ops", json_text(args.ops));
  if (args.bytes != 0) add("bytes", std::to_string(args.bytes));
  if (args.flops != 0) add("flops", std::to_string(args.flops));
  const uint64_t length = end_ns > begin_ns ? end_ns - begin_ns : 0;
  const std::string title = json_text(name);

  const std::lock_guard lock(state_->mutex);
  const auto row = state_->at(track);
  state_->append(fmt::format(
      R"({{"ph":"X","name":{},"pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},"args":{{{}}}}})", title,
      row.process, row.thread, microseconds(begin_ns), microseconds(length), details));
}

void trace_writer::instant(uint32_t track, std::string_view name, uint64_t at_ns) {
  const std::string title = json_text(name);
  const std::lock_guard lock(state_->mutex);
  const auto row = state_->at(track);
  state_->append(fmt::format(R"({{"ph":"i","s":"t","name":{},"pid":{},"tid":{},"ts":{:.3f}}})",
                             title, row.process, row.thread, microseconds(at_ns)));
}

void trace_writer::flush() {
  const std::lock_guard lock(state_->mutex);
  state_->flush();
}

uint64_t trace_now_ns() noexcept {
  using clock = std::chrono::steady_clock;
  static const clock::time_point start = clock::now();
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(clock::now() - start).count());
}

namespace {

std::string path_of_rank(const std::filesystem::path& path, int rank) {
  const std::string name =
      fmt::format("{}.{}{}", path.stem().string(), rank, path.extension().string());
  return path.parent_path() / name;
}

trace_writer* open_trace() {
  const auto path = env("TUTTI_TRACE");
  if (!path) return nullptr;
  trace_now_ns();
  // The job may be joined later, or never.
  const int rank = launched_as().value_or(launched_process{}).rank;
  try {
    auto* const writer =
        rank < 0 ? new trace_writer(*path) : new trace_writer(path_of_rank(*path, rank), rank);
    std::atexit(trace_flush);
    return writer;
  } catch (const std::exception& e) {
    logging::warn("TUTTI_TRACE: {}; nothing is traced", e.what());
    return nullptr;
  }
}

trace_writer* global_trace() {
  static trace_writer* const writer = open_trace();
  return writer;
}

}  // namespace

bool trace_enabled() noexcept { return global_trace() != nullptr; }

uint32_t trace_track(std::string_view process, std::string_view thread) {
  trace_writer* const writer = global_trace();
  return writer != nullptr ? writer->track(process, thread) : 0;
}

void trace_complete(uint32_t track, std::string_view name, uint64_t begin_ns, uint64_t end_ns,
                    const trace_args& args) {
  if (trace_writer* const writer = global_trace())
    writer->complete(track, name, begin_ns, end_ns, args);
}

void trace_instant(uint32_t track, std::string_view name, uint64_t at_ns) {
  if (trace_writer* const writer = global_trace()) writer->instant(track, name, at_ns);
}

void trace_flush() {
  if (is_fork()) return;  // the file belongs to its parent
  if (trace_writer* const writer = global_trace()) writer->flush();
}

}  // namespace tutti::base
