// SPDX-License-Identifier: Apache-2.0
//
// Buffers, streams and transfers: some buffers and a model of their contents. Operations within
// them must succeed; others must fail and change nothing.
#include <algorithm>

#include "fuzz.hpp"

namespace tutti::conformance {
namespace {

struct modelled {
  handle<tutti_buffer> buffer;
  std::vector<uint8_t> bytes;
};

uint64_t size_or_offset(uint64_t bytes, generator& random) {
  switch (random() % 8) {
    case 0:
      return one_of<uint64_t>(random, {bytes, bytes + 1, ~uint64_t{0}, uint64_t{1} << 63});
    case 1:
      return 0;
    default:
      return random() % (bytes + 1);
  }
}

bool lies_within(uint64_t offset, uint64_t bytes, uint64_t size) {
  return offset <= size && bytes <= size - offset;
}

// One random buffer that may be refused, and one random stream.
void ask_for_objects(session& s, generator& random) {
  tutti_buffer_desc desc{sizeof desc,
                         one_of<uint64_t>(random, {1, 4096, uint64_t{1} << 62, ~uint64_t{0}}),
                         TUTTI_MEMORY_DEVICE, 0};
  changes c;
  if (chance(random, 3)) c.set("struct_size", desc.struct_size, one_of(random, {0, 7, 8, 64}));
  c.set("bytes", desc.bytes, desc.bytes);
  s.note("buffer: " + c.text());
  const auto allocated =
      answer(s.api->memory->release, "allocate", s.api->memory->allocate, s.device.get(), &desc)
          .first;
  require(desc.bytes < uint64_t{1} << 60 || desc.struct_size < sizeof desc || allocated,
          "allocated: {}", c.text());
  tutti_stream_desc stream{sizeof stream, static_cast<uint32_t>(random() % 6), 0};
  if (chance(random, 3)) stream.struct_size = one_of<uint64_t>(random, {0, 7, 8, 64});
  s.note("stream with flags " + std::to_string(stream.flags) + ", struct_size " +
         std::to_string(stream.struct_size));
  const auto created = answer(s.api->stream->release, "stream create", s.api->stream->create,
                              s.device.get(), &stream)
                           .first;
  require(created || stream.struct_size < 12 || stream.flags <= TUTTI_STREAM_PROFILE,
          "a stream with flags that nobody knows was made");
}

class transfers {
 public:
  transfers(session& s, generator& random) : s_(s), random_(random), stream_(s.stream()) {
    for (modelled& m : buffers_) {
      const uint64_t size = 1 + random() % 5000;
      m.buffer = s.allocate(size);
      m.bytes.resize(size);
      s.write(m.buffer.get(), 0, m.bytes.data(), size, stream_.get());
    }
  }

  void write() {
    modelled& m = any();
    const uint64_t at = size_or_offset(m.bytes.size(), random_);
    const uint64_t bytes = size_or_offset(m.bytes.size(), random_);
    const bool fits = lies_within(at, bytes, m.bytes.size());
    std::vector<uint8_t> sent(fits ? bytes : 0);
    for (uint8_t& b : sent) b = static_cast<uint8_t>(random_());
    const bool has_host = fits && !chance(random_, 6);
    note("write", at, bytes, has_host);
    finish(
        [&](int32_t blocking, tutti_event** event) {
          return s_.api->transfer->write(stream_.get(), m.buffer.get(), at,
                                         has_host ? sent.data() : nullptr, bytes, blocking, event);
        },
        fits && (has_host || bytes == 0), bytes == 0);
    if (has_host) std::ranges::copy(sent, m.bytes.begin() + static_cast<std::ptrdiff_t>(at));
  }

  void read() {
    modelled& m = any();
    const uint64_t at = size_or_offset(m.bytes.size(), random_);
    const uint64_t bytes = size_or_offset(m.bytes.size(), random_);
    const bool fits = lies_within(at, bytes, m.bytes.size());
    // There is no memory for out-of-range data here either: a plugin that wrote there would be
    // detected.
    std::vector<uint8_t> got(fits ? bytes : 0);
    note("read", at, bytes, fits);
    finish(
        [&](int32_t blocking, tutti_event** event) {
          return s_.api->transfer->read(stream_.get(), m.buffer.get(), at,
                                        got.empty() ? nullptr : got.data(), bytes, blocking, event);
        },
        fits, bytes == 0);
    if (!fits) return;
    const auto first = m.bytes.begin() + static_cast<std::ptrdiff_t>(at);
    require(std::equal(got.begin(), got.end(), first), "what was read is not what was written");
  }

