// SPDX-License-Identifier: Apache-2.0
//
// Launches of valid programs, each with one error.
#include <algorithm>

#include "chains.hpp"
#include "fuzz.hpp"
#include "program_meaning.hpp"

namespace tutti::conformance {
namespace {

// A launch of a valid program, and the error in it.
struct bad_launch {
  tutti_program_launch desc{};
  std::vector<tutti_operand> inputs, outputs;
};

void spoil(bad_launch& l, const program_spec& p, generator& random, changes& c) {
  tutti_operand& any = chance(random, 3) ? l.outputs[random() % l.outputs.size()]
                                         : l.inputs[random() % l.inputs.size()];
  const bool is_output = &any >= l.outputs.data() && &any < l.outputs.data() + l.outputs.size();
  const auto& declared = is_output ? p.outputs[static_cast<size_t>(&any - l.outputs.data())]
                                   : p.inputs[static_cast<size_t>(&any - l.inputs.data())];
  switch (random() % 8) {
    case 0:
      return c.set("struct_size", l.desc.struct_size, one_of<uint64_t>(random, {0, 1, 7}));
    case 1:
      return c.set("operand_size", l.desc.operand_size, random() % 8);
    case 2:
      return c.set_null("inputs", l.desc.inputs);
    case 3:
      return c.set_null("outputs", l.desc.outputs);
    case 4:
      return c.set_null("scalars", l.desc.scalars);
    case 5:
      return c.set_null("a buffer", any.buffer);
    case 6:
      if (sdk::dtype_size(declared.dtype) > 1) return c.set("offset", any.offset, any.offset + 1);
      return c.set("extent", l.desc.extent[0], 0);
    default:
      if (l.desc.extent[0] > 1) return c.set("stride", any.stride[0], any.stride[0] + 1);
      return c.set("extent", l.desc.extent[0], 0);
  }
}

}  // namespace

// Every error in a launch can be detected from the description, so it must be refused; and a valid
// launch after it must be correct.
void fuzz_program_launch(session& s, generator& random) {
  const random_program base = make_program(s, random, 1 + random() % 3);
  const program_spec& p = base.spec;
  surroundings w = make_surroundings(p, small_extents(p, random), random);
  const handle<tutti_program> program = s.program(p.desc());
  bad_launch l;
  std::vector<handle<tutti_buffer>> buffers;
  const auto add = [&](const operand& o, std::vector<tutti_operand>& to) {
    buffers.push_back(s.allocate(2 * o.data.bytes.size()));
    to.push_back(to_abi(o, buffers.back().get()));
  };
  for (const operand& o : w.inputs) add(o, l.inputs);
  for (const operand& o : w.outputs) add(o, l.outputs);
  l.desc.struct_size = sizeof l.desc;
  l.desc.operand_size = sizeof(tutti_operand);
  std::copy(w.extent.begin(), w.extent.end(), l.desc.extent);
  l.desc.inputs = l.inputs.data();
  l.desc.outputs = l.outputs.data();
  l.desc.scalars = w.scalars.data();
  changes c;
  spoil(l, p, random, c);
  s.note("launch of a " + text_of(p) + "; " + c.text());
  uint64_t bytes = 0;
  answer(s.api->program->workspace(program.get(), &l.desc, &bytes), "workspace");
  const auto [refused, done] = tried(s.api->stream->event_release, s.api->program->launch,
                                     s.main_stream.get(), program.get(), &l.desc);
  require_text(refused, "launch");
  const outcome later = answer(s.api->stream->synchronize(s.main_stream.get()), "synchronize");
  require(refused || later, "accepted: {}", c.text());
  launch(s, program.get(), w.extent, w.inputs, w.scalars, w.outputs);
  std::vector<uint8_t> values;
  require(means_something(p, values), "a sound program makes no sense");
  if (can_be_judged(p, values)) judge(p, w);
}

}  // namespace tutti::conformance
