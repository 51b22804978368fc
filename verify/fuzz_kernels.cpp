// SPDX-License-Identifier: Apache-2.0
//
// Kernels of applications, in the languages for which there is a text.
#include <cstring>

#include "fuzz.hpp"

namespace tutti::conformance {
namespace {

constexpr uint64_t items = 64;
constexpr const char* opencl_text =
    "kernel void twice(global int* x, int a) { x[get_global_id(0)] = a * x[get_global_id(0)]; }\n";
constexpr const char* cuda_text =
    "extern \"C\" __global__ void twice(int* x, int a) { x[blockIdx.x * blockDim.x + "
    "threadIdx.x] *= a; }\n";

// Only as many work-items as there are elements reach memory.
tutti_status* twice_on_host(void*, const tutti_host_kernel_call* call) {
  if (call->argument_count != 2) return nullptr;
  int32_t a = 0;
  std::memcpy(&a, call->arguments[1], sizeof a);
  auto* x = static_cast<int32_t*>(call->arguments[0]);
  for (uint64_t i = 0; i < call->global[0] && i < items; ++i) x[i] *= a;
  return nullptr;
}

tutti_kernel_desc sound_description(uint32_t languages, generator& random) {
  tutti_kernel_desc d{};
  d.struct_size = sizeof d;
  d.entry = d.label = "twice";
  d.language = TUTTI_KERNEL_HOST;
  for (const int32_t l : {TUTTI_KERNEL_OPENCL_C, TUTTI_KERNEL_CUDA_CXX})
    if ((languages & TUTTI_KERNEL_LANGUAGE_BIT(l)) != 0) d.language = l;
  if (d.language == TUTTI_KERNEL_HOST || (random() % 2 == 0 && (languages & 32u) != 0)) {
    d.language = TUTTI_KERNEL_HOST;
    d.host = twice_on_host;
    return d;
  }
  d.source = d.language == TUTTI_KERNEL_CUDA_CXX ? cuda_text : opencl_text;
  d.source_bytes = std::strlen(static_cast<const char*>(d.source));
  return d;
}

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

void change_launch(tutti_kernel_launch& l, tutti_kernel_argument* arguments, generator& random,
                   changes& c) {
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
      return c.set("kind", arguments[random() % 2].kind, one_of(random, {0, 3, -1}));
    case 7:
      return c.set_null("buffer", arguments[0].buffer);
    default:
      return c.set("offset", arguments[0].offset,
                   one_of<uint64_t>(random, {uint64_t{1} << 40, ~uint64_t{0}, items * 4 + 1}));
  }
}

void launch_twice(session& s, const tutti_kernel_api& api, tutti_kernel* kernel,
                  generator& random) {
  const handle<tutti_buffer> x = s.allocate(items * 4);
  std::vector<int32_t> values(items), want(items);
  for (uint64_t i = 0; i < items; ++i) want[i] = 2 * (values[i] = static_cast<int32_t>(i));
  s.write(x.get(), 0, values.data(), items * 4);
  const int32_t factor = 2;
  tutti_kernel_argument arguments[2] = {{TUTTI_KERNEL_BUFFER, 0, x.get(), 0, nullptr},
                                        {TUTTI_KERNEL_SCALAR, 4, nullptr, 0, &factor}};
  tutti_kernel_launch l{};
  l.struct_size = sizeof l;
  l.arguments = arguments;
  l.argument_count = 2;
  l.argument_size = sizeof arguments[0];
  l.global[0] = items;
  l.global[1] = l.global[2] = 1;
  changes c;
  if (chance(random, 2)) change_launch(l, arguments, random, c);
  s.note("launch of a kernel: " + c.text());
  const outcome refused = answer(api.launch(s.main_stream.get(), kernel, &l, nullptr), "launch");
  const outcome later = answer(s.api->stream->synchronize(s.main_stream.get()), "synchronize");
  require(c.empty() || refused || later, "accepted: " + c.text());
  if (!c.empty()) return;
  require(!refused && !later, "a sound launch failed: " + refused.message + later.message);
  s.read(x.get(), 0, values.data(), items * 4);
  require(values == want, "wrong results of a kernel");
}

}  // namespace

void fuzz_kernel(session& s, generator& random) {
  const tutti_kernel_api* const api = s.api->kernel;
  if (api == nullptr) throw skipped("the plugin takes no kernels of the application");
  uint32_t languages = 0;
  check(api->languages(s.device.get(), &languages), "languages");
  constexpr uint32_t known = TUTTI_KERNEL_LANGUAGE_BIT(TUTTI_KERNEL_OPENCL_C) |
                             TUTTI_KERNEL_LANGUAGE_BIT(TUTTI_KERNEL_CUDA_CXX) |
                             TUTTI_KERNEL_LANGUAGE_BIT(TUTTI_KERNEL_HOST);
  if ((languages & known) == 0) throw skipped("no language that there is a text for");
  tutti_kernel_desc desc = sound_description(languages, random);
  changes c;
  if (chance(random, 2)) change_description(desc, random, c);
  s.note("kernel in language " + std::to_string(desc.language) + "; " + c.text());
  tutti_kernel* made = nullptr;
  const outcome created = answer(api->create(s.device.get(), &desc, &made), "create");
  const handle<tutti_kernel> kernel(made, api->release);
  require(created ? made == nullptr : made != nullptr, "create: status and kernel disagree");
  require(!c.empty() || !created, "a sound kernel is refused: " + created.message);
  if (created) return;
  tutti_kernel_info info{};
  info.struct_size = sizeof info;
  answer(api->info(made, &info), "info");
  launch_twice(s, *api, made, random);
}

}  // namespace tutti::conformance
