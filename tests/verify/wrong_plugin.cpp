// SPDX-License-Identifier: Apache-2.0
//
// A backend whose linear algebra is wrong in one way, which the environment variable WRONG names:
// the reference plugin behind changed parameters, or with results of f32 that are changed.
//   regular    a singular matrix is no error       conjugate  the conjugate is forgotten
//   triangle   the other triangle is read          pivots     LU never exchanges rows
//   order      singular values ascend              zeros      a factor has a full triangle
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "tutti/plugin.h"

namespace {

const tutti_plugin_api* real = nullptr;

bool is_wrong(const char* how) {
  const char* const set = std::getenv("WRONG");
  return set != nullptr && std::string(set) == how;
}

struct matrices {
  int32_t kind;
  uint32_t output_count;
  uint64_t batch, rows, columns;
  bool is_f32;
};

std::mutex mutex;
std::map<tutti_plan*, matrices>& plans() {
  static auto* const all = new std::map<tutti_plan*, matrices>;
  return *all;
}

tutti_status* create(tutti_device* device, const tutti_operator_desc* desc, tutti_plan** plan) {
  const bool has_matrices =
      desc->kind >= TUTTI_OPERATOR_CHOLESKY && desc->kind <= TUTTI_OPERATOR_EIG;
  if (!has_matrices) return real->op->create(device, desc, plan);
  tutti_operator_desc changed = *desc;
  tutti_matrix_params p = *static_cast<const tutti_matrix_params*>(desc->params);
  if (is_wrong("regular")) p.must_be_regular = 0;
  if (is_wrong("conjugate")) p.transpose = std::min<int32_t>(p.transpose, TUTTI_TRANSPOSE_PLAIN);
  if (is_wrong("triangle")) p.upper = 0;
  changed.params = &p;
  if (tutti_status* s = real->op->create(device, &changed, plan)) return s;
  const tutti_view_desc& a = desc->views[desc->output_count + desc->input_count - 1];
  const std::lock_guard lock(mutex);
  plans()[*plan] = {desc->kind,  desc->output_count, a.extent[0],
                    a.extent[1], a.extent[2],        a.dtype == TUTTI_F32};
  return nullptr;
}

void eliminate(float* a, uint64_t rows, uint64_t columns) {
  for (uint64_t k = 0; k < std::min(rows, columns); ++k)
    for (uint64_t i = k + 1; i < rows; ++i) {
      a[i * columns + k] /= a[k * columns + k];
      for (uint64_t j = k + 1; j < columns; ++j)
        a[i * columns + j] -= a[i * columns + k] * a[k * columns + j];
    }
}

struct blocking_copies {
  tutti_stream* stream;
  const tutti_range* ranges;

  template <class T>
  tutti_status* get(uint32_t view, std::vector<T>& to) const {
    return real->transfer->read(stream, ranges[view].buffer, ranges[view].offset, to.data(),
                                to.size() * sizeof(T), 1, nullptr);
  }
  template <class T>
  tutti_status* put(uint32_t view, const std::vector<T>& from) const {
    return real->transfer->write(stream, ranges[view].buffer, ranges[view].offset, from.data(),
                                 from.size() * sizeof(T), 1, nullptr);
  }
};

tutti_status* leave_rows(const blocking_copies& memory, const matrices& m) {
  std::vector<float> a(m.batch * m.rows * m.columns);
  std::vector<int64_t> order(m.batch * m.rows);
  if (tutti_status* s = memory.get(2, a)) return s;
  for (uint64_t b = 0; b < m.batch; ++b) eliminate(&a[b * m.rows * m.columns], m.rows, m.columns);
  for (uint64_t n = 0; n < order.size(); ++n) order[n] = static_cast<int64_t>(n % m.rows);
  if (tutti_status* s = memory.put(0, a)) return s;
  return memory.put(1, order);
}

tutti_status* turn_values(const blocking_copies& memory, const matrices& m) {
  const uint64_t least = std::min(m.rows, m.columns);
  std::vector<float> values(m.batch * least);
  if (tutti_status* s = memory.get(0, values)) return s;
  for (auto row = values.begin(); row != values.end(); row += static_cast<int64_t>(least))
    std::reverse(row, row + static_cast<int64_t>(least));
  return memory.put(0, values);
}

tutti_status* fill_triangle(const blocking_copies& memory, const matrices& m) {
  std::vector<float> a(m.batch * m.rows * m.rows);
  if (tutti_status* s = memory.get(0, a)) return s;
  for (float& x : a) x += x == 0 ? 1e-30f : 0;
  return memory.put(0, a);
}

tutti_status* spoil(const blocking_copies& memory, const matrices& m) {
  if (!m.is_f32) return nullptr;
  if (m.kind == TUTTI_OPERATOR_LU && is_wrong("pivots")) return leave_rows(memory, m);
  if (m.kind == TUTTI_OPERATOR_SVD && m.output_count == 1 && is_wrong("order"))
    return turn_values(memory, m);
  if (m.kind == TUTTI_OPERATOR_CHOLESKY && is_wrong("zeros")) return fill_triangle(memory, m);
  return nullptr;
}

tutti_status* launch(tutti_stream* stream, tutti_plan* plan, const tutti_operator_launch* l,
                     tutti_event** event) {
  if (tutti_status* s = real->op->launch(stream, plan, l, event)) return s;
  matrices m{};
  {
    const std::lock_guard lock(mutex);
    const auto known = plans().find(plan);
    if (known == plans().end() || event == nullptr) return nullptr;
    m = known->second;
  }
  if (tutti_status* failed = real->stream->event_wait(*event, TUTTI_FOREVER)) {
    failed->release(failed);
    return nullptr;
  }
  return spoil({stream, l->operands}, m);
}

}  // namespace

extern "C" TUTTI_PLUGIN_EXPORT const tutti_plugin_api* tutti_plugin_entry(const tutti_host* host) {
  void* const library = dlopen(WRONG_REAL_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  real = reinterpret_cast<tutti_plugin_entry_fn>(dlsym(library, "tutti_plugin_entry"))(host);
  static tutti_operator_api op = *real->op;
  static tutti_plugin_api api = *real;
  op.create = create;
  op.launch = launch;
  api.name = "wrong";
  api.op = &op;
  return &api;
}
