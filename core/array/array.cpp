// SPDX-License-Identifier: Apache-2.0
//
// The array handle: its properties, evaluation, and reading host values.
#include "tutti/array.hpp"

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "base/exit.hpp"
#include "base/named_errors.hpp"
#include "graph/build.hpp"
#include "graph/fold.hpp"
#include "plugin/opened_device.hpp"
#include "runtime/execute/device_context.hpp"
#include "runtime/execute/executor.hpp"
#include "semantics/host_half.hpp"
#include "tutti/ops.hpp"

namespace tutti {
namespace {

array weak_constant(dtype type, tutti_scalar value, tutti_scalar imaginary = {}) {
  array made = graph::constant({}, type, {value, imaginary}, nullptr);
  made.node()->weak = true;
  return made;
}

}  // namespace

array array::weak_bool(bool value) {
  return weak_constant(tutti::dtype::boolean, {.i64 = value ? 1 : 0});
}

array array::weak_int(std::int64_t value, bool wide) {
  return weak_constant(wide ? tutti::dtype::i64 : tutti::dtype::i32, {.i64 = value});
}

array array::weak_uint(std::uint64_t value, bool wide) {
  return weak_constant(wide ? tutti::dtype::u64 : tutti::dtype::u32, {.u64 = value});
}

array array::weak_float(double value) { return weak_constant(tutti::dtype::f32, {.f64 = value}); }

array array::weak_complex(std::complex<double> value) {
  return weak_constant(tutti::dtype::c64, {.f64 = value.real()}, {.f64 = value.imag()});
}

array array::from_bytes(const void* data, std::size_t count, tutti::dtype type,
                        const tutti::shape& shape, const tutti::device& on) {
  if (shape.size() < 0 || static_cast<std::size_t>(shape.size()) != count)
    base::fail<shape_error>("array: {} values do not fill shape {}", count, shape);
  if (data == nullptr && count > 0)
    base::fail<value_error>("array: {} values, but the pointer to them is null", count);
  return runtime::upload(data, type, shape, &detail::get(on));
}

array array::from_bytes(std::span<const std::byte> bytes, tutti::dtype type,
                        const tutti::shape& shape, const tutti::device& on) {
  if (bytes.size() % size_of(type) != 0)
    base::fail<shape_error>("array: {} bytes are not a multiple of the size of {}", bytes.size(),
                            type);
  return from_bytes(bytes.data(), bytes.size() / size_of(type), type, shape, on);
}

const shape& array::shape() const { return graph::get(*this, "shape").extents; }

std::int64_t array::dim(integer axis) const { return shape()[normalize_axis(axis, ndim(), "dim")]; }

std::int64_t array::size() const { return graph::get(*this, "size").elements; }

dtype array::dtype() const { return graph::get(*this, "dtype").type; }

device array::device() const {
  const detail::opened_device* on = graph::get(*this, "device").device;
  return on != nullptr ? tutti::device(const_cast<detail::opened_device*>(on)) : default_device();
}

const array& array::eval() const {
  const graph::node* root = &graph::get(*this, "eval");
  runtime::evaluate({&root, 1});
  return *this;
}

const array& array::wait() const {
  eval();
  runtime::wait(*node_);
  return *this;
}

void array::copy_to(void* host, std::size_t bytes) const {
  const graph::node& n = graph::get(*this, "copy_to");
  if (bytes != nbytes())
    base::fail<value_error>("copy_to: {} bytes given for an array of {}", bytes, nbytes());
  if (host == nullptr && bytes > 0)
    base::fail<value_error>("copy_to: {} bytes, but the target is a null pointer", bytes);
  if (!n.is_constant() && !graph::is_contiguous(n.extents, layout_of(n).strides)) {
    const array packed = contiguous(*this);
    packed.eval();
    return runtime::read(*packed.node(), host);
  }
  eval();
  runtime::read(n, host);
}

void array::require_dtype(tutti::dtype type, std::string_view op) const {
  if (dtype() != type)
    base::fail<dtype_error>("{}: the array has dtype {}, not {}", op, dtype(), type);
}

namespace {

// Whether item() may convert an element of one dtype to the other.
bool converts(dtype from, dtype to) {
  if (from == to || is_complex(to)) return true;
  if (to == dtype::f32 || to == dtype::f64) return !is_complex(from);
  return is_integral(to) && (is_bool(from) || is_integral(from));
}

[[noreturn]] void throw_kind(dtype from, dtype to) {
  if (is_complex(from))
    base::fail<dtype_error>(
        "item: an element of dtype {} is not real; use real() or item<std::complex<...>>()", from);
  base::fail<dtype_error>("item: an element of dtype {} is not converted to {}; use astype()", from,
                          to);
}

// The element at `bytes`, with its type in registers.
graph::constant_value element(const std::byte* bytes, dtype type) {
  graph::constant_value value;
  const std::size_t part = size_of(real_dtype(type));
  std::memcpy(&value.real, bytes, part);
  if (is_complex(type)) std::memcpy(&value.imaginary, bytes + part, part);
  if (type == dtype::f16) value.real.f32 = host::half_to_float(value.real.u16);
  if (type == dtype::bf16) value.real.f32 = host::bfloat16_to_float(value.real.u16);
  return value;
}

void require_fit(const graph::constant_value& value, dtype from, dtype to) {
  const integer_limits limits = iinfo(to);
  const tutti_scalar wide = graph::convert_value(value, from, dtype::i64).real;
  const bool beyond = from == dtype::u64 && wide.i64 < 0;
  if (beyond ? to == dtype::u64
             : wide.i64 >= limits.min && (wide.i64 < 0 || wide.u64 <= limits.max))
    return;
  base::fail<value_error>("item: {} does not fit {}",
                          (beyond ? std::to_string(wide.u64) : std::to_string(wide.i64)), to);
}

}  // namespace

void array::item_into(void* out, tutti::dtype wanted) const {
  if (size() != 1)
    base::fail<shape_error>("item: the array has {} elements, shape {}", size(), shape());
  const tutti::dtype type = dtype();
  if (type == wanted) return copy_to(out, size_of(type));
  if (!converts(type, wanted)) throw_kind(type, wanted);
  std::byte bytes[16];
  copy_to(bytes, size_of(type));
  const graph::constant_value given = element(bytes, type);
  if (is_integral(wanted)) require_fit(given, type, wanted);
  const graph::constant_value value = graph::convert_value(given, type, wanted);
  const std::size_t part = size_of(real_dtype(wanted));
  std::memcpy(out, &value.real, part);
  if (is_complex(wanted)) std::memcpy(static_cast<std::byte*>(out) + part, &value.imaginary, part);
}

array array::astype(tutti::dtype type) const { return tutti::astype(*this, type); }
array array::reshape(const tutti::shape& to) const { return tutti::reshape(*this, to); }

array array::transpose() const {
  tutti::shape axes = shape();
  for (int i = 0; i < axes.rank(); ++i) axes[i] = axes.rank() - 1 - i;
  return tutti::transpose(*this, axes);
}

array array::transpose(const tutti::shape& axes) const { return tutti::transpose(*this, axes); }

array array::operator[](std::int64_t index) const {
  if (ndim() == 0) throw index_error("operator[]: a 0-d array has no axis to index");
  const std::int64_t n = shape()[0];
  if (index < -n || index >= n)
    base::fail<index_error>("operator[]: index {} is out of range for {}", index, shape());
  if (index < 0) index += n;
  const slice one{index, index + 1, 1};
  return squeeze(slice_view(*this, {&one, 1}), 0);
}

array array::operator()(std::initializer_list<axis_index> indices) const {
  return base::named("operator()", [&] { return slice_view(*this, indices); });
}

array& array::set(std::initializer_list<axis_index> indices, const array& values) & {
  return *this = slice_update(*this, values, indices);
}

array array::to(const tutti::device& on) const {
  static const double limit = base::time_limit();
  return graph::move_to(*this, &detail::get(on), {limit, "to"});
}

array& array::operator+=(const array& other) & { return *this = *this + other; }
array& array::operator-=(const array& other) & { return *this = *this - other; }
array& array::operator*=(const array& other) & { return *this = *this * other; }
array& array::operator/=(const array& other) & { return *this = *this / other; }

void eval(array_list arrays) {
  std::vector<const graph::node*> roots;
  roots.reserve(arrays.size());
  for (const array& a : arrays) roots.push_back(&graph::get(a, "eval"));
  runtime::evaluate(roots);
}

void synchronize() { base::wait_for_all_work(); }

void synchronize(const device& on) {
  runtime::finish(runtime::context_of(detail::get(on)), runtime::time_point::max());
}

void detail::throw_ragged(std::size_t first, std::size_t other) {
  base::fail<shape_error>("array: rows of {} and of {} values", first, other);
}

}  // namespace tutti
