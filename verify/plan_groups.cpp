// SPDX-License-Identifier: Apache-2.0
//
// Plans of operators: launched again with other memory and streams, released early, arrays of
// longer structs, fields that no plugin may ignore, packed inputs and measured outputs.
#include <algorithm>
#include <cstring>
#include <thread>

#include "plan_trials.hpp"

namespace tutti::conformance {
namespace {

struct family {
  const char* name;
  trial (*make)(uint64_t seed);
};
constexpr family families[] = {
    {"take", gather}, {"matmul", product}, {"scan", running_sum}, {"argsort", permutation}};

// The same plan on other memory, at other offsets, in other order.
void check_reuse(session& s, trial (*make)(uint64_t)) {
  const trial trials[] = {make(s.seed + 1), make(s.seed + 2), make(s.seed + 3)};
  const handle<tutti_plan> plan = prepare(s, trials[0]);
  std::vector<placement> places;
  uint64_t skip = 0;
  for (const trial& t : trials) places.emplace_back(s, t, plan.get(), skip), skip += 21;
  for (const int n : {0, 1, 2, 1, 0, 2}) places[n].enqueue(s.main_stream.get(), plan.get());
  check(s.api->stream->synchronize(s.main_stream.get()), "synchronize");
  for (const placement& p : places) p.judge(s.main_stream.get(), "a plan launched again");
}

void check_streams(session& s, trial (*make)(uint64_t)) {
  const trial trials[] = {make(s.seed + 4), make(s.seed + 5)};
  const handle<tutti_plan> plan = prepare(s, trials[0]);
  const handle<tutti_stream> streams[] = {s.stream(), s.stream()};
  const placement places[] = {{s, trials[0], plan.get(), 5}, {s, trials[1], plan.get(), 0}};
  outcome failures[2] = {};
  const auto work = [&](int n) {
    for (int i = 0; i < 20 && !failures[n]; ++i)
      failures[n] =
          take(s.api->op->launch(streams[n].get(), plan.get(), &places[n].launch(), nullptr));
    if (!failures[n]) failures[n] = take(s.api->stream->synchronize(streams[n].get()));
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  for (int n : {0, 1}) {
    require(!failures[n], "two threads launch one plan: {}", failures[n].message);
    places[n].judge(s.main_stream.get(), "a plan on two streams");
  }
}

void check_released(session& s, trial (*make)(uint64_t)) {
  const trial t = make(s.seed + 6);
  handle<tutti_plan> plan = prepare(s, t);
  const placement place(s, t, plan.get(), 0);
  for (int i = 0; i < 30; ++i) place.enqueue(s.main_stream.get(), plan.get());
  plan = {};
  check(s.api->stream->synchronize(s.main_stream.get()), "synchronize");
  place.judge(s.main_stream.get(), "a plan released while its work was under way");
}

// ---- structs of a newer caller

// A scan described in structs with more fields than the plugin knows, all zero.
struct newer_caller {
  explicit newer_caller(const trial& t) {
    for (const tutti_view_desc& v : describe(t.views)) views.push_back({v, {}});
    std::memcpy(&params.known, t.params, sizeof params.known);
    params.known.struct_size = sizeof params;
    desc.known.struct_size = sizeof desc;
    desc.known.kind = t.kind;
    desc.known.output_count = 1;
    desc.known.input_count = static_cast<uint32_t>(views.size() - 1);
    desc.known.view_size = sizeof(longer<tutti_view_desc>);
    desc.known.views = &views[0].known;
    desc.known.params = &params;
  }
  std::vector<longer<tutti_view_desc>> views;
  longer<tutti_scan_params> params;
  longer<tutti_operator_desc> desc;
};

void check_longer_structs(session& s) {
  const trial t = running_sum(s.seed);
  newer_caller caller(t);
  require_support(s, describe(t.kind, describe(t.views), t.params));
  require_support(s, caller.desc.known);
  const handle<tutti_plan> plan = s.plan(caller.desc.known);
  placement place(s, t, plan.get(), 2);
  std::vector<longer<tutti_range>> operands;
  for (const tutti_range& r : place.operands()) operands.push_back({r, {~0ull, ~0ull, ~0ull}});
  tutti_operator_launch launch = place.launch();
  launch.operand_size = sizeof(longer<tutti_range>);
  launch.operands = &operands[0].known;
  check(s.api->op->launch(s.main_stream.get(), plan.get(), &launch, nullptr), "operator launch");
  check(s.api->stream->synchronize(s.main_stream.get()), "synchronize");
  place.judge(s.main_stream.get(), "arrays of longer structs");
}

void expect_refusal(session& s, const tutti_operator_desc& desc, const char* what) {
  int32_t support = TUTTI_SUPPORT_YES;
  const char* reason = nullptr;
  check(s.api->op->supports(s.device.get(), &desc, &support, &reason), "supports");
  require(support == TUTTI_SUPPORT_NO, "supported: {}", what);
  require(reason != nullptr && *reason != 0, "no reason: {}", what);
  const outcome made = tried(s.api->op->release, s.api->op->create, s.device.get(), &desc).first;
  require(made.code == TUTTI_ERROR_UNSUPPORTED, "{} gives code {}: {}", what, made.code,
          made.message);
}

// A plugin must refuse fields that it does not know: the device would not do what was requested.
void check_unknown_fields(session& s) {
  const trial t = running_sum(s.seed);
  require_support(s, describe(t.kind, describe(t.views), t.params));
  const auto refused = [&](const char* what, void (*set)(newer_caller&)) {
    newer_caller caller(t);
    set(caller);
    expect_refusal(s, caller.desc.known, what);
  };
  refused("a field beyond the description", [](newer_caller& c) { c.desc.beyond[3] = 1; });
  refused("the description's reserved field", [](newer_caller& c) { c.desc.known.reserved = 1; });
  refused("a field beyond the parameters", [](newer_caller& c) { c.params.beyond[1] = 1; });
  refused("the parameters' reserved field", [](newer_caller& c) { c.params.known.reserved = 1; });
  refused("a field beyond a view", [](newer_caller& c) { c.views[1].beyond[4] = 1; });
}

void check_counts(session& s) {
  const trial t = gather(s.seed);
  const std::vector<tutti_view_desc> views = describe(t.views);
  const tutti_operator_desc good = describe(t.kind, views, t.params);
  require_support(s, good);
  std::vector<tutti_view_desc> more = views;
  more.push_back(views.back());
  const auto invalid = [&](const char* what, auto change) {
    tutti_operator_desc bad = good;
    bad.views = more.data();
    change(bad);
    const outcome made = tried(s.api->op->release, s.api->op->create, s.device.get(), &bad).first;
    require(made.code == TUTTI_ERROR_INVALID_ARGUMENT && !made.message.empty(),
            "{} gives code {}: {}", what, made.code, made.message);
  };
  using desc = tutti_operator_desc;
  invalid("one input too few", [](desc& d) { d.input_count = 1; });
  invalid("one input too many", [](desc& d) { d.input_count = 3; });
  invalid("no output", [](desc& d) { d.output_count = 0, d.input_count = 3; });
  invalid("2^32-1 outputs", [](desc& d) { d.output_count = ~0u; });
  invalid("no views", [](desc& d) { d.views = nullptr; });
  invalid("views of 4 bytes", [](desc& d) { d.view_size = 4; });
  invalid("struct_size 0", [](desc& d) { d.struct_size = 0; });
  tutti_plan* none = nullptr;
  require(bool(take(s.api->op->create(s.device.get(), nullptr, &none))), "no description accepted");

  const handle<tutti_plan> plan = s.plan(good);
  placement place(s, t, plan.get(), 0);
  const auto refused = [&](const tutti_operator_launch* l, const char* what) {
    const outcome now = take(s.api->op->launch(s.main_stream.get(), plan.get(), l, nullptr));
    require(now.code == TUTTI_ERROR_INVALID_ARGUMENT, "{} gives code {}: {}", what, now.code,
            now.message);
  };
  const auto refused_with = [&](const char* what, void (*change)(tutti_operator_launch&)) {
    tutti_operator_launch launch = place.launch();
    change(launch);
    refused(&launch, what);
  };
  using launch = tutti_operator_launch;
  refused_with("a launch of one operand too few", [](launch& l) { l.operand_count = 2; });
  refused_with("a launch of one operand too many", [](launch& l) { l.operand_count = 4; });
  refused_with("a launch without operands", [](launch& l) { l.operands = nullptr; });
  refused_with("operands of 4 bytes", [](launch& l) { l.operand_size = 4; });
  refused(nullptr, "no launch");
  tutti_buffer* const kept = place.operands()[1].buffer;
  place.operands()[1].buffer = nullptr;
  refused(&place.launch(), "a NULL buffer");
  place.operands()[1].buffer = kept;
  place.enqueue(s.main_stream.get(), plan.get());
  check(s.api->stream->synchronize(s.main_stream.get()), "synchronize");
  place.judge(s.main_stream.get(), "after refused launches");
}

// More elements than any memory has: products of such extents overflow.
void check_too_large(session& s) {
  const uint64_t huge = uint64_t{1} << 62;
  const std::vector<tutti_view_desc> views(2, contiguous_view(TUTTI_F32, {3, huge}));
  const tutti_sort_params params{sizeof params, 0, 0};
  const tutti_operator_desc desc = describe(TUTTI_OPERATOR_SORT, views, &params);
  require(bool(tried(s.api->op->release, s.api->op->create, s.device.get(), &desc).first),
          "a plan for 3 * 2^62 elements was made");
}

}  // namespace

void add_plan_groups(groups& all, const session&) {
  for (const family& f : families) {
    const std::string name = f.name;
    all.push_back({"plan/reuse/" + name, [f](session& s) { check_reuse(s, f.make); }});
    all.push_back({"plan/streams/" + name, [f](session& s) { check_streams(s, f.make); }});
    all.push_back({"plan/released/" + name, [f](session& s) { check_released(s, f.make); }});
  }
  all.push_back({"plan/longer_structs", check_longer_structs});
  all.push_back({"plan/unknown_fields", check_unknown_fields});
  all.push_back({"plan/operand_counts", check_counts});
  all.push_back({"plan/too_large", check_too_large});
}

}  // namespace tutti::conformance
