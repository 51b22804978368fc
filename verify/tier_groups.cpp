// SPDX-License-Identifier: Apache-2.0
//
// Plugins that begin on the host: programs and plans have the same results before and after they
// are compiled, and say which they are.
#include <array>

#include "harness.hpp"
#include "views.hpp"

namespace tutti::conformance {
namespace {

const tutti_tier_api& tier_of(const session& s) {
  const bool has_table = offers(s.api, &tutti_plugin_api::tier);
  if (!has_table) throw skipped("the plugin does not begin on the host");
  if (s.api->tier->begins_on_host(s.device.get()) == 0)
    throw skipped("this device does not begin on the host");
  return *s.api->tier;
}

void require_truth(int32_t value, const char* what) {
  require(value == 0 || value == 1,
          [&] { return std::string(what) + " answers with " + std::to_string(value); });
}

// What could not be compiled stays on the host; what could be is not worth compiling again.
void require_tier(const outcome& promoted, int32_t on_host, uint64_t cost) {
  require(on_host == (promoted ? 1 : 0), [&] {
    return promoted ? "what could not be compiled is not on the host: " + promoted.message
                    : "what was compiled is on the host";
  });
  require(promoted || cost == 0,
          [&] { return "what was compiled is worth compiling: " + std::to_string(cost) + " ns"; });
}

// a + a
program_spec doubled() {
  program_spec spec;
  spec.inputs.push_back({TUTTI_F32, TUTTI_ACCESS_UNIT, 0, 0});
  spec.output(spec.op(TUTTI_OP_add, TUTTI_F32, {0, 0}), TUTTI_F32);
  return spec;
}

void check_programs(session& s) {
  const tutti_tier_api& tier = tier_of(s);
  const program_spec spec = doubled();
  const tutti_program_desc desc = spec.desc();
  const handle<tutti_program> program = s.program(desc);
  const extents extent = {1000};
  generator random(s.seed);
  view_spec in{packed(TUTTI_F32, extent), extent};
  fill(in, -10, 10, random);
  const auto run = [&] {
    std::vector<operand> out = {packed(TUTTI_F32, extent)};
    launch(s, program.get(), extent, {in.data}, {}, out);
    return out[0].data.bytes;
  };
  require_truth(tier.program_is_on_host(program.get()), "program_is_on_host");
  if (offers(&tier, &tutti_tier_api::program_can_be_left))
    require_truth(tier.program_can_be_left(program.get()), "program_can_be_left");
  const auto before = run();
  const outcome promoted = take(tier.promote_program(program.get()));
  require_tier(promoted, tier.program_is_on_host(program.get()), tier.program_cost(program.get()));
  require(run() == before, "a compiled program has another result");
}

void check_plans(session& s) {
  const tutti_tier_api& tier = tier_of(s);
  const extents extent = {3, 40};
  view_spec in{packed(TUTTI_F32, extent), extent};
  generator random(s.seed);
  fill(in, -10, 10, random);
  std::vector<view_spec> views = {{packed(TUTTI_F32, extent), extent}, in};
  const tutti_sort_params params{sizeof params, 0, 0};
  const std::vector<tutti_view_desc> described = describe(views);
  const tutti_operator_desc desc = describe(TUTTI_OPERATOR_SORT, described, &params);
  const handle<tutti_plan> plan = s.plan(desc);
  require_truth(tier.plan_is_on_host(plan.get()), "plan_is_on_host");
  if (offers(&tier, &tutti_tier_api::plan_can_be_left))
    require_truth(tier.plan_can_be_left(plan.get()), "plan_can_be_left");
  std::vector<view_spec> before = views, after = views;
  launch_operator(s, TUTTI_OPERATOR_SORT, before, &params);
  const outcome promoted = take(tier.promote_plan(plan.get()));
  require_tier(promoted, tier.plan_is_on_host(plan.get()), tier.plan_cost(plan.get()));
  launch_operator(s, TUTTI_OPERATOR_SORT, after, &params);
  require(after[0].data.data.bytes == before[0].data.data.bytes,
          "a compiled plan has another result");
}

void check_compiled_streams(session& s) {
  const tutti_tier_api& tier = tier_of(s);
  const handle<tutti_stream> stream = s.stream(TUTTI_STREAM_COMPILED);
  const program_spec spec = doubled();
  const tutti_program_desc desc = spec.desc();
  const handle<tutti_program> program = s.program(desc);
  const handle<tutti_buffer> memory = s.allocate(256);
  const std::array<float, 64> ones{};
  check(s.api->transfer->write(stream.get(), memory.get(), 0, ones.data(), sizeof ones, 1, nullptr),
        "write");
  tutti_operand place{memory.get(), 0, {1}};
  tutti_program_launch l{};
  l.struct_size = sizeof l;
  l.operand_size = sizeof place;
  l.extent[0] = ones.size();
  l.inputs = l.outputs = &place;
  tutti_event* event = nullptr;
  check(s.api->program->launch(stream.get(), program.get(), &l, &event), "program launch");
  const handle<tutti_event> done(event, s.api->stream->event_release);
  check(s.api->stream->synchronize(stream.get()), "synchronize");
  require(event != nullptr && tier.ran_on_host(event) == 0,
          "a stream of compiled code ran a program on the host");
}

}  // namespace

void add_tier_groups(groups& all, const session&) {
  all.push_back({"tier/programs", check_programs});
  all.push_back({"tier/plans", check_plans});
  all.push_back({"tier/compiled_streams", check_compiled_streams});
}

}  // namespace tutti::conformance
