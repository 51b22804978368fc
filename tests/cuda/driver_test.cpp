// SPDX-License-Identifier: Apache-2.0
//
// What the plugin asks of the driver: properties, transfers between devices, what is compiled and
// cached, events, errors. What kernels compute, `tutti verify` judges.
#include <boost/test/unit_test.hpp>
#include <numeric>

#include "plugin.hpp"
#include "verify/program_spec.hpp"

using namespace tutti::test;

namespace {

tutti::conformance::program_spec sum_program() {
  tutti::conformance::program_spec p;
  p.label = "sum_program";
  const uint32_t x = p.input(TUTTI_F32), y = p.input(TUTTI_F32);
  p.output(p.op(TUTTI_OP_add, TUTTI_F32, {x, y}), TUTTI_F32);
  return p;
}

tutti_program* created(const open_device& d, const tutti::conformance::program_spec& p) {
  const tutti_program_desc desc = p.desc();
  tutti_program* program = nullptr;
  good(plugin().program->create(d.device, &desc, &program));
  return program;
}

void run(const open_device& d, tutti_program* program, uint64_t n) {
  tutti_buffer* memory = d.buffer(4 * n * 3);
  tutti_operand inputs[2] = {{memory, 0, {1}}, {memory, 4 * n, {1}}};
  tutti_operand output = {memory, 8 * n, {1}};
  tutti_program_launch l{};
  l.struct_size = sizeof l;
  l.operand_size = sizeof(tutti_operand);
  l.extent[0] = n;
  l.inputs = inputs;
  l.outputs = &output;
  good(plugin().program->launch(d.stream, program, &l, nullptr));
  good(plugin().stream->synchronize(d.stream));
  plugin().memory->release(memory);
}

}  // namespace

BOOST_AUTO_TEST_CASE(properties_come_from_the_driver) {
  uint32_t count = 0;
  good(plugin().device->count(&count));
  BOOST_TEST(count == 8u);
  tutti_device_properties p{};
  p.struct_size = sizeof p;
  good(plugin().device->properties(1, &p));
  BOOST_TEST(p.name == std::string("emulated GPU"));
  BOOST_TEST(p.type == TUTTI_DEVICE_GPU);
  BOOST_TEST(p.driver == std::string("CUDA 13.0, compute capability 9.0"));
  BOOST_TEST(p.compute_units == 2u);
  BOOST_TEST(p.memory_bytes == uint64_t{8} << 30);
  BOOST_TEST(p.has_uuid == 1u);
  BOOST_TEST(p.uuid[0] == 17);
  BOOST_TEST(p.uuid[15] == 32);
  BOOST_TEST(p.has_pci == 1u);
  BOOST_TEST(p.pci_domain == 1u);
  BOOST_TEST(p.pci_bus == 0x1cu);
  BOOST_TEST(p.pci_device == 3u);
  BOOST_TEST(p.unified_memory == 0u);
  for (int dtype = TUTTI_BOOL; dtype <= TUTTI_C128; ++dtype) {
    const bool half = dtype == TUTTI_F16 || dtype == TUTTI_BF16;
    BOOST_TEST((p.stored_dtypes & TUTTI_DTYPE_BIT(dtype)) != 0u);
    BOOST_TEST(((p.computed_dtypes & TUTTI_DTYPE_BIT(dtype)) != 0u) == !half);
  }
  BOOST_TEST(p.schedule == std::string("gpu"));
  const outcome wrong = take(plugin().device->properties(8, &p));
  BOOST_TEST(wrong.code == TUTTI_ERROR_INVALID_ARGUMENT);
  BOOST_TEST(wrong.message == "device index 8 of 8");
}

