// SPDX-License-Identifier: Apache-2.0
//
// Kernels that are broken on purpose, run by the library on the emulator: each is found, by the
// emulator itself or by results that are not the reference's, and without the change the same
// computation passes. One process each, as a fault ends a device.
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "../plugin.hpp"
#include "tutti/error.hpp"
#include "tutti/movement.hpp"
#include "tutti/ops.hpp"
#include "tutti/sorting.hpp"

namespace {

using tutti::array;

// Whole numbers, so that sums are exact in any order.
array counted(std::int64_t rows, std::int64_t cols, const tutti::device& on) {
  std::vector<float> values(static_cast<std::size_t>(rows * cols));
  for (std::size_t n = 0; n < values.size(); ++n) values[n] = static_cast<float>(n * 37 % 101);
  return array::from(values, {rows, cols}, on);
}
array five_lines(const tutti::device& on) { return counted(5, 1000, on); }

array map(const tutti::device& on) { return counted(32, 32, on) * 2.0f + 1.0f; }
array backwards(const tutti::device& on) { return tutti::flip(counted(32, 32, on), {0, 1}) + 1.0f; }
array shifted(const tutti::device& on) {
  return counted(1, 1025, on)({tutti::all(), {1, 1025}}) * 2.0f;
}
array lines(const tutti::device& on) { return five_lines(on)({tutti::all(), {0, 998}}) + 1.0f; }
array transposed(const tutti::device& on) {
  return tutti::transpose(five_lines(on), {1, 0}) + 1.0f;
}
array sums(const tutti::device& on) { return tutti::sum(five_lines(on), 1); }
// Of what is not 0 where an element is.
array sums_of_lines(const tutti::device& on) { return tutti::sum(lines(on), 1); }
array scan(const tutti::device& on) { return tutti::cumsum(five_lines(on), 1); }
array sorts(const tutti::device& on) { return tutti::sort(five_lines(on), 1); }
array product(const tutti::device& on) {
  return tutti::matmul(counted(70, 50, on), counted(50, 90, on));
}

struct mutant {
  const char* name;
  array (*compute)(const tutti::device&);
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
    if (broken) CALL(emulator_change)(m.from, m.to);
    std::string found;
    try {
      const auto result = m.compute(tutti::device("cuda")).to_vector<float>();
      if (result != m.compute(tutti::device("reference")).to_vector<float>()) found = wrong;
    } catch (const std::exception& e) {
      found = CALL(emulator_last_fault)() + std::string(" | ") + e.what();
    }
    if (broken && CALL(emulator_changed)() == 0) found = "the text to change is not there";
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
  for (const auto& compute :
       {map, backwards, shifted, lines, transposed, sums, sums_of_lines, scan, sorts, product}) {
    const mutant m = {"", compute, "", "", ""};
    BOOST_TEST(run(m, false) == "");
  }
}
