// SPDX-License-Identifier: Apache-2.0
//
// A process that is interrupted while a file says that it is at something new looks afterwards like
// one that the new thing has ended. The interrupt's handler tells them apart.
#pragma once

#include <string_view>

#include "tutti/export.hpp"

namespace tutti::detail {

/// What an interrupt makes of the beginning of the file, and of what only.
inline constexpr std::string_view entered_word = "entered", interrupted_word = "running";
static_assert(entered_word.size() == interrupted_word.size());

/// What the handler does to the file; may be called in one.
void note_interrupt(int file) noexcept;

/// While one lives, SIGINT, SIGTERM, SIGHUP and SIGQUIT go through a handler of ours, each where
/// nothing but the default was there: not where the application has a handler or ignores the
/// signal, as under nohup. The process ends by the signal all the same. With the end of the last
/// one the defaults come back, where nobody else has put a handler in the place of ours.
class TUTTI_INTERNAL_API interrupt_witness {
 public:
  /// The file stays open meanwhile. Of very many at a time some see nothing.
  explicit interrupt_witness(int file) noexcept;
  ~interrupt_witness();
  interrupt_witness(const interrupt_witness&) = delete;
  interrupt_witness& operator=(const interrupt_witness&) = delete;

 private:
  int slot_ = -1;
};

}  // namespace tutti::detail
