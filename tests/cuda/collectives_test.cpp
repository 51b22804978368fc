// SPDX-License-Identifier: Apache-2.0
//
// What the collectives hand to NCCL, over a stub of it: counts, types, operations, roots, and the
// answers to wrong arguments. A missing library comes first: what is found is kept.
#include <boost/test/unit_test.hpp>

#include "plugin.hpp"

using namespace tutti::test;

namespace {

std::string calls() {
  static void* const library = dlopen(std::getenv("TUTTI_CUDA_NCCL"), RTLD_NOW);
  return reinterpret_cast<const char* (*)()>(dlsym(library, "stub_nccl_calls"))();
}

struct pair_of_devices {
  tutti_device* device[2] = {};
  tutti_stream* stream[2] = {};
  tutti_buffer* memory[2] = {};
  pair_of_devices() {
    for (uint32_t n = 0; n < 2; ++n) {
      good(plugin().device->open(n, &device[n]));
      good(create_stream(device[n], 0, &stream[n]));
      good(allocate(device[n], 1024, &memory[n]));
    }
  }
  ~pair_of_devices() {
    for (uint32_t n = 0; n < 2; ++n) {
      plugin().memory->release(memory[n]);
      plugin().stream->release(stream[n]);
      plugin().device->release(device[n]);
    }
  }
  tutti_view view(int n, int32_t dtype, uint64_t count) const {
    tutti_view v{};
    v.buffer = memory[n];
    v.dtype = dtype;
    v.rank = 1;
    v.extent[0] = count;
    v.stride[0] = 1;
    return v;
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_missing_library_is_named) {
  const std::string kept = std::getenv("TUTTI_CUDA_NCCL");
  setenv("TUTTI_CUDA_NCCL", "libnccl_absent.so.2", 1);
  {
    pair_of_devices d;
    tutti_communicator* participants[2] = {};
    const outcome result = take(plugin().collective->create(d.device, 2, participants));
    BOOST_TEST(result.code == TUTTI_ERROR_UNSUPPORTED);
    BOOST_TEST(result.message.find("libnccl_absent.so.2 not found") != std::string::npos);
  }
  setenv("TUTTI_CUDA_NCCL", kept.c_str(), 1);
}

BOOST_AUTO_TEST_CASE(calls_reach_nccl) {
  pair_of_devices d;
  tutti_communicator* p[2] = {};
  const tutti_collective_api& api = *plugin().collective;
  good(api.create(d.device, 2, p));
  BOOST_TEST(calls() == "init 2\n");
  const tutti_view f16 = d.view(0, TUTTI_F16, 16), half = d.view(0, TUTTI_F16, 8);
  const tutti_view there = d.view(1, TUTTI_BF16, 16), flags = d.view(1, TUTTI_BOOL, 5);
  good(api.all_reduce(p[0], d.stream[0], &f16, &f16, TUTTI_REDUCE_SUM, nullptr));
  good(api.all_reduce(p[1], d.stream[1], &flags, &flags, TUTTI_REDUCE_ALL, nullptr));
  good(api.reduce(p[0], d.stream[0], &f16, nullptr, TUTTI_REDUCE_MAX, 1, nullptr));
  good(api.reduce(p[1], d.stream[1], &there, &there, TUTTI_REDUCE_PROD, 1, nullptr));
  good(api.broadcast(p[1], d.stream[1], &there, 0, nullptr));
  good(api.reduce_scatter(p[0], d.stream[0], &f16, &half, TUTTI_REDUCE_MIN, nullptr));
  good(api.all_gather(p[0], d.stream[0], &half, &f16, nullptr));
  good(api.send(p[0], d.stream[0], &half, 1, nullptr));
  tutti_event* event = nullptr;
  good(api.receive(p[1], d.stream[1], &there, 0, &event));
  good(plugin().stream->event_wait(event, TUTTI_FOREVER));
  plugin().stream->event_release(event);
  BOOST_TEST(calls() ==
             "all_reduce@0 16 of type 6 op 0\n"
             "all_reduce@1 5 of type 1 op 3\n"
             "reduce@0 16 of type 6 op 2 root 1\n"
             "reduce@1 16 of type 9 op 1 root 1 receives\n"
             "broadcast@1 16 of type 9 root 0\n"
             "reduce_scatter@0 8 of type 6 op 3\n"
             "all_gather@0 8 of type 6\n"
             "send@0 8 of type 6 to 1\n"
             "receive@1 16 of type 9 from 0\n");
  good(api.all_to_all(p[0], d.stream[0], &f16, &f16, nullptr));
  BOOST_TEST(calls() ==
             "start\nsend@0 8 of type 6 to 0\nreceive@0 8 of type 6 from 0\n"
             "send@0 8 of type 6 to 1\nreceive@0 8 of type 6 from 1\nend\n");
  good(api.abort(p[1]));
  const outcome aborted = take(api.broadcast(p[1], d.stream[1], &there, 0, nullptr));
  BOOST_TEST(aborted.message == "broadcast: was aborted");
  for (tutti_communicator* one : p) api.release(one);
}

BOOST_AUTO_TEST_CASE(wrong_arguments_are_refused) {
  pair_of_devices d;
  tutti_communicator* p[2] = {};
  const tutti_collective_api& api = *plugin().collective;
  good(api.create(d.device, 2, p));
  calls();
  const tutti_view a = d.view(0, TUTTI_F32, 16), b = d.view(0, TUTTI_F32, 9);
  tutti_view spread = a;
  spread.stride[0] = 2;
  const tutti_view small = d.view(0, TUTTI_I16, 4);
  const auto message = [](tutti_status* status) { return take(status).message; };
  BOOST_TEST(message(api.all_reduce(p[0], d.stream[0], &a, &b, TUTTI_REDUCE_SUM, nullptr)) ==
             "all_reduce: 16 f32 in, 9 f32 out");
  BOOST_TEST(message(api.all_reduce(p[0], d.stream[0], &a, &spread, TUTTI_REDUCE_SUM, nullptr)) ==
             "all_reduce: the view is not contiguous");
  BOOST_TEST(message(api.send(p[0], d.stream[0], &a, 2, nullptr)) == "send: participant 2 of 2");
  BOOST_TEST(message(api.send(p[0], d.stream[1], &a, 1, nullptr)) ==
             "send: the stream belongs to another device");
  BOOST_TEST(message(api.send(p[0], d.stream[0], &small, 1, nullptr)) == "send: NCCL has no i16");
  BOOST_TEST(take(api.all_reduce(p[0], d.stream[0], &a, &a, TUTTI_REDUCE_ARGMIN, nullptr)).code ==
             TUTTI_ERROR_UNSUPPORTED);
  BOOST_TEST(calls() == "");
  for (tutti_communicator* one : p) api.release(one);
}