  void copy() {
    modelled &from = buffers_[0], &to = buffers_[1];
    const uint64_t source = size_or_offset(from.bytes.size(), random_);
    const uint64_t target = size_or_offset(to.bytes.size(), random_);
    const uint64_t bytes = size_or_offset(from.bytes.size(), random_);
    const bool fits = lies_within(source, bytes, from.bytes.size()) &&
                      lies_within(target, bytes, to.bytes.size());
    note("copy to " + std::to_string(target) + " from", source, bytes, true);
    finish(
        [&](int32_t, tutti_event** event) {
          return s_.api->transfer->copy(stream_.get(), from.buffer.get(), source, to.buffer.get(),
                                        target, bytes, event);
        },
        fits, bytes == 0);
    if (fits)
      std::copy_n(from.bytes.begin() + static_cast<std::ptrdiff_t>(source), bytes,
                  to.bytes.begin() + static_cast<std::ptrdiff_t>(target));
  }

  // NULL instead of a handle or a pointer to a result.
  void ask_without_handles() {
    s_.note("NULL instead of handles");
    const auto* stream = s_.api->stream;
    int32_t done = 0;
    require(bool(answer(stream->event_wait(nullptr, 0), "event wait")),
            "a wait for NULL succeeded");
    require(bool(answer(stream->event_query(nullptr, &done), "event query")), "NULL is an event");
    require(bool(answer(stream->wait(stream_.get(), nullptr), "stream wait")),
            "a stream waits for NULL");
    require(bool(answer(stream->record(stream_.get(), nullptr), "record")),
            "an event was recorded to NULL");
    require(bool(answer(stream->synchronize(nullptr), "synchronize")), "NULL is a stream");
    uint8_t byte = 0;
    require(bool(answer(s_.api->transfer->read(stream_.get(), nullptr, 0, &byte, 1, 1, nullptr),
                        "read")),
            "NULL was read");
  }

  void compare_all() {
    for (modelled& m : buffers_) {
      std::vector<uint8_t> got(m.bytes.size());
      check(s_.api->transfer->read(stream_.get(), m.buffer.get(), 0, got.data(), got.size(), 1,
                                   nullptr),
            "the last read");
      require(got == m.bytes, "a buffer does not hold what was written to it");
    }
  }

 private:
  modelled& any() { return buffers_[random_() % 2]; }

  void note(const std::string& what, uint64_t at, uint64_t bytes, bool has_host) {
    s_.note(what + " at " + std::to_string(at) + ", " + std::to_string(bytes) + " bytes of " +
            std::to_string(buffers_[0].bytes.size()) + " and " +
            std::to_string(buffers_[1].bytes.size()) + (has_host ? "" : ", host NULL"));
  }

  // `may_fail`: nothing is moved, so the position need not be checked.
  template <typename Call>
  void finish(Call&& call, bool should_succeed, bool may_fail) {
    const bool blocking = chance(random_, 2);
    tutti_event* event = nullptr;
    outcome result = answer(call(blocking ? 1 : 0, blocking ? nullptr : &event), "transfer");
    const handle<tutti_event> held(event, s_.api->stream->event_release);
    if (!result && event != nullptr)
      result = answer(s_.api->stream->event_wait(event, TUTTI_FOREVER), "event wait");
    const outcome later = answer(s_.api->stream->synchronize(stream_.get()), "synchronize");
    if (!result) result = later;
    require(!should_succeed || may_fail || !result, "a sound transfer failed: {}", result.message);
    require(should_succeed || may_fail || bool(result), "a transfer beyond its memory succeeded");
  }

  session& s_;
  generator& random_;
  handle<tutti_stream> stream_;
  modelled buffers_[2];
};

}  // namespace

void fuzz_memory(session& s, generator& random) {
  ask_for_objects(s, random);
  transfers t(s, random);
  for (uint64_t n = 4 + random() % 12; n > 0; --n) {
    switch (random() % 4) {
      case 0:
        t.write();
        break;
      case 1:
        t.read();
        break;
      case 2:
        t.copy();
        break;
      default:
        t.ask_without_handles();
        break;
    }
  }
  t.compare_all();
}

}  // namespace tutti::conformance
