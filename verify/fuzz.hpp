// SPDX-License-Identifier: Apache-2.0
//
// Random descriptions, valid ones changed in a few places. A plugin answers each by a status or by
// right results; it neither crashes nor hangs, and what it cannot mean it does not accept.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "harness.hpp"

namespace tutti::conformance {

// One case each. They note what they ask before they ask it.
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

// What was changed in a description, as text: "kept_rank 1 -> 9, inputs NULL".
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

// A failure that names the code and the message is what a plugin may answer; a status without one
// is not. Throws `failure` for that.
outcome answer(tutti_status* status, const char* what);

}  // namespace tutti::conformance
