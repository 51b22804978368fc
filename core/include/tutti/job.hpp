// SPDX-License-Identifier: Apache-2.0
//
// Several processes, on one machine or on many, that run the same program on parts of the same
// work: the ranks of a job, as started by mpirun or srun. A program that is started alone is a job
// of one rank, for which everything works without MPI. See docs/multi-machine.md.
//
// All ranks call the same functions in the same order, from one thread at a time. Arrays are
// evaluated, and each function returns when its results are available; they are on the device of
// the argument.
//
// Gradients: value_and_grad of a function that all ranks call, and that calls these functions,
// differentiates the mean of the values that the ranks return. If all return the same value, such
// as a loss that all_reduce gave them, this is that value, counted once. Each rank gets the
// gradient with respect to its own arguments; if these are copies of one array, the sum over the
// ranks, all_reduce(), is the gradient of that array, except where shard(), replicate() or a
// collective that takes one value of all ranks has formed it. The backward pass exchanges
// cotangents, on all ranks in the reverse order of the forward pass, also where a rank needs none.
// A function that exchanges nothing that is differentiated is of its rank alone, and so is its
// gradient. A value that is only to be shown is exchanged as stop_gradient() of it.
// vjp takes the cotangents of each rank's own values. send() and receive() have no gradients;
// exchange() has.
//
// Throws, on all ranks and before values are sent, dtype_error and shape_error for mismatches, with
// two ranks and the values of each; value_error if ranks call different functions, for an invalid
// rank and if send() gets an array that is being differentiated; device_error TUTTI_ERROR_TIMEOUT
// with the ranks that did not call within the time limit. After that every call throws, and the end
// of the process ends the job. What is thrown on one rank alone, such as dtype_error for its
// arguments, the others throw as value_error with the rank and the text, except of exchange(),
// send() and receive(), which they wait for until the time limit. Errors of an exchange begin with
// the function that was called, also if it was one of a group.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "tutti/array.hpp"
#include "tutti/collective.hpp"
#include "tutti/device.hpp"
#include "tutti/export.hpp"

namespace tutti {

namespace multi {
class job_state;
}  // namespace multi

/// A handle; copies refer to the same job.
class TUTTI_API job {
 public:
  /// The job of this process. The first one joins it with the communication plugin TUTTI_COMM
  /// (`none`: this process alone) or, if mpirun or srun started several processes, with `mpi`, and
  /// waits for the other ranks. Throws plugin_error if the plugin cannot be loaded, or finds this
  /// process alone although several were started; value_error if ranks run different programs or
  /// versions of the library, naming both.
  job();

  int rank() const;  ///< from 0 to size() - 1
  int size() const;
  /// Seconds that a rank waits for others: TUTTI_TIMEOUT, default 10.
  double time_limit() const;

  /// Returns when all ranks have called it.
  void barrier() const;
  /// The reduction of all ranks' values, with the same bits on all ranks. Dtypes are integers
  /// (which wrap), floats or, for sum and avg, complex, and are kept; f16 and bf16 are reduced in
  /// f32 and rounded once.
  array all_reduce(const array& value,
                   collective::reduction with = collective::reduction::sum) const;
  /// The same for a list, combined into messages of about `bucket_bytes`, each of which is sent as
  /// soon as its arrays are computed.
  std::vector<array> all_reduce(const std::vector<array>& values,
                                collective::reduction with = collective::reduction::sum,
                                std::uint64_t bucket_bytes = std::uint64_t{4} << 20) const;
  /// All ranks' values concatenated along `axis`, along which extents may differ. Throws
  /// index_error for an invalid axis.
  array all_gather(const array& value, integer axis = 0) const;
  /// The value of rank `root`; on other ranks `value` specifies shape, dtype and device.
  array broadcast(const array& value, int root = 0) const;
  std::vector<array> broadcast(const std::vector<array>& values, int root = 0) const;

  /// Sends values[i] to rank to[i], and returns the next message from each of the ranks `from`, in
  /// this order, on the device `on`. All ranks call it, with empty lists if they send or receive
  /// nothing, and each message has a sender and a receiver. Shapes and dtypes may differ. The
  /// backward pass sends the cotangents back. Throws value_error if the lists do not match.
  std::vector<array> exchange(const std::vector<array>& values, const std::vector<int>& to,
                              const std::vector<int>& from,
                              const device& on = default_device()) const;

  /// Starts sending and returns. Messages with the same sender, receiver and tag (0 to 8191)
  /// arrive in order. Unlike the other functions, send and receive involve only two ranks.
  void send(const array& value, int to, int tag = 0) const;
  /// The next message of that rank and tag, of any shape and dtype.
  array receive(int from, int tag = 0, const device& on = default_device()) const;

  /// For internal use.
  explicit job(std::shared_ptr<multi::job_state> state) : state_(std::move(state)) {}
  const std::shared_ptr<multi::job_state>& state() const { return state_; }
  /// f(), the function `op` of a library that the application has called: see job_state::call.
  void call(std::string_view op, const std::function<void()>& f) const;

 private:
  std::shared_ptr<multi::job_state> state_;
};

}  // namespace tutti
