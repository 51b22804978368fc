// SPDX-License-Identifier: Apache-2.0
//
// Many processes, on one machine or many, that run the same program on parts of the same work: the
// ranks of a job, as mpirun or srun starts them. A program that was started alone is a job of one
// rank, and everything here works without MPI. docs/multi-machine.md is the guide.
//
// All ranks call the same functions in the same order, from one thread at a time. Arrays are
// evaluated, and each function returns when its results are there; they are on the device of what
// was given. Nothing here has a gradient.
//
// Throws, on all ranks and before values move, dtype_error and shape_error where ranks disagree,
// naming two of them with what each has; value_error where they call different functions, for a
// rank that there is not and for an array that is being differentiated; device_error
// TUTTI_ERROR_TIMEOUT naming the ranks that did not come within the time limit. After that every
// call throws, and the end of the process ends the job.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tutti/array.hpp"
#include "tutti/collective.hpp"
#include "tutti/device.hpp"
#include "tutti/export.hpp"

namespace tutti {

namespace multi {
class job_state;
}  // namespace multi

/// A handle; copies are the same job.
class TUTTI_API job {
 public:
  /// The job of this process. The first one joins it, by the communication plugin that TUTTI_COMM
  /// names (`none`: this process alone) or, where mpirun or srun started several processes, by
  /// `mpi`; that waits for the other ranks. Throws plugin_error where the plugin cannot be loaded,
  /// value_error where ranks run different programs or versions of the library, naming both.
  job();

  int rank() const;  ///< from 0 to size() - 1
  int size() const;
  /// Seconds that a rank waits for others: TUTTI_TIMEOUT, 10 where that is not set.
  double time_limit() const;

  /// Returns when all ranks have called it.
  void barrier() const;
  /// The reduction of all ranks' values, with the same bits on all of them. Dtypes are integers
  /// (which wrap) or floats, and stay; f16 and bf16 are reduced in f32 and rounded once.
  array all_reduce(const array& value,
                   collective::reduction with = collective::reduction::sum) const;
  /// The same for a list, joined to messages of about `bucket_bytes`, each of which goes as soon as
  /// its arrays are computed.
  std::vector<array> all_reduce(const std::vector<array>& values,
                                collective::reduction with = collective::reduction::sum,
                                std::uint64_t bucket_bytes = std::uint64_t{4} << 20) const;
  /// All ranks' values one after the other along `axis`, along which extents may differ. Throws
  /// index_error for an axis that there is not.
  array all_gather(const array& value, integer axis = 0) const;
  /// The value of rank `root`; on the others `value` says shape, dtype and device.
  array broadcast(const array& value, int root = 0) const;
  std::vector<array> broadcast(const std::vector<array>& values, int root = 0) const;

  /// Starts to send and returns. Messages of one sender, receiver and tag (0 to 16383) arrive in
  /// order. Unlike the others, send and receive concern two ranks only.
  void send(const array& value, int to, int tag = 0) const;
  /// The next message of that rank and tag, whatever its shape and dtype.
  array receive(int from, int tag = 0, const device& on = default_device()) const;

  /// For the library itself.
  explicit job(std::shared_ptr<multi::job_state> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<multi::job_state> state_;
};

}  // namespace tutti
