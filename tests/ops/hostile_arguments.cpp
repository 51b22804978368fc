// SPDX-License-Identifier: Apache-2.0
//
// The choice of arguments, and a row for each function.
#include "hostile_arguments.hpp"

#include <limits>

#include "tutti_test/random.hpp"

namespace hostile {
namespace {

using tutti::array;
using tutti::dtype;
using tutti::shape;
namespace draw = tutti::random;

constexpr std::int64_t huge = std::int64_t{1} << 62;
constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t smallest = std::numeric_limits<std::int64_t>::min();

template <class T, std::size_t N>
T one_of(picker& p, const T (&list)[N]) {
  return list[p.below(static_cast<int>(N))];
}

}  // namespace

picker::picker(std::uint64_t round) : engine_(tutti_test::seed() * 1000003 + round) {}

std::int64_t picker::size() {
  constexpr std::int64_t usual[] = {0, 1, 2, 3, 7};
  constexpr std::int64_t odd[] = {-1,       smallest, std::int64_t{1} << 40, huge - 1,
                                  huge + 4, largest,  std::int64_t{1} << 33};
  return below(3) > 0 ? one_of(*this, usual) : one_of(*this, odd);
}

std::int64_t picker::axis() {
  constexpr std::int64_t list[] = {0, 0, 0, 1, -1, -1, 2, -2, 7, 8, -9, largest, smallest};
  return one_of(*this, list);
}

std::optional<std::int64_t> picker::maybe_axis() {
  if (flag()) return std::nullopt;
  return axis();
}

double picker::number() {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  constexpr double list[] = {std::numeric_limits<double>::quiet_NaN(),
                             infinite,
                             -infinite,
                             0,
                             -0.0,
                             0.5,
                             1,
                             2,
                             -3,
                             1.7e308,
                             -1.7e308,
                             5e-324,
                             9007199254740993.0,
                             1e19};
  return one_of(*this, list);
}

dtype picker::type() { return static_cast<dtype>(1 + below(15)); }

shape picker::extents() {
  shape out;
  for (int rank = below(10) == 0 ? 8 : below(4); rank > 0; --rank)
    out.push_back(below(4) == 0 ? size() : 1 + below(3));
  return out;
}

tutti::slice picker::bounds() {
  tutti::slice out;
  if (flag()) out.start = flag() ? axis() : size();
  if (flag()) out.stop = flag() ? axis() : size();
  if (flag()) out.step = flag() ? axis() : size();
  return out;
}

std::vector<tutti::slice> picker::slices() {
  std::vector<tutti::slice> out;
  for (int i = below(4); i > 0; --i) out.push_back(bounds());
  return out;
}

std::vector<std::int64_t> picker::sizes() {
  std::vector<std::int64_t> out;
  for (int i = below(4); i > 0; --i) out.push_back(size());
  return out;
}

std::vector<double> picker::numbers() {
  std::vector<double> out;
  for (int i = below(4); i > 0; --i) out.push_back(number());
  return out;
}

tutti::reduce_options picker::axes() {
  tutti::reduce_options out;
  if (flag()) out.axes = std::vector<std::int64_t>{axis()};
  if (out.axes && flag()) out.axes->push_back(axis());
  out.keepdims = flag();
  return out;
}

tutti::scan_options picker::scan() {
  tutti::scan_options out;
  out.axis = maybe_axis();
  out.exclusive = flag();
  out.reverse = flag();
  if (flag()) out.type = type();
  return out;
}

array picker::small_values() {
  shape to;
  for (int rank = below(4); rank > 0; --rank) to.push_back(below(4));
  std::vector<double> values(static_cast<std::size_t>(to.size()));
  for (double& v : values) v = flag() ? number() : below(9) - 2;
  const array made = array::from(values, to);
  const dtype wanted = type();
  return flag() ? made : made.astype(wanted);
}

array picker::small() {
  switch (below(8)) {
    case 0:
      return array();
    case 1:
      return flag() ? array(number()) : array(size());
    case 2:
      return tutti::zeros({std::int64_t{1} << 40, 0}, type());
    case 3:
      return tutti::full({2, 3}, below(5), type());
    default:
      return small_values();
  }
}

array picker::any() {
  if (below(4) > 0) return small();
  const dtype one_byte = flag() ? dtype::u8 : dtype::boolean;
  const shape list[] = {
      {huge + 5}, {std::int64_t{1} << 40}, {2, std::int64_t{1} << 50, 3}, {1, largest}};
  huge_ = true;
  return tutti::full(one_of(*this, list), below(2), flag() ? one_byte : dtype::i8);
}

array picker::indices() {
  if (below(8) == 0) return any();
  constexpr std::int64_t list[] = {0, 0, 0, 1, -1, 2, 5, largest, smallest};
  std::vector<std::int64_t> values(static_cast<std::size_t>(below(4)));
  for (std::int64_t& v : values) v = below(3) > 0 ? below(2) : one_of(*this, list);
  const array made = array::from(values);
  return flag() ? made : made.astype(flag() ? dtype::i32 : dtype::u8);
}

std::vector<array> picker::several() {
  std::vector<array> out;
  for (int i = below(4); i > 0; --i) out.push_back(any());
  if (flag() && !out.empty()) out.assign(3, out.front());
  return out;
}

namespace {

std::vector<entry> shapes_and_views() {
  return {
      ROW(tutti::zeros(p.extents(), p.type())),
      ROW(tutti::ones(p.extents(), p.type())),
      ROW(tutti::full(p.extents(), p.any(), p.type())),
      ROW(tutti::full_like(p.any(), p.any(), p.type())),
      ROW(tutti::zeros_like(p.any(), p.type())),
      ROW(tutti::ones_like(p.any(), p.type())),
      ROW(tutti::arange(p.number(), p.number(), p.number(), p.type())),
      ROW(tutti::arange(p.size(), p.type())),
      ROW(tutti::eye(p.size(), p.type())),
      ROW(tutti::eye(p.size(), p.size(), p.axis(), p.type())),
      ROW(tutti::linspace(p.number(), p.number(), p.size(), p.flag(), p.type())),
      ROW(tutti::meshgrid(p.several())),
      ROW(tutti::reshape(p.any(), p.extents())),
      ROW(tutti::transpose(p.any(), p.extents())),
      ROW(p.any().transpose()),
      ROW(tutti::swapaxes(p.any(), p.axis(), p.axis())),
      ROW(tutti::matrix_transpose(p.any())),
      ROW(tutti::moveaxis(p.any(), p.axis(), p.axis())),
      ROW(tutti::broadcast_to(p.any(), p.extents())),
      ROW(tutti::bit_cast(p.any(), p.type())),
      ROW(tutti::broadcast_arrays(p.several())),
      ROW(tutti::expand_dims(p.any(), p.axis())),
      ROW(tutti::squeeze(p.any(), p.maybe_axis())),
      ROW(tutti::slice_view(p.any(), p.slices())),
      ROW(p.any()({p.bounds(), p.bounds()})),
      ROW(p.any()[p.axis()]),
      ROW(tutti::slice_update(p.any(), p.any(), p.slices())),
      ROW(tutti::concatenate(p.several(), p.axis())),
      ROW(tutti::stack(p.several(), p.axis())),
      ROW(tutti::split(p.any(), p.size(), p.axis())),
      ROW(tutti::split_at(p.any(), p.sizes(), p.axis())),
      ROW(tutti::unstack(p.any(), p.axis())),
      ROW(tutti::tile(p.any(), p.extents())),
      ROW(tutti::repeat(p.any(), p.size(), p.maybe_axis())),
      ROW(tutti::repeat_each(p.any(), p.sizes(), p.maybe_axis())),
      ROW(tutti::repeat(p.any(), p.indices(), p.maybe_axis())),
      ROW(tutti::repeat(p.any(), p.sizes(), p.maybe_axis())),
      ROW(tutti::roll(p.any(), p.axis(), p.maybe_axis())),
      ROW(tutti::flip(p.any(), p.maybe_axis())),
      ROW(tutti::pad(p.any(), {{p.size(), p.size()}, {p.size(), p.size()}},
                     static_cast<tutti::pad_mode>(p.below(3)), p.any())),
      ROW(tutti::pad(p.any(), {{p.size(), p.size()}}, static_cast<tutti::pad_mode>(p.below(4)))),
      ROW(tutti::diagonal(p.any(), p.axis(), p.axis(), p.axis())),
      ROW(tutti::diag(p.any(), p.axis())),
      ROW(tutti::tril(p.any(), p.axis())),
      ROW(tutti::triu(p.any(), p.axis())),
      ROW(tutti::contiguous(p.any())),
      ROW(tutti::astype(p.any(), p.type())),
  };
}

std::vector<entry> arithmetic() {
  return {
      ROW(p.any() + p.any()),
      ROW(p.any() * p.any()),
      ROW(p.any() / p.any()),
      ROW(p.any() % p.any()),
      ROW(tutti::floor_divide(p.any(), p.any())),
      ROW(tutti::truncate_divide(p.any(), p.any())),
      ROW(tutti::power(p.any(), p.any())),
      ROW(tutti::left_shift(p.any(), p.any())),
      ROW(tutti::right_shift(p.any(), p.any())),
      ROW(tutti::where(p.any(), p.any(), p.any())),
      ROW(tutti::clip(p.any(), p.any(), p.any())),
      ROW(tutti::clip(p.any(), {}, p.any())),
      ROW(tutti::clip(p.any())),
      ROW(tutti::exp(p.any())),
      ROW(tutti::reciprocal(p.any())),
      ROW(tutti::relu(p.any())),
      ROW(tutti::angle(p.any())),
      ROW(tutti::sum(p.any(), p.axes())),
      ROW(tutti::prod(p.any(), p.axes())),
      ROW(tutti::min(p.any(), p.axes())),
      ROW(tutti::max(p.any(), p.axes())),
      ROW(tutti::mean(p.any(), p.axes())),
      ROW(tutti::any(p.any(), p.axes())),
      ROW(tutti::all(p.any(), p.axes())),
      ROW(tutti::var(p.any(), p.axes(), p.number())),
      ROW(tutti::stddev(p.any(), p.axes(), p.number())),
      ROW(tutti::logsumexp(p.any(), p.axes())),
      ROW(tutti::norm(p.any(), p.number(), p.axes())),
      ROW(tutti::average(p.any(), p.any(), p.axes())),
      ROW(tutti::count_nonzero(p.any(), p.axes())),
      ROW(tutti::argmin(p.any(), p.maybe_axis(), p.flag())),
      ROW(tutti::argmax(p.any(), p.maybe_axis(), p.flag())),
      ROW(tutti::softmax(p.any(), p.axis())),
      ROW(tutti::log_softmax(p.any(), p.axis())),
      ROW(tutti::matmul(p.any(), p.any())),
      ROW(tutti::einsum("ij,jk->ik", {p.any(), p.any()})),
      ROW(tutti::einsum("...,...", {p.any(), p.any()})),
      ROW(tutti::einsum("ii->i", {p.any()})),
      ROW(tutti::tensordot(p.any(), p.any(), static_cast<int>(p.axis()))),
      ROW(tutti::tensordot(p.any(), p.any(), p.extents(), p.extents())),
      ROW(tutti::outer(p.any(), p.any())),
      ROW(tutti::inner(p.any(), p.any())),
      ROW(tutti::kron(p.any(), p.any())),
      ROW(tutti::vecdot(p.any(), p.any(), p.axis())),
      ROW(tutti::cross(p.any(), p.any(), p.axis())),
      ROW(tutti::trace(p.any(), p.axis(), p.axis(), p.axis())),
      ROW(tutti::nn::leaky_relu(p.any(), p.number())),
      ROW(tutti::nn::gelu(p.any())),
      ROW(tutti::nn::silu(p.any())),
      ROW(tutti::nn::softplus(p.any())),
      ROW(tutti::nn::cross_entropy(p.any(), p.indices())),
      ROW(tutti::nn::mse(p.any(), p.any())),
      ROW(tutti::nn::accuracy(p.any(), p.indices())),
      ROW(tutti::nn::confusion_matrix(p.small(), p.small(), p.size())),
  };
}

// Those that evaluate get small arrays: a huge one may well take its time.
std::vector<entry> orders_and_places() {
  return {
      ROW(tutti::cumsum(p.any(), p.scan())),
      ROW(tutti::cumprod(p.small(), p.scan())),
      ROW(tutti::cummax(p.any(), p.scan())),
      ROW(tutti::logcumsumexp(p.any(), p.scan())),
      ROW(tutti::cumulative_sum(p.any(), p.maybe_axis(), p.type(), p.flag())),
      ROW(tutti::diff(p.any(), p.below(5) - 1, p.axis())),
      ROW(tutti::sort(p.any(), p.axis())),
      ROW(tutti::argsort(p.any(), p.axis(), tutti::order::descending)),
      ROW(tutti::lexsort({p.any(), p.any()}, p.axis())),
      ROW(tutti::topk(p.any(), p.size(), p.axis(), p.flag())),
      ROW(tutti::partition(p.any(), p.axis(), p.axis())),
      ROW(tutti::median(p.any(), p.maybe_axis(), p.flag())),
      ROW(tutti::quantile(p.any(), p.number(), p.maybe_axis(), p.flag(),
                          static_cast<tutti::interpolation>(p.below(5)))),
      ROW(tutti::quantile(p.any(), p.numbers(), p.axes())),
      ROW(tutti::searchsorted(p.any(), p.any())),
      ROW(tutti::isin(p.any(), p.any(), p.flag())),
      ROW(tutti::nonzero(p.small())),
      ROW(tutti::unique(p.small())),
      ROW(tutti::unique_all(p.small(), p.axis())),
      ROW(tutti::unique_values(p.small())),
      ROW(tutti::bincount(p.indices(), p.size())),
      ROW(tutti::bincount(p.indices(), p.small(), p.size())),
      ROW(tutti::histogram(p.any(), p.size(), p.number(), p.number())),
      ROW(tutti::histogram(p.small(), p.size())),
      ROW(tutti::histogram(p.any(), p.small())),
      ROW(tutti::take(p.any(), p.indices(), p.axis())),
      ROW(tutti::take_along_axis(p.any(), p.indices(), p.axis())),
      ROW(tutti::one_hot(p.indices(), p.size(), p.type())),
      ROW(tutti::index_with(p.any(), {p.indices()})),
      ROW(tutti::index_with(p.any(), {p.indices(), p.indices()})),
      ROW(tutti::mask_select(p.any(), p.small())),
      ROW(tutti::masked_fill(p.any(), p.any(), p.any())),
      ROW(tutti::scatter(p.any(), p.indices(), p.any(), p.axis(),
                         static_cast<tutti::scatter_mode>(p.below(5)))),
      ROW(tutti::index_put(p.any(), {p.indices(), p.indices()}, p.any(),
                           static_cast<tutti::scatter_mode>(p.below(5)))),
      ROW(tutti::put(p.any(), p.indices(), p.any(), static_cast<tutti::scatter_mode>(p.below(5)))),
      ROW(tutti::put_along_axis(p.any(), p.indices(), p.any(), p.axis())),
  };
}

std::vector<entry> randomness() {
  return {
      ROW(draw::split({}, static_cast<int>(p.below(5)) - 2)),
      ROW(draw::bits({}, p.extents())),
      ROW(draw::uniform({}, p.extents(), p.number(), p.number(), p.type())),
      ROW(draw::normal({}, p.extents(), p.number(), p.number(), p.type())),
      ROW(draw::permutation({}, p.size())),
      ROW(draw::integers({}, p.extents(), p.axis(), p.axis(), p.type())),
      ROW(draw::bernoulli({}, p.extents(), p.number())),
      ROW(draw::exponential({}, p.extents(), p.number(), p.type())),
      ROW(draw::truncated_normal({}, p.extents(), p.number(), p.number(), p.number(), p.number(),
                                 p.type())),
      ROW(draw::categorical({}, p.any(), p.axis())),
      ROW(draw::gamma({}, {3, p.below(3)}, p.number(), p.number(), p.type())),
      ROW(draw::poisson({}, p.extents(), p.number(), p.type())),
      ROW(draw::choice({}, p.size(), p.extents(), static_cast<draw::replacement>(p.flag()))),
      ROW(draw::choice({}, p.numbers(), p.extents(), static_cast<draw::replacement>(p.flag()))),
      ROW(draw::shuffle({}, p.any(), p.axis())),
  };
}

std::vector<entry> linear_algebra() {
  return {
      ROW(tutti::linalg::cholesky(p.any(), p.flag())),
      ROW(tutti::linalg::solve(p.any(), p.any())),
      ROW(tutti::linalg::triangular_solve(p.any(), p.any(), {p.flag()})),
      ROW(tutti::linalg::lu(p.any()).l),
      ROW(tutti::linalg::qr(p.any(), static_cast<tutti::linalg::qr_mode>(p.flag())).q),
      ROW(tutti::linalg::eigh(p.any()).eigenvectors),
      ROW(tutti::linalg::eigvalsh(p.any())),
      ROW(tutti::linalg::eig(p.any()).eigenvectors),
      ROW(tutti::linalg::eigvals(p.any())),
      ROW(tutti::linalg::svd(p.any(), p.flag()).u),
      ROW(tutti::linalg::svdvals(p.any())),
      ROW(tutti::linalg::inv(p.any())),
      ROW(tutti::linalg::det(p.any())),
      ROW(tutti::linalg::slogdet(p.any()).logabsdet),
      ROW(tutti::linalg::pinv(p.any(), p.number())),
      ROW(tutti::linalg::matrix_rank(p.any(), p.number())),
      ROW(tutti::linalg::matrix_power(p.any(), p.below(9) - 4)),
      ROW(tutti::linalg::matrix_norm(p.any(), static_cast<tutti::linalg::matrix_order>(p.below(8)),
                                     p.flag())),
      ROW(tutti::linalg::cond(p.any(), static_cast<tutti::linalg::matrix_order>(p.below(8)))),
      ROW(tutti::linalg::lstsq(p.any(), p.any()).solution),
      ROW(tutti::linalg::expm(p.any())),
  };
}

tutti::convolution_options convolution(picker& p) {
  return {.stride = p.size(),
          .padding = p.size(),
          .dilation = p.size(),
          .groups = p.size(),
          .mode = static_cast<tutti::padding_mode>(p.below(4)),
          .order = static_cast<tutti::channel_order>(p.flag())};
}

tutti::transposed_convolution_options transposition(picker& p) {
  return {.stride = p.size(), .padding = p.size(), .output_padding = p.size(), .groups = p.size()};
}

tutti::pooling_options pooling(picker& p) {
  return {.stride = p.size(),
          .padding = p.size(),
          .dilation = p.size(),
          .count_padding = p.flag(),
          .ceil_mode = p.flag()};
}

tutti::channel_order order(picker& p) { return static_cast<tutti::channel_order>(p.flag()); }

std::vector<entry> windows() {
  return {
      ROW(tutti::conv1d(p.any(), p.any(), convolution(p))),
      ROW(tutti::conv2d(p.any(), p.any(), convolution(p))),
      ROW(tutti::conv3d(p.any(), p.any(), convolution(p))),
      ROW(tutti::conv_transpose1d(p.any(), p.any(), transposition(p))),
      ROW(tutti::conv_transpose2d(p.any(), p.any(), transposition(p))),
      ROW(tutti::conv_transpose3d(p.any(), p.any(), transposition(p))),
      ROW(tutti::max_pool(p.any(), p.size(), pooling(p))),
      ROW(tutti::max_pool_with_indices(p.any(), p.size(), pooling(p))),
      ROW(tutti::avg_pool(p.any(), p.size(), pooling(p))),
      ROW(tutti::global_max_pool(p.any(), order(p))),
      ROW(tutti::global_avg_pool(p.any(), order(p))),
      ROW(tutti::adaptive_max_pool(p.any(), p.size(), order(p))),
      ROW(tutti::adaptive_avg_pool(p.any(), p.size(), order(p))),
      ROW(tutti::nn::interpolate(p.any(), p.size(),
                                 {static_cast<tutti::nn::resampling>(p.below(5)), p.flag()})),
      ROW(tutti::nn::interpolate(p.any(), p.size(),
                                 {.mode = tutti::nn::resampling::cubic,
                                  .cubic_coefficient = p.number(),
                                  .antialias = p.flag()})),
      ROW(tutti::nn::interpolate_by(p.any(), {p.number()},
                                    {.mode = tutti::nn::resampling::linear})),
      ROW(tutti::nn::grid_sample(p.any(), p.any(), {.align_corners = p.flag()})),
      ROW(tutti::nn::roi_align(p.any(), p.any(), p.indices(), p.size(), {.samples = p.size()})),
      ROW(tutti::nn::deform_conv2d(p.any(), p.any(), p.any(), {.stride = p.size()})),
      ROW(tutti::sliding_window_view(p.any(), p.extents(), p.axis())),
      ROW(tutti::as_strided(p.any(), p.extents(), p.extents(), p.size())),
  };
}

namespace fft = tutti::fft;

fft::length points(picker& p) { return p.flag() ? fft::length() : fft::length(p.size()); }
fft::norm norm(picker& p) { return static_cast<fft::norm>(p.below(4)); }
fft::lengths several(picker& p) { return p.flag() ? fft::lengths() : fft::lengths(p.extents()); }

std::vector<entry> fourier() {
  return {
      ROW(fft::fft(p.any(), points(p), p.axis(), norm(p))),
      ROW(fft::ifft(p.any(), points(p), p.axis(), norm(p))),
      ROW(fft::rfft(p.any(), points(p), p.axis(), norm(p))),
      ROW(fft::irfft(p.any(), points(p), p.axis(), norm(p))),
      ROW(fft::hfft(p.any(), points(p), p.axis(), norm(p))),
      ROW(fft::ihfft(p.any(), points(p), p.axis(), norm(p))),
      ROW(fft::fftn(p.any(), several(p), p.axis(), norm(p))),
      ROW(fft::ifftn(p.any(), several(p), p.axis(), norm(p))),
      ROW(fft::rfftn(p.any(), several(p), p.axis(), norm(p))),
      ROW(fft::irfftn(p.any(), several(p), p.axis(), norm(p))),
      ROW(fft::fft2(p.any(), several(p), p.axis(), norm(p))),
      ROW(fft::ifft2(p.any(), several(p), p.axis(), norm(p))),
      ROW(fft::rfft2(p.any(), several(p), p.axis(), norm(p))),
      ROW(fft::irfft2(p.any(), several(p), p.axis(), norm(p))),
      ROW(fft::fftfreq(p.size(), p.number(), p.type())),
      ROW(fft::rfftfreq(p.size(), p.number(), p.type())),
      ROW(fft::fftshift(p.any(), p.axis())),
      ROW(fft::ifftshift(p.any(), p.axis())),
  };
}

}  // namespace

std::vector<entry> entries() {
  std::vector<entry> all;
  for (const auto& part :
       {shapes_and_views(), arithmetic(), orders_and_places(), randomness(), linear_algebra(),
        windows(), fourier(), signals(), analysis(), images(), sparse_matrices(), networks()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace hostile
