// SPDX-License-Identifier: Apache-2.0
//
// Random descriptions: valid ones changed in a few positions. A plugin must return a status or
// correct results for each; it must not crash or hang, and must not accept invalid ones.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "harness.hpp"

namespace tutti::conformance {

// One case each. They record their description before they use it.
void fuzz_program(session& s, generator& random);
void fuzz_program_launch(session& s, generator& random);
void fuzz_operator(session& s, generator& random);
void fuzz_kernel(session& s, generator& random);
void fuzz_memory(session& s, generator& random);

inline bool chance(generator& random, uint64_t one_in) { return random() % one_in == 0; }

template <typename T>
T one_of(generator& random, std::initializer_list<T> list) {
  return list.begin()[random() % list.size()];
}

// The changes in a description, as text: "kept_rank 1 -> 9, inputs NULL".
class changes {
 public:
  // A field set to a random one of these values.
  template <typename Field, typename Value>
  void set(const char* name, Field& field, Value value) {
    add(std::string(name) + " " + std::to_string(field) + " -> " +
        std::to_string(static_cast<Field>(value)));
    field = static_cast<Field>(value);
  }
  template <typename T>
  void set_null(const char* name, T*& pointer) {
    add(std::string(name) + " NULL");
    pointer = nullptr;
  }
  void add(const std::string& text) { text_ += (text_.empty() ? "" : ", ") + text; }

  bool empty() const { return text_.empty(); }
  std::string text() const { return text_.empty() ? "nothing changed" : text_; }

 private:
  std::string text_;
};

// A plugin may return a failure with a code and a message, but not a status without one. Throws
// `failure` in that case.
void require_text(const outcome& result, const char* what);
outcome answer(tutti_status* status, const char* what);
// The same of what is made, which is there if and only if there is no failure.
template <typename T, typename Function, typename... Arguments>
std::pair<outcome, handle<T>> answer(void (*release)(T*), const char* what, Function function,
                                     Arguments... arguments) {
  auto made = tried(release, function, arguments...);
  require_text(made.first, what);
  require(bool(made.first) != bool(made.second), "{}: status and object disagree", what);
  return made;
}

}  // namespace tutti::conformance
