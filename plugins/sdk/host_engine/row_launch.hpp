// SPDX-License-Identifier: Apache-2.0
//
// Launches over the same rows, such as those of a softmax, that are run together: some rows by all
// of them, then the next rows, so that these stay in the cache between the launches.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sdk/host_engine/on_buffers.hpp"
#include "sdk/host_layer/work_queue.hpp"
#include "sdk/owned_launch.hpp"

namespace tutti::sdk {

/// A checked launch of a program.
class row_launch : public joint_work {
 public:
  row_launch(std::shared_ptr<const engine_program> code, const tutti_program_launch& launch,
             find_memory memory, thread_team& team);

  void run() const override;
  /// Only launches that take longer than looking for others.
  bool begins() const override;
  /// Whether each row of `next` needs and changes only the same row of the others' results.
  bool takes(std::span<const joint_work* const> all, const joint_work& next) const override;
  std::vector<uint64_t> run_together(std::span<const joint_work* const> all) const override;

 private:
  // The bytes of an operand that row r uses: [base + r * step, base + r * step + bytes).
  struct access {
    const std::byte* base;
    uint64_t step, bytes;
    bool written;
  };
  // Nothing if the points are not so many rows, each of its own bytes in each operand.
  std::optional<std::vector<access>> accesses(uint64_t rows) const;
  std::optional<access> access_of(const tutti_operand& operand, uint32_t element, uint32_t rank,
                                  uint64_t rows) const;
  static bool are_apart(const access& a, const access& b, uint64_t rows);
  uint64_t kept_points() const;

  const std::shared_ptr<const engine_program> code_;
  const owned_program_launch launch_;
  const find_memory memory_;
  thread_team& team_;
  bool joins_ = false;  // may be run with others
  uint64_t rows_ = 0;   // of the launches that this one begins; 0: of none
};

}  // namespace tutti::sdk
