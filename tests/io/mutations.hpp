// SPDX-License-Identifier: Apache-2.0
//
// Damage to the bytes of a file: what disks, networks and attackers do to it.
#pragma once

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tutti_test/random.hpp"

namespace tutti_test {

/// Changes bytes, the same way for the same round and seed.
class mutator {
 public:
  explicit mutator(std::uint64_t round) : engine_(seed() * 1000003 + round) {}

  int below(int n) { return static_cast<int>(place(static_cast<std::size_t>(n))); }

  /// Numbers at which arithmetic wraps, and small ones.
  std::int64_t number() {
    constexpr std::int64_t wide = std::int64_t{1} << 62;
    constexpr std::int64_t list[] = {0,
                                     1,
                                     -1,
                                     2,
                                     3,
                                     7,
                                     8,
                                     9,
                                     255,
                                     65535,
                                     2147483647,
                                     4294967295,
                                     1 << 20,
                                     wide,
                                     wide + 4,
                                     std::int64_t{1} << 40,
                                     -wide,
                                     -1 - 255,
                                     -(1ll << 31),
                                     std::int64_t{1} << 32};
    if (below(8) == 0) return std::numeric_limits<std::int64_t>::max() - below(2);
    return list[place(std::size(list))];
  }

  /// One of the given files, damaged in up to four places.
  std::string operator()(const std::vector<std::string>& sound) {
    std::string bytes = sound[place(sound.size())];
    for (int times = 1 + below(4); times > 0; --times) damage(bytes, sound);
    return bytes;
  }

 private:
  std::size_t place(std::size_t size) {
    return size == 0 ? 0 : static_cast<std::size_t>(engine_() % size);
  }

  // A piece of `bytes`, short more often than long.
  std::pair<std::size_t, std::size_t> piece(const std::string& bytes) {
    const std::size_t at = place(bytes.size());
    const std::size_t rest = bytes.size() - at;
    return {at, below(3) == 0 ? place(rest + 1) : std::min<std::size_t>(rest, 1 + place(16))};
  }

  void damage(std::string& bytes, const std::vector<std::string>& sound) {
    const auto [at, length] = piece(bytes);
    switch (below(10)) {
      case 0:
        if (!bytes.empty()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 1:
        if (!bytes.empty()) bytes[at] = static_cast<char>(engine_());
        break;
      case 2:
        bytes.resize(at);
        break;
      case 3:
        bytes.erase(at, length);
        break;
      case 4:
        bytes.insert(at, bytes.substr(at, length));
        break;
      case 5: {
        const std::string& other = sound[place(sound.size())];
        const auto [from, count] = piece(other);
        bytes.insert(at, other, from, count);
        break;
      }
      case 6:
        bytes.replace(at, length, length, below(2) == 0 ? '\0' : '\xff');
        break;
      case 7:
        binary_number(bytes, at);
        break;
      case 8:
        decimal_number(bytes, at);
        break;
      default:
        bytes += std::string(place(40), below(2) == 0 ? '\0' : 'x');
    }
  }

  // A little-endian integer of 2, 4 or 8 bytes.
  void binary_number(std::string& bytes, std::size_t at) {
    const auto value = static_cast<std::uint64_t>(number());
    for (int i = 0, width = 2 << below(3); i < width && at < bytes.size(); ++i, ++at)
      bytes[at] = static_cast<char>(value >> 8 * i);
  }

  // In place of the digits that are next.
  void decimal_number(std::string& bytes, std::size_t at) {
    constexpr const char* digits = "0123456789";
    const std::size_t begin = bytes.find_first_of(digits, at);
    if (begin == std::string::npos) return;
    const std::size_t end = std::min(bytes.find_first_not_of(digits, begin), bytes.size());
    bytes.replace(begin, end - begin, std::to_string(number()));
  }

  std::mt19937_64 engine_;
};

}  // namespace tutti_test
