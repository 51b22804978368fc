// SPDX-License-Identifier: Apache-2.0
#include "base/launcher.hpp"

#include <fmt/format.h>

#include <charconv>

#include "base/env.hpp"

namespace tutti::base {
namespace {

struct variables {
  const char *size, *rank;
};

// Open MPI, MPICH and similar, Slurm's steps.
constexpr variables launchers[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                   {"PMI_SIZE", "PMI_RANK"},
                                   {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};

int number_in(const char* name) {
  const std::string text = env(name).value_or("");
  int number = -1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

std::optional<launched_process> launched_as() {
  for (const variables& v : launchers)
    if (const int size = number_in(v.size); size > 1)
      return launched_process{fmt::format("{}={}", v.size, size), number_in(v.rank)};
  return std::nullopt;
}

}  // namespace tutti::base
