// SPDX-License-Identifier: Apache-2.0
//
// Kernels of applications, in the languages for which there is a text.
#include "fuzz.hpp"
#include "kernel_trials.hpp"

namespace tutti::conformance {
namespace {

constexpr uint64_t items = 64;

void change_description(tutti_kernel_desc& d, generator& random, changes& c) {
  switch (random() % 8) {
    case 0:
      return c.set("struct_size", d.struct_size, one_of<uint64_t>(random, {0, 7, 8, 24}));
    case 1:
      return c.set("language", d.language, one_of<int32_t>(random, {-1, 0, 2, 3, 4, 6, 31, 99}));
    case 2:
      return c.set("source_bytes", d.source_bytes,
                   d.source_bytes > 0 ? random() % d.source_bytes : 0);
    case 3:
      return c.set_null("source", d.source);
    case 4:
      return c.set_null("entry", d.entry);
    case 5:
      d.entry = one_of(random, {"", "absent", "tw ice"});
      return c.add(std::string("entry \"") + d.entry + "\"");
    case 6:
      d.options = one_of(random, {"", "-no-such-option", "-DA=1"});
      return c.add(std::string("options \"") + d.options + "\"");
    default:
      return c.set_null("label", d.label);
  }
}

void change_launch(kernel_rig& r, generator& random, changes& c) {
  tutti_kernel_launch& l = r.launch;
  switch (random() % 9) {
    case 0:
      return c.set("struct_size", l.struct_size, one_of<uint64_t>(random, {0, 7}));
    case 1:
      return c.set("argument_count", l.argument_count, one_of<uint32_t>(random, {~0u, 5000}));
    case 2:
      return c.set("argument_size", l.argument_size, random() % 4);
    case 3:
      return c.set_null("arguments", l.arguments);
    case 4:
      return c.set("global", l.global[random() % 3],
                   one_of<uint64_t>(random, {0, uint64_t{1} << 63, ~uint64_t{0}}));
    case 5:
      l.local[1] = l.local[2] = 1;
      return c.set("local", l.local[0], one_of<uint64_t>(random, {5, 7, 128, ~uint64_t{0}}));
    case 6:
      return c.set("kind", r.arguments[random() % 3].known.kind, one_of(random, {0, 3, -1}));
    case 7:
      return c.set_null("buffer", r.arguments[0].known.buffer);
    default:
      return c.set("offset", r.arguments[0].known.offset,
                   one_of<uint64_t>(random, {uint64_t{1} << 40, ~uint64_t{0}, items * 4 + 1}));
  }
}

void launch_scaled(session& s, const tutti_kernel_api& api, tutti_kernel* kernel,
                   generator& random) {
  kernel_rig r(s, items);
  changes c;
  if (chance(random, 2)) change_launch(r, random, c);
  s.note("launch of a kernel: " + c.text());
  const outcome refused =
      answer(api.launch(s.main_stream.get(), kernel, &r.launch, nullptr), "launch");
  const outcome later = answer(s.api->stream->synchronize(s.main_stream.get()), "synchronize");
  require(c.empty() || refused || later, "accepted: {}", c.text());
  if (!c.empty()) return;
  require(!refused && !later, "a sound launch failed: {}{}", refused.message, later.message);
  require(r.read(s) == r.expected(3), "wrong results of a kernel");
}

}  // namespace

void fuzz_kernel(session& s, generator& random) {
  const tutti_kernel_api* const api = s.api->kernel;
  if (api == nullptr) throw skipped("the plugin takes no kernels of the application");
  uint32_t languages = 0;
  check(api->languages(s.device.get(), &languages), "languages");
  std::vector<int32_t> known;
  for (const int32_t l : {TUTTI_KERNEL_OPENCL_C, TUTTI_KERNEL_CUDA_CXX, TUTTI_KERNEL_HOST})
    if ((languages & TUTTI_KERNEL_LANGUAGE_BIT(l)) != 0) known.push_back(l);
  if (known.empty()) throw skipped("no language that there is a text for");
  host_state state;
  state.most = items;
  tutti_kernel_desc desc = description(known[random() % known.size()], state);
  changes c;
  if (chance(random, 2)) change_description(desc, random, c);
  s.note("kernel in language " + std::to_string(desc.language) + "; " + c.text());
  const auto [created, kernel] = answer(api->release, "create", api->create, s.device.get(), &desc);
  require(!c.empty() || !created, "a sound kernel is refused: {}", created.message);
  if (created) return;
  tutti_kernel_info info{};
  info.struct_size = sizeof info;
  answer(api->info(kernel.get(), &info), "info");
  launch_scaled(s, *api, kernel.get(), random);
}

}  // namespace tutti::conformance
