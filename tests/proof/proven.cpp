// SPDX-License-Identifier: Apache-2.0
//
// A program that computes and says whether the results are right; proof_test.cpp runs it on a
// device that lies.
//   proven default    the name of the default device
//   proven products   products of f32 of two shapes
//   proven integers   arithmetic of i64
//   proven sorted     a sort of f32
//   proven both       a product and a sort of f32
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

bool product_is_right(std::int64_t m, std::int64_t k, std::int64_t n) {
  std::vector<float> a(static_cast<std::size_t>(m * k)), b(static_cast<std::size_t>(k * n));
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 7);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 5);
  const std::vector<float> got =
      tutti::matmul(array::from(a).reshape({m, k}), array::from(b).reshape({k, n}))
          .to_vector<float>();
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (std::int64_t q = 0; q < k; ++q)
        sum += a[static_cast<std::size_t>(i * k + q)] * b[static_cast<std::size_t>(q * n + j)];
      if (got[static_cast<std::size_t>(i * n + j)] != sum) return false;
    }
  return true;
}

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

bool sort_is_right() {
  std::vector<float> x(500);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 37 % 500);
  const auto got = tutti::sort(array::from(x)).to_vector<float>();
  std::sort(x.begin(), x.end());
  return got == x;
}

bool is_right(const std::string& what) {
  if (what == "products") return product_is_right(5, 6, 7) && product_is_right(20, 30, 40);
  if (what == "both") return product_is_right(5, 6, 7) && sort_is_right();
  return what == "integers" ? integers_are_right() : sort_is_right();
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
    std::cout << (is_right(what) ? "right" : "wrong");
    std::cout << ", fallbacks: " << (tutti::stats().fallbacks > 0 ? "some" : "none") << std::endl;
    return 0;
  } catch (const tutti::error& e) {
    std::cout << "error: " << e.what() << std::endl;
    return 1;
  }
}
