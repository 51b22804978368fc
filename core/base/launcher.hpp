// SPDX-License-Identifier: Apache-2.0
//
// What mpirun or srun tells each of the processes that it starts, by variables that are there
// before a job is joined.
#pragma once

#include <optional>
#include <string>

namespace tutti::base {

struct launched_process {
  std::string sign;  ///< "PMI_SIZE=4"
  int rank = -1;     ///< -1 where the launcher does not say
};

/// This process as one of several; nothing where it was started alone.
std::optional<launched_process> launched_as();

}  // namespace tutti::base
