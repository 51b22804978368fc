// SPDX-License-Identifier: Apache-2.0
//
// A program that computes and says whether the results are right; proof_test.cpp runs it on a
// device that lies.
//   proven default    the name of the default device
//   proven integers   arithmetic of i64
//   proven exits FILE exits when there is a file of that name, while another thread computes
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <thread>
#include <tutti/tutti.hpp>
#include <vector>

namespace {

using tutti::array;

bool integers_are_right() {
  std::vector<std::int64_t> x(100);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::int64_t>(i * i);
  const array a = array::from(x);
  const auto got = (a * a + a).to_vector<std::int64_t>();
  const auto other = (a - std::int64_t{7}).to_vector<std::int64_t>();
  for (std::size_t i = 0; i < x.size(); ++i)
    if (got[i] != x[i] * x[i] + x[i] || other[i] != x[i] - 7) return false;
  return true;
}

// The other thread is asking the device its first question.
[[noreturn]] void exit_while_asking(const std::string& file) {
  std::thread([] {
    try {
      integers_are_right();
    } catch (const tutti::error&) {  // nothing is computed any more
    }
  }).detach();
  while (!std::filesystem::exists(file)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::exit(0);
}

}  // namespace

int main(int, char** argv) {
  const std::string what = argv[1];
  try {
    if (what == "default") {
      std::cout << "default: " << tutti::default_device().name() << std::endl;
      return 0;
    }
    if (what == "exits") exit_while_asking(argv[2]);
    std::cout << (integers_are_right() ? "right" : "wrong");
    std::cout << ", fallbacks: " << (tutti::stats().fallbacks > 0 ? "some" : "none") << std::endl;
    return 0;
  } catch (const tutti::error& e) {
    std::cout << "error: " << e.what() << std::endl;
    return 1;
  }
}
