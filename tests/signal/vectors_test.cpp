// SPDX-License-Identifier: Apache-2.0
//
// Results of SciPy and librosa (vectors.txt, written by make_vectors.py) against the same calls, in
// f64.
#include "tutti_test/vectors.hpp"

#include "tutti/signal.hpp"

namespace {

namespace signal = tutti::signal;

const std::vector<double> b = {0.2, 0.5, -0.1, 0.3}, a = {2.0, -1.6, 1.1};

array column(const std::vector<double>& values) { return array::from(values); }

signal::sections sections_of(const array& sos) {
  const std::vector<double> values = sos.to_vector<double>();
  signal::sections all(values.size() / 6);
  for (std::size_t i = 0; i < values.size(); ++i) all[i / 6][i % 6] = values[i];
  return all;
}

array response(const signal::sections& sos) {
  std::vector<double> impulse(40);
  impulse[0] = 1;
  return signal::sosfilt(sos, array::from(impulse));
}

vector_call band_call(signal::band kind) {
  return [kind](const operand_list&, std::int64_t order) {
    return response(signal::butter(order, {30, 75}, kind, 200));
  };
}

vector_call edge_call(signal::band kind) {
  return [kind](const operand_list&, std::int64_t order) {
    return response(signal::butter(order, {0.3}, kind));
  };
}

// clang-format off
void add_frames(vector_calls& table) {
  table["stft"] = TUTTI_CALL(signal::stft(v[0], 8, {.hop = 3}));
  table["stft_reflected"] = TUTTI_CALL(signal::stft(v[0], 9, {.hop = 4, .padding = tutti::pad_mode::reflect}));
  table["stft_window"] = TUTTI_CALL(signal::stft(v[0], 10, {.hop = 5, .window = v[1], .center = false}));
  table["istft"] = TUTTI_CALL(signal::istft(v[0], 8, {.hop = 3}));
  table["istft_length"] = TUTTI_CALL(signal::istft(v[0], 8, {.hop = 3}, 45));
  table["spectrogram"] = TUTTI_CALL(signal::spectrogram(v[0], 8, {.hop = 3}));
}

void add_designs(vector_calls& table) {
  using enum signal::window_shape;
  table["firwin"] = TUTTI_CALL(column(signal::firwin(11, {0.3})));
  table["firwin_even"] = TUTTI_CALL(column(signal::firwin(12, {80}, {.shape = {kaiser, 6}, .rate = 400})));
  table["firwin_high"] = TUTTI_CALL(column(signal::firwin(15, {0.3}, {.pass_zero = false})));
  table["firwin_bands"] = TUTTI_CALL(column(signal::firwin(21, {0.2, 0.4, 0.7}, {.shape = {hann}, .pass_zero = false})));
  table["firwin_stop"] = TUTTI_CALL(column(signal::firwin(21, {0.2, 0.4}, {.scale = false})));
  table["firwin2"] = TUTTI_CALL(column(signal::firwin2(15, {0, 0.5, 1}, {1, 1, 0})));
  table["firwin2_steps"] = TUTTI_CALL(column(signal::firwin2(16, {0, 12.5, 12.5, 30, 50}, {0.5, 0.5, 1, 0.2, 0}, {blackman}, 100)));
  table["butter_lowpass"] = edge_call(signal::band::lowpass);
  table["butter_highpass"] = edge_call(signal::band::highpass);
  table["butter_bandpass"] = band_call(signal::band::bandpass);
  table["butter_bandstop"] = band_call(signal::band::bandstop);
  table["butter_wide"] = TUTTI_CALL(response(signal::butter(3, {0.01, 0.95}, signal::band::bandpass)));
}

void add_filters(vector_calls& table) {
  table["lfilter_complex"] = TUTTI_CALL(signal::lfilter(b, a, v[0]));
  table["lfilter_state"] = TUTTI_CALL(signal::lfilter_from(b, a, v[0], v[1], 0).values);
  table["lfilter_state_end"] = TUTTI_CALL(signal::lfilter_from(b, a, v[0], v[1], 0).state);
  table["lfilter_zi"] = TUTTI_CALL(column(signal::lfilter_zi(b, a)));
  table["sosfilt"] = TUTTI_CALL(signal::sosfilt(sections_of(v[0]), v[1], 0));
  table["sosfilt_state"] = TUTTI_CALL(signal::sosfilt_from(sections_of(v[0]), v[1], v[2], 0).values);
  table["sosfilt_state_end"] = TUTTI_CALL(signal::sosfilt_from(sections_of(v[0]), v[1], v[2], 0).state);
  table["filtfilt"] = TUTTI_CALL(signal::filtfilt(b, a, v[0]));
  table["sosfiltfilt"] = TUTTI_CALL(signal::sosfiltfilt(sections_of(v[0]), v[1]));
  table["preemphasis"] = TUTTI_CALL(signal::preemphasis(v[0]));
}

void add_mel(vector_calls& table) {
  constexpr auto htk = signal::mel_scale::htk;
  table["mel_slaney"] = TUTTI_CALL(signal::mel_filter_bank(8000, 64, {.bands = 7}, dtype::f64));
  table["mel_htk"] = TUTTI_CALL(signal::mel_filter_bank(8000, 64, {.bands = 7, .scale = htk}, dtype::f64));
  table["mel_slaney_plain"] = TUTTI_CALL(signal::mel_filter_bank(8000, 33, {.bands = 5, .low = 100, .high = 3000, .normalize = false}, dtype::f64));
  table["mel_htk_plain"] = TUTTI_CALL(signal::mel_filter_bank(8000, 33, {.bands = 5, .low = 100, .high = 3000, .scale = htk, .normalize = false}, dtype::f64));
  table["power_to_db"] = TUTTI_CALL(signal::power_to_db(v[0]));
  table["power_to_db_all"] = TUTTI_CALL(signal::power_to_db(v[0], 0.5, 1e-3, {}));
  table["mel_spectrogram"] = TUTTI_CALL(signal::mel_spectrogram(v[0], 8000, 64, {.hop = 32}, {.bands = 10}));
  table["mfcc"] = TUTTI_CALL(signal::mfcc(v[0], 8000, 64, {.coefficients = 6, .frames = {.hop = 32}, .mel = {.bands = 10}}));
  table["mfcc_lifter"] = TUTTI_CALL(signal::mfcc(v[0], 8000, 64, {.coefficients = 6, .lifter = 22, .frames = {.hop = 32}, .mel = {.bands = 10}}));
}
// clang-format on

}  // namespace

BOOST_AUTO_TEST_CASE(vectors_of_scipy) {
  vector_calls table;
  add_frames(table);
  add_designs(table);
  add_filters(table);
  add_mel(table);
  BOOST_TEST(check_vectors(paths::vectors, table) == 50);
}
