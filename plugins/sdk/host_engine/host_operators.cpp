// SPDX-License-Identifier: Apache-2.0
//
// Operators as launches of host kernels, planned as for a device.
#include "sdk/host_engine/host_operators.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <string>
#include <vector>

#include "sdk/device_layer/kernel_options.hpp"
#include "sdk/device_layer/matmul_call.hpp"
#include "sdk/device_layer/operators.hpp"
#include "sdk/host_engine/dispatch.hpp"
#include "sdk/op_info.hpp"
#include "sdk/ordering.hpp"
#include "sdk/status.hpp"

namespace tutti::sdk {
namespace {

using routines::kernel_routine;

constexpr size_t most_words = 40;  // kernel arguments
constexpr size_t workspace_place =
    most_operands;  // among the addresses of a launch, after the views
constexpr size_t constants_place = workspace_place + 1;
constexpr size_t place_count = constants_place + 1;
// Not worth waking threads; steps with a group for each thread are, because their groups are large.
constexpr uint64_t few_groups = 4;
constexpr int64_t small_product = 1 << 20;  // multiply-adds, likewise
constexpr uint64_t converted_at_once = 8192;

using addresses = std::array<std::byte*, place_count>;

// A kernel argument that is an address of the launch, plus `offset` bytes.
struct address_word {
  size_t word, place;
  uint64_t offset;
};

// One launch. Its words may point into `shape`.
struct step {
  kernel_routine run;
  uint64_t groups;
  bool alone;  // not worth more than one thread
  std::vector<uint64_t> words;
  std::vector<address_word> from_launch;
  std::vector<std::byte> shape;
};

kernel_routine kernel_for(host_routines set, const std::string& options, const char* name) {
  const kernel_routine run = find_kernel(set, options + " " + name);
  if (run == nullptr)
    throw plugin_error(TUTTI_ERROR_UNSUPPORTED,
                       std::string("host engine: no kernel ") + name + " for " + options);
  return run;
}

// Records the launches of the device layer.
class step_maker final : public operator_launcher {
 public:
  step_maker(host_routines set, uint64_t threads, std::vector<step>& to,
             std::vector<std::byte>& constants)
      : set_(set), few_(std::min(few_groups, threads)), to_(to), constants_(constants) {}

  void keep(std::span<const std::byte> constants) override {
    constants_.assign(constants.begin(), constants.end());
  }

  void launch(const kernel_launch& k) override {
    step s{kernel_for(set_, k.options, k.kernel), k.groups, k.groups < few_, {}, {}, {}};
    for (const operand o : k.memory) {
      const size_t place = o == operand::workspace   ? workspace_place
                           : o == operand::constants ? constants_place
                                                     : static_cast<size_t>(o);
      s.from_launch.push_back({s.words.size(), place, 0});
      s.words.push_back(0);
    }
    const auto* shape = static_cast<const std::byte*>(k.shape);
    s.shape.assign(shape, shape + k.shape_bytes);
    s.words.push_back(reinterpret_cast<uint64_t>(s.shape.data()));
    to_.push_back(std::move(s));
  }

