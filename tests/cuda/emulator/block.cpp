// SPDX-License-Identifier: Apache-2.0
//
// A block's threads take turns: each runs until it waits for others or ends.
#include "block.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace tutti_emulator {
namespace {

namespace context = boost::context;

stack_pool& stacks() {
  static auto* const pool = new stack_pool;
  return *pool;
}

// Fibers that a fault left in the middle: they never go on, and nothing unwinds them.
void abandon(context::fiber fiber) {
  static auto* const abandoned = new std::vector<context::fiber*>;
  if (fiber) abandoned->push_back(new context::fiber(std::move(fiber)));
}

}  // namespace

order block::numbers;

stack_pool::stack_pool() {
  constexpr size_t page = 4096, count = 1024 + 64, stride = stack_bytes + page;
  void* const all = mmap(nullptr, count * stride, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) std::abort();
  for (size_t n = 0; n < count; ++n) {
    const uintptr_t guard = reinterpret_cast<uintptr_t>(all) + n * stride;
    mprotect(reinterpret_cast<void*>(guard), page, PROT_NONE);
    free_.push_back(guard + page);
  }
}

uintptr_t stack_pool::take() {
  if (free_.empty()) std::abort();  // a fault ends a device, so few are ever abandoned
  const uintptr_t stack = free_.back();
  free_.pop_back();
  return stack;
}

block::block(const launch& l, std::mt19937& random)
    : launch_(l),
      random_(random),
      threads_(size_t{l.block.x} * l.block.y * l.block.z),
      sequence_(threads_.size()),
      shared_(l.from->shared_bytes()),
      dynamic_touched_(l.dynamic_bytes),
      dynamic_(l.dynamic_bytes) {
  std::iota(sequence_.begin(), sequence_.end(), 0u);
  for (const auto& argument : l.arguments) arguments_.push_back(const_cast<char*>(argument.data()));
  l.from->code->block_size = l.block;
  l.from->code->grid = l.grid;
  numbers.begin_launch();
}

block::~block() {
  for (thread& t : threads_) abandon(std::move(t.fiber));
}

bool block::run(index3 where) {
  where_ = launch_.from->code->block = where;
  for (thread& t : threads_) t.now = state::unborn;
  numbers.begin_block(static_cast<unsigned>(threads_.size()));
  next_ = 0;
  for (;;) {
    run_threads();
    if (fault_.code != CUDA_SUCCESS) return false;
    if (let_meetings_end()) continue;
    if (fault_.code != CUDA_SUCCESS) return false;
    size_t waiting = 0, done = 0;
    for (const thread& t : threads_) {
      waiting += t.now == state::barrier ? 1 : 0;
      done += t.now == state::done ? 1 : 0;
    }
    if (done == threads_.size()) return true;
    if (waiting < threads_.size()) {
      set_fault(CUDA_ERROR_LAUNCH_FAILED,
                "a barrier that not all threads reach: " + std::to_string(waiting) +
                    " wait at it, " + std::to_string(done) + " have ended, " +
                    std::to_string(threads_.size() - waiting - done) + " wait elsewhere");
      return false;
    }
    const int line = threads_.front().line;
    for (const thread& t : threads_) {
      if (t.line == line) continue;
      set_fault(CUDA_ERROR_LAUNCH_FAILED, "threads that wait at different barriers: in line " +
                                              std::to_string(line) + " and in line " +
                                              std::to_string(t.line));
      return false;
    }
    numbers.barrier();
    for (thread& t : threads_) t.now = state::ready;
  }
}

// All that can go on, in a new order.
void block::run_threads() {
  std::shuffle(sequence_.begin(), sequence_.end(), random_);
  while (next_ < sequence_.size() && fault_.code == CUDA_SUCCESS) start_fiber();
  for (const unsigned n : sequence_) {
    if (fault_.code != CUDA_SUCCESS) return;
    if (threads_[n].now == state::ready) resume(n);
  }
}

