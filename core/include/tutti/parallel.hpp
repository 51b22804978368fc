// SPDX-License-Identifier: Apache-2.0
//
// Loops over the devices of a group, in chunks of the index range: a policy assigns chunks to
// devices, a failing device is removed and its chunks run elsewhere, and each index occurs in the
// result exactly once. docs/multi-device.md, "Parallel loops".
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/array.hpp"
#include "tutti/device_group.hpp"
#include "tutti/dtype.hpp"
#include "tutti/export.hpp"
#include "tutti/job.hpp"

namespace tutti {

/// The indices begin, begin + 1, ..., end - 1.
struct index_range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t size() const { return end - begin; }
  friend bool operator==(const index_range&, const index_range&) = default;
};

/// Assignment of chunks to devices. With each policy other devices do the work of a failed one.
enum class loop_policy {
  /// Equal parts, for equal devices.
  static_equal,
  /// Parts proportional to loop_options::weights. Without weights each device first runs a small
  /// probe, and the rest is split by the speeds measured there.
  weighted,
  /// Each chunk is a share of the remaining work: half of it, divided by measured speed. This is
  /// weighted factoring with adapted weights (Hummel, Schmidt, Uma, Wein 1996; Banicescu, Velusamy
  /// 2002, after factoring, Hummel, Schonberg, Flynn 1992, and guided self-scheduling,
  /// Polychronopoulos, Kuck 1987). A device gets no chunk that another one would finish earlier:
  /// the rule of HEFT (Topcuoglu, Hariri, Wu 2002) and of StarPU's dmda (Augonnet, Thibault,
  /// Namyst, Wacrenier 2011).
  dynamic,
  /// Initially equal parts; a device that has finished its part steals from the one with the most
  /// time left: half of the rest, more or less if speeds differ. After XKaapi (Gautier, Lima,
  /// Maillard, Raffin 2013) and Cilk (Blumofe, Leiserson 1999).
  work_stealing
};

/// "static_equal", "weighted", "dynamic" or "work_stealing".
TUTTI_API std::string_view to_string(loop_policy policy) noexcept;

struct loop_options {
  loop_policy policy = loop_policy::dynamic;
  /// For `weighted`: one number for each device of the group, not negative, not all 0; a device
  /// with weight 0 works only if all others have failed. loop_report::speeds() of an earlier loop
  /// can be used. Empty: measured.
  std::vector<double> weights{};
  /// Minimum number of indices in a chunk, unless fewer remain.
  std::int64_t grain = 1;
  /// Number of chunks that a device holds at a time; with 2 or more, uploads overlap the
  /// computation of the previous chunk.
  int depth = 2;
  /// Time limit in seconds of one chunk, from when the device could start it, without the time in
  /// which programs are compiled. A device that exceeds it is removed, and its later results are
  /// discarded. Absent: no limit, and a device that hangs blocks the loop.
  std::optional<double> time_limit{};
  /// Copies the results of the body to the host before the sink is called (chunk_results::values).
  bool fetch = true;
  /// Name of the loop in error messages and in the trace.
  std::string label = "parallel_for";
};

/// A part of the range, and the device and rank that work on it.
struct chunk {
  std::int64_t begin;
  std::int64_t end;
  tutti::device device;  ///< for the sink, where another rank has computed: the first of the group
  int rank = 0;
  std::int64_t size() const { return end - begin; }
};

/// The results of the body for one chunk, computed.
class TUTTI_API chunk_results {
 public:
  chunk_results(std::vector<array> arrays, std::vector<std::vector<std::byte>> host)
      : arrays_(std::move(arrays)), host_(std::move(host)) {}

  std::size_t size() const { return arrays_.size(); }
  const std::vector<array>& arrays() const { return arrays_; }
  /// The elements of array i on the host, row-major, valid as long as this object. Throws
  /// index_error if there is no such array, dtype_error if T does not match its dtype, value_error
  /// without loop_options::fetch.
  template <class T>
  std::span<const T> values(std::size_t i = 0) const {
    const std::span<const std::byte> raw = bytes_of(i, dtype_of<T>);
    return {reinterpret_cast<const T*>(raw.data()), raw.size() / sizeof(T)};
  }
  /// The same as bytes, for any dtype.
  std::span<const std::byte> bytes(std::size_t i = 0) const;

 private:
  std::span<const std::byte> bytes_of(std::size_t i, dtype type) const;

  std::vector<array> arrays_;
  std::vector<std::vector<std::byte>> host_;
};

/// Computes one chunk with arrays on c.device and returns the results, not evaluated. It is called
/// from one thread per device, concurrently, and again for a chunk that another device did not
/// finish: it must not assign to a captured array (`total += part`), which a sink may do.
using chunk_body = std::function<std::vector<array>(const chunk& c)>;

