// SPDX-License-Identifier: Apache-2.0
#include "fuzz.hpp"

#include <iterator>

namespace tutti::conformance {

void require_text(const outcome& result, const char* what) {
  require(!result || !result.message.empty(), "{} gives code {} and no message", what, result.code);
}

outcome answer(tutti_status* status, const char* what) {
  outcome result = take(status);
  require_text(result, what);
  return result;
}

void add_fuzz_groups(groups& all, const session&, uint64_t first_seed, uint64_t count) {
  struct kind {
    const char* name;
    void (*run)(session&, generator&);
  };
  static constexpr kind kinds[] = {{"program", fuzz_program},
                                   {"launch", fuzz_program_launch},
                                   {"operator", fuzz_operator},
                                   {"kernel", fuzz_kernel},
                                   {"memory", fuzz_memory}};
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t seed = first_seed + i;
    generator random(seed);
    const kind& k = kinds[random() % std::size(kinds)];
    all.push_back({std::string("fuzz/") + k.name + "/" + std::to_string(seed),
                   [&k, random](session& s) mutable { k.run(s, random); }});
  }
}

}  // namespace tutti::conformance