 private:
  host_routines set_;
  uint64_t few_;
  std::vector<step>& to_;
  std::vector<std::byte>& constants_;
};

size_t place_of(MatmulArgument::Kind kind) {
  switch (kind) {
    case MatmulArgument::Kind::c:
      return 0;
    case MatmulArgument::Kind::a:
      return 1;
    case MatmulArgument::Kind::b:
      return 2;
    case MatmulArgument::Kind::bias:
      return 3;
    default:
      return workspace_place;
  }
}

step product_step(host_routines set, const MatmulLaunch& launch, const std::string& options,
                  bool alone) {
  step s{kernel_for(set, options, launch.kernel), launch.global[0], alone, {}, {}, {}};
  for (const MatmulArgument& a : launch.arguments) {
    const bool number =
        a.kind == MatmulArgument::Kind::integer || a.kind == MatmulArgument::Kind::place;
    if (!number) s.from_launch.push_back({s.words.size(), place_of(a.kind), 0});
    s.words.push_back(number ? static_cast<uint64_t>(a.value) : 0);
  }
  if (s.words.size() > most_words)
    throw plugin_error(TUTTI_ERROR_INTERNAL, std::string(launch.kernel) + ": too many arguments");
  return s;
}

// Integer sums do not depend on the order: their kernels only use the vector width of a set.
MatmulDevice device_of_product(const device_description& device, const MatmulProblem& problem,
                               host_routines set) {
  MatmulDevice on = matmul_device(device);
  const bool real = problem.element == MatmulElement::f32 || problem.element == MatmulElement::f64;
  if (!real) on.vector_bytes = set == host_routines::baseline ? 16 : 32;
  return on;
}

bool has_product(const device_description& device, const MatmulProblem& problem,
                 host_routines set) {
  const MatmulDevice on = device_of_product(device, problem, set);
  return find_kernel(set, matmul_options(problem, on) + " matvec_rows") != nullptr;
}

bool is_scan(const operator_call& call) { return call.kind == TUTTI_OPERATOR_SCAN; }

// The dtype that the scan input is converted to first, or its own.
uint8_t scanned_dtype(const operator_call& call) {
  const auto in = static_cast<uint8_t>(call.views[1].dtype);
  return in == call.views[0].dtype ? in : scan_accumulator(call.views[0].dtype);
}

uint64_t aligned(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

// One or two casts: halves are converted to f32 first.
class conversion {
 public:
  conversion() = default;
  conversion(host_routines set, uint8_t from, uint8_t to, uint64_t count)
      : count_(count), from_(dtype_size(from)), to_(dtype_size(to)) {
    const uint8_t between = register_dtype(from);
    if (between != from) first_ = find_block(set, TUTTI_OP_cast, from, between);
    if (between != to) second_ = find_block(set, TUTTI_OP_cast, between, to);
  }

  uint64_t pieces() const { return (count_ + converted_at_once - 1) / converted_at_once; }
  void run_piece(uint64_t piece, const std::byte* from, std::byte* to) const {
    constexpr uint64_t block = 512;
    float between[block];
    const uint64_t end = std::min(count_, (piece + 1) * converted_at_once);
    for (uint64_t i = piece * converted_at_once; i < end; i += block) {
      const auto n = static_cast<long>(std::min(block, end - i));
      const void* source = from + i * from_;
      std::byte* target = to + i * to_;
      if (first_ != nullptr) {
        first_(&source, second_ != nullptr ? static_cast<void*>(between) : target, n);
        source = between;
      }
      if (second_ != nullptr) second_(&source, target, n);
    }
  }

 private:
  uint64_t count_ = 0;
  uint32_t from_ = 0, to_ = 0;
  routines::block_routine first_ = nullptr, second_ = nullptr;
};

struct workspace_deleter {
  void operator()(std::byte* memory) const { ::operator delete (memory, std::align_val_t{64}); }
};
using owned_workspace = std::unique_ptr<std::byte, workspace_deleter>;

void run_step(const step& s, const addresses& at, const host_parallel_for& parallel) {
  std::array<uint64_t, most_words> words;
  std::copy(s.words.begin(), s.words.end(), words.begin());
  for (const address_word& a : s.from_launch)
    words[a.word] = reinterpret_cast<uint64_t>(at[a.place] + a.offset);
  if (!parallel || s.alone) return s.run(words.data(), 0, s.groups, s.groups);
  parallel(s.groups, [&](uint64_t group) { s.run(words.data(), group, group + 1, s.groups); });
}

}  // namespace

struct host_operator_plan::state {
  uint32_t view_count = 0;
  std::vector<step> steps;
  std::vector<std::byte> constants;  // read by the steps
  uint64_t workspace_bytes = 0;
  conversion scanned;           // of view 1, before the steps
  uint64_t scanned_offset = 0;  // in the workspace

  void plan_product(const device_description& device, const operator_call& call,
                    host_routines set) {
    const MatmulProblem problem = matmul_problem(call);
    const MatmulDevice on = device_of_product(device, problem, set);
    const MatmulPlan plan = plan_matmul(problem, on);
    const std::string options = matmul_options(problem, on);
    const bool alone = static_cast<double>(problem.rows) * static_cast<double>(problem.cols) *
                           static_cast<double>(problem.depth) *
                           static_cast<double>(problem.batches) <
                       small_product;
    for (const MatmulLaunch& launch : plan.launches)
      steps.push_back(product_step(set, launch, options, alone));
    workspace_bytes = static_cast<uint64_t>(plan.workspace_bytes);
  }

