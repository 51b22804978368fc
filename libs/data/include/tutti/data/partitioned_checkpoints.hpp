// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints of arrays that are split over the ranks of a job: each rank writes its parts, and any
// number of ranks reads them, one part at a time, so that none needs memory for the whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "tutti/data/checkpoint.hpp"
#include "tutti/export.hpp"
#include "tutti/multi.hpp"

namespace tutti {

/// As checkpoint, of split and replicated arrays.
struct sharded_checkpoint {
  std::int64_t step = 0;
  std::map<std::string, sharded> arrays{};
  std::map<std::string, std::string> metadata{};
};

/// The checkpoints in one folder, which all ranks of a job can reach, each a folder step-STEP with
/// a file of the replicated arrays and one for each device of the group with its parts. It gets its
/// name when all of them are on disk; a run that ends before leaves the earlier ones as they are.
/// All ranks call the same functions, and wait for each other as long as the job does
/// (TUTTI_TIMEOUT); a group of one process works alone.
class TUTTI_API partitioned_checkpoints {
 public:
  /// Throws value_error unless keep >= 1.
  partitioned_checkpoints(std::filesystem::path folder, device_group group,
                          checkpoint_options options = {});

  /// Arrays are over the group, otherwise value_error. Replaces a checkpoint of the same step, and
  /// removes those of higher steps, so that newest() returns this one, and those older than the
  /// newest options.keep. Throws io_error as checkpoints::save() does. If it throws on one rank, it
  /// throws on all, and earlier checkpoints are as before.
  void save(const sharded_checkpoint& state) const;
  /// The newest checkpoint of which each rank can read what it needs, split into equal parts along
  /// the axes of before, or replicated; others are named in the log. Throws io_error, on all ranks,
  /// if there are checkpoints but none that can be read.
  std::optional<sharded_checkpoint> newest() const;

 private:
  sharded_checkpoint read(std::int64_t step) const;
  std::filesystem::path folder_;
  device_group group_;
  checkpoint_options options_;
};

}  // namespace tutti
