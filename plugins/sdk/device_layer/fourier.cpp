// SPDX-License-Identifier: Apache-2.0
//
// Fourier transforms: the launches of kernels_cl/fft_shared.cl and fft_cpu.cl, and their tables.
#include "sdk/fourier.hpp"

#include <algorithm>
#include <cstring>

#include "sdk/device_layer/fourier_tables.hpp"
#include "sdk/device_layer/kernel_options.hpp"
#include "sdk/device_layer/operators.hpp"
#include "sdk/op_info.hpp"
#include "sdk/ordering.hpp"

namespace tutti::sdk {
namespace {

enum class line_mode : int32_t { complex = 0, real = 1, hermitian = 2, spectrum = 3 };

// As tutti_fft_shape in fft_shared.cl.
template <typename T>
struct fft_shape {
  int64_t outer, length, inner;
  int64_t points, lines;
  int64_t radix, done;
  int64_t to, from;
  int64_t roots, chirp, spectrum;
  int32_t roots_bits, chirp_bits;
  int32_t mode, exchanged, chirped;
  T scale;
};

// As tutti_fft_lines_shape in fft_cpu.cl.
template <typename T>
struct fft_lines_shape {
  int64_t outer, middle, inner, length, points, given, written;
  int64_t from_outer, from_middle, from_step;
  int64_t to_outer, to_middle, to_step;
  int64_t to, from, stage, stage_size;
  int64_t radices;
  int64_t roots, twists, twist_lanes, chirp, spectrum;
  int32_t roots_bits, twist_bits, chirp_bits;
  int32_t from_parts, to_parts;
  int32_t exchanged, hermitian;
  T scale;
};

// An intermediate array: one of two in the workspace, or a view.
struct fft_array {
  operand where;
  int64_t offset = 0;  // elements of T, in the workspace
};

// How CPUs transform lines of one length (kernels_cl/fft_cpu.cl): whole, from view to view, or each
// as `first` lines of `second` numbers after `second` lines of `first`. Neither: passes over
// memory.
struct lines_plan {
  uint64_t first = 0, second = 0;
  bool is_used() const { return first > 0; }
  bool is_split() const { return second > 0; }
  bool is_whole() const { return is_used() && !is_split(); }
};

constexpr uint64_t longest_line = 8192;   // whose stage fits the cache of a core
constexpr uint64_t shortest_split = 128;  // worth a second launch if there are few lines

// The divisor of `length` nearest to its square root, and the quotient.
lines_plan split_of(uint64_t length) {
  lines_plan best;
  for (uint64_t first = 1; first * first <= length; ++first)
    if (length % first == 0) best = {first, length / first};
  return best.first > 1 && best.second <= longest_line ? best : lines_plan{};
}

lines_plan plan_lines(const device_description& device, uint64_t length, uint64_t lines,
                      uint64_t inner, uint64_t lanes) {
  if (device.kind != schedule::cpu || length < 2) return {};
  const bool are_few = inner == 1 && 2 * lines <= lanes && length >= shortest_split;
  if (length <= longest_line && !are_few) return {length, 0};
  const lines_plan split = inner == 1 ? split_of(length) : lines_plan{};
  return split.is_used() || length > longest_line ? split : lines_plan{length, 0};
}

template <typename T>
class fft_launches {
 public:
  fft_launches(const device_description& device, const operator_call& call, operator_launcher& on)
      : device_(device),
        on_(on),
        params_(fft_params(call)),
        plan_(plan_fourier(params_.length)),
        options_(fft_options(device, sizeof(T) == 8)) {
    const tutti_view &out = call.views[0], &x = call.views[1];
    shape_.outer = static_cast<int64_t>(out.extent[0]);
    shape_.inner = static_cast<int64_t>(out.extent[2]);
    shape_.length = static_cast<int64_t>(plan_.length);
    shape_.points = static_cast<int64_t>(plan_.points);
    read_ = static_cast<int64_t>(x.extent[1]);
    written_ = static_cast<int64_t>(out.extent[1]);
    array_ = 2 * shape_.outer * shape_.length * shape_.inner;
    const auto lines = static_cast<uint64_t>(shape_.outer * shape_.inner);
    lines_ = plan_lines(device, plan_.length, lines, out.extent[2], lanes);
    plain_ = params_.fft == TUTTI_FFT_COMPLEX && !plan_.is_convolution() && read_ == written_ &&
             plan_.points > 1;
    if (!lines_.is_used()) return;
    // Few groups, each of which reuses its stage in the cache.
    groups_ = std::clamp<uint64_t>(lines * plan_.length / 8192, 1,
                                   4 * std::max(device.compute_units(), 1u));
    stage_ = 2 * 2 * lanes * std::max(lines_.first, lines_.second);
  }

  // Returns the size of the workspace in bytes.
  uint64_t launch() {
    if (shape_.outer == 0 || shape_.inner == 0) return 0;
    keep_tables();
    shape_.scale = 1;
    if (lines_.is_whole())
      launch_whole();
    else
      plain_ ? launch_plain() : launch_between();
    return (static_cast<uint64_t>(arrays() * array_) + groups_ * stage_) * sizeof(T);
  }

