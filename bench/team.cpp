// SPDX-License-Identifier: Apache-2.0
//
// OpenMP keeps its threads between calls: starting them would distort short measurements.
#include "team.hpp"

#include <omp.h>

#include <algorithm>

namespace tutti::bench {

// Of the process, whatever OMP_NUM_THREADS says.
unsigned cores() { return static_cast<unsigned>(omp_get_num_procs()); }

void parallel(std::size_t count, std::size_t granule,
              const std::function<void(unsigned, std::size_t, std::size_t)>& body) {
  const std::size_t granules = (count + granule - 1) / granule;
#pragma omp parallel num_threads(cores())
  {
    const auto index = static_cast<unsigned>(omp_get_thread_num());
    const auto size = static_cast<unsigned>(omp_get_num_threads());
    const std::size_t begin = granules * index / size * granule;
    const std::size_t end = std::min(count, granules * (index + 1) / size * granule);
    body(index, begin, end);
  }
}

}  // namespace tutti::bench
