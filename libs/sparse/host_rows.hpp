// SPDX-License-Identifier: Apache-2.0
//
// Sparse matrices on the host, for algorithms that process them row by row. Nothing is copied if
// the device uses host memory.
#pragma once

#include <complex>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "sparse/pattern.hpp"
#include "tutti/dlpack.hpp"
#include "tutti/dlpack_structs.h"

namespace tutti::sparse {

/// The type in which numbers of T are added.
template <class T>
struct sum_of {
  using type = double;
};
template <class T>
struct sum_of<std::complex<T>> {
  using type = std::complex<double>;
};

/// Calls f with a null pointer to the C++ type of a floating dtype.
template <class F>
auto with_type(dtype type, F&& f) {
  switch (type) {
    case dtype::f32:
      return f(static_cast<float*>(nullptr));
    case dtype::f64:
      return f(static_cast<double*>(nullptr));
    case dtype::c64:
      return f(static_cast<std::complex<float>*>(nullptr));
    default:
      return f(static_cast<std::complex<double>*>(nullptr));
  }
}

/// The elements of a 1-d array, or of a vector.
template <class T>
class host_values {
 public:
  explicit host_values(const array& a)
      : host_values(to_dlpack(contiguous(a), {.to_cpu = true}), a.size()) {}
  explicit host_values(std::vector<T> values) {
    const auto owner = std::make_shared<const std::vector<T>>(std::move(values));
    values_ = *owner;
    owner_ = owner;
  }

  const T& operator[](std::size_t i) const { return values_[i]; }
  std::size_t size() const { return values_.size(); }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }

 private:
  host_values(DLManagedTensorVersioned* t, std::int64_t count)
      : owner_(t, [](DLManagedTensorVersioned* tensor) { tensor->deleter(tensor); }),
        values_(static_cast<const T*>(t->dl_tensor.data), static_cast<std::size_t>(count)) {}

  std::shared_ptr<const void> owner_;
  std::span<const T> values_;
};

/// A 1-d array of these values.
template <class T>
array on_device(std::vector<T> values, const device& on) {
  struct holder {
    std::vector<T> values;
    std::int64_t count, step = 1;
    DLManagedTensorVersioned tensor{};
  };
  auto made = std::make_unique<holder>();
  made->values = std::move(values);
  made->count = static_cast<std::int64_t>(made->values.size());
  DLManagedTensorVersioned& t = made->tensor;
  t.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  t.manager_ctx = made.get();
  t.deleter = [](DLManagedTensorVersioned* self) {
    delete static_cast<holder*>(self->manager_ctx);
  };
  const std::uint8_t code = std::is_integral_v<T>     ? kDLInt
                            : is_complex(dtype_of<T>) ? kDLComplex
                                                      : kDLFloat;
  t.dl_tensor = {made->values.data(), {kDLCPU, 0}, 1, {code, 8 * sizeof(T), 1},
                 &made->count,        &made->step, 0};
  return from_dlpack(&made.release()->tensor, on);
}

/// Compressed rows. `Index` holds the column numbers.
template <class T, class Index = std::int64_t>
struct host_rows {
  host_values<std::int64_t> starts;
  host_values<Index> columns;
  host_values<T> values;

  explicit host_rows(const placed& a)
      : starts(a.places->starts().astype(dtype::i64)),
        columns(a.places->minor().astype(dtype_of<Index>)),
        values(a.values) {}

  std::int64_t count() const { return static_cast<std::int64_t>(starts.size()) - 1; }
  std::size_t begin(std::int64_t row) const {
    return static_cast<std::size_t>(starts[static_cast<std::size_t>(row)]);
  }
  std::size_t end(std::int64_t row) const { return begin(row + 1); }
};

}  // namespace tutti::sparse
