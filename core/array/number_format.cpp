// SPDX-License-Identifier: Apache-2.0
//
// Digits of numbers, and the widths that align them.
#include "array/number_format.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <complex>
#include <type_traits>

#include "graph/fold.hpp"
#include "semantics/host_complex.hpp"
#include "semantics/host_half.hpp"

namespace tutti {
namespace {

// "-1.25e+00", with the fewest digits that distinguish v from its neighbours in dtype `type`.
std::string shortest(double v, dtype type) {
  char text[32];
  const auto scientific = [&](auto value, auto... precision) {
    return std::string(text, std::to_chars(text, text + sizeof text, value,
                                           std::chars_format::scientific, precision...)
                                 .ptr);
  };
  if (type == dtype::f64) return scientific(v);
  const auto narrow = static_cast<float>(v);
  if (type == dtype::f32) return scientific(narrow);
  const auto bits = type == dtype::f16 ? host::float_to_half : host::float_to_bfloat16;
  for (int digits = 0;; ++digits) {
    const std::string found = scientific(narrow, digits);
    float back = 0;
    std::from_chars(found.data(), found.data() + found.size(), back);
    if (bits(back) == bits(narrow)) return found;
  }
}

// A number split at the point and at the exponent: "-12", "5", "+08".
struct pieces {
  std::string whole, fraction, exponent;
};

void drop_zeros(std::string& fraction) { fraction.erase(fraction.find_last_not_of('0') + 1); }

pieces cut(const std::string& text) {
  const std::size_t e = std::min(text.find('e'), text.size());
  const std::size_t point = std::min(text.find('.'), e);
  pieces out{text.substr(0, point), point < e ? text.substr(point + 1, e - point - 1) : "",
             e < text.size() ? text.substr(e + 1) : ""};
  return out;
}

// v with the shortest digits, at most `precision` after the point, without trailing zeros.
pieces positional(double v, dtype type, int precision) {
  const pieces digits = cut(shortest(v, type));
  const int needed = static_cast<int>(digits.fraction.size()) - std::stoi(digits.exponent);
  // With fewer digits, round the number itself, not its shortest digits.
  char text[400];
  const int shown = std::clamp(needed, 0, precision);
  pieces out = cut(std::string(
      text, std::to_chars(text, text + sizeof text, v, std::chars_format::fixed, shown).ptr));
  drop_zeros(out.fraction);
  return out;
}

pieces rounded(double v, int precision) {
  char text[400];
  return cut(std::string(
      text,
      std::to_chars(text, text + sizeof text, v, std::chars_format::scientific, precision).ptr));
}

pieces with_exponent(double v, dtype type, int precision) {
  pieces out = cut(shortest(v, type));
  if (static_cast<int>(out.fraction.size()) > precision) out = rounded(v, precision);
  drop_zeros(out.fraction);
  return out;
}

// The size from which digits before the point are not significant, at most 1e8.
double exponents_from(dtype type) {
  const double digits = std::floor(-std::log10(finfo(type).epsilon));
  return std::pow(10.0, std::min(digits, 8.0));
}

// NumPy's FloatingFormat with floatmode "maxprec".
class float_format {
 public:
  float_format(const std::vector<double>& values, dtype type, int precision, bool with_sign)
      : type_(type), precision_(precision), with_sign_(with_sign) {
    double smallest = HUGE_VAL, largest = 0;
    bool finite = true, negative_infinity = false;
    for (double v : values) {
      if (std::isfinite(v) && v != 0) {
        smallest = std::min(smallest, std::fabs(v));
        largest = std::max(largest, std::fabs(v));
      }
      finite = finite && std::isfinite(v);
      negative_infinity = negative_infinity || (std::isinf(v) && v < 0);
    }
    has_exponent_ = largest > 0 && (largest >= exponents_from(type) || smallest < 1e-4 ||
                                    largest / smallest > 1000);
    for (double v : values)
      if (std::isfinite(v)) widen(digits(v));
    if (has_exponent_) precision_ = fraction_;
    const int behind = width_behind();
    const int words = 3 + (with_sign_ || negative_infinity ? 1 : 0);  // nan, inf
    if (!finite) whole_ = std::max(whole_, words - behind);
  }

