// SPDX-License-Identifier: Apache-2.0
//
// Products with dense arrays and with sparse matrices. Of two sparse matrices also row by row: F.
// Gustavson, "Two fast algorithms for sparse matrices: multiplication and permuted transposition"
// (1978). For devices whose values are accessible on the host; no product is stored.

#include <algorithm>
#include <bit>
#include <limits>
#include <span>
#include <utility>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "sparse/host_rows.hpp"
#include "sparse/pattern.hpp"
#include "tutti/grad.hpp"
#include "tutti/host_memory.hpp"

namespace tutti::sparse {

using tutti::base::named;

namespace {

using arrays = std::vector<array>;
using indices = std::vector<std::int64_t>;

// Sorts distinct numbers: few, or those far apart, by comparison, others by their bits. `bits` has
// one for each possible number; all are zero, also afterwards.
void order(std::span<std::int32_t> numbers, std::vector<std::uint64_t>& bits) {
  constexpr std::size_t few = 16, most_words_each = 16;
  if (numbers.size() <= few) return std::sort(numbers.begin(), numbers.end());
  const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
  const auto first = static_cast<std::size_t>(*least / 64),
             last = static_cast<std::size_t>(*most / 64);
  if ((last - first) / most_words_each > numbers.size())
    return std::sort(numbers.begin(), numbers.end());
  for (const std::int32_t n : numbers)
    bits[static_cast<std::size_t>(n / 64)] |= std::uint64_t{1} << (n % 64);
  auto to = numbers.begin();
  for (std::size_t word = first; word <= last; ++word)
    for (std::uint64_t left = std::exchange(bits[word], 0); left != 0; left &= left - 1)
      *to++ = static_cast<std::int32_t>(word * 64) + std::countr_zero(left);
}

// C++'s product would modify results from infinities and NaN.
std::complex<double> plain_product(std::complex<double> a, std::complex<double> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
double plain_product(double a, double b) { return a * b; }

template <class T>
struct host_product {
  indices starts{0};
  std::vector<std::int32_t> columns;
  std::vector<T> values;
};

template <class T>
using short_rows = host_rows<T, std::int32_t>;

template <class T>
host_product<T> product_of_rows(const short_rows<T>& a, const short_rows<T>& b,
                                std::uint64_t width) {
  using wide = typename sum_of<T>::type;
  struct column_sum {
    wide sum;
    std::int64_t row = -1;  // to which it belongs
  };
  auto sums = tutti::detail::host_vector<column_sum>("matmul", width);
  auto bits = tutti::detail::host_vector<std::uint64_t>("matmul", width / 64 + 1);
  auto found = tutti::detail::host_vector<std::int32_t>("matmul", width + 1);
  host_product<T> p;
  // Memory for all products, most of which remains untouched if many of them are added up.
  constexpr std::size_t most_reserved = 1 << 26;
  std::size_t products = 0;
  for (const std::int32_t j : a.columns) products += b.end(j) - b.begin(j);
  p.columns.reserve(std::min(products, most_reserved));
  p.values.reserve(std::min(products, most_reserved));
  for (std::int64_t i = 0; i < a.count(); ++i) {
    std::size_t count = 0;
    for (std::size_t k = a.begin(i); k < a.end(i); ++k)
      for (std::size_t l = b.begin(a.columns[k]); l < b.end(a.columns[k]); ++l) {
        column_sum& at = sums[static_cast<std::size_t>(b.columns[l])];
        const bool is_new = std::exchange(at.row, i) != i;
        at.sum = (is_new ? wide(0) : at.sum) + plain_product(wide(a.values[k]), wide(b.values[l]));
        found[count] = b.columns[l];
        count += is_new ? 1 : 0;
      }
    const std::span<std::int32_t> columns(found.data(), count);
    order(columns, bits);
    p.columns.insert(p.columns.end(), columns.begin(), columns.end());
    for (const std::int32_t j : columns)
      p.values.push_back(static_cast<T>(sums[static_cast<std::size_t>(j)].sum));
    p.starts.push_back(static_cast<std::int64_t>(p.columns.size()));
  }
  if (p.columns.capacity() / 2 > p.columns.size()) {
    p.columns.shrink_to_fit();
    p.values.shrink_to_fit();
  }
  return p;
}

/// The product of two matrices of one dtype and device, with compressed rows, computed on the host
/// and without history, if that is the fastest way: on a device that is a CPU, unless a row of the
/// result is long compared with the number of elements.
std::optional<placed> product_by_rows(const placed& a, const placed& b) {
  constexpr std::int64_t always = 1 << 16, most_for_each = 16;
  constexpr std::int64_t longest = std::numeric_limits<std::int32_t>::max();
  const device on = a.values.device();
  const std::int64_t width = b.places->minors();
  const std::int64_t elements = a.places->count() + b.places->count();
  // A row of sums that is long compared with the elements costs more than it saves.
  if (on.properties().type != device_type::cpu ||
      width / most_for_each > std::max(elements, always) ||
      std::max(width, a.places->minors()) > longest)
    return std::nullopt;
  return with_type(a.values.dtype(), [&](auto* tag) {
    using T = std::remove_pointer_t<decltype(tag)>;
    host_product<T> found =
        product_of_rows(short_rows<T>(a), short_rows<T>(b), static_cast<std::uint64_t>(width));
    const array columns = on_device(std::move(found.columns), on);
    op::set_known_range(columns, {0, width - 1});
    const auto places = pattern::of_starts(a.places->majors(), width,
                                           on_device(std::move(found.starts), on), columns, true);
    return std::optional<placed>(placed{places, on_device(std::move(found.values), on)});
  });
}

array without_rule(const pattern& p, const array& values, const array& b, const char* label) {
  const tutti::shape to{p.majors(), b.dim(1)};
  if (graph::checked_elements(to, values.dtype(), label) == 0 || p.count() == 0)
    return op::zeros_on(to, values.dtype(), p.device(), label);
  return op::sparse_product(p.starts(), p.minor(), values, b, label);
}

// The operator, without a gradient rule.
array sampled(const pattern& p, const array& x, const array& y, const char* label) {
  if (p.count() == 0 || x.dim(1) == 0)
    return op::zeros_on({p.count()}, x.dtype(), p.device(), label);
  return op::sampled_products(op::cast(p.major(), p.index_type(), label), p.minor(), x, y, label);
}

void check_inner(const tutti::shape& a, const tutti::shape& b, bool fits, const char* op) {
  if (!fits) base::fail<shape_error>("{}: inner dimensions differ: {} x {}", op, a.str(), b.str());
}

// A vector or a matrix.
const tutti::shape& dense_shape(const array& b, const char* op) {
  const tutti::shape& extents = op::extents_of(b, op);
  if (extents.rank() != 1 && extents.rank() != 2)
    base::fail<shape_error>("{}: a dense operand {}, must be a vector or a matrix", op, extents);
  return extents;
}

}  // namespace

dtype common_dtype(const array& a, const array& b, std::string_view op) {
  const array both[] = {a, b};
  return op::floating_type_of(both, op);
}

array products_at(const std::shared_ptr<const pattern>& places, const array& x, const array& y,
                  const char* label) {
  return custom_vjp(
      [=](const arrays& v) { return arrays{sampled(*places, v[0], v[1], label)}; },
      [=](const arrays& v, const arrays&, const arrays& g) {
        const arranged rows = places->is_compressed() ? arranged{places, {}} : places->compressed();
        const arranged flipped = places->flipped();
        return arrays{product_of({rows.places, in_order(g[0], rows.order)}, v[1], label),
                      product_of({flipped.places, in_order(g[0], flipped.order)}, v[0], label)};
      })({x, y})[0];
}

array product_of(const placed& a, const array& b, const char* label) {
  const auto places = a.places;
  return custom_vjp(
      [=](const arrays& v) { return arrays{without_rule(*places, v[0], v[1], label)}; },
      [=](const arrays& v, const arrays&, const arrays& g) {
        const arranged flipped = places->flipped();
        const placed transposed{flipped.places, in_order(v[0], flipped.order)};
        return arrays{products_at(places, g[0], v[1], label), product_of(transposed, g[0], label)};
      })({a.values, b})[0];
}

array matmul(const matrix& a, const array& b) {
  return named("matmul", [&] {
    const tutti::shape extents = checked(a, "matmul").shape();
    const tutti::shape& of_b = dense_shape(b, "matmul");
    check_inner(extents, of_b, of_b[0] == extents[1], "matmul");
    const dtype type = common_dtype(a.values(), b, "matmul");
    placed rows = compressed_along(a, true);
    rows.values = op::cast(rows.values, type, "matmul");
    const array right = op::cast(b, type, "matmul");
    if (of_b.rank() == 2) return product_of(rows, right, "sparse matmul");
    return reshape(product_of(rows, reshape(right, {extents[1], 1}), "sparse matmul"),
                   {extents[0]});
  });
}

array matmul(const array& a, const matrix& b) {
  return named("matmul", [&] {
    const tutti::shape extents = checked(b, "matmul").shape();
    const tutti::shape& of_a = dense_shape(a, "matmul");
    check_inner(of_a, extents, of_a.back() == extents[0], "matmul");
    const array product = matmul(b.T(), of_a.rank() == 2 ? matrix_transpose(a) : a);
    return of_a.rank() == 2 ? matrix_transpose(product) : product;
  });
}

matrix matmul(const matrix& a, const matrix& b) {
  return named("matmul", [&]() -> matrix {
    const tutti::shape of_a = checked(a, "matmul").shape(), of_b = checked(b, "matmul").shape();
    check_inner(of_a, of_b, of_a[1] == of_b[0], "matmul");
    graph::checked_elements({of_a[0], of_b[1]}, dtype::u8, "matmul");
    const placed left = compressed_along(a, true), right = compressed_along(b, true);
    const dtype type = common_dtype(left.values, right.values, "matmul");
    if (!graph::is_differentiated(left.values) && !graph::is_differentiated(right.values)) {
      array both[] = {op::cast(left.values, type, "matmul"),
                      op::cast(right.values, type, "matmul")};
      graph::common_device(both, "matmul");
      const auto found = product_by_rows({left.places, both[0]}, {right.places, both[1]});
      if (found) return {found->places, true, found->values};
    }
    // Each element of a is combined with the row of b given by its column.
    const array starts = op::cast(right.places->starts(), dtype::i64, "matmul");
    const array column = op::cast(left.places->minor(), dtype::i64, "matmul");
    const array begins = picked(starts, column);
    const array lengths = left.places->count() == 0 ? begins : picked(starts, column + 1) - begins;
    const spread met = spread_rows(begins, lengths);
    const array major = op::cast(picked(left.places->major(), met.row), dtype::i64, "matmul");
    const array minor = op::cast(picked(right.places->minor(), met.position), dtype::i64, "matmul");
    const array values = op::cast(picked(left.values, met.row), type, "matmul") *
                         op::cast(picked(right.values, met.position), type, "matmul");
    const placed found = coalesced(of_a[0], of_b[1], major * of_b[1] + minor, {}, values);
    return {found.places, true, found.values};
  });
}

matrix sddmm(const matrix& places, const array& a, const array& b) {
  return named("sddmm", [&]() -> matrix {
    const tutti::shape extents = checked(places, "sddmm").shape();
    const tutti::shape &of_a = op::extents_of(a, "sddmm"), &of_b = op::extents_of(b, "sddmm");
    if (of_a.rank() != 2 || of_b.rank() != 2 || of_a[0] != extents[0] || of_b[1] != extents[1] ||
        of_a[1] != of_b[0])
      base::fail<shape_error>("sddmm: {} x {} at places of {}", of_a, of_b, extents);
    const dtype type = common_dtype(a, b, "sddmm");
    if (type == dtype::f16 || type == dtype::bf16)
      base::fail<dtype_error>("sddmm: {} is not supported; convert to f32", type);
    array both[] = {op::cast(a, type, "sddmm"), matrix_transpose(op::cast(b, type, "sddmm")),
                    places.places()->minor()};
    graph::common_device(both, "sddmm");
    const auto& [x, y, index] = both;
    const bool by_rows = places.by_rows();
    const array values = products_at(places.places(), by_rows ? x : y, by_rows ? y : x, "sddmm");
    return {places.places(), by_rows, values};
  });
}

}  // namespace tutti::sparse