  void plan_scan(const device_description& device, const operator_call& call, host_routines set) {
    const auto in = static_cast<uint8_t>(call.views[1].dtype);
    const uint8_t read = scanned_dtype(call);
    std::array<tutti_view, 2> views = {call.views[0], call.views[1]};
    views[1].dtype = read;
    operator_call converted = call;
    converted.views = views.data();
    plan_others(device, converted, set);
    if (read == in || steps.empty()) return;
    // The copy of the input follows the workspace of the kernels.
    const uint64_t count = elements_of(call.views[1]), offset = aligned(workspace_bytes);
    for (step& s : steps)
      for (address_word& a : s.from_launch)
        if (a.place == 1) a = {a.word, workspace_place, offset};
    scanned = conversion(set, in, read, count);
    scanned_offset = offset;
    workspace_bytes = offset + count * dtype_size(read);
  }

  void convert(const addresses& at, const host_parallel_for& parallel) const {
    const uint64_t pieces = scanned.pieces();
    const auto run = [&](uint64_t piece) {
      scanned.run_piece(piece, at[1], at[workspace_place] + scanned_offset);
    };
    if (parallel && pieces >= few_groups) return parallel(pieces, run);
    for (uint64_t piece = 0; piece < pieces; ++piece) run(piece);
  }

  void plan_others(const device_description& device, const operator_call& call, host_routines set) {
    step_maker maker(set, device.compute_units(), steps, constants);
    workspace_bytes = launch_operator(device, call, maker);
  }
};

const char* host_operator_plan::against(const device_description& device, const operator_call& call,
                                        host_routines routines) {
  if (!has_host_routines(routines)) return "this processor lacks the host engine's instructions";
  if (device.kind != schedule::cpu) return "the host engine works in the order of CPUs";
  if (call.kind == TUTTI_OPERATOR_MATMUL) {
    if (const char* why = against_matmul(device, call)) return why;
    return has_product(device, matmul_problem(call), routines)
               ? nullptr
               : "matmul: the host engine has no vectors of the device's width";
  }
  if (const char* why = against_operator(device, call)) return why;
  if (call.kind == TUTTI_OPERATOR_CONVOLUTION &&
      find_kernel(routines, convolution_options(device, call.views[0].dtype) +
                                " tutti_convolution_bands") == nullptr)
    return "convolution: the host engine has no vectors of the device's width";
  return nullptr;
}

host_operator_plan::host_operator_plan(const device_description& device, const operator_call& call,
                                       host_routines routines) {
  if (const char* why = against(device, call, routines)) throw_unsupported(why);
  auto made = std::make_unique<state>();
  made->view_count = call.view_count;
  if (call.kind == TUTTI_OPERATOR_MATMUL)
    made->plan_product(device, call, routines);
  else if (is_scan(call))
    made->plan_scan(device, call, routines);
  else
    made->plan_others(device, call, routines);
  state_ = std::move(made);
}

host_operator_plan::~host_operator_plan() = default;
host_operator_plan::host_operator_plan(host_operator_plan&&) noexcept = default;
host_operator_plan& host_operator_plan::operator=(host_operator_plan&&) noexcept = default;

uint64_t host_operator_plan::workspace_bytes() const { return state_->workspace_bytes; }

void host_operator_plan::run(std::byte* const* views, const host_parallel_for& parallel,
                             void* workspace) const {
  addresses at{};
  std::copy_n(views, state_->view_count, at.begin());
  owned_workspace own;
  if (workspace == nullptr && state_->workspace_bytes > 0) {
    own.reset(
        static_cast<std::byte*>(::operator new (state_->workspace_bytes, std::align_val_t{64})));
    workspace = own.get();
  }
  at[workspace_place] = static_cast<std::byte*>(workspace);
  at[constants_place] = const_cast<std::byte*>(state_->constants.data());  // kernels only read it
  state_->convert(at, parallel);
  for (const step& s : state_->steps) run_step(s, at, parallel);
}

}  // namespace tutti::sdk
