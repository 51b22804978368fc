// SPDX-License-Identifier: Apache-2.0
//
// A table of the calls of differential.txt.
#include "differential_calls.hpp"

#include <functional>
#include <map>
#include <stdexcept>

namespace tutti_test {
namespace {

using namespace tutti;

struct arguments {
  std::vector<array> in;
  std::vector<std::string> words;
  std::int64_t whole(std::size_t i) const { return std::stoll(words.at(i)); }
  double real(std::size_t i) const { return std::stod(words.at(i)); }
  scan_options scan() const { return {whole(0), false, whole(1) != 0}; }
};

using function = std::function<array(const arguments&)>;
using table = std::map<std::string, function>;

// clang-format off
#define TUTTI_CALL_1(name) {#name, [](const arguments& a) { return tutti::name(a.in[0]); }},
#define TUTTI_CALL_2(name) {#name, [](const arguments& a) { return tutti::name(a.in[0], a.in[1]); }},
#define TUTTI_CALL_NUMERIC(arity, name) TUTTI_CALL_##arity(name)
#define TUTTI_CALL_REAL(arity, name) TUTTI_CALL_##arity(name)
#define TUTTI_CALL_FLOATING(arity, name) TUTTI_CALL_##arity(name)
#define TUTTI_CALL_REAL_FLOATING(arity, name) TUTTI_CALL_##arity(name)
#define TUTTI_CALL_INTEGRAL(arity, name) TUTTI_CALL_##arity(name)
#define TUTTI_CALL_LOGICAL(arity, name) TUTTI_CALL_##arity(name)
#define TUTTI_CALL_ANY(arity, name) TUTTI_CALL_##arity(name)
#define TUTTI_CALL_IR(arity, name)
const table& elementwise() {
  static const table calls = {
#define TUTTI_OP(id, name, arity, kinds, ...) TUTTI_CALL_##kinds(arity, name)
#include "tutti/op_table.def"
#undef TUTTI_OP
      TUTTI_CALL_1(positive) TUTTI_CALL_1(reciprocal) TUTTI_CALL_1(angle) TUTTI_CALL_1(relu)
      TUTTI_CALL_1(sigmoid) {"softplus", [](const arguments& a) { return nn::softplus(a.in[0]); }},
      {"silu", [](const arguments& a) { return nn::silu(a.in[0]); }},
      {"gelu", [](const arguments& a) { return nn::gelu(a.in[0]); }},
  };
  return calls;
}

#define TUTTI_AXIS(name) {#name, [](const arguments& a) { return tutti::name(a.in[0], a.whole(0)); }},
#define TUTTI_SCAN(name) {#name, [](const arguments& a) { return tutti::name(a.in[0], a.scan()); }},
#define TUTTI_SCATTER(name) {#name, [](const arguments& a) { return tutti::name(a.in[0], a.in[1], a.in[2]); }},
#define TUTTI_DO(name, ...) {#name, []([[maybe_unused]] const arguments& a) { return __VA_ARGS__; }},

const table& reductions() {
  static const table calls = {
      TUTTI_AXIS(sum) TUTTI_AXIS(prod) TUTTI_AXIS(min) TUTTI_AXIS(max) TUTTI_AXIS(any) TUTTI_AXIS(all)
      TUTTI_AXIS(argmin) TUTTI_AXIS(argmax) TUTTI_AXIS(count_nonzero) TUTTI_AXIS(mean)
      TUTTI_AXIS(logsumexp) TUTTI_AXIS(softmax) TUTTI_AXIS(log_softmax) TUTTI_AXIS(median)
      TUTTI_DO(var, var(a.in[0], a.whole(0), a.real(1)))
      TUTTI_DO(stddev, stddev(a.in[0], a.whole(0), a.real(1)))
      TUTTI_DO(norm, norm(a.in[0], a.real(1), a.whole(0)))
      TUTTI_DO(average, average(a.in[0], a.in[1], 1))
      TUTTI_DO(quantile, quantile(a.in[0], a.real(1), a.whole(0), false,
          a.words[2] == "linear" ? interpolation::linear : a.words[2] == "lower" ? interpolation::lower
          : a.words[2] == "higher" ? interpolation::higher : interpolation::midpoint))
  };
  return calls;
}

const table& along_an_axis() {
  static const table calls = {
      TUTTI_SCAN(cumsum) TUTTI_SCAN(cumprod) TUTTI_SCAN(cummax) TUTTI_SCAN(cummin) TUTTI_SCAN(logcumsumexp)
      TUTTI_AXIS(sort) TUTTI_AXIS(argsort)
      TUTTI_DO(diff, diff(a.in[0], static_cast<int>(a.whole(1)), a.whole(0)))
      TUTTI_DO(topk, topk(a.in[0], a.whole(1), a.whole(0)).values)
      TUTTI_DO(partition, take(partition(a.in[0], a.whole(1), a.whole(0)), static_cast<int>(a.whole(1)), a.whole(0)))
      TUTTI_DO(roll, roll(a.in[0], a.whole(1), a.whole(0)))
      TUTTI_DO(flip, flip(a.in[0], a.whole(0)))
      TUTTI_DO(repeat_each, repeat(a.in[0], a.whole(1), a.whole(0)))
  };
  return calls;
}

const table& shapes_and_indices() {
  static const table calls = {
      TUTTI_DO(transpose, a.in[0].transpose()) TUTTI_DO(flatten, a.in[0].flatten())
      TUTTI_DO(swapaxes, swapaxes(a.in[0], a.whole(0), a.whole(1))) TUTTI_CALL_1(matrix_transpose)
      TUTTI_DO(moveaxis, moveaxis(a.in[0], a.whole(0), a.whole(1))) TUTTI_AXIS(expand_dims)
      TUTTI_DO(slice, a.in[0]({{{}, {}, -1}, {1, {}, 1}, {{}, {}, 2}}))
      TUTTI_DO(tile, tile(a.in[0], {a.whole(0), a.whole(1), a.whole(2)}))
      TUTTI_DO(pad, pad(a.in[0], {{1, 2}, {1, 2}, {1, 2}}))
      TUTTI_DO(diagonal, diagonal(a.in[0], a.whole(0), a.whole(1), a.whole(2)))
      TUTTI_AXIS(tril) TUTTI_AXIS(triu) TUTTI_DO(nonzero, stack(nonzero(a.in[0])))
      TUTTI_DO(split, split_at(a.in[0], {-1}, a.whole(0)).back())
      TUTTI_DO(concatenate, concatenate(a.in, a.whole(0))) TUTTI_DO(stack, stack(a.in, a.whole(0)))
      TUTTI_DO(where, where(a.in[0], a.in[1], a.in[2])) TUTTI_DO(clip, clip(a.in[0], a.in[1], a.in[2]))
      TUTTI_DO(astype, a.in[0].astype(dtype_from_name(a.words[0])))
      TUTTI_DO(take, take(a.in[0], a.in[1], a.whole(0)))
      TUTTI_SCATTER(scatter_add) TUTTI_SCATTER(scatter_multiply) TUTTI_SCATTER(scatter_min)
      TUTTI_SCATTER(scatter_max) TUTTI_SCATTER(scatter_set) TUTTI_SCATTER(put)
      TUTTI_DO(take_along_axis, take_along_axis(a.in[0], a.in[1], a.whole(0)))
      TUTTI_CALL_2(mask_select) TUTTI_DO(masked_fill, masked_fill(a.in[0], a.in[1], 2))
      TUTTI_DO(linspace, linspace(a.real(0), a.real(1), a.whole(2), true, dtype::f64))
      TUTTI_DO(arange, arange(a.real(0), a.real(1), a.real(2), dtype::i64))
      TUTTI_DO(eye, eye(a.whole(0), a.whole(1), a.whole(2), dtype::f64))
  };
  return calls;
}

const table& sets_and_products() {
  static const table calls = {
      TUTTI_DO(searchsorted, searchsorted(a.in[0], a.in[1], a.whole(0) != 0 ? side::right : side::left))
      TUTTI_DO(isin, isin(a.in[1], a.in[0])) TUTTI_DO(unique_values, unique_values(a.in[1]))
      TUTTI_DO(unique_counts, unique(a.in[1]).counts) TUTTI_DO(unique_inverse, unique(a.in[1]).inverse)
      TUTTI_DO(bincount, bincount(a.in[0], 12)) TUTTI_DO(bincount_weights, bincount(a.in[0], a.in[1], 12))
      TUTTI_DO(histogram, histogram(a.in[1], a.whole(0), a.real(1), a.real(2)).counts)
      TUTTI_CALL_2(matmul) TUTTI_DO(tensordot, tensordot(a.in[0], a.in[1], 1))
      TUTTI_DO(einsum, einsum(a.words[0], {a.in[0], a.in[1]})) TUTTI_CALL_2(kron) TUTTI_CALL_2(cross)
      TUTTI_CALL_2(vecdot) TUTTI_CALL_2(inner) TUTTI_CALL_2(outer) TUTTI_CALL_1(trace)
  };
  return calls;
}

const table& images() {
  static const table calls = {
      TUTTI_DO(image_rotate90, image::rotate90(a.in[0], a.whole(0)))
      TUTTI_DO(image_crop, image::crop(a.in[0], a.whole(0), a.whole(1), a.whole(2), a.whole(3)))
      TUTTI_DO(image_flip_horizontal, image::flip_horizontal(a.in[0]))
      TUTTI_DO(image_erode, image::erode(a.in[0], a.whole(0), a.whole(1)))
      TUTTI_DO(image_median, image::median_filter(a.in[0], a.whole(0)))
      TUTTI_DO(image_integral, image::integral_image(a.in[0]))
      TUTTI_DO(image_to_float, image::to_float(a.in[0])) TUTTI_DO(image_to_u8, image::to_u8(a.in[0]))
      TUTTI_DO(image_grey, image::rgb_to_grey(a.in[0]))
      TUTTI_DO(image_box, image::box_blur(a.in[0], a.whole(0), a.whole(1)))
      TUTTI_DO(image_gaussian, image::gaussian_blur(a.in[0], a.real(0)))
      TUTTI_DO(image_sobel, image::sobel(a.in[0], image::direction::horizontal))
  };
  return calls;
}
// clang-format on

std::string name_of(const std::string& text) { return text.substr(0, text.find(':')); }

}  // namespace

bool is_elementwise(const std::string& text) { return elementwise().contains(name_of(text)); }

array call(const std::string& text, const std::vector<array>& operands) {
  arguments given{operands, {}};
  for (std::size_t at = text.find(':'); at != std::string::npos;) {
    const std::size_t end = text.find(':', at + 1);
    given.words.push_back(text.substr(at + 1, end == std::string::npos ? end : end - at - 1));
    at = end;
  }
  for (const table* calls : {&elementwise(), &reductions(), &along_an_axis(), &shapes_and_indices(),
                             &sets_and_products(), &images()})
    if (const auto found = calls->find(name_of(text)); found != calls->end())
      return found->second(given);
  throw std::runtime_error("no call " + text);
}

}  // namespace tutti_test
