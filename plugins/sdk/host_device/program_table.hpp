// SPDX-License-Identifier: Apache-2.0
//
// The program group: checks and copies the arguments; short work runs in the calling thread.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "sdk/capabilities.hpp"
#include "sdk/host_device/objects.hpp"
#include "sdk/owned_launch.hpp"
#include "sdk/validate.hpp"

namespace tutti::host_device {

/// Code(program_description&&, compute_units) runs programs. It is immutable and has desc(),
/// is_short(launch), and run(launch, memory, team) for checked launches; it may have
/// joint(code, launch, memory, team), which makes a launch that can be run together with others,
/// and then has is_worth_holding(launch, whether the stream holds others) for short ones.
template <typename Code>
struct program {
  std::shared_ptr<const Code> code;  // shared with queued launches
};

/// Program is tutti_program, which the plugin derives from program<Code>.
template <typename Code, typename Program>
struct program_functions {
  static tutti_status* capabilities(tutti_device* device, tutti_program_capabilities* result) {
    return sdk::guarded([&] {
      sdk::deref(device, "device");
      sdk::write_struct(result, sdk::programs_in(computed_dtypes).capabilities(), "capabilities");
    });
  }

  static tutti_status* supports(tutti_device* device, const tutti_program_desc* desc,
                                int32_t* support, const char** reason) {
    return sdk::guarded([&] {
      sdk::deref(device, "device");
      sdk::deref(support, "support") =
          sdk::supports_program(sdk::programs_in(computed_dtypes), limits, desc, reason);
    });
  }

  static tutti_status* create(tutti_device* device, const tutti_program_desc* desc,
                              tutti_program** result) {
    return sdk::guarded([&] {
      const uint32_t units = sdk::deref(device, "device").info->compute_units();
      sdk::deref(result, "program") = nullptr;
      auto made = std::make_unique<Program>();
      made->code = std::make_shared<Code>(sdk::program_description(desc, limits), units);
      *result = made.release();
    });
  }

  static void release(tutti_program* given) { delete static_cast<Program*>(given); }

  static tutti_status* workspace(tutti_program* given, const tutti_program_launch*,
                                 uint64_t* bytes) {
    return sdk::guarded([&] {
      sdk::deref(given, "program");
      sdk::deref(bytes, "bytes") = 0;
    });
  }

  static tutti_status* launch(tutti_stream* stream, tutti_program* given,
                              const tutti_program_launch* launched, tutti_event** event) {
    return sdk::guarded([&] {
      tutti_program_launch mine = sdk::read_struct(launched, "program launch");
      const program<Code>& whole = sdk::deref(static_cast<Program*>(given), "program");
      const std::shared_ptr<const Code>& code = whole.code;
      std::vector<tutti_operand> operands;
      sdk::read_operands(code->desc(), mine, operands);
      sdk::validate_launch(code->desc(), mine);
      tutti_stream& line = sdk::deref(stream, "stream");
      sdk::thread_team& team = line.device->team;
      constexpr bool joins = requires { Code::joint(code, mine, memory_of, team); };
      const bool is_short = code->is_short(mine);
      if constexpr (joins) {
        if (is_short && team.size() > 1 && code->is_worth_holding(mine, line.queue.holds()) &&
            hold(line, event, Code::joint(code, mine, memory_of, team)))
          return;
      }
      if (is_short && line.queue.is_idle()) {
        const auto work = [&] { code->run(mine, memory_of, team); };
        return run_now(line, event, std::cref(work));
      }
      if constexpr (joins) {
        enqueue(line, event, Code::joint(code, mine, memory_of, team));
      } else {
        enqueue(line, event, [code, kept = sdk::owned_program_launch(code->desc(), mine), &team] {
          code->run(kept.get(), memory_of, team);
        });
      }
    });
  }

  // No code is generated.

  static constexpr tutti_program_api api = {
      sizeof(tutti_program_api), capabilities, supports, create, release, workspace, launch};
};

}  // namespace tutti::host_device
