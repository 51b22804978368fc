// SPDX-License-Identifier: Apache-2.0
//
// The program group, run by the host engine.
#include "sdk/host_device/program_table.hpp"
#include "sdk/host_engine/row_launch.hpp"

namespace tutti::host_device {
namespace {

struct engine_code : sdk::engine_program {
  using sdk::engine_program::engine_program;
  bool is_short(const tutti_program_launch& launch) const {
    return expected_ns(launch) < sdk::too_long_to_wait_ns;
  }
  // Only launches over several rows begin; what follows may be a map of one dimension.
  bool is_worth_holding(const tutti_program_launch& launch, bool holds) const {
    constexpr double least_ns = 8'000;  // several times the cost of keeping it
    const bool has_rows = desc().reduction != TUTTI_REDUCE_NONE || desc().kept_rank > 1;
    return holds || (has_rows && expected_ns(launch) >= least_ns);
  }
  static std::shared_ptr<const sdk::joint_work> joint(std::shared_ptr<const engine_code> code,
                                                      const tutti_program_launch& launch,
                                                      sdk::find_memory memory,
                                                      sdk::thread_team& team) {
    return std::make_shared<sdk::row_launch>(std::move(code), launch, memory, team);
  }
};

}  // namespace
}  // namespace tutti::host_device

struct tutti_program : tutti::host_device::program<tutti::host_device::engine_code> {};

namespace tutti::host_device {

const tutti_program_api program_api = program_functions<engine_code, tutti_program>::api;

}  // namespace tutti::host_device
