// SPDX-License-Identifier: Apache-2.0
//
// The values of the opencl plugin's collectives against loops on the host.
#include "collectives_rig.hpp"

using namespace tutti::test;
namespace sdk = tutti::sdk;

namespace {

std::vector<int32_t> reductions_of(uint8_t dtype) {
  if (dtype == TUTTI_BOOL) return {TUTTI_REDUCE_ANY, TUTTI_REDUCE_ALL};
  return {TUTTI_REDUCE_SUM, TUTTI_REDUCE_PROD, TUTTI_REDUCE_MIN, TUTTI_REDUCE_MAX};
}

}  // namespace

BOOST_AUTO_TEST_CASE(reductions_of_every_dtype) {
  rig r(2);
  generator random(11);
  for (uint8_t dtype = TUTTI_BOOL; dtype <= TUTTI_F64; ++dtype) {
    if (!r.devices[0].stores(dtype)) continue;
    for (const int32_t reduction : reductions_of(dtype)) {
      experiment(r, {kind::all_reduce, dtype, reduction, 0, 1009}, random).run();
    }
  }
}

// Few programs, all shapes: divided evenly and not, empty, in place, from threads.
BOOST_AUTO_TEST_CASE(every_collective_and_place) {
  rig r;
  generator random(12);
  const std::pair<uint8_t, int32_t> samples[] = {{TUTTI_F16, TUTTI_REDUCE_SUM},
                                                 {TUTTI_U8, TUTTI_REDUCE_MAX}};
  for (const auto& [dtype, reduction] : samples) {
    for (const kind what : every_kind) {
      for (const uint64_t share : {0, 1, 7, 1021, 40001}) {
        for (const where out : {where::apart, where::same, where::own_share}) {
          trial t{what, dtype, reduction, 0, share, out, share == 7};
          t.root = static_cast<uint32_t>(random() % r.size());
          experiment(r, t, random).run();
        }
      }
    }
  }
}

// More arrays than one launch takes, where there are as many devices.
BOOST_AUTO_TEST_CASE(reductions_by_many) {
  rig r;
  generator random(19);
  for (const kind what : {kind::all_reduce, kind::reduce, kind::reduce_scatter}) {
    experiment(r, {what, TUTTI_F16, TUTTI_REDUCE_SUM, 0, 1021}, random).run();
    experiment(r, {what, TUTTI_U8, TUTTI_REDUCE_MAX, 0, 7, where::same}, random).run();
  }
}

// The copied pieces of a slice are 4 MiB.
BOOST_AUTO_TEST_CASE(slices_longer_than_a_piece) {
  rig r(2);
  if (!r.devices[0].stores(TUTTI_F64)) return;
  generator random(13);
  trial t{kind::all_reduce, TUTTI_F64, TUTTI_REDUCE_SUM, 0, 0, where::same};
  t.share = r.size() * (uint64_t{4} << 20) / sizeof(double) + 5;
  experiment(r, t, random).run();
}