BOOST_AUTO_TEST_CASE(transfers_small_large_and_between_devices) {
  open_device a(0), b(1);
  for (const size_t n : {size_t{1}, size_t{1000}, size_t{3000001}}) {  // 3000001: in pieces
    std::vector<int> out(n), in(n);
    std::iota(out.begin(), out.end(), 7);
    tutti_buffer *from = a.buffer(4 * n), *here = a.buffer(4 * n), *there = b.buffer(4 * n);
    good(plugin().transfer->write(a.stream, from, 0, out.data(), 4 * n, 1, nullptr));
    good(plugin().transfer->copy(a.stream, from, 0, here, 0, 4 * n, nullptr));
    good(plugin().transfer->copy(a.stream, here, 0, there, 0, 4 * n, nullptr));
    good(plugin().stream->synchronize(a.stream));
    good(plugin().transfer->read(b.stream, there, 0, in.data(), 4 * n, 1, nullptr));
    BOOST_TEST((in == out), n << " elements");
    for (tutti_buffer* buffer : {from, here, there}) plugin().memory->release(buffer);
  }
  BOOST_TEST(CALL(emulator_count)("cuMemcpyPeerAsync") >= 3);
  tutti_buffer* empty = a.buffer(0);
  const outcome beyond = take(plugin().transfer->write(a.stream, empty, 1, "x", 1, 1, nullptr));
  plugin().memory->release(empty);
  BOOST_TEST(beyond.code == TUTTI_ERROR_INVALID_ARGUMENT);
}

BOOST_AUTO_TEST_CASE(programs_compile_once_and_come_from_the_cache_then) {
  host().cache.clear();
  host().compiled.clear();
  const auto map = sum_program();
  for (const char* expected : {"sum_program fresh", "sum_program cached"}) {
    open_device d;
    tutti_program* const program = created(d, map);
    BOOST_TEST(host().compiled.back() == expected);
    CALL(emulator_notes)();
    run(d, program, 1000);
    BOOST_TEST(CALL(emulator_notes)() == std::string("tutti_main 1 1 256\n"));
    plugin().program->release(program);
  }
  BOOST_TEST(host().cache.size() == 1u);
  // A spoilt entry is compiled again.
  host().cache.begin()->second.assign(100, 'x');
  open_device d;
  plugin().program->release(created(d, map));
  BOOST_TEST(host().compiled.back() == "sum_program fresh");
}

BOOST_AUTO_TEST_CASE(what_ended_processes_is_built_with_safer_options_then_left_out) {
  host().cache.clear();
  host().compilations = 0;
  const auto map = sum_program();
  open_device d;
  host().ends = 1;
  plugin().program->release(created(d, map));
  BOOST_TEST(host().compiled.back() == "sum_program fresh");
  BOOST_REQUIRE(host().cache.size() == 1u);
  BOOST_TEST((host().cache.begin()->first.find(" --device-debug\n") != std::string::npos));
  host().ends = 2;
  tutti_program* program = nullptr;
  const tutti_program_desc desc = map.desc();
  const outcome left_out = take(plugin().program->create(d.device, &desc, &program));
  host().ends = 0;
  BOOST_TEST(left_out.code == TUTTI_ERROR_UNSUPPORTED);
  BOOST_TEST((left_out.message.find("it is left out") != std::string::npos), left_out.message);
  BOOST_TEST(host().compilations == 2);
  BOOST_TEST(host().open_compilations == 0);
}

// Of events of one stream, whose work ends in order.
BOOST_AUTO_TEST_CASE(the_driver_is_asked_about_the_last_event_alone) {
  open_device d;
  const tutti_stream_api& api = *plugin().stream;
  tutti_stream* other = nullptr;
  good(create_stream(d.device, 0, &other));
  tutti_event *first = nullptr, *last = nullptr, *later = nullptr, *elsewhere = nullptr;
  good(api.record(d.stream, &first));
  good(api.record(d.stream, &last));
  good(api.record(d.stream, &later));
  good(api.record(other, &elsewhere));
  good(api.event_wait(last, TUTTI_FOREVER));
  CALL(emulator_fail)("cuEventSynchronize", 999, -1);
  CALL(emulator_fail)("cuEventQuery", 600, -1);  // CUDA_ERROR_NOT_READY
  int32_t done = 0;
  for (tutti_event* event : {first, last}) {
    good(api.event_wait(event, TUTTI_FOREVER));
    good(api.event_query(event, &done));
    BOOST_TEST(done == 1);
  }
  for (tutti_event* event : {later, elsewhere}) {
    BOOST_TEST(take(api.event_wait(event, TUTTI_FOREVER)).vendor_code == 999);
    good(api.event_query(event, &done));
    BOOST_TEST(done == 0);
  }
  for (const char* function : {"cuEventSynchronize", "cuEventQuery"})
    CALL(emulator_fail)(function, 0, 0);
  for (tutti_event* event : {first, last, later, elsewhere}) api.event_release(event);
  api.release(other);
}

