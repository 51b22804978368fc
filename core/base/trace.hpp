// SPDX-License-Identifier: Apache-2.0
//
// TUTTI_TRACE=file.json: a Chrome trace-event file for Perfetto. A track is a row: the process is a
// device, the thread a stream. Times are nanoseconds on trace_now_ns()'s clock; the file contains
// the wall-clock time of its origin (otherData.zero_unix_us), with which `tutti trace merge` merges
// the files of ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tutti/export.hpp"

namespace tutti::base {

struct trace_args {
  std::string ops;     ///< "multiply+tanh"; empty: left out
  uint64_t bytes = 0;  ///< moved; 0: left out
  uint64_t flops = 0;  ///< 0: left out
};

/// Writes one trace file. After every flush the file is complete, valid JSON. Thread-safe.
class TUTTI_INTERNAL_API trace_writer {
 public:
  /// Throws io_error if the file cannot be written.
  explicit trace_writer(const std::string& path, int rank = 0);
  ~trace_writer();
  trace_writer(trace_writer&&) = delete;

  /// The number of the row `thread` (a stream) of `process` (a device); created on first use.
  uint32_t track(std::string_view process, std::string_view thread);
  void complete(uint32_t track, std::string_view name, uint64_t begin_ns, uint64_t end_ns,
                const trace_args& args);
  void instant(uint32_t track, std::string_view name, uint64_t at_ns);
  void flush();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Nanoseconds since the first call in this process, monotonic.
TUTTI_INTERNAL_API uint64_t trace_now_ns() noexcept;

/// The functions below write to the file of TUTTI_TRACE and do nothing if it is unset. If mpirun or
/// srun started several processes, rank 1 writes file.1.json.
TUTTI_INTERNAL_API bool trace_enabled() noexcept;
TUTTI_INTERNAL_API uint32_t trace_track(std::string_view process, std::string_view thread);
TUTTI_INTERNAL_API void trace_complete(uint32_t track, std::string_view name, uint64_t begin_ns,
                                       uint64_t end_ns, const trace_args& args);
TUTTI_INTERNAL_API void trace_instant(uint32_t track, std::string_view name, uint64_t at_ns);
TUTTI_INTERNAL_API void trace_flush();

}  // namespace tutti::base
