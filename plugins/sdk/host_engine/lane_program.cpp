// SPDX-License-Identifier: Apache-2.0
//
// Merges duplicate operations, and combines operations into single bit-identical instructions.
#include "sdk/host_engine/lane_program.hpp"

#include <optional>

namespace tutti::sdk {
namespace {

using op = lane_program::op;
using node = lane_program::node;

constexpr uint32_t less = 0x11, greater = 0x1e;  // predicates of vcmpps

size_t hash_of(const node& one) {
  size_t hash = static_cast<size_t>(one.what) + one.bits * 31;
  for (const uint64_t part : {one.detail, one.operand[0], one.operand[1], one.operand[2]})
    hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
  return hash >> 40;
}

// Operations on constants in 64-bit lanes.
std::optional<uint64_t> known_value(op what, uint64_t a, uint64_t b) {
  switch (what) {
    case op::bit_and:
      return a & b;
    case op::bit_or:
      return a | b;
    case op::bit_xor:
      return a ^ b;
    case op::integer_add:
      return a + b;
    case op::integer_subtract:
      return a - b;
    default:
      return std::nullopt;
  }
}

}  // namespace

lane_program::node lane_program::simplified(node wanted) const {
  const auto& [a, b, c] = wanted.operand;
  if (wanted.operands == 2 && is_constant(a) && is_constant(b)) {
    if (const auto bits = known_value(wanted.what, nodes[a].bits, nodes[b].bits))
      return {op::constant, 0, wide ? *bits : *bits & 0xffffffffu, {}, 0};
  }
  if (wanted.what != op::pick) return wanted;
  if (is_constant(b) && is_constant(c) && nodes[b].bits == 1 && nodes[c].bits == 0)
    return {op::flag, 0, 0, {a}, 1};
  // minps returns its second operand if the operands are equal or one is NaN.
  const node& test = nodes[a];
  const bool same = test.operand[0] == b && test.operand[1] == c;
  const bool turned = test.operand[0] == c && test.operand[1] == b;
  if (test.what == op::natural_less && same) return {op::natural_minimum, 0, 0, {b, c}, 2};
  if (test.what == op::integer_greater && (same || turned) && (masks || !wide))
    return {same ? op::integer_maximum : op::integer_minimum, 0, 0, {b, c}, 2};
  if (test.what != op::compare || (!same && !turned)) return wanted;
  if (test.detail != less && test.detail != greater) return wanted;
  const bool least = (test.detail == less) == same;
  return {least ? op::minimum : op::maximum, 0, 0, {b, c}, 2};
}

uint32_t lane_program::add(const node& wanted) {
  constexpr size_t buckets = 256;
  if (first_.empty()) first_.resize(buckets);
  const node one = simplified(wanted);
  uint32_t& first = first_[hash_of(one) % buckets];
  for (uint32_t n = first; n > 0; n = next_[n - 1])
    if (nodes[n - 1] == one) return n - 1;
  nodes.push_back(one);
  next_.push_back(first);
  first = static_cast<uint32_t>(nodes.size());
  return first - 1;
}

}  // namespace tutti::sdk