// Times are floats of milliseconds from a base event, which must not lie far back.
BOOST_AUTO_TEST_CASE(the_clock_moves_its_base_on) {
  open_device d(0, TUTTI_STREAM_PROFILE);
  tutti_event* event = nullptr;
  good(plugin().stream->record(d.stream, &event));
  good(plugin().stream->synchronize(d.stream));
  CALL(emulator_set_elapsed)(40000);
  for (const uint64_t seconds : {40, 80}) {
    tutti_event_times times{sizeof times, 0, 0};
    good(plugin().profile->event_times(event, &times));
    BOOST_TEST(times.begin_ns == seconds * 1000000000u);
    BOOST_TEST(times.end_ns == (seconds + 40) * 1000000000u);
  }
  uint64_t now = 0;
  CALL(emulator_set_elapsed)(1000);
  good(plugin().profile->clock(d.device, &now));
  BOOST_TEST(now == 81000000000u);
  CALL(emulator_set_elapsed)(-1);
  plugin().stream->event_release(event);
}

BOOST_AUTO_TEST_CASE(out_of_memory_trims_the_pool_and_may_be_retried) {
  open_device d;
  const int trims = CALL(emulator_count)("cuMemPoolTrimTo");
  CALL(emulator_fail)("cuMemAllocAsync", 2, 1);
  tutti_buffer* buffer = nullptr;
  good(allocate(d.device, 1024, &buffer));
  BOOST_TEST(CALL(emulator_count)("cuMemPoolTrimTo") == trims + 1);
  plugin().memory->release(buffer);
  CALL(emulator_fail)("cuMemAllocAsync", 2, -1);
  const outcome full = take(allocate(d.device, 1024, &buffer));
  CALL(emulator_fail)("cuMemAllocAsync", 0, 0);
  BOOST_TEST(full.code == TUTTI_ERROR_OUT_OF_MEMORY);
  BOOST_TEST(full.vendor_code == 2);
  BOOST_TEST(full.retryable);
  BOOST_TEST(full.message == "allocate 1024 bytes on emulated GPU: CUDA_ERROR_OUT_OF_MEMORY (2)");
  const outcome absurd = take(allocate(d.device, ~uint64_t{0}, &buffer));
  BOOST_TEST(absurd.code == TUTTI_ERROR_OUT_OF_MEMORY);
  BOOST_TEST(!absurd.retryable);
}

BOOST_AUTO_TEST_CASE(a_sticky_error_marks_the_device_lost) {
  open_device d(7);
  CALL(emulator_fail)("cuStreamSynchronize", 700, 1);
  const outcome first = take(plugin().stream->synchronize(d.stream));
  BOOST_TEST(first.code == TUTTI_ERROR_DEVICE_LOST);
  BOOST_TEST(first.vendor_code == 700);
  BOOST_TEST(first.message == "work on the device failed: CUDA_ERROR_ILLEGAL_ADDRESS (700)");
  tutti_buffer* buffer = nullptr;
  const outcome later = take(allocate(d.device, 16, &buffer));
  BOOST_TEST(later.code == TUTTI_ERROR_DEVICE_LOST);
  BOOST_TEST(later.message.find("emulated GPU is lost since work on the device failed: "
                                "CUDA_ERROR_ILLEGAL_ADDRESS (700)") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(an_ordinary_error_leaves_the_device_usable) {
  open_device d;
  tutti_buffer* buffer = d.buffer(64);
  char byte = 0;
  CALL(emulator_fail)("cuMemcpyHtoDAsync_v2", 1, 1);
  const outcome failed = take(plugin().transfer->write(d.stream, buffer, 0, &byte, 1, 1, nullptr));
  BOOST_TEST(failed.code == TUTTI_ERROR_DRIVER);
  BOOST_TEST(failed.message == "write: CUDA_ERROR_INVALID_VALUE (1)");
  good(plugin().transfer->write(d.stream, buffer, 0, &byte, 1, 1, nullptr));
  plugin().memory->release(buffer);
}

// Whatever the cases above did, a device gives back all that it has taken.
BOOST_AUTO_TEST_CASE(nothing_is_left_behind) {
  { open_device d; }
  BOOST_TEST(CALL(emulator_alive)() == 0);
}
