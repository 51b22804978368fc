// SPDX-License-Identifier: Apache-2.0
//
// Writes, reads, and copies between buffers of one context.
#include "opencl/objects.hpp"
#include "sdk/device_layer/transfer_table.hpp"

namespace tutti::opencl {
namespace {

// Returns when `memory` has been written: a blocking write only guarantees that `host` may be used
// again, and Intel's driver writes some bytes later, when work on other queues may have read the
// previous contents.
owned_event write_to_end(cl_command_queue queue, cl_mem memory, uint64_t offset, const void* host,
                         uint64_t bytes) {
  cl_event written = nullptr;
  check(clEnqueueWriteBuffer(queue, memory, CL_TRUE, offset, bytes, host, 0, nullptr, &written),
        "clEnqueueWriteBuffer");
  owned_event event(written);
  wait_for(written);
  return event;
}

// A blocking call reports failures that the stream waited for.
void finish_blocking(tutti_stream& stream) {
  if (!stream.awaited.empty()) sdk::throw_failure_among(stream.awaited.open());
}

}  // namespace

void backend::write(tutti_stream& stream, cl_mem memory, uint64_t offset, const void* host,
                    uint64_t bytes, bool blocking, tutti_event** event) {
  if (bytes == 0) return recording(stream, event).finish();
  if (blocking) {
    owned_event written = write_to_end(stream.queue, memory, offset, host, bytes);
    finish_blocking(stream);
    if (event != nullptr) *event = hand_out(stream, written.take());
    return;
  }
  cl_event done = nullptr;
  check(clEnqueueWriteBuffer(stream.queue, memory, CL_FALSE, offset, bytes, host, 0, nullptr,
                             event != nullptr ? &done : nullptr),
        "clEnqueueWriteBuffer");
  if (event != nullptr) *event = hand_out(stream, done);
}

void backend::read(tutti_stream& stream, cl_mem memory, uint64_t offset, void* host, uint64_t bytes,
                   bool blocking, tutti_event** event) {
  if (bytes == 0 && blocking) check(clFinish(stream.queue), "clFinish");
  if (bytes == 0) return recording(stream, event).finish();
  cl_event done = nullptr;
  check(clEnqueueReadBuffer(stream.queue, memory, blocking ? CL_TRUE : CL_FALSE, offset, bytes,
                            host, 0, nullptr, event != nullptr ? &done : nullptr),
        "clEnqueueReadBuffer");
  owned_event own(done);
  if (blocking) finish_blocking(stream);
  if (event != nullptr) *event = hand_out(stream, own.take());
}

void backend::copy(tutti_stream& stream, tutti_buffer& from, uint64_t from_offset, tutti_buffer& to,
                   uint64_t to_offset, uint64_t bytes, tutti_event** event) {
  if (bytes == 0) return recording(stream, event).finish();
  if (from.device->context != to.device->context)
    sdk::throw_unsupported("copy: ", from.device->info->name, " and ", to.device->info->name,
                           " are not of one platform");
  if (stream.device != from.device) memory_on(*stream.device, &to, "copy");
  cl_event done = nullptr;
  check(clEnqueueCopyBuffer(stream.queue, from.memory, to.memory, from_offset, to_offset, bytes, 0,
                            nullptr, event != nullptr ? &done : nullptr),
        "clEnqueueCopyBuffer");
  if (event != nullptr) *event = hand_out(stream, done);
}

const tutti_transfer_api transfer_api = sdk::transfer_functions<backend>::api;

}  // namespace tutti::opencl