/// Receives the results of each chunk, each index exactly once, one call at a time, in the order in
/// which chunks finish.
using chunk_sink = std::function<void(const chunk& c, const chunk_results& results)>;

/// Statistics of one device in a loop.
struct device_report {
  std::string device;           ///< its name
  std::int64_t chunks = 0;      ///< number of finished chunks
  std::int64_t items = 0;       ///< number of their indices
  std::uint64_t bytes = 0;      ///< size of their results
  double busy_seconds = 0;      ///< of finished chunks: from the assignment, or the end of the
                                ///< previous chunk, to the end
  double busy_share = 0;        ///< busy_seconds / loop_report::makespan
  double throughput = 0;        ///< items / busy_seconds; 0 if no chunk was finished
  double last_finished = 0;     ///< seconds from the start of the loop to the end of its last chunk
  std::int64_t taken_back = 0;  ///< indices that were assigned but not finished there
  std::string failure{};        ///< why the device was removed; empty if it was not
};

struct TUTTI_API loop_report {
  std::vector<device_report> devices;  ///< in the order of the group
  std::int64_t items = 0;
  std::int64_t chunks = 0;
  double makespan = 0;  ///< seconds from the start of the loop to the end of the last chunk
  /// Seconds that the same devices need at their measured throughput if all finish together: items
  /// / sum of throughput. A device that was removed counts until its last finished chunk, so that
  /// the bound t is the solution of sum(throughput * min(t, last_finished)) = items.
  double lower_bound = 0;
  double ratio = 0;  ///< makespan / lower_bound; 0 for an empty range

  /// Throughput of each device: weights for the next loop with similar work.
  std::vector<double> speeds() const;
};

/// The report as a text table, one line per device.
TUTTI_API std::string to_string(const loop_report& report);

/// Runs body over all of `range`, in chunks, on the devices of the group.
///
/// A device is removed from the loop if the body, or evaluating its results, throws device_error of
/// a failing device, or if time_limit passes; its chunks run elsewhere. Throws device_error, with
/// each device and its error, when none is left; value_error for a range whose end is before its
/// begin and for options out of range. Any other exception of the body, the evaluation or the sink
/// is thrown and stops the loop; sinks may have been called for a part of it. A device_error with
/// code TUTTI_ERROR_INVALID_ARGUMENT is such an error of the caller, for example if body uses a
/// captured array on another device than c.device: move it with to(c.device). So is a result on
/// another device than c.device. With loop_options::fetch, a result that is being differentiated is
/// a value_error, because its values have no gradient.
///
/// Ranks of a job, with a group over all of them, call parallel_for with the same range and label.
/// Rank 0 assigns the chunks, calls the sink for all of them, and reports about all devices;
/// `policy`, `weights` (of the devices of all ranks), `grain` and `depth` are those of rank 0, and
/// `time_limit` that of each rank. Results need `fetch`. An error of the body or the sink is thrown
/// on all ranks; it names the rank, and has the type value_error or device_error on the others. A
/// rank from which nothing comes for the time limit of the job is lost: its chunks run elsewhere,
/// and later loops go on without it, but other functions of the job throw. If rank 0 is lost, the
/// others throw device_error TUTTI_ERROR_TIMEOUT.
///
/// A body that hangs keeps its captured objects: after a time_limit it may continue, in its own
/// thread, when parallel_for has returned. Objects that it captures by reference must live longer
/// than that; waiting for devices, which is the usual reason, happens outside of the body.
TUTTI_API loop_report parallel_for(const device_group& group, const index_range& range,
                                   const chunk_body& body, const chunk_sink& sink,
                                   const loop_options& options = {});

/// f over the rows of `inputs`, which have the same first extent n and may be on any devices. f
/// gets the rows of one chunk, on one device, and returns one array with as many rows. The result
/// has n rows and is on the first device of the group that did not fail. Throws as parallel_for
/// does, and shape_error if the first extents differ or f returns another number of rows or rows of
/// different shapes, dtype_error if they differ in dtype. The rows pass through the host and have
/// no gradient: value_error if an input, or a result of f, is being differentiated.
///
/// With a group over the ranks of a job all ranks pass the same inputs (only the number of rows is
/// compared), and each gets the whole result. Wrong arguments of one rank throw on all ranks.
/// loop_options::fetch has no effect.
TUTTI_API array parallel_map(const device_group& group, array_list inputs,
                             const std::function<array(const std::vector<array>& rows)>& f,
                             const loop_options& options = {}, loop_report* report = nullptr);
TUTTI_API array parallel_map(const device_group& group, const array& input,
                             const std::function<array(const array& rows)>& f,
                             const loop_options& options = {}, loop_report* report = nullptr);

}  // namespace tutti