// A fiber takes one new thread after the other until one of them waits.
void block::start_fiber() {
  const uintptr_t stack = stacks().take();
  context::fiber fiber(std::allocator_arg, pooled_stack{&stacks(), stack},
                       [this, stack](context::fiber&& scheduler) {
                         scheduler_ = std::move(scheduler);
                         while (next_ < sequence_.size()) {
                           const unsigned n = sequence_[next_++];
                           threads_[n].stack = stack;
                           threads_[n].now = state::ready;
                           enter(n);
                           launch_.what->call(arguments_.data());
                           threads_[now_].now = state::done;
                         }
                         return std::move(scheduler_);
                       });
  fiber = std::move(fiber).resume();
  if (fiber) threads_[now_].fiber = std::move(fiber);
}

void block::resume(unsigned n) {
  enter(n);
  context::fiber fiber = std::move(threads_[n].fiber).resume();
  if (fiber) threads_[now_].fiber = std::move(fiber);
}

void block::enter(unsigned n) {
  now_ = n;
  stack_ = threads_[n].stack;
  const index3 size = launch_.block;
  launch_.from->code->thread = {n % size.x, n / size.x % size.y, n / size.x / size.y};
  numbers.begin_thread(n);
}

void block::pause(state why) {
  threads_[now_].now = why;
  scheduler_ = std::move(scheduler_).resume();
}

void block::wait_at_barrier(int line) {
  threads_[now_].line = line;
  pause(state::barrier);
}

unsigned long long block::meet(int how, unsigned mask, unsigned long long value, int operand,
                               int width) {
  thread& t = threads_[now_];
  if ((mask >> (now_ % 32) & 1) == 0)
    fail(CUDA_ERROR_LAUNCH_FAILED, "a warp operation by a thread that its mask leaves out");
  t.how = how, t.mask = mask, t.value = value, t.operand = operand, t.width = width;
  const unsigned me = now_;
  pause(state::meeting);
  return threads_[me].result;
}

// True where some threads that met go on.
bool block::let_meetings_end() {
  bool any = false;
  for (unsigned first = 0; first < threads_.size(); first += 32)
    for (unsigned n = first; n < std::min<size_t>(first + 32, threads_.size()); ++n)
      if (threads_[n].now == state::meeting && ends_meeting(first, threads_[n].mask)) any = true;
  return any && fault_.code == CUDA_SUCCESS;
}

// The threads of `mask` in the warp that begins with `first`: whether all are there. Lanes that the
// block is too small for count as there.
bool block::ends_meeting(unsigned first, unsigned mask) {
  const unsigned end = static_cast<unsigned>(std::min<size_t>(first + 32, threads_.size()));
  const thread* one = nullptr;
  for (unsigned n = first; n < end; ++n) {
    if ((mask >> (n - first) & 1) == 0) continue;
    const thread& t = threads_[n];
    if (t.now == state::done) {
      set_fault(CUDA_ERROR_LAUNCH_FAILED,
                "a warp operation with the mask " + std::to_string(mask) +
                    " names a thread that has ended: " + std::to_string(n));
      return false;
    }
    if (t.now != state::meeting || t.mask != mask) return false;
    if (one == nullptr) one = &t;
    if (t.how != one->how) return false;
  }
  for (unsigned n = first; n < end; ++n)
    if ((mask >> (n - first) & 1) != 0) threads_[n].result = value_for(n - first, first);
  for (unsigned n = first; n < end; ++n)
    if ((mask >> (n - first) & 1) != 0) threads_[n].now = state::ready;
  return true;
}

unsigned long long block::value_for(unsigned lane, unsigned first) const {
  const thread& me = threads_[first + lane];
  const auto width = static_cast<unsigned>(me.width), place = static_cast<unsigned>(me.operand);
  const unsigned begin = lane / width * width;
  unsigned from = lane;
  if (me.how == shuffle_up && lane >= begin + place) from = lane - place;
  if (me.how == shuffle_down && lane + place < begin + width) from = lane + place;
  // What a lane outside of the mask gives is undefined.
  const bool there = (me.mask >> from & 1) != 0 && first + from < threads_.size();
  return there ? threads_[first + from].value : 0xfff7fff7fff7fff7ull;
}

void block::set_fault(CUresult code, const std::string& text) {
  const auto triple = [](index3 i) {
    return "(" + std::to_string(i.x) + "," + std::to_string(i.y) + "," + std::to_string(i.z) + ")";
  };
  fault_ = {code, "kernel " + launch_.name + ", block " + triple(where_) + " of " +
                      triple(launch_.grid) + ", thread " + std::to_string(now_) + ": " + text};
}