 private:
  static constexpr uint64_t lanes = sizeof(T) == 8 ? 4 : 8;  // of fft_cpu.cl

  // The number of arrays in the workspace.
  int64_t arrays() const {
    if (lines_.is_whole()) return 0;
    if (!plain_) return 2;
    return lines_.is_split() || plan_.radices.size() > 1 ? 1 : 0;
  }

  void keep_tables() {
    fft_tables<T> tables;
    if (lines_.is_used()) {
      first_roots_ = tables.add_roots(lines_.first, first_bits_);
      if (lines_.is_split()) {
        second_roots_ = tables.add_roots(lines_.second, second_bits_);
        twists_ = tables.add_roots(plan_.length, twist_bits_);
        twist_lanes_ = tables.add_lanes(lines_.first, plan_.length, lanes);
      }
    } else {
      shape_.roots = tables.add_roots(plan_.length, shape_.roots_bits);
    }
    if (plan_.is_convolution()) {
      shape_.chirp = tables.add_roots(2 * plan_.points, shape_.chirp_bits);
      shape_.spectrum = tables.add(chirp_spectrum(plan_.points, plan_.length));
    }
    on_.keep(tables.bytes());
  }

  // From view to view; the result's memory also holds intermediate values.
  void launch_plain() {
    const fft_array out{operand::view0}, other{operand::workspace};
    fft_array from{operand::view1};
    if (lines_.is_split())
      return launch_split(from, out, other, params_.inverse != 0, params_.scale, true);
    size_t left = plan_.radices.size();
    shape_.done = 1;
    shape_.exchanged = params_.inverse != 0;
    for (const uint32_t radix : plan_.radices) {
      --left;
      const fft_array to = left % 2 == 0 ? out : other;
      if (left == 0) shape_.scale = static_cast<T>(params_.scale);
      pass(radix, from, to, left == 0);
      from = to;
    }
  }

  void launch_between() {
    fft_array from{operand::workspace, 0}, to{operand::workspace, array_};
    const bool convolution = plan_.is_convolution();
    shape_.exchanged = params_.inverse != 0;
    shape_.chirped = convolution;
    shape_.lines = read_;
    shape_.mode = params_.fft;
    launch("tutti_fft_load", options_, from, {operand::view1}, array_ / 2, false);
    transform(from, to);
    if (convolution) {
      shape_.mode = static_cast<int32_t>(line_mode::spectrum);
      shape_.exchanged = 1;  // for the inverse transform
      shape_.chirped = 0;
      launch("tutti_fft_load", options_, to, from, array_ / 2, false);
      std::swap(from, to);
      transform(from, to);
    }
    shape_.exchanged = params_.inverse != 0;
    shape_.chirped = convolution;
    shape_.lines = written_;
    shape_.scale = static_cast<T>(params_.scale);
    const bool real = params_.fft == TUTTI_FFT_HERMITIAN;
    shape_.mode = static_cast<int32_t>(real ? line_mode::real : line_mode::complex);
    launch("tutti_fft_store", options_, {operand::view0}, from,
           shape_.outer * written_ * shape_.inner, true);
  }

  // Transforms `from`, which also receives the result.
  void transform(fft_array& from, fft_array& to) {
    if (lines_.is_split()) return launch_split(from, from, to, false, 1, false);
    shape_.done = 1;
    shape_.exchanged = 0;
    for (const uint32_t radix : plan_.radices) {
      pass(radix, from, to, false);
      std::swap(from, to);
    }
  }

  fft_lines_shape<T> lines_shape() const {
    fft_lines_shape<T> g{};
    g.length = g.points = g.given = g.written = static_cast<int64_t>(lines_.first);
    g.roots = first_roots_;
    g.roots_bits = first_bits_;
    g.twist_lanes = -1;
    g.from_parts = g.to_parts = 2;
    g.scale = 1;
    return g;
  }

  // From view to view in one launch.
  void launch_whole() {
    fft_lines_shape<T> g = lines_shape();
    const int64_t outer = shape_.outer, inner = shape_.inner;
    const bool together = inner < 2 * static_cast<int64_t>(lanes);  // blocks of several `outer`
    g.outer = together ? 1 : outer;
    g.middle = together ? outer : 1;
    g.inner = g.from_step = g.to_step = inner;
    g.from_outer = g.from_middle = read_ * inner;
    g.to_outer = g.to_middle = written_ * inner;
    g.points = shape_.points;
    g.hermitian = params_.fft == TUTTI_FFT_HERMITIAN;
    g.given = std::min(read_, g.hermitian ? g.points / 2 + 1 : g.points);
    g.written = written_;
    g.from_parts = params_.fft == TUTTI_FFT_REAL ? 1 : 2;
    g.to_parts = g.hermitian ? 1 : 2;
    g.chirp = shape_.chirp;
    g.chirp_bits = shape_.chirp_bits;
    g.spectrum = shape_.spectrum;
    g.exchanged = params_.inverse != 0;
    g.scale = static_cast<T>(params_.scale);
    lines(g, {operand::view1}, {operand::view0}, true);
  }

