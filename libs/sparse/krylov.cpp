// SPDX-License-Identifier: Apache-2.0
//
// Orthogonalisation by classical Gram-Schmidt, twice ("twice is enough": L. Giraud, J. Langou, M.
// Rozloznik, 2005), as products with all rows, including those of zeros, so that all steps have the
// same shape.

#include "base/fail.hpp"
#include "sparse/solvers.hpp"
#include "tutti/random.hpp"

namespace tutti::sparse {
namespace {

using number = std::complex<double>;

std::vector<number> read(const array& a, std::int64_t count) {
  const array first = a({slice{0, count, 1}});
  std::vector<number> out;
  if (is_complex(a.dtype())) {
    for (const number& z : first.astype(dtype::c128).to_vector<number>()) out.push_back(z);
  } else {
    for (const double x : first.astype(dtype::f64).to_vector<double>()) out.emplace_back(x);
  }
  return out;
}

double epsilon_of(dtype type) { return real_dtype(type) == dtype::f64 ? 2.3e-16 : 1.2e-7; }

}  // namespace

krylov_basis::krylov_basis(const array& first, std::int64_t most) : most_(most) {
  const std::int64_t rows = graph::extent_sum(most, 1, "krylov");
  all_ = zeros({rows, first.size()}, first.dtype(), first.device());
  append(first);
}

void krylov_basis::append(const array& v) {
  all_.set({axis_index(count_)}, v);
  ++count_;
}

array krylov_basis::last() const { return all_[count_ - 1]; }

krylov_basis::step krylov_basis::expand(const array& w) {
  const array adjoint = is_complex(w.dtype()) ? conj(all_) : all_;
  const array before = length_of(w);
  const array once = tutti::matmul(adjoint, w), rest = w - tutti::matmul(once, all_);
  const array again = tutti::matmul(adjoint, rest), left = rest - tutti::matmul(again, all_);
  const array products = once + again, length = length_of(left);
  eval({products, left, length, before});
  step made{read(products, count_), length.item(), false};
  made.is_exhausted = !(made.length > 10 * epsilon_of(w.dtype()) * before.item());
  if (!made.is_exhausted && count_ <= most_) {
    append(left / length);
    all_.eval();
  }
  return made;
}

void krylov_basis::expand_randomly() {
  const dtype real = real_dtype(all_.dtype());
  const std::int64_t before = count_;
  // Random numbers that are within the space by chance, such as its initial ones, give no new
  // vector.
  constexpr std::uint64_t attempts = 8;
  for (std::uint64_t seed = 0; seed < attempts && count_ == before; ++seed)
    expand(op::cast(random::uniform({attempts * static_cast<std::uint64_t>(before) + seed},
                                    {all_.dim(1)}, -1, 1, real, all_.device()),
                    all_.dtype(), "krylov"));
  if (count_ == before)
    base::fail<value_error>("krylov: no vector is orthogonal to {} others", before);
}

array krylov_basis::factors_of(const std::vector<number>& factors, const shape& extents) const {
  const dtype type = all_.dtype();
  if (is_complex(type)) return array::from(factors, extents, all_.device()).astype(type);
  std::vector<double> parts;
  for (const number& z : factors) parts.push_back(z.real());
  return op::numbers_on(all_.device(), parts, extents, type);
}

array krylov_basis::combined(const std::vector<number>& factors) const {
  std::vector<number> padded = factors;  // to one shape
  padded.resize(static_cast<std::size_t>(most_ + 1));
  return tutti::matmul(factors_of(padded, {most_ + 1}), all_);
}

array krylov_basis::sums_of(const std::vector<number>& factors, std::int64_t count,
                            std::int64_t columns) const {
  const array turned = matrix_transpose(factors_of(factors, {count, columns}));
  return tutti::matmul(turned, all_({slice{0, count, 1}}));
}

void krylov_basis::compress(const std::vector<number>& factors, std::int64_t kept) {
  const array made = sums_of(factors, count_ - 1, kept);
  const array none = zeros({most_ - kept, all_.dim(1)}, all_.dtype(), all_.device());
  all_ = concatenate({made, expand_dims(last(), 0), none}, 0);
  all_.eval();
  count_ = kept + 1;
}

}  // namespace tutti::sparse
