// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints of arrays that are split over the ranks of a job: each rank writes its parts, and any
// number of ranks reads them, of which none holds the whole.
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

/// The checkpoints in one folder, which all ranks of a job can reach. checkpoint-STEP.tutti, of
/// rank 0, has the replicated arrays and says how the others are split;
/// rank-R/checkpoint-STEP.tutti has the parts of rank R. It is written when all parts are on disk,
/// so that it is never without them. All ranks call the same functions; a group of one process
/// works alone.
class TUTTI_API partitioned_checkpoints {
 public:
  /// Throws as the constructor of checkpoints does.
  partitioned_checkpoints(std::filesystem::path folder, device_group group,
                          checkpoint_options options = {});

  /// Arrays are over the group, otherwise value_error. Throws io_error, on all ranks, as
  /// checkpoints::save() does; earlier checkpoints are not changed then.
  void save(const sharded_checkpoint& state) const;
  /// The newest checkpoint that is intact in all parts that any rank needs, split into equal parts
  /// along the axes of before, or replicated. Each rank reads one file of parts at a time. Throws
  /// io_error, on all ranks, if there are files but none that is intact.
  std::optional<sharded_checkpoint> newest() const;

 private:
  void save_parts(const sharded_checkpoint& state) const;
  sharded_checkpoint read(std::int64_t step) const;
  std::filesystem::path folder_;
  device_group group_;
  checkpoint_options options_;
};

}  // namespace tutti
