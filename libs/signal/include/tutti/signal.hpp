// SPDX-License-Identifier: Apache-2.0
//
// Signals: windows, frames, short-time Fourier transforms, convolution, cosine transforms,
// resampling, filters and mel features, with the names and meanings of SciPy's `signal` and `fft`;
// what has to do with mel scales is librosa's.
//
// All are compositions of other operations, so what they do fuses, has gradients with respect to
// arrays, and runs on every device. bool and integers become f32 unless it says otherwise. What
// goes through Fourier transforms is in f32 and f64 (f16 and bf16 throw dtype_error); NaN or an
// infinity in a line (of what is transformed or filtered) leaves no element of its result to rely
// on.
//
// Windows and coefficients of filters are numbers of the host, computed in f64 and rounded once.
//
// C has a function signal(): beside `using namespace tutti` it is ::signal() or std::signal(), as
// the name alone means the namespace too.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "tutti/fft.hpp"
#include "tutti/movement.hpp"
#include "tutti/ops.hpp"

namespace tutti::signal {

// ---- windows: n values, as f32 or f64 (dtype_error otherwise). n = 0 gives none, a window of one
// value is 1; a negative n throws value_error.

/// Symmetric windows are for filters. Periodic ones, for spectra, are those of n + 1 values without
/// the last.
enum class symmetry : bool { symmetric, periodic };

TUTTI_API array boxcar(integer n, symmetry kind = symmetry::symmetric, dtype type = dtype::f32,
                       const device& on = default_device());
/// 1/2 - 1/2 cos(2 pi i / (n - 1)).
TUTTI_API array hann(integer n, symmetry kind = symmetry::symmetric, dtype type = dtype::f32,
                     const device& on = default_device());
/// 0.54 - 0.46 cos(2 pi i / (n - 1)).
TUTTI_API array hamming(integer n, symmetry kind = symmetry::symmetric, dtype type = dtype::f32,
                        const device& on = default_device());
/// 0.42 - 0.5 cos(2 pi i / (n - 1)) + 0.08 cos(4 pi i / (n - 1)).
TUTTI_API array blackman(integer n, symmetry kind = symmetry::symmetric, dtype type = dtype::f32,
                         const device& on = default_device());
/// A triangle whose ends are 0.
TUTTI_API array bartlett(integer n, symmetry kind = symmetry::symmetric, dtype type = dtype::f32,
                         const device& on = default_device());
/// The five cosine terms of G. D'Antona and A. Ferrero, "Digital signal processing for measurement
/// systems" (2006).
TUTTI_API array flattop(integer n, symmetry kind = symmetry::symmetric, dtype type = dtype::f32,
                        const device& on = default_device());
/// I0(beta sqrt(1 - (2 i / (n - 1) - 1)^2)) / I0(beta) (J. F. Kaiser, 1966). Throws value_error for
/// |beta| above 700.
TUTTI_API array kaiser(integer n, double beta, symmetry kind = symmetry::symmetric,
                       dtype type = dtype::f32, const device& on = default_device());
/// exp(-(i - (n - 1) / 2)^2 / (2 deviation^2)), the deviation in samples. Throws value_error unless
/// it is positive and finite.
TUTTI_API array gaussian(integer n, double deviation, symmetry kind = symmetry::symmetric,
                         dtype type = dtype::f32, const device& on = default_device());
/// Ones with a cosine's slope over alpha / 2 of the window at both ends: boxcar for alpha <= 0,
/// hann for alpha >= 1. Throws value_error for NaN.
TUTTI_API array tukey(integer n, double alpha = 0.5, symmetry kind = symmetry::symmetric,
                      dtype type = dtype::f32, const device& on = default_device());

enum class window_shape : std::uint8_t {
  boxcar,
  hann,
  hamming,
  blackman,
  bartlett,
  flattop,
  kaiser,
  gaussian,
  tukey
};
/// A window by name, with the parameter of those that have one: kaiser's beta, gaussian's
/// deviation, tukey's alpha.
struct window {
  window_shape shape = window_shape::hann;
  double parameter = 0;
};
TUTTI_API array get_window(const window& which, integer n, symmetry kind = symmetry::periodic,
                           dtype type = dtype::f32, const device& on = default_device());

// ---- frames

/// Windows of `length` elements along `axis`, `hop` apart: the axis keeps the frames, of which
/// there are (extent - length) / hop + 1, and their elements come last. A view where x is
/// contiguous; of any dtype. Throws shape_error for a frame longer than the axis, value_error for a
/// length or hop below 1.
TUTTI_API array frame(const array& x, integer length, integer hop, integer axis = -1);
/// The adjoint of frame(): frames, with their elements on the last axis, added up `hop` apart into
/// (frames - 1) hop + length elements along `axis` of the result. Numbers of any dtype but bool;
/// f16 and bf16 are added in f32. Throws shape_error for no frames.
TUTTI_API array overlap_add(const array& frames, integer hop, integer axis = -1);

struct stft_options {
  std::optional<std::int64_t> hop = {};  ///< from frame to frame; n_fft / 4
  /// 1-d, real, 1 to n_fft values, around which zeros count; without one, the periodic Hann window
  /// of n_fft.
  array window = {};
  bool center = true;  ///< frame t is around sample t hop: x is padded by n_fft / 2 on both sides
  pad_mode padding = pad_mode::constant;  ///< with what, where centered
};
/// Fourier transforms of windowed frames of x [..., time]: [..., n_fft / 2 + 1, frames] of real x,
/// [..., n_fft, frames] of complex x. Throws value_error for n_fft or hop below 1, shape_error
/// where no frame fits or the window is empty or longer than n_fft, dtype_error for a complex
/// window.
TUTTI_API array stft(const array& x, integer n_fft, const stft_options& options = {});
/// The signal whose stft() comes nearest to z in the sum of squares (D. W. Griffin and J. S. Lim,
/// "Signal estimation from modified short-time Fourier transform", 1984): transformed back,
/// windowed, added up, and divided by the sum of the squared windows where that is not 0. Real
/// where z has n_fft / 2 + 1 frequencies, complex where it has n_fft. `length` samples, cut or with
/// zeros behind; without it those that the frames cover, less the padding of centered ones. Throws
/// shape_error for other numbers of frequencies, or for no frames.
TUTTI_API array istft(const array& z, integer n_fft, const stft_options& options = {},
                      fft::length length = {});
/// |stft|^power, real. The gradient is 0 where the stft is 0, as one of the subgradients there.
/// Throws value_error unless the power is positive and finite.
TUTTI_API array spectrogram(const array& x, integer n_fft, const stft_options& options = {},
                            double power = 2);

// ---- convolution

enum class convolution_mode : std::uint8_t {
  full,  ///< wherever the operands meet: extents a + v - 1
  same,  ///< the middle of that: extents of a
  valid  ///< where one lies within the other: extents max(a, v) - min(a, v) + 1
};
enum class convolution_method : std::uint8_t {
  automatic,  ///< the faster by an estimate from the extents; direct for integers
  direct,     ///< sums of products
  fourier     ///< O(n log n), with errors relative to the norms of the operands
};
struct convolve_options {
  convolution_mode mode = convolution_mode::full;
  convolution_method method = convolution_method::automatic;
  axis_list axes = {};  ///< to convolve along, all without; the other axes broadcast
};
/// out[i] = sum over k of a[i - k] v[k], for operands of equal rank, which count as 0 outside.
/// Numbers of any dtype but bool; integers stay integers and wrap. f16 and bf16 are computed in
/// f32. Throws shape_error where ranks differ, an operand has no elements along an axis, or neither
/// lies within the other for `valid`; dtype_error for integers by Fourier transforms.
TUTTI_API array convolve(const array& a, const array& v, const convolve_options& options = {});
/// out[i] = sum over k of a[i + k - (extent of v) + 1] conj(v[k]): convolve() with v conjugated and
/// reversed.
TUTTI_API array correlate(const array& a, const array& v, const convolve_options& options = {});

// ---- cosine transforms

/// The discrete cosine transform of type 1 to 4 of real x along an axis of n elements (cut, or with
/// zeros behind), as SciPy defines it: type 2 is 2 sum over m of x[m] cos(pi k (2 m + 1) / (2 n)).
/// By real Fourier transforms of n points, 2 (n - 1) for type 1, n / 2 complex ones for type 4 (2 n
/// where n is odd). Norms as of fft; `ortho` makes types 2 to 4 and, with its ends weighted, 1
/// orthogonal. Throws value_error for another type, no elements, or one element for type 1.
TUTTI_API array dct(const array& x, int type = 2, fft::length n = {}, integer axis = -1,
                    fft::norm by = fft::norm::backward);
/// The inverse of dct() with the same type and norm.
TUTTI_API array idct(const array& x, int type = 2, fft::length n = {}, integer axis = -1,
                     fft::norm by = fft::norm::backward);

// ---- resampling

/// x with `count` elements along `axis`, as a periodic signal without frequencies that either has
/// not: its Fourier transform, cut or with zeros. Throws value_error for a count below 1 or an axis
/// without elements.
TUTTI_API array resample(const array& x, integer count, integer axis = -1);
/// x at up / down times the rate: ceil(extent up / down) elements, each of a low-pass filter
/// (firwin() of 20 max(up, down) + 1 taps, Kaiser window of beta 5) over x with up - 1 zeros
/// between its elements and zeros around it. Real or complex. Only the taps that the elements need
/// are computed: what it costs grows with the result, not with the length of the filter. Throws
/// value_error for factors outside [1, 2^20].
TUTTI_API array resample_poly(const array& x, integer up, integer down, integer axis = -1);

// ---- filters. Coefficients are numbers of the host, highest power of z first as SciPy's;
// frequencies are in the unit of `rate`, the sampling rate, and lie between 0 and rate / 2.

struct firwin_options {
  window shape = {window_shape::hamming};
  bool pass_zero = true;  ///< whether frequency 0 passes; each cutoff changes that
  bool scale = true;      ///< gain 1 at the middle of the first band that passes
  double rate = 2;
};
/// The `taps` coefficients of a FIR filter with linear phase by the window method. Throws
/// value_error for fewer than 1 tap, for cutoffs that do not ascend within (0, rate / 2), and for
/// an even number of taps where rate / 2 passes.
TUTTI_API std::vector<double> firwin(integer taps, const std::vector<double>& cutoffs,
                                     const firwin_options& options = {});
/// The same for any gain: linear between `gains` at `frequencies`, which ascend from 0 to rate / 2
/// (one named twice is a step). On a grid of 1 + 2^ceil(log2 taps) frequencies. Throws value_error
/// for others, and for an even number of taps whose last gain is not 0.
TUTTI_API std::vector<double> firwin2(integer taps, const std::vector<double>& frequencies,
                                      const std::vector<double>& gains,
                                      const window& shape = {window_shape::hamming},
                                      double rate = 2);

/// b0, b1, b2, a0, a1, a2 of (b0 + b1 / z + b2 / z^2) / (a0 + a1 / z + a2 / z^2).
using section = std::array<double, 6>;
using sections = std::vector<section>;

enum class band : std::uint8_t { lowpass, highpass, bandpass, bandstop };
/// A digital Butterworth filter of that order (bands: twice that) by the bilinear transform, as
/// second-order sections, those with the lowest Q first, each of gain 1 where the filter's gain is
/// 1: at frequency 0, at rate / 2 (highpass) or at the middle of the band. `cutoffs`: where the
/// gain is 1 / sqrt(2), two for bands, ascending. Throws value_error for an order outside [1, 100]
/// and for cutoffs outside (0, rate / 2).
TUTTI_API sections butter(integer order, const std::vector<double>& cutoffs,
                          band kind = band::lowpass, double rate = 2);

/// x filtered along `axis` by b / a: a[0] y[n] = sum of b[k] x[n - k] - sum of a[k] y[n - k]. x may
/// be complex; the result has its dtype. Without a recurrence (a of one element) it is convolve();
/// else computed in f64, where the device has it, by matrix products: 64 elements at once, and a
/// tree over the states between them, so errors do not add up as those of single steps do. Throws
/// value_error for no coefficients, for a[0] = 0, for coefficients that are not finite, and for
/// unstable filters whose response overflows f64 within the extent.
TUTTI_API array lfilter(const std::vector<double>& b, const std::vector<double>& a, const array& x,
                        integer axis = -1);
struct filtered {
  array values;
  array state;  ///< at the end, for what follows
};
/// The same from an initial state, to go on with a signal that comes in parts: x's shape with
/// max(a, b) - 1 elements along the axis, of the transposed direct form II, as SciPy's zi. Throws
/// shape_error for another shape.
TUTTI_API filtered lfilter_from(const std::vector<double>& b, const std::vector<double>& a,
                                const array& x, const array& state, integer axis = -1);
/// The state in which a step of 1 that has always been there leaves no transient: max(a, b) - 1
/// numbers. Throws value_error as lfilter(), and for a filter with a pole at 1.
TUTTI_API std::vector<double> lfilter_zi(const std::vector<double>& b,
                                         const std::vector<double>& a);
/// x filtered by all sections, one after the other, in one pass of lfilter()'s kind; as long as no
/// pole is outside of the unit circle nothing overflows. Throws as lfilter().
TUTTI_API array sosfilt(const sections& sos, const array& x, integer axis = -1);
/// From a state [sections, ...], the rest of it x's shape with 2 elements along the axis.
TUTTI_API filtered sosfilt_from(const sections& sos, const array& x, const array& state,
                                integer axis = -1);
/// Forwards and backwards, so without delay: from the states of lfilter_zi() times the first and
/// last element, over x extended at both ends by its reflection in the end point, 3 max(a, b)
/// elements (sosfiltfilt: 3 (2 sections + 1)). Throws value_error where x is not longer than that.
TUTTI_API array filtfilt(const std::vector<double>& b, const std::vector<double>& a, const array& x,
                         integer axis = -1);
TUTTI_API array sosfiltfilt(const sections& sos, const array& x, integer axis = -1);
/// y[0] = x[0], y[n] = x[n] - coefficient x[n - 1] along `axis`. f16 and bf16 too.
TUTTI_API array preemphasis(const array& x, double coefficient = 0.97, integer axis = -1);

// ---- mel features

enum class mel_scale : std::uint8_t {
  slaney,  ///< linear below 1 kHz, logarithmic above (M. Slaney, "Auditory toolbox", 1998)
  htk      ///< 2595 log10(1 + f / 700)
};
struct mel_options {
  std::int64_t bands = 128;
  double low = 0;                   ///< Hz
  std::optional<double> high = {};  ///< Hz; half the sampling rate
  mel_scale scale = mel_scale::slaney;
  bool normalize = true;  ///< each triangle by its width in Hz, so that its area is 1
};
/// Triangles over the n_fft / 2 + 1 frequencies of rfft, evenly spaced in mel: [bands, n_fft / 2 +
/// 1], f32 or f64. Throws value_error for no bands, n_fft below 1, a rate that is not positive and
/// unless 0 <= low < high.
TUTTI_API array mel_filter_bank(double rate, integer n_fft, const mel_options& options = {},
                                dtype type = dtype::f32, const device& on = default_device());
/// spectrogram() of real x in mel bands: [..., bands, frames].
TUTTI_API array mel_spectrogram(const array& x, double rate, integer n_fft,
                                const stft_options& frames = {}, const mel_options& mel = {},
                                double power = 2);
/// 10 log10(max(s, least) / max(|reference|, least)), and no more than `range` dB below the largest
/// element of all (without a range, as it is). A `least` that is no normal number of the dtype that
/// this is computed in counts as the smallest that is. Throws value_error for a `least` that is not
/// positive and finite, a reference that is not finite and a negative range.
TUTTI_API array power_to_db(const array& s, double reference = 1, double least = 1e-10,
                            std::optional<double> range = 80);
struct mfcc_options {
  std::int64_t coefficients = 20;
  double lifter = 0;  ///< coefficient i times 1 + lifter / 2 sin(pi (i + 1) / lifter); 0: none
  stft_options frames = {};
  mel_options mel = {};
};
/// The first coefficients of dct() (type 2, ortho) over the bands of
/// power_to_db(mel_spectrogram()):
/// [..., coefficients, frames]. Throws value_error for more coefficients than bands or a negative
/// lifter.
TUTTI_API array mfcc(const array& x, double rate, integer n_fft, const mfcc_options& options = {});

}  // namespace tutti::signal
