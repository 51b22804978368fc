// SPDX-License-Identifier: Apache-2.0
#include "runtime/promote/compile_service.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "base/signals.hpp"
#include "plugin/host.hpp"
#include "plugin/raii.hpp"
#include "plugin/registry.hpp"
#include "runtime/promote/compile_process.hpp"
#include "runtime/promote/described_work.hpp"
#include "runtime/promote/promotion.hpp"
#include "safety/journal.hpp"
#include "safety/messages.hpp"
#include "tutti/error.hpp"

namespace tutti::runtime {
namespace {

using answer_kind = compile_answer::kind;

constexpr std::chrono::minutes longest_idle{5};

detail::opened_device* find(const std::string& name) {
  const std::string backend = name.substr(0, name.find(':'));
  for (detail::opened_device* device : detail::registry().devices_of(backend))
    if (device->name == name) return device;
  return nullptr;
}

promotion described(const detail::opened_device& device, described_work& work) {
  promotion made;
  made.device = &device;
  made.label = work.label();
  if (const tutti_program_desc* const desc = work.program()) {
    made.program = detail::create_program(device, *desc);
  } else {
    const tutti_operator_desc* const op = work.op();
    made.plan = detail::create_plan(device, *op, made.label);
  }
  return made;
}

compile_answer answer(const compile_request& request) {
  detail::opened_device* device = nullptr;
  try {
    device = find(request.device);
    if (device == nullptr) return {answer_kind::unavailable, "no " + request.device};
    device->open();
  } catch (const std::exception& e) {
    return {answer_kind::unavailable, e.what()};
  }
  if (!device->begins_on_host || detail::cache_prefix(*device) != request.identity)
    return {answer_kind::unavailable, request.device + " is another device there"};
  auto work = described_work::from(request.work);
  if (!work) return {answer_kind::unavailable, "the description cannot be read"};
  try {
    static const std::atomic<bool> never = false;
    std::string why = compile_here(described(*device, *work), never);
    return {why.empty() ? answer_kind::compiled : answer_kind::refused, std::move(why)};
  } catch (const std::exception& e) {
    return {answer_kind::refused, e.what()};
  }
}

// What is under way has not failed: nobody wants it any more.
[[noreturn]] void leave() {
  detail::process_journal().close();
  ::_exit(0);
}

}  // namespace

std::string service_greeting() { return fmt::format("tutti-compiler {}", TUTTI_VERSION); }

void serve_compilations(int socket) {
  if (!detail::send_message(socket, service_greeting())) leave();
  std::atomic<bool> is_busy = false;
  for (;;) {
    std::string text;
    const auto deadline = std::chrono::steady_clock::now() + longest_idle;
    const detail::arrived end = detail::receive_message(socket, text, deadline);
    if (end == detail::arrived::nothing_in_time && is_busy) continue;
    compile_request request;
    if (end != detail::arrived::message || !request.read(text) || is_busy.exchange(true)) leave();
    // Not in this thread, which hears of the end.
    detail::start_thread([socket, request = std::move(request), &is_busy] {
      const compile_answer made = answer(request);
      is_busy = false;
      if (!detail::send_message(socket, static_cast<char>(made.how) + made.why)) leave();
    }).detach();
  }
}

}  // namespace tutti::runtime
