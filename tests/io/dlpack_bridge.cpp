// SPDX-License-Identifier: Apache-2.0
//
// DLPack of the library as C functions, for dlpack_numpy.py. Failures are messages that stay until
// the next call.
#include <cstdint>
#include <cstring>
#include <exception>
#include <string>

#include "tutti/dlpack.hpp"
#include "tutti/movement.hpp"
#include "tutti/ops.hpp"

#define BRIDGE extern "C" __attribute__((visibility("default")))

using tutti::array;

namespace {

std::string& failure() {
  static std::string text;
  return text;
}

template <class F>
auto guarded(F&& f) -> decltype(f()) {
  failure().clear();
  try {
    return f();
  } catch (const std::exception& e) {
    failure() = e.what();
    return {};
  }
}

array make(const std::string& type, const std::string& layout) {
  const array line = tutti::arange(std::int64_t{12}, tutti::dtype::i32);
  const array table = line.reshape({3, 4}).astype(tutti::dtype_from_name(type));
  if (layout == "table") return table;
  if (layout == "transposed") return table.transpose();
  if (layout == "reversed") return table({{{}, {}, -1}, {{}, {}, 2}});
  if (layout == "broadcast") return tutti::broadcast_to(table[1], {2, 4});
  if (layout == "scalar") return table[1][2];
  if (layout == "empty") return table({{1, 1}});
  throw tutti::value_error("no layout " + layout);
}

}  // namespace

BRIDGE const char* bridge_failure() { return failure().c_str(); }

/// A DLManagedTensorVersioned, or with `legacy` a DLManagedTensor, of a layout of [0, 12).
BRIDGE void* bridge_export(const char* type, const char* layout, int legacy) {
  return guarded([&]() -> void* {
    const array a = make(type, layout);
    if (legacy != 0) return to_dlpack_legacy(a);
    return to_dlpack(a);
  });
}

/// An array that bridge_drop frees.
BRIDGE array* bridge_import(void* tensor, int legacy) {
  return guarded([&] {
    return new array(legacy != 0
                         ? tutti::from_dlpack(static_cast<DLManagedTensor*>(tensor))
                         : tutti::from_dlpack(static_cast<DLManagedTensorVersioned*>(tensor)));
  });
}

/// "f32[3,4]"; stays until the next call.
BRIDGE const char* bridge_describe(const array* a) {
  static std::string text;
  text = std::string(tutti::name(a->dtype())) + a->shape().str();
  return text.c_str();
}

/// Row-major; 1 for success.
BRIDGE int bridge_read(const array* a, void* out, std::uint64_t bytes) {
  return guarded([&] {
    a->copy_to(out, bytes);
    return 1;
  });
}

BRIDGE void bridge_drop(array* a) { delete a; }
