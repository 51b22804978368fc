// SPDX-License-Identifier: Apache-2.0
//
// One case for each row of op_table.def that takes floats: 16M f32 within the row's range, compared
// with the bandwidth of a copy (one operand) or triad (two). There are many, so they only run on
// request: "op NAME".
#include <memory>
#include <vector>

#include "harness.hpp"
#include "operands.hpp"
#include "tutti/array.hpp"
#include "tutti/ops.hpp"

namespace tutti::bench {
namespace {

constexpr std::size_t count = std::size_t{16} << 20;

enum class result { SAME, BOOL, REAL_OF, COMPLEX_OF };

struct operands {
  array a, b, out;
  operands(double low, double high) {
    const auto make = [&](std::uint64_t seed) {
      std::vector<float> v = operand<float>(count, seed, (high - low) / 2);
      for (float& x : v) x += static_cast<float>((low + high) / 2);
      return array::from(v).wait();
    };
    a = make(1);
    b = make(2);
  }
};

template <class Op>
void add_row(std::vector<bench_case>& cases, const char* name, int arity, result type, double low,
             double high, Op op) {
  bench_case c;
  c.name = std::string("op ") + name + ", 16M f32";
  c.unit = "GB/s";
  c.amount =
      static_cast<double>(count) * (4.0 * arity + (type == result::BOOL         ? sizeof(bool)
                                                   : type == result::COMPLEX_OF ? 2 * sizeof(float)
                                                                                : sizeof(float)));
  c.bound = arity == 1 ? floor_kind::copy : floor_kind::triad;
  c.bound_elements = count;
  c.on_request = true;
  c.make = [op, low, high] {
    auto d = std::make_shared<operands>(low, high);
    return workload{.ours = [d, op] { d->out = op(d->a, d->b).wait(); }};
  };
  cases.push_back(c);
}

}  // namespace

void add_row_cases(std::vector<bench_case>& cases) {
#define TUTTI_ROW_1(name) [](const array& a, const array&) { return tutti::name(a); }
#define TUTTI_ROW_2(name) [](const array& a, const array& b) { return tutti::name(a, b); }
#define TUTTI_ROW_NUMERIC(name, arity, ...) \
  add_row(cases, #name, arity, __VA_ARGS__, TUTTI_ROW_##arity(name));
#define TUTTI_ROW_REAL TUTTI_ROW_NUMERIC
#define TUTTI_ROW_FLOATING TUTTI_ROW_NUMERIC
#define TUTTI_ROW_REAL_FLOATING TUTTI_ROW_NUMERIC
#define TUTTI_ROW_ANY TUTTI_ROW_NUMERIC
#define TUTTI_ROW_INTEGRAL(...)
#define TUTTI_ROW_LOGICAL(...)
#define TUTTI_ROW_IR(...)
#define TUTTI_OP(id, name, arity, kind, rule, ft, it, host, gradient, low, high, ...) \
  TUTTI_ROW_##kind(name, arity, result::rule, low, high)
#include "tutti/op_table.def"
#undef TUTTI_OP
}

}  // namespace tutti::bench
