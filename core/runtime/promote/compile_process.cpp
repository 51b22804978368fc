// SPDX-License-Identifier: Apache-2.0
#include "runtime/promote/compile_process.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <system_error>
#include <utility>

#include "runtime/promote/compile_service.hpp"
#include "safety/child_process.hpp"
#include "safety/messages.hpp"

namespace tutti::runtime {
namespace {

using std::chrono::steady_clock;

// To load a library and say hello, on a machine that does much else.
constexpr std::chrono::seconds time_to_begin{30};

void put_part(std::string& text, const std::string& part) {
  text += std::to_string(part.size());
  text += ' ';
  text += part;
}

bool get_part(std::string_view& text, std::string& part) {
  std::size_t length = 0, digits = 0;
  for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9' && digits < 12;
       ++digits)
    length = 10 * length + static_cast<std::size_t>(text[digits] - '0');
  if (digits == 0 || digits >= text.size() || text[digits] != ' ') return false;
  text.remove_prefix(digits + 1);
  if (length > text.size()) return false;
  part = text.substr(0, length);
  text.remove_prefix(length);
  return true;
}

compile_answer answer_of(const std::string& text) {
  using kind = compile_answer::kind;
  for (const kind how : {kind::compiled, kind::refused, kind::unavailable})
    if (!text.empty() && text.front() == static_cast<char>(how)) return {how, text.substr(1)};
  return {kind::unavailable, "its answer makes no sense"};
}

}  // namespace

std::string compile_request::text() const {
  std::string text;
  for (const std::string* part : {&device, &identity, &work}) put_part(text, *part);
  return text;
}

bool compile_request::read(std::string_view text) {
  return get_part(text, device) && get_part(text, identity) && get_part(text, work) && text.empty();
}

compile_process::compile_process(std::filesystem::path program, std::chrono::seconds patience)
    : program_(std::move(program)), patience_(patience) {
  if (program_.empty()) missing_ = "there is no program for it";
}

compile_process::~compile_process() { rest(); }

void compile_process::connect(int socket) {
  const std::lock_guard lock(mutex_);
  if (socket_ >= 0) ::close(socket_);
  socket_ = socket;
  if (is_stopped_ && socket_ >= 0) ::shutdown(socket_, SHUT_RDWR);
}

void compile_process::rest() noexcept { connect(-1); }

void compile_process::stop() noexcept {
  const std::lock_guard lock(mutex_);
  is_stopped_ = true;
  if (socket_ >= 0) ::shutdown(socket_, SHUT_RDWR);
}

bool compile_process::start() {
  const detail::child_process started = detail::start_child(program_, {serve_word});
  connect(started.socket);
  std::string hello;
  if (started.failed != 0)
    missing_ = program_.string() + ": " + std::generic_category().message(started.failed);
  else if (detail::receive_message(socket_, hello, steady_clock::now() + time_to_begin) !=
               detail::arrived::message ||
           hello != service_greeting())
    missing_ = program_.string() + " does not say what it should";
  else
    return true;
  rest();
  return false;
}

compile_answer compile_process::compile(const compile_request& request) {
  using kind = compile_answer::kind;
  constexpr int most_tries = 3;  // the third takes safer options
  const std::string asked = request.text();
  for (int tries = 0; tries < most_tries; ++tries) {
    if (is_stopped_) return {kind::stopped, ""};
    if (!missing_.empty() || (!is_connected() && !start()))
      return {is_stopped_ ? kind::stopped : kind::unavailable, missing_};
    std::string answer;
    const detail::arrived end =
        detail::send_message(socket_, asked)
            ? detail::receive_message(socket_, answer, steady_clock::now() + patience_)
            : detail::arrived::closed;
    if (end == detail::arrived::message) return answer_of(answer);
    rest();
    if (end == detail::arrived::nothing_in_time)
      return {kind::refused,
              "its compiler has not come back within " + std::to_string(patience_.count()) + " s"};
  }
  if (is_stopped_) return {kind::stopped, ""};
  return {kind::refused, "the processes that compiled it have ended"};
}

}  // namespace tutti::runtime
