// SPDX-License-Identifier: Apache-2.0
#include "runtime/execute/compile_ahead.hpp"

#include <algorithm>
#include <atomic>
#include <set>
#include <system_error>
#include <thread>
#include <vector>

#include "base/compile_progress.hpp"
#include "base/signals.hpp"

namespace tutti::runtime {
namespace {

// PoCL compiles only one program at a time, for all threads.
std::size_t threads_for(const detail::opened_device& device) {
  constexpr unsigned most = 16;
  if (device.properties.type == device_type::cpu) return 1;
  return std::clamp(std::thread::hardware_concurrency(), 1u, most);
}

// The program that a group needs.
struct wanted_code {
  std::string key;
  std::optional<fusion::lowered> fused;
  std::function<std::unique_ptr<cached_plan>()> prepare;
  std::unique_ptr<cached_program> program = nullptr;
  std::unique_ptr<cached_plan> plan = nullptr;
};

wanted_code code_of(const device_context& context, const planned_group& where) {
  wanted_code wanted;
  if (where.group.fused) {
    wanted.fused = fusion::lower(where.plan, where.group);
    wanted.fused->key(wanted.key);
    if (context.programs.contains(wanted.key)) wanted.key.clear();
  } else if (auto found = operator_of(context, where.group)) {
    if (!context.plans.contains(found->key)) wanted.key = std::move(found->key);
    wanted.prepare = std::move(found->prepare);
  }
  return wanted;
}

// The program of `from` is the first.
std::vector<wanted_code> missing_code(const device_context& context, const planned_group& from) {
  std::vector<wanted_code> all;
  std::set<std::pair<bool, std::string>> seen;
  const std::vector<fusion::group>& groups = from.plan.groups;
  for (auto n = static_cast<std::size_t>(&from.group - groups.data()); n < groups.size(); ++n) {
    if (groups[n].members.front()->device != &context.device) continue;
    wanted_code wanted = code_of(context, {from.plan, groups[n]});
    if (wanted.key.empty() || !seen.emplace(wanted.fused.has_value(), wanted.key).second) continue;
    all.push_back(std::move(wanted));
  }
  return all;
}

void compile_all(const device_context& context, std::vector<wanted_code>& all) {
  const base::compiler_wait waiting;
  base::progress_of_compilers().expect(all.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t n = next++; n < all.size(); n = next++) {
      try {
        if (all[n].fused)
          all[n].program = compile(context, *all[n].fused);
        else
          all[n].plan = all[n].prepare();
      } catch (const std::exception&) {  // its launch reports it
      }
    }
  };
  const std::size_t threads = std::min(all.size(), threads_for(context.device));
  std::vector<std::thread> others;
  try {
    others.reserve(threads);
    while (others.size() + 1 < threads) others.push_back(base::start_thread(work));
  } catch (const std::system_error&) {  // the existing threads do the work
  }
  work();
  for (std::thread& other : others) other.join();
}

// The program of `from`, once the context has the others.
wanted_code first_of_all(device_context& context, const planned_group& from) {
  std::vector<wanted_code> all = missing_code(context, from);
  if (all.size() < 2) return {};
  compile_all(context, all);
  for (std::size_t n = 1; n < all.size(); ++n) {
    wanted_code& w = all[n];
    if (w.program != nullptr)
      context.cached(context.programs, w.key, [&] { return std::move(w.program); });
    if (w.plan != nullptr) context.cached(context.plans, w.key, [&] { return std::move(w.plan); });
  }
  return std::move(all[0]);
}

}  // namespace

std::unique_ptr<cached_program> compile_ahead(device_context& context, const planned_group& from) {
  return std::move(first_of_all(context, from).program);
}

std::unique_ptr<cached_plan> plan_ahead(device_context& context, const planned_group& from) {
  return std::move(first_of_all(context, from).plan);
}

}  // namespace tutti::runtime