BOOST_AUTO_TEST_CASE(some_of_the_devices_or_one) {
  generator random(14);
  for (const uint32_t most : {1, 2}) {
    rig r(most);
    for (const kind what : every_kind) {
      for (const where out : {where::apart, where::same}) {
        experiment(r, {what, TUTTI_F16, TUTTI_REDUCE_SUM, 0, 101, out}, random).run();
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(the_same_bits_on_all_devices_and_runs) {
  rig r;
  const uint64_t count = 5003;
  std::vector<std::byte> first;
  for (int run = 0; run < 3; ++run) {
    generator random(15);
    std::deque<array> arrays;
    for (const session& s : r.devices) {
      image content(TUTTI_F32, count);
      for (uint64_t i = 0; i < count; ++i) content.set(i, random_value(TUTTI_F32, -1, 1, random));
      arrays.emplace_back(s, content);
    }
    for (uint32_t n = 0; n < r.size(); ++n) {
      const tutti_view v = arrays[n].view(0, count);
      check(r.calls().all_reduce(r.members[n], r.devices[n].main_stream.get(), &v, &v,
                                 TUTTI_REDUCE_SUM, nullptr),
            "all_reduce");
    }
    for (uint32_t n = 0; n < r.size(); ++n) {
      const image found = arrays[n].read(r.devices[n]);
      if (first.empty()) first = found.bytes;
      BOOST_TEST(found.bytes == first);
    }
  }
}

BOOST_AUTO_TEST_CASE(views_of_any_rank_that_are_contiguous) {
  rig r;
  generator random(16);
  std::deque<array> arrays;
  for (const session& s : r.devices) {
    image content(TUTTI_I32, 24);
    for (uint64_t i = 0; i < 24; ++i) content.set(i, i);
    arrays.emplace_back(s, content);
  }
  for (uint32_t n = 0; n < r.size(); ++n) {
    tutti_view v = arrays[n].view(0, 2);
    v.rank = 3;
    v.extent[1] = 3, v.extent[2] = 4;
    v.stride[0] = 12, v.stride[1] = 4, v.stride[2] = 1;
    check(r.calls().all_reduce(r.members[n], r.devices[n].main_stream.get(), &v, &v,
                               TUTTI_REDUCE_SUM, nullptr),
          "all_reduce");
  }
  for (uint32_t n = 0; n < r.size(); ++n) {
    const image found = arrays[n].read(r.devices[n]);
    for (uint64_t i = 0; i < 24; ++i) BOOST_TEST(found.get(i) == i * r.size());
  }
}

BOOST_AUTO_TEST_CASE(wrong_arguments_are_refused) {
  rig r;
  const tutti_test::collective_calls api = r.calls();
  const session& s = r.devices[0];
  const array a(s, image(TUTTI_F32, 64));
  tutti_stream* const stream = s.main_stream.get();
  const tutti_view sixteen = a.view(0, 16), nine = a.view(0, 9), beyond = a.view(60, 5);
  tutti_view spread = sixteen;
  spread.stride[0] = 2;
  tutti_communicator* const c = r.members[0];
  const std::string size = std::to_string(r.size());
  const auto refused = [&](tutti_status* status, int32_t code, const std::string& message) {
    const outcome found = take(status);
    BOOST_TEST(found.code == code);
    BOOST_TEST(found.message.find(message) != std::string::npos, found.message);
  };
  refused(api.all_reduce(c, stream, &sixteen, &nine, TUTTI_REDUCE_SUM, nullptr),
          TUTTI_ERROR_INVALID_ARGUMENT, "all_reduce, participant 0: 16 f32 in, 9 f32 out");
  refused(api.all_reduce(c, stream, &sixteen, &spread, TUTTI_REDUCE_SUM, nullptr),
          TUTTI_ERROR_INVALID_ARGUMENT, "all_reduce, participant 0: the view is not contiguous");
  refused(api.broadcast(c, stream, &beyond, 0, nullptr), TUTTI_ERROR_INVALID_ARGUMENT, "broadcast");
  refused(api.broadcast(c, stream, nullptr, 0, nullptr), TUTTI_ERROR_INVALID_ARGUMENT,
          "broadcast, participant 0: view is NULL");
  refused(api.broadcast(c, stream, &nine, r.size(), nullptr), TUTTI_ERROR_INVALID_ARGUMENT,
          "broadcast, participant 0: participant " + size + " of " + size);
  refused(api.send(c, stream, &nine, 0, nullptr), TUTTI_ERROR_UNSUPPORTED,
          "send, participant 0: participant 0 is the caller");
  refused(api.all_reduce(c, stream, &nine, &nine, TUTTI_REDUCE_ARGMIN, nullptr),
          TUTTI_ERROR_UNSUPPORTED, "all_reduce, participant 0: no reduction 7 of f32");
  refused(api.all_reduce(c, stream, &nine, &nine, TUTTI_REDUCE_ANY, nullptr),
          TUTTI_ERROR_UNSUPPORTED, "all_reduce, participant 0: no reduction 5 of f32");
  refused(api.all_reduce(nullptr, stream, &nine, &nine, TUTTI_REDUCE_SUM, nullptr),
          TUTTI_ERROR_INVALID_ARGUMENT, "communicator is NULL");
  tutti_device* const twice[] = {s.device.get(), s.device.get()};
  tutti_communicator* made[2] = {};
  refused(api.create(twice, 2, made), TUTTI_ERROR_UNSUPPORTED, "participants 0 and 1 are both on");
  refused(api.create(twice, 0, made), TUTTI_ERROR_INVALID_ARGUMENT, "no participants");
  if (r.size() > 1) {
    refused(api.broadcast(r.members[1], stream, &nine, 0, nullptr), TUTTI_ERROR_INVALID_ARGUMENT,
            "the stream belongs to another device");
    refused(api.broadcast(r.members[1], r.devices[1].main_stream.get(), &nine, 0, nullptr),
            TUTTI_ERROR_INVALID_ARGUMENT, "the buffer belongs to device");
  }
  // What was refused took no part in anything.
  generator random(17);
  experiment(r, {kind::broadcast, TUTTI_U8, TUTTI_REDUCE_NONE, 0, 33}, random).run();
}