void block::fail(CUresult code, const std::string& text) {
  set_fault(code, text);
  for (;;) pause(state::done);
}

std::string block::conflict() const {
  return numbers.other_block() ? "a thread of another block"
                               : "thread " + std::to_string(numbers.other_thread());
}

void block::touch(const void* pointer, size_t bytes, int access) {
  const auto at = reinterpret_cast<uintptr_t>(pointer);
  if (at - stack_ < stack_pool::stack_bytes) return;
  if ((access & aligned) != 0 && at % bytes != 0) {
    fail(CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned access of " + std::to_string(bytes) + " bytes");
  }
  if (the_memory().holds(at)) return touch_global(at, bytes, access);
  const uintptr_t shared = reinterpret_cast<uintptr_t>(launch_.from->code->shared_begin);
  if (at - shared < shared_.size() && bytes <= shared_.size() - (at - shared))
    return touch_shared(&shared_[at - shared], bytes, access, "shared memory");
  const uintptr_t dynamic = reinterpret_cast<uintptr_t>(dynamic_.data());
  if (at - dynamic < dynamic_.size() && bytes <= dynamic_.size() - (at - dynamic))
    return touch_shared(&dynamic_touched_[at - dynamic], bytes, access, "dynamic shared memory");
  const bool of_module = at >= launch_.from->first && at < launch_.from->last;
  if (of_module && (access & writes) == 0) return;  // constants
  fail(CUDA_ERROR_ILLEGAL_ADDRESS, std::string((access & writes) != 0 ? "writes " : "reads ") +
                                       the_memory().describe(at, bytes));
}

void block::touch_shared(touched* bytes, size_t count, int access, const char* what) {
  const bool is_write = (access & writes) != 0;
  if (!is_write || (access & atomic) != 0) {
    for (size_t n = 0; n < count; ++n)
      if (!numbers.is_written(bytes[n]))
        fail(CUDA_ERROR_LAUNCH_FAILED, std::string("reads ") + what + " that nothing has written");
  }
  if (numbers.touch(bytes, count, is_write, (access & atomic) != 0, true)) {
    fail(CUDA_ERROR_LAUNCH_FAILED, std::string(is_write ? "writes " : "reads ") +
                                       std::to_string(count) + " bytes of " + what +
                                       " in a race with " + conflict());
  }
}

void block::touch_global(uintptr_t at, size_t bytes, int access) {
  const bool is_write = (access & writes) != 0;
  if (!the_memory().is_live(at, bytes)) {
    fail(CUDA_ERROR_ILLEGAL_ADDRESS,
         (is_write ? "writes " : "reads ") + the_memory().describe(at, bytes));
  }
  if (numbers.touch(the_memory().touches(at), bytes, is_write, (access & atomic) != 0, false))
    fail(CUDA_ERROR_LAUNCH_FAILED, std::string(is_write ? "writes " : "reads ") +
                                       the_memory().describe(at, bytes) + " in a race with " +
                                       conflict());
}

// ---- launches

namespace {

block* running = nullptr;

const runtime functions = {
    [](const void* at, unsigned long bytes, int access) { running->touch(at, bytes, access); },
    [](int line) { running->wait_at_barrier(line); },
    [](int how, unsigned mask, unsigned long long value, int operand, int width) {
      return running->meet(how, mask, value, operand, width);
    },
    [] { return running->dynamic_shared(); }};

}  // namespace

fault execute(const launch& l) {
  static std::mt19937 random(seed());
  l.from->code->functions = &functions;
  block one(l, random);
  running = &one;
  const uint64_t blocks = uint64_t{l.grid.x} * l.grid.y * l.grid.z;
  // Every block once: steps of a number that has no divisor in common with their count.
  uint64_t step = random() % blocks + 1, at = random() % blocks;
  while (std::gcd(step, blocks) != 1) ++step;
  for (uint64_t n = 0; n < blocks; ++n, at = (at + step) % blocks) {
    const index3 where = {static_cast<unsigned>(at % l.grid.x),
                          static_cast<unsigned>(at / l.grid.x % l.grid.y),
                          static_cast<unsigned>(at / l.grid.x / l.grid.y)};
    if (!one.run(where)) break;
  }
  return one.found();
}

}  // namespace tutti_emulator
