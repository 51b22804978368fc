// SPDX-License-Identifier: Apache-2.0
//
// Kernels that are broken on purpose, run by the library on the emulator: each is found, by the
// emulator itself or by its results, and without the change the same computation passes. One
// process each, as a fault ends a device.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <functional>

#include "tutti/error.hpp"
#include "tutti/movement.hpp"
#include "tutti/ops.hpp"
#include "tutti/sorting.hpp"

namespace {

using tutti::array;

// Whole numbers, so that sums are exact in any order.
array counted(std::int64_t rows, std::int64_t cols) {
  std::vector<float> values(static_cast<std::size_t>(rows * cols));
  for (std::size_t n = 0; n < values.size(); ++n) values[n] = static_cast<float>(n * 37 % 101);
  return array::from(values, {rows, cols}, tutti::device("cuda"));
}

bool same(const array& result, const std::function<double(std::int64_t)>& expected) {
  const std::vector<float> values = result.to_vector<float>();
  for (std::size_t n = 0; n < values.size(); ++n)
    if (values[n] != static_cast<float>(expected(static_cast<std::int64_t>(n)))) return false;
  return true;
}
double at(std::int64_t n) { return static_cast<double>(n * 37 % 101); }

constexpr std::int64_t rows = 5, cols = 1000;

bool map() {
  return same(counted(32, 32) * 2.0f + 1.0f, [](std::int64_t n) { return 2 * at(n) + 1; });
}
bool backwards() {
  return same(tutti::flip(counted(32, 32), {0, 1}) + 1.0f,
              [](std::int64_t n) { return at(1023 - n) + 1; });
}
bool shifted() {
  return same(counted(1, 1025)({tutti::all(), {1, 1025}}) * 2.0f,
              [](std::int64_t n) { return 2 * at(n + 1); });
}
bool lines() {
  return same(counted(rows, cols)({tutti::all(), {0, 998}}) + 1.0f,
              [](std::int64_t n) { return at(n / 998 * cols + n % 998) + 1; });
}
bool transposed() {
  return same(tutti::transpose(counted(rows, cols), {1, 0}) + 1.0f,
              [](std::int64_t n) { return at(n % rows * cols + n / rows) + 1; });
}
bool sums() {
  return same(tutti::sum(counted(rows, cols), 1), [](std::int64_t n) {
    double sum = 0;
    for (std::int64_t k = 0; k < cols; ++k) sum += at(n * cols + k);
    return sum;
  });
}
// Of what is not 0 where an element is.
bool sums_of_lines() {
  const array x = counted(rows, cols)({tutti::all(), {0, 998}}) + 1.0f;
  return same(tutti::sum(x, 1), [](std::int64_t n) {
    double sum = 0;
    for (std::int64_t k = 0; k < 998; ++k) sum += at(n * cols + k) + 1;
    return sum;
  });
}
bool scan() {
  return same(tutti::cumsum(counted(rows, cols), 1), [](std::int64_t n) {
    double sum = 0;
    for (std::int64_t k = n / cols * cols; k <= n; ++k) sum += at(k);
    return sum;
  });
}
bool sorts() {
  return same(tutti::sort(counted(rows, cols), 1), [](std::int64_t n) {
    std::vector<double> row;
    for (std::int64_t k = 0; k < cols; ++k) row.push_back(at(n / cols * cols + k));
    std::sort(row.begin(), row.end());
    return row[static_cast<std::size_t>(n % cols)];
  });
}
bool product() {
  constexpr std::int64_t m = 70, depth = 50, n = 90;
  const auto b = [](std::int64_t i) { return static_cast<double>(i % 7); };
  std::vector<float> values(depth * n);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(b(static_cast<std::int64_t>(i)));
  const array right = array::from(values, {depth, n}, tutti::device("cuda"));
  return same(tutti::matmul(counted(m, depth), right), [&](std::int64_t i) {
    double sum = 0;
    for (std::int64_t k = 0; k < depth; ++k) sum += at(i / n * depth + k) * b(k * n + i % n);
    return sum;
  });
}

struct mutant {
  const char* name;
  bool (*run)();
  const char* from;
  const char* to;
  const char* found;  // part of the fault, or of what is said of the result
};
const char* const wrong = "wrong result";
const mutant mutants[] = {
    {"reduction without a barrier", sums, "tree[local_index] = total;\n      __syncthreads();",
     "tree[local_index] = total;", "shared memory"},
    {"barrier that one thread leaves out", sums, "if (lanes > 32) __syncthreads();",
     "if (lanes > 32 && lane != 7) __syncthreads();", "a barrier that not all threads reach"},
    {"barrier in each branch", sums, "if (lanes > 32) __syncthreads();",
     "if (lanes > 32 && lane == 7) __syncthreads();\n else if (lanes > 32) __syncthreads();",
     "different barriers"},
    {"shuffle with half a mask", sums, "__shfl_down_sync(~0u, x, distance)",
     "__shfl_down_sync(0xffffu, x, distance)", "its mask leaves out"},
    {"shuffle that starts too near", sums, "lanes > 32 ? 16 : lanes / 2",
     "lanes > 32 ? 8 : lanes / 2", wrong},
    {"reduction that reads beyond its tree", sums, "tree[local_index + w]",
     "tree[local_index + w + 1]", wrong},
    {"map over one element more", backwards, "n < units", "n <= units",
     "outside of all allocations"},
    {"vector that does not look at its address", shifted, " - 1)) == 0)", " - 1)) >= 0)",
     "misaligned"},
    {"vector beyond the end of a line", lines, "(count == 4) & (((unsigned long long)(out0",
     "(((unsigned long long)(out0", "in a race"},
    {"shift of a division that is too large", lines, ", segments_shift)", ", segments_shift + 1)",
     wrong},
    {"elements of a vector that are not there", sums_of_lines, "if (k < counts[r]) {", "{", wrong},
    {"wrong stride", transposed, "c0 * in0_stride0", "c0 * in0_stride1", "out of bounds"},
    {"scan without a barrier", scan, "warps[warp] = through;\n  __syncthreads();",
     "warps[warp] = through;", "shared memory"},
    {"scan that leaves out a lane", scan, "lane >= reach", "lane > reach", wrong},
    {"counts that are not cleared", sorts, "count[d] = 0;", ";", "nothing has written"},
    {"counts that are not atomic", sorts, "atomicAdd(counter, 1u)", "++*(counter)", "in a race"},
    {"product that overwrites a block too early", product, "__syncthreads();\n    }\n", "}\n",
     "in a race"},
    {"product with a wrong leading dimension", product, "b_block[q * (SIDE + 1)",
     "b_block[q * SIDE", "nothing has written"},
    {"blocks that all take the same elements", backwards,
     "(long long)blockIdx.x * blockDim.x + threadIdx.x; n < units", "threadIdx.x; n < units",
     "in a race with a thread of another block"},
};

// In a process of its own: what was found, "" for nothing.
std::string run(const mutant& m, bool broken) {
  int ends[2];
  BOOST_REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    void* const emulator = dlopen(std::getenv("TUTTI_CUDA_DRIVER"), RTLD_NOW);
    const auto call = [&](const char* name) { return dlsym(emulator, name); };
    const auto change =
        reinterpret_cast<void (*)(const char*, const char*)>(call("emulator_change"));
    const auto changed = reinterpret_cast<int (*)()>(call("emulator_changed"));
    const auto fault = reinterpret_cast<const char* (*)()>(call("emulator_last_fault"));
    if (broken) change(m.from, m.to);
    std::string found;
    try {
      if (!m.run()) found = wrong;
    } catch (const std::exception& e) {
      found = std::string(fault()) + " | " + e.what();
    }
    if (broken && changed() == 0) found = "the text to change is not there";
    const ssize_t written = write(ends[1], found.data(), found.size());
    _exit(written == static_cast<ssize_t>(found.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string found;
  char part[256];
  for (ssize_t n; (n = read(ends[0], part, sizeof part)) > 0;)
    found.append(part, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  BOOST_TEST(status == 0);
  return found;
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_is_broken_is_found) {
  for (const mutant& m : mutants) {
    BOOST_TEST_CONTEXT(m.name) {
      const std::string found = run(m, true);
      BOOST_TEST_MESSAGE(m.name << ": " << found);
      BOOST_TEST(found.find(m.found) != std::string::npos, "found: " << found);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_not_broken_passes) {
  for (const auto& run_it :
       {map, backwards, shifted, lines, transposed, sums, sums_of_lines, scan, sorts, product}) {
    const mutant m = {"", run_it, "", "", ""};
    BOOST_TEST(run(m, false) == "");
  }
}
