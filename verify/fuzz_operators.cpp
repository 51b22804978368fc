// SPDX-License-Identifier: Apache-2.0
//
// Operators: valid descriptions, each field of which may be changed, and launches of the created
// plans.
#include <algorithm>
#include <cstring>

#include "fuzz.hpp"
#include "operator_claims.hpp"
#include "plan_trials.hpp"

namespace tutti::conformance {
namespace {

struct raw_operator {
  std::vector<tutti_view_desc> views;
  any_params params{};
  longer<tutti_operator_desc, 4> desc;
};

void change_view(tutti_view_desc& v, generator& random, changes& c) {
  const size_t d = random() % TUTTI_MAX_RANK;
  const auto axis = [&](const char* name) { return name + ("[" + std::to_string(d) + "]"); };
  switch (random() % 5) {
    case 0:
      return c.set("dtype", v.dtype, one_of<int64_t>(random, {-1, 0, 5, 10, 13, 14, 16, 99}));
    case 1:
      return c.set("rank", v.rank, one_of<uint32_t>(random, {0, 1, 2, 3, 4, 8, 9, ~0u}));
    case 2:
      return c.set(axis("stride").c_str(), v.stride[d],
                   one_of<int64_t>(random, {0, -1, 2, 7, INT64_MAX, INT64_MIN}));
    default:
      return c.set(axis("extent").c_str(), v.extent[d],
                   one_of<uint64_t>(random, {0, 1, 2, 6, 7, uint64_t{1} << 31, uint64_t{1} << 40,
                                             uint64_t{1} << 62, ~uint64_t{0}}));
  }
}

void change_params(raw_operator& raw, generator& random, changes& c) {
  tutti_operator_desc& d = raw.desc.known;
  if (d.params == nullptr) {
    raw.params = {sizeof(tutti_sort_params)};
    d.params = &raw.params;
    return c.add("params of zeros");
  }
  switch (random() % 4) {
    case 0:
      return c.set_null("params", d.params);
    case 1:
      return c.set("params.struct_size", raw.params.struct_size,
                   one_of<uint64_t>(random, {0, 7, 8, 12, 16, 64, sizeof raw.params}));
    default: {
      const size_t at = 8 + random() % 24;
      return c.set(("params byte " + std::to_string(at)).c_str(), raw.params.bytes[at],
                   chance(random, 2) ? random() % 8 : random());
    }
  }
}

void change_description(raw_operator& raw, generator& random, changes& c) {
  tutti_operator_desc& d = raw.desc.known;
  switch (random() % 12) {
    case 0:
      return c.set("struct_size", d.struct_size,
                   one_of<uint64_t>(random, {0, 7, 8, 24, sizeof d - 8, sizeof raw.desc}));
    case 1:
      return c.set("kind", d.kind, one_of<int32_t>(random, {-1, 0, 13, 31, 12345, INT32_MAX}));
    case 2:
      return c.set("kind", d.kind, 1 + random() % 12);
    case 3:
      return c.set("output_count", d.output_count, one_of<uint32_t>(random, {0, 2, 3, ~0u}));
    case 4:
      return c.set("input_count", d.input_count, one_of<uint32_t>(random, {0, 1, 2, 3, 5, ~0u}));
    case 5:
      return c.set("view_size", d.view_size,
                   one_of<uint64_t>(random, {0, 7, 8, 16, sizeof(tutti_view_desc) - 8}));
    case 6:
      return chance(random, 2) ? c.set_null("views", d.views)
                               : c.set("reserved", d.reserved, random());
    case 7:
      return change_params(raw, random, c);
    default: {
      const size_t n = random() % std::min<size_t>(raw.views.size(), 3);
      c.add("view " + std::to_string(n));
      return change_view(raw.views[n], random, c);
    }
  }
}

// The largest distance of the elements of a view from its first, in both directions; more than
// `most` if it exceeds it.
uint64_t reach(const tutti_view_desc& v, uint64_t most) {
  uint64_t far = 0;
  for (uint32_t d = 0; d < v.rank && d < TUTTI_MAX_RANK; ++d) {
    if (v.extent[d] > most) return most + 1;
    const uint64_t step = v.stride[d] < 0 ? uint64_t{0} - static_cast<uint64_t>(v.stride[d])
                                          : static_cast<uint64_t>(v.stride[d]);
    if (step > most) return most + 1;
    far += v.extent[d] * step;
  }
  return far;
}

// Space on both sides of the middle, where each view begins.
constexpr uint64_t half = 1 << 16;

// Whether buffers of that size hold all elements that a launch reads and writes, which are few.
bool is_small(const raw_operator& raw) {
  uint64_t all = 1;
  for (const tutti_view_desc& v : raw.views) {
    uint64_t elements = 1;
    for (uint32_t d = 0; d < v.rank && d < TUTTI_MAX_RANK; ++d)
      elements = v.extent[d] > half ? half + 1 : std::min(elements * v.extent[d], half + 1);
    all = std::max(all, elements);
    if (reach(v, half / 16) > half / 16) return false;
  }
  return all <= half / 16;
}

void launch_changed(session& s, tutti_plan* plan, const raw_operator& raw, generator& random) {
  const uint32_t count = raw.desc.known.output_count + raw.desc.known.input_count;
  std::vector<handle<tutti_buffer>> buffers;
  std::vector<tutti_range> operands;
  const std::vector<unsigned char> zeros(2 * half);
  for (uint32_t n = 0; n < count; ++n) {
    buffers.push_back(s.allocate(zeros.size()));
    s.write(buffers[n].get(), 0, zeros.data(), zeros.size());
    operands.push_back({buffers[n].get(), half});
  }
  tutti_operator_launch l = launch_of(operands);
  answer(s.api->op->workspace(plan, &l.workspace_bytes), "workspace");
  handle<tutti_buffer> workspace;
  if (l.workspace_bytes > uint64_t{1} << 28) return;  // too much for a test
  if (l.workspace_bytes > 0) workspace = s.allocate(l.workspace_bytes);
  l.workspace.buffer = workspace.get();
  changes c;
  switch (random() % 10) {
    case 0:
      c.set("operand_count", l.operand_count, one_of<uint32_t>(random, {0, 1, ~0u}));
      break;
    case 1:
      c.set("operand_size", l.operand_size, random() % 8);
      break;
    case 2:
      c.set("struct_size", l.struct_size, one_of<uint64_t>(random, {0, 7}));
      break;
    case 3:
      c.set_null("operands", l.operands);
      break;
    case 4:
      c.set_null("a buffer", operands[random() % count].buffer);
      break;
    default:
      break;
  }
  s.note("launch: " + c.text());
  const auto [refused, done] =
      tried(s.api->stream->event_release, s.api->op->launch, s.main_stream.get(), plan, &l);
  require_text(refused, "operator launch");
  const outcome later = answer(s.api->stream->synchronize(s.main_stream.get()), "synchronize");
  const bool was_counted =
      c.text().find("operand_count") != std::string::npos && l.operand_count == count;
  require(c.empty() || was_counted || refused || later, "accepted: launch with {}", c.text());
}

}  // namespace

void fuzz_operator(session& s, generator& random) {
  if (chance(random, 8)) {  // one with known results, without changes
    trial (*const trials[])(uint64_t) = {gather, product, running_sum, permutation};
    const trial t = trials[random() % 4](random());
    s.note("operator " + std::to_string(t.kind) + "; nothing changed");
    const handle<tutti_plan> plan = prepare(s, t);
    placement place(s, t, plan.get(), random() % 5);
    place.enqueue(s.main_stream.get(), plan.get());
    check(s.api->stream->synchronize(s.main_stream.get()), "synchronize");
    return place.judge(s.main_stream.get(), "a sound operator");
  }
  const auto kind = static_cast<int32_t>(1 + random() % 12);
  const int dtype = TUTTI_BOOL + static_cast<int>(random() % 15);
  raw_operator raw;
  raw.views = views_of(kind, dtype);
  raw.params = params_of(kind, dtype);
  raw.desc.known = describe(kind, raw.views, raw.params.struct_size != 0 ? &raw.params : nullptr);
  raw.views.resize(8);  // counts that are slightly too large lead to memory of this test
  raw.desc.known.views = raw.views.data();
  changes c;
  for (uint64_t n = random() % 4; n > 0; --n) change_description(raw, random, c);
  s.note("operator " + std::to_string(kind) + " of dtype " + std::to_string(dtype) + "; " +
         c.text());
  const tutti_operator_desc& desc = raw.desc.known;
  int32_t support = TUTTI_SUPPORT_NO;
  const char* reason = nullptr;
  const outcome asked =
      answer(s.api->op->supports(s.device.get(), &desc, &support, &reason), "supports");
  require(asked || support == TUTTI_SUPPORT_YES || (reason != nullptr && *reason != 0),
          "not supported, and no reason given");
  const auto [created, plan] =
      answer(s.api->op->release, "create", s.api->op->create, s.device.get(), &desc);
  require((!asked && support == TUTTI_SUPPORT_YES) || created,
          "made, though `supports` says no: {}", c.text());
  // What a launch reads must be known: descriptions that were cut short mean something else.
  const bool is_whole = desc.struct_size >= sizeof desc && desc.view_size == sizeof raw.views[0];
  if (!created && is_whole && is_small(raw)) launch_changed(s, plan.get(), raw, random);
}

}  // namespace tutti::conformance