  // In two steps; `via` holds the intermediate values.
  void launch_split(const fft_array& from, const fft_array& to, const fft_array& via,
                    bool exchanged, double scale, bool last) {
    const auto first = static_cast<int64_t>(lines_.first);
    const auto second = static_cast<int64_t>(lines_.second);
    fft_lines_shape<T> g = lines_shape();
    g.exchanged = exchanged;
    g.outer = shape_.outer;
    g.middle = 1;
    g.inner = g.from_step = g.to_step = second;
    g.from_outer = g.to_outer = shape_.length;
    g.twists = twists_;
    g.twist_bits = twist_bits_;
    g.twist_lanes = twist_lanes_;
    lines(g, from, via, false);
    g.twist_lanes = -1;
    g.scale = static_cast<T>(scale);
    g.length = g.points = g.given = g.written = second;
    g.roots = second_roots_;
    g.roots_bits = second_bits_;
    g.middle = first;
    g.inner = g.from_step = 1;
    g.from_middle = second;
    g.to_middle = 1;
    g.to_step = first;
    lines(g, via, to, last);
  }

  void lines(fft_lines_shape<T>& g, const fft_array& from, const fft_array& to, bool last) {
    g.to = to.offset;
    g.from = from.offset;
    g.stage = arrays() * array_;
    g.stage_size = static_cast<int64_t>(stage_);
    g.radices = 0;
    uint32_t place = 0;
    for (const uint32_t radix : plan_fourier(static_cast<uint64_t>(g.length)).radices)
      g.radices |= static_cast<int64_t>(radix) << 4 * place++;
    const shape_offset offsets[] = {
        {offsetof(fft_lines_shape<T>, to), to.where, sizeof(T)},
        {offsetof(fft_lines_shape<T>, from), from.where, sizeof(T)},
        {offsetof(fft_lines_shape<T>, stage), operand::workspace, sizeof(T)}};
    const launch_series launch{on_, "fft", options_, "fft", &g, sizeof g, offsets};
    launch("tutti_fft_lines", {to.where, from.where, operand::constants, operand::workspace},
           groups_, last);
  }

  // GPUs have a kernel for each factor.
  void pass(uint32_t radix, const fft_array& from, const fft_array& to, bool last) {
    shape_.radix = radix;
    const bool is_cpu = device_.kind == schedule::cpu;
    launch("tutti_fft_pass", is_cpu ? options_ : fft_pass_options(device_, sizeof(T) == 8, radix),
           to, from, array_ / 2 / radix, last);
    shape_.done *= radix;
  }

  void launch(const char* kernel, const std::string& options, const fft_array& to,
              const fft_array& from, int64_t items, bool last) {
    shape_.to = to.offset;
    shape_.from = from.offset;
    const shape_offset offsets[] = {{offsetof(fft_shape<T>, to), to.where, sizeof(T)},
                                    {offsetof(fft_shape<T>, from), from.where, sizeof(T)}};
    const launch_series all{on_, "fft", options, "fft", &shape_, sizeof shape_, offsets};
    all(kernel, {to.where, from.where, operand::constants}, groups_on(device_, items), last);
  }

  const device_description& device_;
  operator_launcher& on_;
  tutti_fft_params params_;
  fourier_plan plan_;
  std::string options_;
  fft_shape<T> shape_{};
  int64_t read_ = 0, written_ = 0;  // along the axis of the views
  int64_t array_ = 0;               // elements of T in an intermediate array
  bool plain_ = false;
  lines_plan lines_;
  uint64_t groups_ = 0, stage_ = 0;  // of line launches; elements of T
  int64_t first_roots_ = 0, second_roots_ = 0, twists_ = 0, twist_lanes_ = 0;
  int32_t first_bits_ = 0, second_bits_ = 0, twist_bits_ = 0;
};

bool is_double(const operator_call& l) {
  return part_dtype(static_cast<uint8_t>(l.views[0].dtype)) == TUTTI_F64;
}

const char* against_fourier(const device_description& device, const operator_call& l) {
  const uint64_t longest = uint64_t{1} << 30;  // squares of indices have 63 bits, tables fit
  if (is_double(l) && (device.properties.computed_dtypes & TUTTI_DTYPE_BIT(TUTTI_F64)) == 0)
    return "this device has no f64";
  return fft_params(l).length > longest ? "transforms of more than 2^30 points" : nullptr;
}

uint64_t launch_fourier(const device_description& device, const operator_call& l,
                        operator_launcher& on) {
  return is_double(l) ? fft_launches<double>(device, l, on).launch()
                      : fft_launches<float>(device, l, on).launch();
}

}  // namespace

const device_operator fft_on_device = {against_fourier, launch_fourier};

}  // namespace tutti::sdk
