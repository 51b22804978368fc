// SPDX-License-Identifier: Apache-2.0
//
// The application's kernels that a device has compiled, by their source: equal ones are compiled
// once, for any number of objects, and none is released while work may use it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/counters.hpp"
#include "plugin/raii.hpp"

namespace tutti::runtime {

struct compiled_kernel {
  plugins::kernel_handle handle;
  tutti_kernel_info info{};
  std::uint64_t last_use = 0;  // position on the compute stream
};

/// Guarded by the lock of its device.
class kernel_cache {
 public:
  /// The kernel for `key`, about to be launched at position `next`; created with `create` if it
  /// does not exist. `retired`: work up to there has ended.
  template <class Create>
  compiled_kernel& find(const std::string& key, std::uint64_t next, std::uint64_t retired,
                        Create&& create) {
    auto found = kernels_.find(key);
    if (found != kernels_.end()) {
      base::count().memory_cache_hits.add();
    } else {
      if (kernels_.size() >= most) drop(retired);
      auto made = std::make_unique<compiled_kernel>(create());
      found = kernels_.emplace(key, std::move(made)).first;
    }
    found->second->last_use = next;
    return *found->second;
  }

 private:
  // Beyond this number, the least recently used ones are dropped and created again when needed.
  static constexpr std::size_t most = 512;

  void drop(std::uint64_t retired) {
    std::vector<std::uint64_t> uses;
    for (const auto& [key, kernel] : kernels_) uses.push_back(kernel->last_use);
    const auto quarter = uses.begin() + static_cast<std::ptrdiff_t>(uses.size() / 4);
    std::nth_element(uses.begin(), quarter, uses.end());
    const std::uint64_t latest = std::min(*quarter, retired);
    std::erase_if(kernels_, [&](const auto& entry) { return entry.second->last_use <= latest; });
  }

  std::unordered_map<std::string, std::unique_ptr<compiled_kernel>> kernels_;
};

}  // namespace tutti::runtime
