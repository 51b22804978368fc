// SPDX-License-Identifier: Apache-2.0
//
// Kernels of applications, an optional function group: building, arguments, sizes, order relative
// to other work, failures, and lifetimes of host functions.
#include <cstring>
#include <functional>

#include "harness.hpp"
#include "spirv_module.hpp"

namespace tutti::conformance {
namespace {

// out[i] = a x[i] + i, in the languages that a plugin may support.
constexpr const char* opencl_text =
    "kernel void scaled(global const int* x, global int* out, int a) {\n"
    "  size_t i = get_global_id(0);\n"
    "  out[i] = a * x[i] + (int)i;\n"
    "}\n";
constexpr const char* cuda_text =
    "extern \"C\" __global__ void scaled(const int* x, int* out, int a) {\n"
    "  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  out[i] = a * x[i] + (int)i;\n"
    "}\n";

struct host_state {
  uint64_t items = 0;
  int released = 0;
  tutti_status* failure = nullptr;
};

tutti_status* scaled_on_host(void* context, const tutti_host_kernel_call* call) {
  auto& state = *static_cast<host_state*>(context);
  if (state.failure != nullptr) return std::exchange(state.failure, nullptr);
  const auto* x = static_cast<const int32_t*>(call->arguments[0]);
  auto* out = static_cast<int32_t*>(call->arguments[1]);
  int32_t a = 0;
  std::memcpy(&a, call->arguments[2], sizeof a);
  state.items = call->global[0] * call->global[1] * call->global[2];
  for (uint64_t i = 0; i < call->global[0]; ++i) out[i] = a * x[i] + static_cast<int32_t>(i);
  return nullptr;
}

const tutti_kernel_api* kernels_of(const session& s) {
  const auto end = offsetof(tutti_plugin_api, kernel) + sizeof(void*);
  if (s.api->struct_size < end || s.api->kernel == nullptr)
    throw skipped("the plugin takes no kernels of the application");
  return s.api->kernel;
}

uint32_t languages_of(session& s) {
  uint32_t languages = 0;
  check(kernels_of(s)->languages(s.device.get(), &languages), "languages");
  return languages;
}

tutti_kernel_desc description(int32_t language, host_state& state) {
  tutti_kernel_desc desc{};
  desc.struct_size = sizeof desc;
  desc.language = language;
  desc.entry = desc.label = "scaled";
  if (language == TUTTI_KERNEL_HOST) {
    desc.host = scaled_on_host;
    desc.host_context = &state;
    desc.host_release = [](void* context) { ++static_cast<host_state*>(context)->released; };
    return desc;
  }
  if (language == TUTTI_KERNEL_SPIRV) {
    static const auto* const module = new std::vector<uint32_t>(scaled_module());
    desc.source = module->data();
    desc.source_bytes = module->size() * sizeof(uint32_t);
    return desc;
  }
  const char* text = language == TUTTI_KERNEL_CUDA_CXX ? cuda_text : opencl_text;
  desc.source = text;
  desc.source_bytes = std::strlen(text);
  return desc;
}

// For each language of the device that there is a text for.
void each_language(session& s, const std::function<void(int32_t)>& f) {
  const uint32_t languages = languages_of(s);
  require(languages != 0, "a table of kernels, and no language");
  bool any = false;
  for (const int32_t l :
       {TUTTI_KERNEL_OPENCL_C, TUTTI_KERNEL_CUDA_CXX, TUTTI_KERNEL_SPIRV, TUTTI_KERNEL_HOST}) {
    if ((languages & TUTTI_KERNEL_LANGUAGE_BIT(l)) == 0) continue;
    f(l);
    any = true;
  }
  if (!any) throw skipped("no language that there is a text for");
}

handle<tutti_kernel> build(session& s, const tutti_kernel_desc& desc) {
  tutti_kernel* made = nullptr;
  check(kernels_of(s)->create(s.device.get(), &desc, &made), "create");
  require(made != nullptr, "create gave no kernel");
  return {made, kernels_of(s)->release};
}

// x and out with n elements, and the launch data for them.
struct rig {
  rig(session& s, uint64_t n, uint64_t offset_bytes = 0)
      : x(s.allocate(4 * n + offset_bytes)), out(s.allocate(4 * n + offset_bytes)), values(n) {
    for (uint64_t i = 0; i < n; ++i) values[i] = static_cast<int32_t>(7 * i % 1000);
    s.write(x.get(), offset_bytes, values.data(), 4 * n);
    arguments[0] = {{TUTTI_KERNEL_BUFFER, 0, x.get(), offset_bytes, nullptr}, {}};
    arguments[1] = {{TUTTI_KERNEL_BUFFER, 0, out.get(), offset_bytes, nullptr}, {}};
    arguments[2] = {{TUTTI_KERNEL_SCALAR, 4, nullptr, 0, &factor}, {}};
    launch.struct_size = sizeof launch;
    launch.arguments = &arguments[0].known;
    launch.argument_count = 3;
    launch.argument_size = sizeof arguments[0];
    launch.global[0] = n;
    launch.global[1] = launch.global[2] = 1;
  }
  rig(const rig&) = delete;
  rig& operator=(const rig&) = delete;

