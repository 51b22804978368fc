// SPDX-License-Identifier: Apache-2.0
//
// Signals: windows, frames, short-time Fourier transforms, convolution, cosine transforms,
// resampling, filters and mel features, with the names and meanings of SciPy's `signal` and `fft`,
// for mel scales of librosa.
//
// All functions are compositions of other operations: they are fused, have gradients with respect
// to arrays, and run on every device. bool and integers become f32 unless stated otherwise.
// Functions that use Fourier transforms work in f32 and f64 (f16 and bf16 throw dtype_error); if a
// line of their operand, or of a filtered one, contains NaN or an infinity, all elements of its
// result are unspecified.
//
// Windows and filter coefficients are host values, computed in f64 and rounded once.
//
// C has a function signal(): with `using namespace tutti` write ::signal() or std::signal(),
// because signal alone also names the namespace.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "tutti/fft.hpp"
#include "tutti/movement.hpp"
#include "tutti/ops.hpp"

namespace tutti::signal {

// ---- windows: n values, as f32 or f64 (dtype_error otherwise). n = 0 gives an empty window, n = 1
// the value 1; a negative n throws value_error.

/// Symmetric windows are for filters. Periodic ones, for spectra, are the first n values of the
/// symmetric window of n + 1.
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
/// A triangular window whose ends are 0.
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
/// Ones with a cosine taper over alpha / 2 of the window at both ends: boxcar for alpha <= 0, hann
/// for alpha >= 1. Throws value_error for NaN.
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
/// A window by name, with its parameter, if it has one: beta for kaiser, the deviation for
/// gaussian, alpha for tukey.
struct window {
  window_shape shape = window_shape::hann;
  double parameter = 0;
};
TUTTI_API array get_window(const window& which, integer n, symmetry kind = symmetry::periodic,
                           dtype type = dtype::f32, const device& on = default_device());

// ---- frames

/// Windows of `length` elements along `axis`, `hop` apart. The axis becomes the frames, whose
/// number is (extent - length) / hop + 1, and their elements are the last axis. A view if x is
/// contiguous; any dtype. Throws shape_error for a frame longer than the axis, value_error for a
/// length or hop below 1.
TUTTI_API array frame(const array& x, integer length, integer hop, integer axis = -1);
/// The adjoint of frame(): frames, with their elements on the last axis, are added at distances of
/// `hop` to (frames - 1) hop + length elements along `axis` of the result. Numbers of any dtype
/// except bool; f16 and bf16 are added in f32. Throws shape_error without frames.
TUTTI_API array overlap_add(const array& frames, integer hop, integer axis = -1);

struct stft_options {
  std::optional<std::int64_t> hop = {};  ///< distance of frames; default: n_fft / 4
  /// 1-d, real, 1 to n_fft values, padded with zeros; the default is the periodic Hann window of
  /// n_fft.
  array window = {};
  bool center = true;  ///< frame t is centred at sample t hop: both ends are padded by n_fft / 2
  pad_mode padding = pad_mode::constant;  ///< padding mode if centred
};
/// Fourier transforms of windowed frames of x [..., time]: [..., n_fft / 2 + 1, frames] for real x,
/// [..., n_fft, frames] for complex x. Throws value_error for n_fft or hop below 1, shape_error if
/// no frame fits or the window is empty or longer than n_fft, dtype_error for a complex window.
TUTTI_API array stft(const array& x, integer n_fft, const stft_options& options = {});
/// The signal whose stft() is closest to z in the least-squares sense (D. W. Griffin and J. S. Lim,
/// "Signal estimation from modified short-time Fourier transform", 1984): frames are transformed
/// back, windowed, added, and divided by the sum of the squared windows where it is not 0. Real if
/// z has n_fft / 2 + 1 frequencies, complex if it has n_fft. The result has `length` samples,
/// truncated or padded with zeros; the default is the samples that the frames cover, without the
/// padding of centred ones. Throws shape_error for other numbers of frequencies, or without frames.
TUTTI_API array istft(const array& z, integer n_fft, const stft_options& options = {},
                      fft::length length = {});
/// |stft|^power, real. Where the stft is 0, the gradient is 0, which is a subgradient. Throws
/// value_error unless the power is positive and finite.
TUTTI_API array spectrogram(const array& x, integer n_fft, const stft_options& options = {},
                            double power = 2);

// ---- convolution

enum class convolution_mode : std::uint8_t {
  full,  ///< all positions where the operands overlap: extents a + v - 1
  same,  ///< the centre of that: extents of a
  valid  ///< where one operand covers the other: extents max(a, v) - min(a, v) + 1
};
enum class convolution_method : std::uint8_t {
  automatic,  ///< the faster one, estimated from the extents; direct for integers
  direct,     ///< sums of products
  fourier     ///< O(n log n), with errors relative to the norms of the operands
};
struct convolve_options {
  convolution_mode mode = convolution_mode::full;
  convolution_method method = convolution_method::automatic;
  axis_list axes = {};  ///< axes of the convolution, default all; the other axes broadcast
};
/// out[i] = sum over k of a[i - k] v[k], for operands of equal rank, which are 0 outside. Numbers
/// of any dtype except bool; integers stay integers and wrap. f16 and bf16 are computed in f32.
/// Throws shape_error if ranks differ, an operand has no elements along an axis, or neither covers
/// the other for `valid`; dtype_error for integers by Fourier transforms.
TUTTI_API array convolve(const array& a, const array& v, const convolve_options& options = {});
/// out[i] = sum over k of a[i + k - (extent of v) + 1] conj(v[k]): convolve() with v conjugated and
/// reversed.
TUTTI_API array correlate(const array& a, const array& v, const convolve_options& options = {});

// ---- cosine transforms

/// The discrete cosine transform of type 1 to 4 of real x along an axis of n elements (truncated or
/// padded with zeros), as SciPy defines it: type 2 is 2 sum over m of x[m] cos(pi k (2 m + 1) / (2
/// n)). Uses real Fourier transforms of n points, 2 (n - 1) for type 1, n / 2 complex ones for type
/// 4 (2 n for odd n). Norms as of fft; `ortho` makes types 2 to 4 and, with weighted ends, 1
/// orthogonal. Throws value_error for another type, no elements, or one element for type 1.
TUTTI_API array dct(const array& x, int type = 2, fft::length n = {}, integer axis = -1,
                    fft::norm by = fft::norm::backward);
/// The inverse of dct() with the same type and norm.
TUTTI_API array idct(const array& x, int type = 2, fft::length n = {}, integer axis = -1,
                     fft::norm by = fft::norm::backward);

// ---- resampling

/// x resampled to `count` elements along `axis` as a periodic band-limited signal: its Fourier
/// transform is truncated or padded with zeros. Throws value_error for a count below 1 or an axis
/// without elements.
TUTTI_API array resample(const array& x, integer count, integer axis = -1);
/// x at up / down times the rate: ceil(extent up / down) elements, filtered by a low-pass filter
/// (firwin() with 20 max(up, down) + 1 taps, Kaiser window with beta 5) over x with up - 1 zeros
/// between its elements and zeros around it. Real or complex. Only the taps that an element needs
/// are computed: the cost grows with the result, not with the length of the filter. Throws
/// value_error for factors outside [1, 2^20].
TUTTI_API array resample_poly(const array& x, integer up, integer down, integer axis = -1);

// ---- filters. Coefficients are host values, highest power of z first as in SciPy; frequencies are
// in the unit of `rate`, the sampling rate, and between 0 and rate / 2.

struct firwin_options {
  window shape = {window_shape::hamming};
  bool pass_zero = true;  ///< whether frequency 0 passes; pass and stop bands alternate
  bool scale = true;      ///< gain 1 at the centre of the first pass band
  double rate = 2;
};
/// The `taps` coefficients of a FIR filter with linear phase by the window method. Throws
/// value_error for fewer than 1 tap, for cutoffs that do not ascend within (0, rate / 2), and for
/// an even number of taps if rate / 2 passes.
TUTTI_API std::vector<double> firwin(integer taps, const std::vector<double>& cutoffs,
                                     const firwin_options& options = {});
/// The same for an arbitrary gain: linear between `gains` at `frequencies`, which ascend from 0 to
/// rate / 2 (a repeated frequency is a step), on a grid of 1 + 2^ceil(log2 taps) frequencies.
/// Throws value_error otherwise, and for an even number of taps whose last gain is not 0.
TUTTI_API std::vector<double> firwin2(integer taps, const std::vector<double>& frequencies,
                                      const std::vector<double>& gains,
                                      const window& shape = {window_shape::hamming},
                                      double rate = 2);

/// b0, b1, b2, a0, a1, a2 of (b0 + b1 / z + b2 / z^2) / (a0 + a1 / z + a2 / z^2).
using section = std::array<double, 6>;
using sections = std::vector<section>;

enum class band : std::uint8_t { lowpass, highpass, bandpass, bandstop };
/// A digital Butterworth filter of that order (for bands: twice that) by the bilinear transform, as
/// second-order sections, ordered by ascending Q. Each has gain 1 where the filter has gain 1: at
/// frequency 0, at rate / 2 (highpass) or at the centre of the band. `cutoffs`: where the gain is
/// 1 / sqrt(2), two for bands, ascending. Throws value_error for an order outside [1, 100] and for
/// cutoffs outside (0, rate / 2).
TUTTI_API sections butter(integer order, const std::vector<double>& cutoffs,
                          band kind = band::lowpass, double rate = 2);

/// x filtered along `axis` by b / a: a[0] y[n] = sum of b[k] x[n - k] - sum of a[k] y[n - k]. x may
/// be complex; the result has its dtype. Without a recurrence (a with one element) it is
/// convolve(); otherwise it is computed in f64, if the device supports it, by matrix products: 64
/// elements at once, and a tree over the states between them, so errors do not accumulate as with
/// single steps. Throws value_error without coefficients, for a[0] = 0, for coefficients that are
/// not finite, and for unstable filters whose response overflows f64 within the extent.
TUTTI_API array lfilter(const std::vector<double>& b, const std::vector<double>& a, const array& x,
                        integer axis = -1);
struct filtered {
  array values;
  array state;  ///< final state, for the next part
};
/// The same from an initial state, to continue with a signal that is given in parts: x's shape with
/// max(a, b) - 1 elements along the axis, for the transposed direct form II, as SciPy's zi. Throws
/// shape_error for another shape.
TUTTI_API filtered lfilter_from(const std::vector<double>& b, const std::vector<double>& a,
                                const array& x, const array& state, integer axis = -1);
/// The steady state for a constant input of 1: max(a, b) - 1 numbers. Throws value_error as
/// lfilter(), and for a filter with a pole at 1.
TUTTI_API std::vector<double> lfilter_zi(const std::vector<double>& b,
                                         const std::vector<double>& a);
/// x filtered by all sections in sequence, in one pass similar to lfilter(); does not overflow
/// unless a pole is outside the unit circle. Throws as lfilter().
TUTTI_API array sosfilt(const sections& sos, const array& x, integer axis = -1);
/// From a state [sections, ...], whose other axes are x's shape with 2 elements along the axis.
TUTTI_API filtered sosfilt_from(const sections& sos, const array& x, const array& state,
                                integer axis = -1);
/// Filters forwards and backwards, so without delay: from the states of lfilter_zi() times the
/// first and last element, over x extended at both ends by its reflection at the end point, 3
/// max(a, b) elements (sosfiltfilt: 3 (2 sections + 1)). Throws value_error if x is not longer than
/// that.
TUTTI_API array filtfilt(const std::vector<double>& b, const std::vector<double>& a, const array& x,
                         integer axis = -1);
TUTTI_API array sosfiltfilt(const sections& sos, const array& x, integer axis = -1);
/// y[0] = x[0], y[n] = x[n] - coefficient x[n - 1] along `axis`. Also for f16 and bf16.
TUTTI_API array preemphasis(const array& x, double coefficient = 0.97, integer axis = -1);

// ---- mel features

enum class mel_scale : std::uint8_t {
  slaney,  ///< linear below 1 kHz, logarithmic above (M. Slaney, "Auditory toolbox", 1998)
  htk      ///< 2595 log10(1 + f / 700)
};
struct mel_options {
  std::int64_t bands = 128;
  double low = 0;                   ///< Hz
  std::optional<double> high = {};  ///< Hz; default: half the sampling rate
  mel_scale scale = mel_scale::slaney;
  bool normalize = true;  ///< divide each triangle by its width in Hz, so that its area is 1
};
/// Triangular filters over the n_fft / 2 + 1 frequencies of rfft, evenly spaced in mel: [bands,
/// n_fft / 2 + 1], f32 or f64. Throws value_error without bands, for n_fft below 1, a rate that is
/// not positive and unless 0 <= low < high.
TUTTI_API array mel_filter_bank(double rate, integer n_fft, const mel_options& options = {},
                                dtype type = dtype::f32, const device& on = default_device());
/// spectrogram() of real x in mel bands: [..., bands, frames].
TUTTI_API array mel_spectrogram(const array& x, double rate, integer n_fft,
                                const stft_options& frames = {}, const mel_options& mel = {},
                                double power = 2);
/// 10 log10(max(s, least) / max(|reference|, least)), limited to `range` dB below the largest
/// element of all (without a range, not limited). A `least` below the smallest normal number of the
/// dtype of the computation is replaced by that number. Throws value_error for a `least` that is
/// not positive and finite, a reference that is not finite and a negative range.
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
