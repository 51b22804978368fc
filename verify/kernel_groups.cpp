// SPDX-License-Identifier: Apache-2.0
//
// Kernels of applications, an optional function group: building, arguments, sizes, order relative
// to other work, failures, and lifetimes of host functions.
#include <functional>

#include "kernel_trials.hpp"

namespace tutti::conformance {
namespace {

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
  return made(kernels_of(s)->release, "create", kernels_of(s)->create, s.device.get(), &desc);
}

void check_results(session& s) {
  each_language(s, [&](int32_t language) {
    host_state state;
    const auto kernel = build(s, description(language, state));
    for (const uint64_t n : {1, 96, 1000}) {
      for (const uint64_t offset : {0u, 4 * s.properties.alignment}) {
        kernel_rig r(s, n, offset);
        const auto done = event_of(s, "launch", kernels_of(s)->launch, s.main_stream.get(),
                                   kernel.get(), &r.launch);
        r.factor = -1;  // read during the call
        check(s.api->stream->event_wait(done.get(), TUTTI_FOREVER), "event wait");
        require(r.read(s) == r.expected(3), "wrong results of {} elements at byte {}", n, offset);
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
    kernel_rig r(s, 96);
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
    require(result.code == code && made == nullptr && !result.message.empty(), "{}: code {}, {}",
            what, result.code, result.message);
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
    kernel_rig r(s, 64);
    const auto refuse = [&](const char* what) {
      tutti_event* event = nullptr;
      const outcome result =
          take(kernels_of(s)->launch(s.main_stream.get(), kernel.get(), &r.launch, &event));
      require(result.code == TUTTI_ERROR_INVALID_ARGUMENT && event == nullptr, "{}: code {}, {}",
              what, result.code, result.message);
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
  kernel_rig r(s, 64);
  {
    const auto kernel = build(s, description(TUTTI_KERNEL_HOST, state));
    const auto done =
        event_of(s, "launch", kernels_of(s)->launch, s.main_stream.get(), kernel.get(), &r.launch);
    const outcome result = take(s.api->stream->event_wait(done.get(), TUTTI_FOREVER));
    require(result.code == TUTTI_ERROR_DRIVER && result.message == "made to fail",
            "the function's failure came as: {}", result.message);
    take(s.api->stream->synchronize(s.main_stream.get()));
    check(kernels_of(s)->launch(s.main_stream.get(), kernel.get(), &r.launch, nullptr), "launch");
  }  // released with work in line
  check(s.api->stream->synchronize(s.main_stream.get()), "synchronize");
  require(r.read(s) == r.expected(3), "a kernel that was released early has not run");
  require(state.released == 1, "the context was let go {} times", state.released);
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
