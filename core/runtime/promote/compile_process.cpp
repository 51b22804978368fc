// SPDX-License-Identifier: Apache-2.0
#include "runtime/promote/compile_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/env.hpp"
#include "runtime/promote/compile_service.hpp"
#include "runtime/promote/messages.hpp"

extern char** environ;

namespace tutti::runtime {
namespace {

using std::chrono::steady_clock;

// To load a library and say hello, on a machine that does much else.
constexpr std::chrono::seconds time_to_begin{30};

// The environment of this process, but for what writes files or lines of its own, and with the one
// tier in which anything is compiled behind work.
std::vector<std::string> environment() {
  std::vector<std::string> all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    if (name != "TUTTI_LOG" && name != "TUTTI_TRACE" && name != "TUTTI_TIER")
      all.emplace_back(text);
  }
  all.emplace_back("TUTTI_LOG=error");
  all.emplace_back("TUTTI_TIER=auto");
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

class file_actions {
 public:
  file_actions() { posix_spawn_file_actions_init(&actions_); }
  ~file_actions() { posix_spawn_file_actions_destroy(&actions_); }
  file_actions(const file_actions&) = delete;
  file_actions& operator=(const file_actions&) = delete;
  posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

// Signals as a process has them that nobody has told anything.
class usual_signals {
 public:
  usual_signals() {
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
  ~usual_signals() { posix_spawnattr_destroy(&attributes_); }
  usual_signals(const usual_signals&) = delete;
  usual_signals& operator=(const usual_signals&) = delete;
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

// Its standard input is the connection. Returns 0 or an errno.
int spawn(const std::filesystem::path& program, int connection) {
  std::string name = program.string(), word = serve_word;
  char* const arguments[] = {name.data(), word.data(), nullptr};
  std::vector<std::string> variables = environment();
  file_actions actions;
  posix_spawn_file_actions_adddup2(actions.get(), connection, STDIN_FILENO);
  posix_spawn_file_actions_addopen(actions.get(), STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  const usual_signals signals;
  pid_t child = 0;
  const int failed = posix_spawn(&child, program.c_str(), actions.get(), signals.get(), arguments,
                                 pointers(variables).data());
  if (failed != 0) return failed;
  // It goes on in a process of its own; the application may be waiting for its children as well.
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return 0;
}

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
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    missing_ = std::generic_category().message(errno);
    return false;
  }
  connect(ends[0]);
  const int failed = spawn(program_, ends[1]);
  ::close(ends[1]);
  std::string hello;
  if (failed != 0)
    missing_ = program_.string() + ": " + std::generic_category().message(failed);
  else if (receive_message(socket_, hello, steady_clock::now() + time_to_begin) !=
               arrived::message ||
           hello != service_greeting())
    missing_ = program_.string() + " does not say what it should";
  else
    return true;
  rest();
  return false;
}

compile_answer compile_process::compile(const compile_request& request) {
  using kind = compile_answer::kind;
  constexpr int most_tries = 2;
  const std::string asked = request.text();
  for (int tries = 0; tries < most_tries; ++tries) {
    if (is_stopped_) return {kind::stopped, ""};
    if (!missing_.empty() || (!is_connected() && !start()))
      return {is_stopped_ ? kind::stopped : kind::unavailable, missing_};
    std::string answer;
    const arrived end = send_message(socket_, asked)
                            ? receive_message(socket_, answer, steady_clock::now() + patience_)
                            : arrived::closed;
    if (end == arrived::message) return answer_of(answer);
    rest();
    if (end == arrived::nothing_in_time)
      return {kind::refused,
              "its compiler has not come back within " + std::to_string(patience_.count()) + " s"};
  }
  if (is_stopped_) return {kind::stopped, ""};
  return {kind::refused, "the processes that compiled it have ended"};
}

found_compiler find_compiler(const std::filesystem::path& library) {
  if (detail::env_word("TUTTI_COMPILER_PROCESS", {"on", "off"}) == "off")
    return {{}, "TUTTI_COMPILER_PROCESS=off", "unset it"};
  if (library.empty()) return {{}, "the library does not know where it lies", "load it by a path"};
  const std::filesystem::path program = library.parent_path() / "tutti" / "tutti-compiler";
  try {
    const auto objection = detail::changeable_by_others(program, library);
    if (objection && !detail::env_word("TUTTI_PLUGIN_OWNER", {"any"}))
      return {{}, objection->why, objection->advice};
  } catch (const std::exception& e) {
    return {{}, e.what(), "install it beside the library"};
  }
  return {program, {}, {}};
}

}  // namespace tutti::runtime