  std::string operator()(double v) const {
    if (!std::isfinite(v)) {
      std::string text = std::isnan(v) ? (with_sign_ ? "+nan" : "nan")
                         : v < 0       ? "-inf"
                         : with_sign_  ? "+inf"
                                       : "inf";
      return padded(text, whole_ + width_behind());
    }
    pieces p = digits(v);
    // Digits that other elements of the array need are shown for this one too.
    const bool filled = has_exponent_ && static_cast<int>(p.fraction.size()) < fraction_;
    if (filled) p = rounded(v, fraction_);
    const auto room = static_cast<std::size_t>(fraction_) - p.fraction.size();
    std::string text = padded(signed_whole(p), whole_) + '.' + p.fraction + std::string(room, ' ');
    if (!has_exponent_) return text;
    p.exponent.insert(1, static_cast<std::size_t>(exponent_) - p.exponent.size(), '0');
    return text + 'e' + p.exponent;
  }

 private:
  pieces digits(double v) const {
    return has_exponent_ ? with_exponent(v, type_, precision_) : positional(v, type_, precision_);
  }
  std::string signed_whole(const pieces& p) const {
    return with_sign_ && p.whole[0] != '-' ? '+' + p.whole : p.whole;
  }
  void widen(const pieces& p) {
    whole_ = std::max(whole_, static_cast<int>(signed_whole(p).size()));
    fraction_ = std::max(fraction_, static_cast<int>(p.fraction.size()));
    exponent_ = std::max(exponent_, static_cast<int>(p.exponent.size()));
  }
  // Point, fraction and exponent.
  int width_behind() const { return 1 + fraction_ + (has_exponent_ ? 1 + exponent_ : 0); }
  static std::string padded(const std::string& text, int width) {
    const auto wanted = static_cast<std::size_t>(std::max(width, 0));
    return text.size() < wanted ? std::string(wanted - text.size(), ' ') + text : text;
  }

  dtype type_;
  int precision_;
  bool with_sign_, has_exponent_ = false;
  int whole_ = 0, fraction_ = 0, exponent_ = 0;
};

std::vector<std::string> aligned(std::vector<std::string> words) {
  std::size_t width = 0;
  for (const std::string& w : words) width = std::max(width, w.size());
  for (std::string& w : words) w.insert(0, width - w.size(), ' ');
  return words;
}

template <class T>
std::vector<std::string> complex_numbers(const array& a, int precision) {
  std::vector<double> real, imaginary;
  for (const std::complex<T>& z : a.to_vector<std::complex<T>>()) {
    real.push_back(static_cast<double>(z.real()));
    imaginary.push_back(static_cast<double>(z.imag()));
  }
  const float_format show_real(real, dtype_of<T>, precision, false);
  const float_format show_imaginary(imaginary, dtype_of<T>, precision, true);
  std::vector<std::string> out;
  for (std::size_t i = 0; i < real.size(); ++i) {
    std::string second = show_imaginary(imaginary[i]);
    second.insert(second.find_last_not_of(' ') + 1, 1, 'i');
    out.push_back(show_real(real[i]) + second);
  }
  return out;
}

std::vector<double> floats(const array& a) {
  if (a.dtype() == dtype::f64) return a.to_vector<double>();
  const auto widened = [](const auto& values, auto&& widen) {
    std::vector<double> out;
    for (const auto& v : values) out.push_back(static_cast<double>(widen(v)));
    return out;
  };
  if (a.dtype() == dtype::f16)
    return widened(a.to_vector<float16>(), [](float16 v) { return host::half_to_float(v.bits); });
  if (a.dtype() == dtype::bf16)
    return widened(a.to_vector<bfloat16>(),
                   [](bfloat16 v) { return host::bfloat16_to_float(v.bits); });
  return widened(a.to_vector<float>(), [](float v) { return v; });
}

}  // namespace

std::vector<std::string> formatted(const array& a, int precision) {
  return graph::with_type(a.dtype(), [&](auto type) -> std::vector<std::string> {
    using T = decltype(type);
    std::vector<std::string> out;
    if constexpr (std::is_same_v<T, bool>) {
      for (bool v : a.to_vector<bool>()) out.emplace_back(v ? "true" : "false");
      return aligned(out);
    } else if constexpr (std::is_integral_v<T>) {
      for (T v : a.to_vector<T>()) out.push_back(std::to_string(v));
      return aligned(out);
    } else if constexpr (host::Complex<T>) {
      return complex_numbers<host::real_of_t<T>>(a, precision);
    } else {
      const std::vector<double> values = floats(a);
      const float_format show(values, a.dtype(), precision, false);
      for (double v : values) out.push_back(show(v));
      return out;
    }
  });
}

}  // namespace tutti