  std::vector<int32_t> read(session& s) const {
    std::vector<int32_t> got(values.size());
    s.read(out.get(), arguments[1].known.offset, got.data(), 4 * got.size());
    return got;
  }
  std::vector<int32_t> expected(int32_t a) const {
    std::vector<int32_t> want = values;
    for (size_t i = 0; i < want.size(); ++i) want[i] = a * want[i] + static_cast<int32_t>(i);
    return want;
  }

  handle<tutti_buffer> x, out;
  std::vector<int32_t> values;
  int32_t factor = 3;
  // Larger than the plugin knows them, as argument_size states.
  longer<tutti_kernel_argument> arguments[3];
  tutti_kernel_launch launch{};
};

void check_results(session& s) {
  each_language(s, [&](int32_t language) {
    host_state state;
    const auto kernel = build(s, description(language, state));
    for (const uint64_t n : {1, 96, 1000}) {
      for (const uint64_t offset : {0u, 4 * s.properties.alignment}) {
        rig r(s, n, offset);
        tutti_event* event = nullptr;
        check(kernels_of(s)->launch(s.main_stream.get(), kernel.get(), &r.launch, &event),
              "launch");
        r.factor = -1;  // read during the call
        const handle<tutti_event> done(event, s.api->stream->event_release);
        require(event != nullptr, "no event was returned");
        check(s.api->stream->event_wait(event, TUTTI_FOREVER), "event wait");
        require(r.read(s) == r.expected(3), [&] {
          return "wrong results of " + std::to_string(n) + " elements at byte " +
                 std::to_string(offset);
        });
      }
    }
    if (language == TUTTI_KERNEL_HOST) require(state.items == 1000, "the function saw other sizes");
  });
}

// A kernel reads what the previous one on the stream has written; group sizes may be given.
void check_order(session& s) {
  each_language(s, [&](int32_t language) {
    host_state state;
    const auto kernel = build(s, description(language, state));
    rig r(s, 96);
    r.launch.local[0] = s.properties.max_work_group_size >= 32 ? 32 : 1;
    r.launch.local[1] = r.launch.local[2] = 1;
    std::vector<int32_t> want = r.values;
    for (int round = 0; round < 4; ++round) {
      check(kernels_of(s)->launch(s.main_stream.get(), kernel.get(), &r.launch, nullptr), "launch");
      for (size_t i = 0; i < want.size(); ++i) want[i] = 3 * want[i] + static_cast<int32_t>(i);
      if (round < 3) std::swap(r.arguments[0].known.buffer, r.arguments[1].known.buffer);
    }
    // Four launches: the last wrote where the first had read.
    if (r.arguments[1].known.buffer != r.out.get()) std::swap(r.x, r.out);
    require(r.read(s) == want, "launches on one stream were not in order");
  });
}

void check_refusals(session& s) {
  const tutti_kernel_api* api = kernels_of(s);
  const uint32_t languages = languages_of(s);
  host_state state;
  tutti_kernel* made = nullptr;
  const auto refuse = [&](tutti_kernel_desc desc, int32_t code, const char* what) {
    made = nullptr;
    const outcome result = take(api->create(s.device.get(), &desc, &made));
    require(result.code == code && made == nullptr && !result.message.empty(), [&] {
      return std::string(what) + ": code " + std::to_string(result.code) + ", " + result.message;
    });
  };
  for (const int32_t l : {0, 1, 2, 3, 4, 5, 6, 31, 32, -1}) {
    if (l > 0 && l < 32 && (languages & TUTTI_KERNEL_LANGUAGE_BIT(l)) != 0) continue;
    refuse(description(l, state), TUTTI_ERROR_UNSUPPORTED, "a language that is not taken");
  }
  each_language(s, [&](int32_t language) {
    tutti_kernel_desc desc = description(language, state);
    if (language == TUTTI_KERNEL_HOST) {
      desc.host = nullptr;
      refuse(desc, TUTTI_ERROR_INVALID_ARGUMENT, "no function");
      return;
    }
    desc.source_bytes = 0;
    refuse(desc, TUTTI_ERROR_INVALID_ARGUMENT, "no source");
    const std::string broken = "int a(void);\n\nwhat is this\n";
    desc.source = broken.data();
    desc.source_bytes = broken.size();
    refuse(desc, TUTTI_ERROR_COMPILE, "source that does not compile");
    desc = description(language, state);
    desc.entry = "absent";
    refuse(desc, TUTTI_ERROR_COMPILE, "a kernel that is not in the source");
  });
  require(state.released == 0, "a kernel that was not made let go of its context");
}

void check_bad_launches(session& s) {
  each_language(s, [&](int32_t language) {
    host_state state;
    const auto kernel = build(s, description(language, state));
    rig r(s, 64);
    const auto refuse = [&](const char* what) {
      tutti_event* event = nullptr;
      const outcome result =
          take(kernels_of(s)->launch(s.main_stream.get(), kernel.get(), &r.launch, &event));
      require(result.code == TUTTI_ERROR_INVALID_ARGUMENT && event == nullptr, [&] {
        return std::string(what) + ": code " + std::to_string(result.code) + ", " + result.message;
      });
      r.launch.global[0] = 64;
      r.launch.global[1] = 1;
      std::fill(r.launch.local, r.launch.local + 3, 0);
    };
    r.launch.global[0] = 0;
    refuse("no work-items");
    r.launch.global[0] = r.launch.global[1] = uint64_t{1} << 40;
    refuse("too many work-items");
    r.launch.local[0] = 5;
    r.launch.local[1] = r.launch.local[2] = 1;
    refuse("a group that does not divide");
    r.launch.local[0] = 8;
    refuse("a group of no extent");
    r.arguments[0].known.buffer = nullptr;
    refuse("no buffer");
    r.arguments[0].known.buffer = r.x.get();
    if (s.properties.alignment > 4) {
      r.arguments[0].known.offset = 4;
      refuse("an offset that is not aligned");
    }
    r.arguments[0].known.offset = uint64_t{s.properties.alignment} << 20;
    refuse("an offset beyond the buffer");
    r.arguments[0].known.offset = 0;
    r.arguments[2].known.bytes = 17;
    refuse("a scalar of 17 bytes");
    r.arguments[2].known.bytes = 4;
    r.arguments[2].known.kind = 9;
    refuse("an argument of no kind");
    r.arguments[2].known.kind = TUTTI_KERNEL_SCALAR;
    check(kernels_of(s)->launch(s.main_stream.get(), kernel.get(), &r.launch, nullptr),
          "launch after refusals");
    require(r.read(s) == r.expected(3), "wrong results after refusals");
  });
}

// A function that fails, and the release of one.
void check_host_functions(session& s) {
  if ((languages_of(s) & TUTTI_KERNEL_LANGUAGE_BIT(TUTTI_KERNEL_HOST)) == 0)
    throw skipped("the device takes no functions on the host");
  static tutti_status failure{sizeof(tutti_status), TUTTI_ERROR_DRIVER,  42, 0, 0,
                              "made to fail",       [](tutti_status*) {}};
  host_state state;
  state.failure = &failure;
  rig r(s, 64);
  {
    const auto kernel = build(s, description(TUTTI_KERNEL_HOST, state));
    tutti_event* event = nullptr;
    check(kernels_of(s)->launch(s.main_stream.get(), kernel.get(), &r.launch, &event), "launch");
    const handle<tutti_event> done(event, s.api->stream->event_release);
    const outcome result = take(s.api->stream->event_wait(event, TUTTI_FOREVER));
    require(result.code == TUTTI_ERROR_DRIVER && result.message == "made to fail",
            [&] { return "the function's failure came as: " + result.message; });
    take(s.api->stream->synchronize(s.main_stream.get()));
    check(kernels_of(s)->launch(s.main_stream.get(), kernel.get(), &r.launch, nullptr), "launch");
  }  // released with work in line
  check(s.api->stream->synchronize(s.main_stream.get()), "synchronize");
  require(r.read(s) == r.expected(3), "a kernel that was released early has not run");
  require(state.released == 1,
          [&] { return "the context was let go " + std::to_string(state.released) + " times"; });
}

}  // namespace

void add_kernel_groups(groups& all, const session&) {
  all.push_back({"kernel/results", check_results});
  all.push_back({"kernel/order", check_order});
  all.push_back({"kernel/refusals", check_refusals});
  all.push_back({"kernel/bad_launches", check_bad_launches});
  all.push_back({"kernel/host_functions", check_host_functions});
}

}  // namespace tutti::conformance
