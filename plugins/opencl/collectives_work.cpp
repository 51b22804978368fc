// SPDX-License-Identifier: Apache-2.0
//
// The commands of a collective. Each device reduces its slice of all inputs, in the order of the
// participants, so every device gets the same bits; then results are copied to their destinations.
// CPU devices of one context read each other's memory. Between other devices a driver would move
// whole buffers, so chunks are copied, and no buffer is written by one device while another reads
// it.
#include <algorithm>

#include "embedded_kernels.hpp"
#include "opencl/collectives.hpp"
#include "sdk/op_info.hpp"

namespace tutti::opencl {
namespace {

constexpr uint32_t most_sources = 8;         // of one launch
constexpr uint64_t piece_bytes = 4 << 20;    // of a slice that is copied at once
constexpr uint64_t kept_scratch = 16 << 20;  // between calls

// As tutti_combine_range in collectives.cl.
struct combine_range {
  int64_t count, target, source[most_sources];
};

std::string_view kernel_text() {
  static const auto* const text =
      new std::string(std::string(kernels::prelude_cl) + std::string(kernels::collectives_cl));
  return *text;
}

struct element {
  const char* stored;
  const char* accumulated;
  int kind;
};

// Sums and products of integers run in unsigned types, where they wrap.
element element_of(int32_t dtype, bool wraps) {
  switch (dtype) {
    // clang-format off
    case TUTTI_BOOL: return {"uchar", "uchar", 3};
    case TUTTI_I8: return wraps ? element{"uchar", "uint", 0} : element{"char", "char", 0};
    case TUTTI_I16: return wraps ? element{"ushort", "uint", 0} : element{"short", "short", 0};
    case TUTTI_I32: return wraps ? element{"uint", "uint", 0} : element{"int", "int", 0};
    case TUTTI_I64: return wraps ? element{"ulong", "ulong", 0} : element{"long", "long", 0};
    case TUTTI_U8: return {"uchar", wraps ? "uint" : "uchar", 0};
    case TUTTI_U16: return {"ushort", wraps ? "uint" : "ushort", 0};
    case TUTTI_U32: return {"uint", "uint", 0};
    case TUTTI_U64: return {"ulong", "ulong", 0};
    case TUTTI_F16: return {"half", "float", 1};
    case TUTTI_BF16: return {"ushort", "float", 2};
    case TUTTI_F32: return {"float", "float", 0};
    case TUTTI_F64: return {"double", "double", 0};
    // clang-format on
    default:
      sdk::throw_unsupported("collectives: no reduction of ", sdk::dtype_name(dtype));
  }
}

bool overlap(const place& a, uint64_t a_bytes, const place& b, uint64_t b_bytes) {
  return a.memory == b.memory && a.offset < b.offset + b_bytes && b.offset < a.offset + a_bytes;
}

void reserve(collective_lane& lane, scratch& room, uint64_t bytes) {
  if (bytes <= room.bytes) return;
  cl_int code = CL_SUCCESS;
  owned_memory memory(
      clCreateBuffer(lane.device->context->get(), CL_MEM_READ_WRITE, bytes, nullptr, &code));
  if (code != CL_SUCCESS) {
    throw_error(code,
                "collectives: " + std::to_string(bytes) + " bytes on " + lane.device->info->name);
  }
  lane.device->allocated += bytes;
  lane.device->allocated -= room.bytes;
  room = {std::move(memory), bytes};
}

class work {
 public:
  work(std::vector<collective_lane>& lanes, collective_operation& op)
      : lanes_(lanes), op_(op), n_(static_cast<uint32_t>(lanes.size())) {
    size_ = sdk::dtype_size(op.shape.dtype);
    direct_ = std::all_of(lanes.begin(), lanes.end(), [](const collective_lane& lane) {
      const device_info& info = *lane.device->info;
      return info.kind == sdk::schedule::cpu && info.properties.unified_memory != 0;
    });
    reduces_ = sdk::reduces(op.shape.kind);
  }

