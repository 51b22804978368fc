// SPDX-License-Identifier: Apache-2.0
//
// Loops spread over the devices of a group, in chunks of the index range: a policy says which
// device gets which chunk, a failing device is taken out and its chunks run elsewhere, and each
// index ends up in the result exactly once. docs/multi-device.md, "Parallel loops".
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

namespace tutti {

/// The indices begin, begin + 1, ..., end - 1.
struct index_range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t size() const { return end - begin; }
  friend bool operator==(const index_range&, const index_range&) = default;
};

/// Who gets which chunk. With each policy the parts of a device that failed go to the others.
enum class loop_policy {
  /// Equal parts, for equal devices.
  static_equal,
  /// Parts in proportion to loop_options::weights. Without weights each device first works on a
  /// small probe, and the rest is split by the speeds measured there.
  weighted,
  /// Each chunk is a share of what remains: half of it, divided by measured speed. That is weighted
  /// factoring with adapted weights (Hummel, Schmidt, Uma, Wein 1996; Banicescu, Velusamy 2002,
  /// after factoring, Hummel, Schonberg, Flynn 1992, and guided self-scheduling, Polychronopoulos,
  /// Kuck 1987). A device is handed no chunk that another one would finish earlier: the rule of
  /// HEFT (Topcuoglu, Hariri, Wu 2002) and of StarPU's dmda (Augonnet, Thibault, Namyst,
  /// Wacrenier 2011).
  dynamic,
  /// Equal parts to begin with; a device whose part is done takes from the one that has the most
  /// time left: half of its rest, more or less where speeds differ. After XKaapi (Gautier, Lima,
  /// Maillard, Raffin 2013) and Cilk (Blumofe, Leiserson 1999).
  work_stealing
};

/// "static_equal", "weighted", "dynamic" or "work_stealing".
TUTTI_API std::string_view to_string(loop_policy policy) noexcept;

struct loop_options {
  loop_policy policy = loop_policy::dynamic;
  /// For `weighted`: one number for each device of the group, none negative, not all 0; a device of
  /// weight 0 works only where all others have failed. loop_report::speeds() of an earlier loop is
  /// such a list. Empty: measured.
  std::vector<double> weights{};
  /// Least number of indices in a chunk, but where fewer remain.
  std::int64_t grain = 1;
  /// Chunks that a device holds at a time; from 2 on, the uploads of one overlap the computation of
  /// the one before.
  int depth = 2;
  /// Seconds that one chunk may take on a device, counted from when the device could start on it,
  /// without the time in which programs are compiled. A device that needs longer is taken out, and
  /// what it says later is dropped. Absent: no limit, and a device that hangs hangs the loop.
  std::optional<double> time_limit{};
  /// Reads what the body returns to the host, before the sink is called (chunk_results::values).
  bool fetch = true;
  /// Name of the loop in error messages and in the trace.
  std::string label = "parallel_for";
};

/// A piece of the range and the device that works on it.
struct chunk {
  std::int64_t begin;
  std::int64_t end;
  tutti::device device;
  std::int64_t size() const { return end - begin; }
};

/// What the body returned for one chunk, computed.
class TUTTI_API chunk_results {
 public:
  chunk_results(std::vector<array> arrays, std::vector<std::vector<std::byte>> host)
      : arrays_(std::move(arrays)), host_(std::move(host)) {}

  std::size_t size() const { return arrays_.size(); }
  const std::vector<array>& arrays() const { return arrays_; }
  /// The elements of array i on the host, row-major; they go with this object. Throws index_error
  /// where there is no such array, dtype_error where T is not its dtype, value_error without
  /// loop_options::fetch.
  template <class T>
  std::span<const T> values(std::size_t i = 0) const {
    const std::span<const std::byte> raw = bytes_of(i, dtype_of<T>);
    return {reinterpret_cast<const T*>(raw.data()), raw.size() / sizeof(T)};
  }
  /// The same as bytes, whatever the dtype.
  std::span<const std::byte> bytes(std::size_t i = 0) const;

 private:
  std::span<const std::byte> bytes_of(std::size_t i, dtype type) const;

  std::vector<array> arrays_;
  std::vector<std::vector<std::byte>> host_;
};

