// SPDX-License-Identifier: Apache-2.0
//
// Derivatives of Fourier transforms: the matrix of a transform is symmetric, so its transpose is
// the transform itself; half of a Hermitian sequence represents the other half as well.
#include "autograd/gradients.hpp"
#include "op/fft/fourier.hpp"

namespace tutti::autograd {
namespace {

// The weights of the elements of half of a Hermitian sequence of `length`: `once` for those that
// are their own mirror image, `others` for the rest.
array weights(const array& half, std::int64_t length, double once, double others) {
  const array k = graph::iota({1, half.dim(1), 1}, half.node()->device);
  const array own = logical_or(k == 0, k * 2 == length);
  return astype(where(own, once, others), real_dtype(half.dtype()));
}

}  // namespace

std::vector<array> fourier_cotangents(const array& y, const array& g) {
  const graph::node& n = *y.node();
  auto p = n.operation().get<tutti_fft_params>();
  const std::int64_t given = n.inputs[0]->extents[1];
  const auto length = static_cast<std::int64_t>(p.length);
  const auto transform = [&](const array& x) { return op::fourier3(x, p, "gradient"); };
  switch (p.fft) {
    case TUTTI_FFT_REAL:
      p.fft = TUTTI_FFT_HERMITIAN;
      return {op::fitted3(transform(contiguous(g * weights(g, length, 1, 0.5))), given)};
    case TUTTI_FFT_HERMITIAN: {
      p.fft = TUTTI_FFT_REAL;
      const array half = transform(contiguous(g));
      return {op::fitted3(half * weights(half, length, 1, 2), given)};
    }
    default:
      return {op::fitted3(transform(contiguous(g)), given)};
  }
}

}  // namespace tutti::autograd
