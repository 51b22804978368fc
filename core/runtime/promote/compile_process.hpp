// SPDX-License-Identifier: Apache-2.0
//
// A process beside this one that compiles for it, of low priority: `tutti-compiler`, beside the
// library. exit() waits for none of its work, a compiler that crashes or hangs takes no application
// along, and no application has it among its children. It leaves the code where its driver keeps
// what it compiles, and ends when it loses its connection, which is that of the process.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>

#include "tutti/export.hpp"

namespace tutti::runtime {

/// What is to be compiled, and for which device.
struct TUTTI_INTERNAL_API compile_request {
  std::string device;    ///< "opencl:0"
  std::string identity;  ///< what its code goes by (detail::cache_prefix)
  std::string work;      ///< to_bytes()

  std::string text() const;
  /// False for what text() did not write.
  bool read(std::string_view text);
};

/// What has become of a request.
struct compile_answer {
  enum class kind : char {
    compiled = 'c',
    refused = 'r',      ///< by the compiler, or by the proof of its kernels; see why
    unavailable = 'u',  ///< no such process can be had, or it has another device there
    stopped = 's'       ///< by stop()
  };
  kind how = kind::unavailable;
  std::string why;
};

class TUTTI_INTERNAL_API compile_process {
 public:
  /// `program` is started with the first request. One that is under way for longer than `patience`
  /// counts as refused.
  compile_process(std::filesystem::path program, std::chrono::seconds patience);
  ~compile_process();
  compile_process(const compile_process&) = delete;
  compile_process& operator=(const compile_process&) = delete;

  /// Waits for the answer; one thread at a time. A process that ends meanwhile is followed by a
  /// second and a third one, which know of those before (safety/journal.hpp). Where none can be had
  /// it does not try again later.
  compile_answer compile(const compile_request& request);
  /// The process ends; the next request starts another.
  void rest() noexcept;
  /// The same for good: what is waited for is back at once. In any thread.
  void stop() noexcept;

 private:
  bool start();
  bool is_connected() const { return socket_ >= 0; }
  void connect(int socket);

  const std::filesystem::path program_;
  const std::chrono::seconds patience_;
  std::mutex mutex_;  // of what stop() reads
  int socket_ = -1;
  std::atomic<bool> is_stopped_ = false;
  std::string missing_;  // why there is none to be had
};

}  // namespace tutti::runtime