  void prepare();
  void enqueue(const collective_operation* previous);

 private:
  // The slice of device `d`.
  uint64_t first(uint32_t d) const {
    const uint64_t count = op_.shape.count;
    return count / n_ * d + std::min<uint64_t>(d, count % n_);
  }
  uint64_t length(uint32_t d) const { return first(d + 1) - first(d); }
  uint64_t input_bytes() const { return op_.shape.count * size_; }
  uint64_t output_bytes() const;
  bool staged(uint32_t d) const;
  place source(uint32_t d) const;
  place target(uint32_t d) const;
  uint64_t piece(uint32_t d) const;
  uint32_t launches() const { return (n_ + most_sources - 1) / most_sources; }

  shared_kernel& kernel(uint32_t d, uint32_t launch) const;
  void hold(cl_event event) { op_.held.emplace_back(event); }
  void barrier(const std::vector<cl_event>& waits);
  void start(const collective_operation* previous);
  void meet();
  void copy(uint32_t on, place from, place to, uint64_t bytes);
  void reduce_slice(uint32_t d);
  void combine(uint32_t d, uint32_t launch, const place* sources, place to, uint64_t count);
  void exchange();
  void spread();

  std::vector<collective_lane>& lanes_;
  collective_operation& op_;
  uint32_t n_;
  uint64_t size_;
  bool direct_, reduces_;
};

uint64_t work::output_bytes() const {
  switch (op_.shape.kind) {
    case TUTTI_COLLECTIVE_REDUCE_SCATTER:
      return input_bytes() / n_;
    case TUTTI_COLLECTIVE_ALL_GATHER:
      return input_bytes() * n_;
    default:
      return input_bytes();
  }
}

// Whether the input of `d` is copied first, because its output is written while others read it.
bool work::staged(uint32_t d) const {
  const place &in = op_.parts[d].in, &out = op_.parts[d].out;
  if (!overlap(in, input_bytes(), out, output_bytes())) return false;
  switch (op_.shape.kind) {
    case TUTTI_COLLECTIVE_ALL_REDUCE:
      return direct_ && in != out;
    case TUTTI_COLLECTIVE_REDUCE_SCATTER:
      return direct_ && out != in + first(d) * size_;
    case TUTTI_COLLECTIVE_ALL_GATHER:
      return !direct_ || in != out + d * input_bytes();
    default:
      return n_ > 1;
  }
}

place work::source(uint32_t d) const {
  return staged(d) ? place{lanes_[d].staged.memory.get(), 0} : op_.parts[d].in;
}

// First destination of the reduced slice of `d`.
place work::target(uint32_t d) const {
  if (!direct_) return {lanes_[d].result.memory.get(), 0};
  const bool scatters = op_.shape.kind == TUTTI_COLLECTIVE_REDUCE_SCATTER;
  return op_.parts[d].out + (scatters ? 0 : first(d) * size_);
}

uint64_t work::piece(uint32_t d) const {
  const bool whole = direct_ && launches() == 1;
  return whole ? length(d) : std::min(length(d), piece_bytes / size_);
}

shared_kernel& work::kernel(uint32_t d, uint32_t launch) const {
  const device_info& info = *lanes_[d].device->info;
  const collective_shape& shape = op_.shape;
  const bool wraps = shape.reduction == TUTTI_REDUCE_SUM || shape.reduction == TUTTI_REDUCE_PROD;
  const element e = element_of(shape.dtype, wraps);
  const uint32_t sources = std::min(most_sources, n_ - launch * most_sources);
  const uint32_t group = info.kind == sdk::schedule::cpu ? 1 : info.work_group;
  const auto number = [](const char* name, uint32_t value) {
    return std::string(" -D") + name + "=" + std::to_string(value);
  };
  const std::string options = std::string("-DT=") + e.stored + " -DA=" + e.accumulated +
                              number("KIND", static_cast<uint32_t>(e.kind)) +
                              number("REDUCTION", static_cast<uint32_t>(shape.reduction)) +
                              number("SOURCES", sources) + number("FIRST", launch == 0) +
                              number("LAST", launch + 1 == launches()) + number("GROUP", group) +
                              number("IS_F64", shape.dtype == TUTTI_F64);
  return lanes_[d].device->kernel(kernel_text(), options, "tutti_combine");
}

void work::prepare() {
  for (uint32_t d = 0; d < n_; ++d) {
    collective_lane& lane = lanes_[d];
    if (staged(d)) reserve(lane, lane.staged, input_bytes());
    if (!reduces_ || length(d) == 0) continue;
    for (uint32_t launch = 0; launch < launches(); ++launch) kernel(d, launch);
    if (!direct_) {
      reserve(lane, lane.result, length(d) * size_);
      reserve(lane, lane.fetched, piece(d) * size_ * std::min(n_, most_sources));
    }
    if (launches() > 1) reserve(lane, lane.carry, piece(d) * sizeof(uint64_t));
  }
}

void work::barrier(const std::vector<cl_event>& waits) {
  for (const collective_lane& lane : lanes_) {
    cl_event event = nullptr;
    check(clEnqueueBarrierWithWaitList(lane.queue.get(), static_cast<cl_uint>(waits.size()),
                                       waits.data(), &event),
          "clEnqueueBarrierWithWaitList");
    hold(event);
  }
}

// Nothing starts before all participants have called, and before the scratch memory is free again.
void work::start(const collective_operation* previous) {
  std::vector<cl_event> waits;
  for (const auto& part : op_.parts) waits.push_back(part.before.get());
  if (previous != nullptr) {
    for (const owned_event& end : previous->ends) waits.push_back(end.get());
  }
  barrier(waits);
}

std::vector<owned_event> mark(const std::vector<collective_lane>& lanes) {
  std::vector<owned_event> marks;
  for (const collective_lane& lane : lanes) {
    cl_event event = nullptr;
    check(clEnqueueMarkerWithWaitList(lane.queue.get(), 0, nullptr, &event),
          "clEnqueueMarkerWithWaitList");
    marks.emplace_back(event);
  }
  return marks;
}

// Later commands on any device come after earlier ones on all devices.
void work::meet() {
  std::vector<owned_event> marks = mark(lanes_);
  std::vector<cl_event> waits;
  for (const owned_event& event : marks) waits.push_back(event.get());
  barrier(waits);
  for (owned_event& event : marks) op_.held.push_back(std::move(event));
}

void work::copy(uint32_t on, place from, place to, uint64_t bytes) {
  if (bytes == 0 || from == to) return;
  cl_event event = nullptr;
  check(clEnqueueCopyBuffer(lanes_[on].queue.get(), from.memory, to.memory, from.offset, to.offset,
                            bytes, 0, nullptr, &event),
        "clEnqueueCopyBuffer");
  hold(event);
}

void work::combine(uint32_t d, uint32_t launch, const place* sources, place to, uint64_t count) {
  const collective_lane& lane = lanes_[d];
  const device_info& info = *lane.device->info;
  const uint32_t given = std::min(most_sources, n_ - launch * most_sources);
  shared_kernel& shared = kernel(d, launch);
  const std::lock_guard lock(shared.mutex);
  const cl_kernel handle = shared.kernel.handle.get();
  combine_range range{};
  range.count = static_cast<int64_t>(count);
  range.target = static_cast<int64_t>(to.offset / size_);
  set_argument(handle, 0, to.memory);
  set_argument(handle, 1, launches() > 1 ? lane.carry.memory.get() : to.memory);
  for (uint32_t n = 0; n < most_sources; ++n) {
    const place& from = sources[n < given ? n : 0];
    set_argument(handle, 2 + n, from.memory);
    range.source[n] = static_cast<int64_t>(from.offset / size_);
  }
  set_argument(handle, 2 + most_sources, range);
  const uint64_t units = info.properties.compute_units;
  const bool cpu = info.kind == sdk::schedule::cpu;
  const uint64_t group = cpu ? 1 : info.work_group;
  const uint64_t wanted = cpu ? count * given / 16384 : (count + group - 1) / group;
  const uint64_t groups = std::clamp<uint64_t>(wanted, 1, cpu ? units * 4 : units * 32);
  cl_event event = nullptr;
  opencl::enqueue(lane.queue.get(), shared.kernel, groups, group, &event,
                  sdk::collective_name(op_.shape.kind));
  hold(event);
}

void work::reduce_slice(uint32_t d) {
  const uint64_t all = length(d), step = piece(d);
  for (uint64_t at = 0; at < all; at += step) {
    const uint64_t count = std::min(step, all - at);
    for (uint32_t launch = 0; launch < launches(); ++launch) {
      place sources[most_sources];
      for (uint32_t n = 0; n < most_sources && launch * most_sources + n < n_; ++n) {
        const uint32_t from = launch * most_sources + n;
        sources[n] = source(from) + (first(d) + at) * size_;
        if (direct_ || from == d) continue;
        const place near{lanes_[d].fetched.memory.get(), n * step * size_};
        copy(d, sources[n], near, count * size_);
        sources[n] = near;
      }
      combine(d, launch, sources, target(d) + at * size_, count);
    }
  }
}

// From the positions of the slices to the outputs.
void work::spread() {
  const bool scatters = op_.shape.kind == TUTTI_COLLECTIVE_REDUCE_SCATTER;
  if (direct_ && scatters) return;
  meet();
  for (uint32_t to = 0; to < n_; ++to) {
    for (uint32_t from = 0; from < n_; ++from) {
      if (scatters) {
        if (from == to) copy(to, target(to), op_.parts[to].out, length(to) * size_);
      } else {
        copy(to, target(from), op_.parts[to].out + first(from) * size_, length(from) * size_);
      }
    }
  }
}

void work::exchange() {
  const uint64_t all = input_bytes(), share = all / n_;
  for (uint32_t to = 0; to < n_; ++to) {
    const place out = op_.parts[to].out;
    for (uint32_t step = 0; step < n_; ++step) {
      const uint32_t from = (to + step) % n_;  // so that not all read from the same device at once
      if (op_.shape.kind == TUTTI_COLLECTIVE_ALL_GATHER) {
        copy(to, source(from), out + from * all, all);
      } else {
        copy(to, source(from) + to * share, out + from * share, share);
      }
    }
  }
}

void work::enqueue(const collective_operation* previous) {
  start(previous);
  bool any = false;
  for (uint32_t d = 0; d < n_; ++d) {
    if (!staged(d)) continue;
    copy(d, op_.parts[d].in, source(d), input_bytes());
    any = true;
  }
  if (any) meet();
  if (reduces_) {
    for (uint32_t d = 0; d < n_; ++d) reduce_slice(d);
    spread();
  } else {
    exchange();
  }
  op_.ends = mark(lanes_);
  for (const collective_lane& lane : lanes_) check(clFlush(lane.queue.get()), "clFlush");
}

}  // namespace

void prepare_collective(std::vector<collective_lane>& lanes, collective_operation& op) {
  work(lanes, op).prepare();
}

void enqueue_collective(std::vector<collective_lane>& lanes, collective_operation& op,
                        const collective_operation* previous) {
  work(lanes, op).enqueue(previous);
}

void trim_collective(std::vector<collective_lane>& lanes) {
  for (collective_lane& lane : lanes) {
    for (scratch* room : {&lane.staged, &lane.result, &lane.fetched, &lane.carry}) {
      if (room->bytes <= kept_scratch) continue;
      lane.device->allocated -= room->bytes;
      *room = {};
    }
  }
}

}  // namespace tutti::opencl
