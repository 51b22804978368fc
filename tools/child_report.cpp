// SPDX-License-Identifier: Apache-2.0
//
// The child's side of child_process.hpp.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <mutex>

#include "child_lines.hpp"
#include "child_process.hpp"

namespace tutti::tools {
namespace {

// Who closes descriptors that are not its own, or writes into them, begins with the first ones.
constexpr int out_of_the_way = 200;

struct report_channel {
  int descriptor = -1;
  std::string key;
  pid_t process = 0;
  dev_t device = 0;
  ino_t file = 0;

  /// A plugin may have closed it, and have put a file of its own into its place.
  bool is_there() const {
    struct stat now {};
    return ::fstat(descriptor, &now) == 0 && now.st_dev == device && now.st_ino == file;
  }

  static report_channel& instance() {
    static auto* const made = new report_channel;
    return *made;
  }
};

void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) {  // others may have said that it does not wait
      pollfd room{descriptor, POLLOUT, 0};
      ::poll(&room, 1, -1);
      continue;
    }
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace

void be_a_child(const std::string& report_to) {
  report_channel& channel = report_channel::instance();
  const size_t colon = report_to.find(':');
  int given = -1;
  std::from_chars(report_to.data(), report_to.data() + std::min(colon, report_to.size()), given);
  channel.key = colon != std::string::npos ? report_to.substr(colon + 1) : "";
  channel.process = ::getpid();
  channel.descriptor = ::fcntl(given, F_DUPFD_CLOEXEC, out_of_the_way);
  if (channel.descriptor >= 0) {
    ::close(given);
  } else {  // so low is the limit on them
    channel.descriptor = given;
    ::fcntl(given, F_SETFD, FD_CLOEXEC);
  }
  struct stat now {};
  if (::fstat(channel.descriptor, &now) == 0) {
    channel.device = now.st_dev;
    channel.file = now.st_ino;
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // In a group of its own it may not read from the terminal, and would be stopped.
  ::signal(SIGTTIN, SIG_IGN);
  ::signal(SIGTTOU, SIG_IGN);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
}

void report_line(std::string_view line) {
  report_channel& channel = report_channel::instance();
  // What a plugin forks goes on from the middle of its function, and must not answer for its
  // parent.
  if (::getpid() != channel.process) ::_exit(1);
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  if (!channel.is_there()) {
    write_all(STDERR_FILENO,
              "tutti: somebody has closed the descriptor of this process's results\n");
    ::_exit(1);
  }
  write_all(channel.descriptor, framed(line, channel.key));
}

}  // namespace tutti::tools