/// Computes one chunk with arrays on c.device and returns the results, not evaluated. It is called
/// from one thread for each device, at the same time from several, and again for a chunk that was
/// taken back: it must not assign to an array that it captured (`total += part`), which a sink may.
using chunk_body = std::function<std::vector<array>(const chunk& c)>;

/// Receives the results of each chunk, exactly once for each index, one call at a time, in the
/// order in which chunks finish.
using chunk_sink = std::function<void(const chunk& c, const chunk_results& results)>;

/// What one device did in a loop.
struct device_report {
  std::string device;       ///< its name
  std::int64_t chunks = 0;  ///< finished there
  std::int64_t items = 0;   ///< indices of those
  std::uint64_t bytes = 0;  ///< of their results
  double busy_seconds = 0;  ///< between handing a chunk over, or the end of the one before, and its
                            ///< end; of finished chunks
  double busy_share = 0;    ///< busy_seconds / loop_report::makespan
  double throughput = 0;    ///< items / busy_seconds; 0 where nothing was finished
  double last_finished = 0;     ///< seconds from the start of the loop to the end of its last chunk
  std::int64_t taken_back = 0;  ///< indices that were handed over and not finished there
  std::string failure{};        ///< why the device was taken out; empty: it was not
};

struct TUTTI_API loop_report {
  std::vector<device_report> devices;  ///< in the order of the group
  std::int64_t items = 0;
  std::int64_t chunks = 0;
  double makespan = 0;  ///< seconds from the start of the loop to the end of the last chunk
  /// Seconds that the same devices need at their measured throughput when all finish together:
  /// items / sum of throughput. A device that was taken out counts until its last finished chunk,
  /// so that the bound t is the solution of sum(throughput * min(t, last_finished)) = items.
  double lower_bound = 0;
  double ratio = 0;  ///< makespan / lower_bound; 0 for an empty range

  /// Throughput of each device: weights for the next loop over the same kind of work.
  std::vector<double> speeds() const;
};

/// The report as a table of text, a line for each device.
TUTTI_API std::string to_string(const loop_report& report);

/// Runs body over all of `range`, in chunks, on the devices of the group.
///
/// A device is taken out of the loop where the body, or evaluating what it returned, throws
/// device_error of a failing device, or where time_limit passes; its chunks run elsewhere. Throws
/// device_error, naming each device and its error, when none is left; value_error for a range whose
/// end lies before its begin and for options out of range; and whatever else body or evaluating
/// throws, and anything that sink throws: the loop stops then, and sinks may have been called for a
/// part of it. A device_error of code TUTTI_ERROR_INVALID_ARGUMENT is such an error of the caller,
/// as where body uses an array that it captured from another device than c.device: body moves it,
/// with to(c.device). So is a result on another device than c.device. A result that is being
/// differentiated is a value_error with loop_options::fetch: its values have no gradient.
///
/// A body that hangs in itself keeps what it captured: after a time_limit it may go on, in a thread
/// of its own, when parallel_for has returned. What it captures by reference has to outlive that;
/// waiting for devices, where hanging is usual, happens outside of the body.
TUTTI_API loop_report parallel_for(const device_group& group, const index_range& range,
                                   const chunk_body& body, const chunk_sink& sink,
                                   const loop_options& options = {});

/// f over the rows of `inputs`, which have the same first extent n and may be on any devices: f
/// gets the rows of one chunk, on one device, and returns one array with as many rows. The result
/// has n rows and is on the first device of the group that did not fail. Throws as parallel_for
/// does, and shape_error where the first extents differ or f returns another number of rows or rows
/// of differing shapes, dtype_error where they differ in dtype. The rows pass through the host and
/// have no gradient there: value_error where an input, or what f returns, is being differentiated.
TUTTI_API array parallel_map(const device_group& group, std::span<const array> inputs,
                             const std::function<array(const std::vector<array>& rows)>& f,
                             const loop_options& options = {}, loop_report* report = nullptr);
TUTTI_API array parallel_map(const device_group& group, const array& input,
                             const std::function<array(const array& rows)>& f,
                             const loop_options& options = {}, loop_report* report = nullptr);

}  // namespace tutti
