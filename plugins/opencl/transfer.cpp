// SPDX-License-Identifier: Apache-2.0
//
// Writes, reads, and copies between buffers; between contexts through the host.
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

// Host copy of data between contexts, freed when the write to the target is done.
void CL_CALLBACK free_staging(cl_event, cl_int, void* staging) {
  delete[] static_cast<unsigned char*>(staging);
}

void copy_across(tutti_stream* stream, tutti_buffer* from, uint64_t from_offset, tutti_buffer* to,
                 uint64_t to_offset, uint64_t bytes, cl_event* done) {
  // `stream` may belong to either device; a separate queue is used for the other one.
  auto staging = std::make_unique<unsigned char[]>(bytes);
  const auto queue_for = [&](tutti_device& device, owned_queue& own) {
    if (device.context->get() == stream->device->context->get()) return stream->queue;
    cl_int code = CL_SUCCESS;
    own = owned_queue(clCreateCommandQueue(device.context->get(), device.info->id, 0, &code));
    check(code, "clCreateCommandQueue");
    return own.get();
  };
  owned_queue own_source, own_target;
  const cl_command_queue source = queue_for(*from->device, own_source);
  const cl_command_queue target = queue_for(*to->device, own_target);
  check(clEnqueueReadBuffer(source, from->memory, CL_TRUE, from_offset, bytes, staging.get(), 0,
                            nullptr, nullptr),
        "clEnqueueReadBuffer");
  if (target != stream->queue) {
    // The caller's stream is the source's: its later work must find the target written.
    write_to_end(target, to->memory, to_offset, staging.get(), bytes);
    if (done != nullptr) {
      check(clEnqueueMarkerWithWaitList(stream->queue, 0, nullptr, done),
            "clEnqueueMarkerWithWaitList");
    }
    return;
  }
  cl_event written = nullptr;
  check(clEnqueueWriteBuffer(target, to->memory, CL_FALSE, to_offset, bytes, staging.get(), 0,
                             nullptr, &written),
        "clEnqueueWriteBuffer");
  owned_event event(written);
  const cl_int code = clSetEventCallback(written, CL_COMPLETE, free_staging, staging.get());
  if (code != CL_SUCCESS) {
    clWaitForEvents(1, &written);
    throw_error(code, "clSetEventCallback");
  }
  staging.release();
  if (done != nullptr) *done = event.take();
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
  cl_event done = nullptr;
  cl_event* const wanted = event != nullptr ? &done : nullptr;
  if (from.device->context != to.device->context) {
    copy_across(&stream, &from, from_offset, &to, to_offset, bytes, wanted);
  } else {
    if (stream.device != from.device) memory_on(*stream.device, &to, "copy");
    check(clEnqueueCopyBuffer(stream.queue, from.memory, to.memory, from_offset, to_offset, bytes,
                              0, nullptr, wanted),
          "clEnqueueCopyBuffer");
  }
  if (event != nullptr) *event = hand_out(stream, done);
}

const tutti_transfer_api transfer_api = sdk::transfer_functions<backend>::api;

}  // namespace tutti::opencl
