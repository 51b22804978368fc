// SPDX-License-Identifier: Apache-2.0
//
// Random memory, launches by the host engine, and comparison bit by bit.
#include "host_engine_rig.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>

namespace tutti::test {
namespace {

template <typename T>
T random_real(double size, std::mt19937_64& random) {
  using limits = std::numeric_limits<T>;
  const T special[] = {0,
                       -T(0),
                       1,
                       -1,
                       T(0.5),
                       limits::infinity(),
                       -limits::infinity(),
                       limits::quiet_NaN(),
                       limits::max(),
                       limits::min(),
                       limits::denorm_min(),
                       -limits::min() / 8,
                       T(1e4),
                       T(-100.25)};
  if (random() % 4 == 0) return special[random() % std::size(special)];
  return static_cast<T>(std::uniform_real_distribution<double>(-size, size)(random));
}

template <typename T>
void put(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

template <typename Bits, typename T>
bool same_reals(const std::byte* a, const std::byte* b, size_t bytes) {
  for (size_t at = 0; at < bytes; at += sizeof(T)) {
    T x, y;
    std::memcpy(&x, a + at, sizeof x);
    std::memcpy(&y, b + at, sizeof y);
    if (std::memcmp(&x, &y, sizeof x) != 0 && !(std::isnan(x) && std::isnan(y))) return false;
  }
  return true;
}

bool same_halves(uint8_t dtype, const std::byte* a, const std::byte* b) {
  uint16_t x, y;
  std::memcpy(&x, a, 2);
  std::memcpy(&y, b, 2);
  const uint16_t infinity = dtype == TUTTI_F16 ? 0x7c00 : 0x7f80;
  return x == y || ((x & 0x7fff) > infinity && (y & 0x7fff) > infinity);
}

bool same(uint8_t dtype, const std::byte* a, const std::byte* b) {
  const uint32_t bytes = sdk::dtype_size(dtype);
  if (sdk::is_storage_only(dtype)) return same_halves(dtype, a, b);
  switch (sdk::part_dtype(dtype)) {
    case TUTTI_F32:
      return same_reals<uint32_t, float>(a, b, bytes);
    case TUTTI_F64:
      return same_reals<uint64_t, double>(a, b, bytes);
    default:
      return std::memcmp(a, b, bytes) == 0;
  }
}

std::string hex(const std::byte* at, uint32_t bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (uint32_t n = bytes; n-- > 0;) {
    text += digits[static_cast<unsigned>(at[n]) >> 4];
    text += digits[static_cast<unsigned>(at[n]) & 15];
  }
  return text;
}

}  // namespace

void set_random(image& data, uint64_t index, double size, std::mt19937_64& random) {
  std::byte* at = data.bytes.data() + index * sdk::dtype_size(data.dtype);
  switch (data.dtype) {
    case TUTTI_F32:
      return put(at, random_real<float>(size, random));
    case TUTTI_F64:
      return put(at, random_real<double>(size, random));
    case TUTTI_C64:
      put(at, random_real<float>(size, random));
      return put(at + 4, random_real<float>(size, random));
    case TUTTI_C128:
      put(at, random_real<double>(size, random));
      return put(at + 8, random_real<double>(size, random));
    case TUTTI_BOOL:
      return put(at, static_cast<uint8_t>(random() % 2));
    default: {
      // Any bits, or small numbers.
      uint64_t bits = random();
      if (random() % 2 == 0) bits = static_cast<uint64_t>(static_cast<int64_t>(bits % 21) - 10);
      std::memcpy(at, &bits, sdk::dtype_size(data.dtype));
    }
  }
}

sdk::host_parallel_for two_threads() {
  return [](uint64_t count, const std::function<void(uint64_t)>& work) {
    std::thread other([&] {
      for (uint64_t n = 1; n < count; n += 2) work(n);
    });
    for (uint64_t n = 0; n < count; n += 2) work(n);
    other.join();
  };
}

void run_on_host(session& s, const program_spec& spec, const extents& extent,
                 std::vector<operand>& inputs, const std::vector<tutti_scalar>& scalars,
                 std::vector<operand>& outputs, sdk::host_routines set,
                 const sdk::host_parallel_for& parallel) {
  const tutti_program_desc desc = spec.desc();
  const sdk::host_program program(desc, set);
  std::vector<tutti_operand> in, out;
  std::vector<const std::byte*> in_memory;
  std::vector<std::byte*> out_memory;
  const auto address = [](operand& o) {
    return o.data.bytes.data() + o.offset * sdk::dtype_size(o.data.dtype);
  };
  const auto to_abi = [](const operand& o) {
    tutti_operand abi{};
    std::copy(o.stride.begin(), o.stride.end(), abi.stride);
    return abi;
  };
  for (operand& o : inputs) {
    in.push_back(to_abi(o));
    in_memory.push_back(address(o));
  }
  for (operand& o : outputs) {
    out.push_back(to_abi(o));
    operand& lies_in = o.alias >= 0 ? inputs[static_cast<size_t>(o.alias)] : o;
    out_memory.push_back(lies_in.data.bytes.data() + o.offset * sdk::dtype_size(o.data.dtype));
  }
  tutti_program_launch launch{};
  launch.struct_size = sizeof launch;
  launch.operand_size = sizeof(tutti_operand);
  std::copy(extent.begin(), extent.end(), launch.extent);
  launch.inputs = in.data();
  launch.scalars = scalars.data();
  launch.outputs = out.data();
  program.run(launch, {in_memory.data(), out_memory.data()},
              sdk::machine{s.properties.compute_units}, parallel);
  for (operand& o : outputs)
    if (o.alias >= 0) o.data = inputs[static_cast<size_t>(o.alias)].data;
}

int64_t first_difference(const image& a, const image& b) {
  const uint32_t bytes = sdk::dtype_size(a.dtype);
  for (uint64_t i = 0; i < a.size(); ++i)
    if (!same(a.dtype, a.bytes.data() + i * bytes, b.bytes.data() + i * bytes))
      return static_cast<int64_t>(i);
  return -1;
}

void compare(const program_spec& spec, const extents& extent, const std::vector<operand>& inputs,
             const std::vector<tutti_scalar>& scalars, const std::vector<operand>& outputs,
             const std::string& what) {
  std::vector<operand> compiled = outputs;
  launch(opened(), spec, extent, inputs, scalars, compiled);
  for (const sdk::host_routines set :
       {sdk::host_routines::baseline, sdk::host_routines::avx2, sdk::host_routines::avx512}) {
    if (!sdk::has_host_routines(set)) continue;
    std::vector<operand> in = inputs, out = outputs;
    const bool shared = set == sdk::best_host_routines();
    run_on_host(opened(), spec, extent, in, scalars, out, set,
                shared ? two_threads() : sdk::host_parallel_for());
    for (size_t n = 0; n < out.size(); ++n) {
      const int64_t at = first_difference(compiled[n].data, out[n].data);
      if (at < 0) continue;
      const uint32_t bytes = sdk::dtype_size(out[n].data.dtype);
      const size_t byte = static_cast<size_t>(at) * bytes;
      std::string text = what + ", output " + std::to_string(n) + ", " + std::string(name_of(set)) +
                         ": element " + std::to_string(at) + " compiled " +
                         hex(compiled[n].data.bytes.data() + byte, bytes) + ", host " +
                         hex(out[n].data.bytes.data() + byte, bytes);
      for (const operand& o : inputs) {
        const uint32_t size = sdk::dtype_size(o.data.dtype);
        if (o.data.bytes.size() >= (static_cast<size_t>(at) + 1) * size)
          text += ", of " + hex(o.data.bytes.data() + static_cast<size_t>(at) * size, size);
      }
      BOOST_ERROR(text);
    }
  }
}

}  // namespace tutti::test
