// SPDX-License-Identifier: Apache-2.0
//
// What the tests of hostile arguments share: the refusal that is expected, and a group that has to
// compute rightly afterwards.
#pragma once

#include "loops.hpp"
#include "members.hpp"

namespace hostile {

using tutti::sharded;

using arrays = std::vector<array>;
inline constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t huge = std::int64_t{1} << 62;
inline constexpr double infinite = std::numeric_limits<double>::infinity();

/// f throws E; the message begins with the name and contains the part.
template <class E, class F>
void refused(const std::string& name, const std::string& part, F&& f) {
  BOOST_TEST_CONTEXT(name << ", " << part) {
    try {
      f();
      BOOST_ERROR("nothing was thrown");
    } catch (const E& e) {
      const std::string message = e.what();
      BOOST_TEST(message.starts_with(name + ": "), message);
      BOOST_TEST((message.find(part) != std::string::npos), message);
    } catch (const std::exception& e) {
      BOOST_ERROR("another type: " << e.what());
    }
  }
}

/// A group, a device outside of it, and after each case a computation that everything takes part
/// in.
struct fixture {
  device_group group = first_devices(tutti::devices().size() - 1);
  tutti::device stranger = tutti::devices().back();
  std::size_t count = group.size();

  ~fixture() {
    const arrays sums = tutti::collective::all_reduce(group, each(2));
    for (const array& a : sums)
      BOOST_TEST(matches(a, {{3}, std::vector<double>(3, 2.0 * static_cast<double>(count))}));
    collector seen({0, 40});
    tutti::parallel_for(group, {0, 40}, squares, seen.sink());
    BOOST_TEST(seen.complete());
  }

  /// [3] on each member, all alike.
  arrays each(double value, dtype type = dtype::f32) const {
    arrays out;
    for (const tutti::device& d : group)
      out.push_back((tutti::full({3}, value, dtype::f32, d) + 0).astype(type));
    tutti::eval(out);
    return out;
  }
  /// The same array for each member: a constant is on every device.
  arrays constants(const array& a) const { return arrays(count, a); }
  /// Constants, which take no memory, on each member.
  arrays ones(const tutti::shape& extents) const {
    arrays out;
    for (const tutti::device& d : group) out.push_back(tutti::ones(extents, dtype::u8, d));
    return out;
  }
  /// Views of one element, which take no memory, on each member.
  arrays views(const tutti::shape& extents) const {
    arrays out;
    for (const array& a : each(1, dtype::u8)) out.push_back(broadcast_to(a({{0, 1}}), extents));
    return out;
  }
  std::vector<sharded> replicas() const { return {replicate(array::from({1.f, 2.f}), group)}; }
};

inline std::string text(std::int64_t value) { return std::to_string(value); }

}  // namespace hostile
