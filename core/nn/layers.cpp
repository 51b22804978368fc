// SPDX-License-Identifier: Apache-2.0
//
// Initialisers, activations, layers and their composition.
#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <utility>

#include "base/named_errors.hpp"
#include "tutti/error.hpp"
#include "tutti/nn.hpp"
#include "tutti/ops.hpp"

namespace tutti::nn {

using detail::named;

namespace {

void require_matrix(const shape& s, const char* op) {
  if (s.rank() != 2 || s[0] < 1 || s[1] < 1) {
    throw shape_error(fmt::format("{}: needs a shape [fan_in, fan_out], got {}", op, s.str()));
  }
}

// A factor of sigmoid or Phi is 0 below -1000 and 1 beyond 1000, in every dtype. With x held there,
// infinities give the limits instead of infinity times 0, in the value and in the gradient.
array not_too_low(const array& x) { return maximum(x, -1000.0); }
array not_too_high(const array& x) { return minimum(x, 1000.0); }

}  // namespace

array kaiming_normal(random::key key, const shape& shape, dtype type, const device& on) {
  return named("kaiming_normal", [&] {
    require_matrix(shape, "kaiming_normal");
    return random::normal(key, shape, 0, std::sqrt(2.0 / static_cast<double>(shape[0])), type, on);
  });
}

array glorot_uniform(random::key key, const shape& shape, dtype type, const device& on) {
  return named("glorot_uniform", [&] {
    require_matrix(shape, "glorot_uniform");
    const double limit =
        std::sqrt(6.0 / (static_cast<double>(shape[0]) + static_cast<double>(shape[1])));
    return random::uniform(key, shape, -limit, limit, type, on);
  });
}

array leaky_relu(const array& a, double slope) {
  return named("leaky_relu", [&] { return where(a > 0, a, a * slope); });
}

array gelu(const array& a) {
  return named("gelu", [&] {
    // In halves the factor would be rounded as well.
    const bool narrow = a.dtype() == dtype::f16 || a.dtype() == dtype::bf16;
    const array x = not_too_low(narrow ? a.astype(dtype::f32) : a);
    const array y = x * 0.5 * erfc(not_too_high(x) * (-std::numbers::sqrt2 / 2));
    return narrow ? y.astype(a.dtype()) : y;
  });
}

array silu(const array& a) {
  return named("silu", [&] {
    const array x = not_too_low(a);
    return x * sigmoid(not_too_high(x));
  });
}

array softplus(const array& a) {
  return named("softplus", [&] { return logaddexp(a, 0); });
}

layer linear(std::int64_t in, std::int64_t out, random::key key, const linear_options& options,
             dtype type, const device& on) {
  return named("linear", [&] {
    if (in < 1 || out < 1) {
      throw value_error(fmt::format("linear: widths must be positive, got {} -> {}", in, out));
    }
    if (!options.weight)
      throw value_error("linear: the initialiser linear_options::weight is empty");
    layer result;
    result.names = {"weight"};
    result.initial = {options.weight(key, {in, out}, type, on)};
    if (const shape made = result.initial[0].shape(); made != shape({in, out}))
      throw shape_error(
          fmt::format("linear: the initialiser linear_options::weight gave {}, not {}", made.str(),
                      shape({in, out}).str()));
    if (options.bias) {
      result.names.push_back("bias");
      result.initial.push_back(zeros({out}, type, on));
    }
    result.apply = [in](std::span<const array> parameters, const array& x) {
      if (x.ndim() < 1 || x.shape().back() != in) {
        throw shape_error(fmt::format("linear: input must end in {}, got {}", in, x.shape().str()));
      }
      const array y = matmul(x, parameters[0]);
      return parameters.size() > 1 ? y + parameters[1] : y;
    };
    return result;
  });
}

layer activate(activation f) {
  if (!f) throw value_error("activate: the function is empty");
  return {{}, {}, [f = std::move(f)](std::span<const array>, const array& x) { return f(x); }};
}

sequential::sequential(std::vector<layer> layers) : layers_(std::move(layers)) {
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const layer& l = layers_[i];
    if (l.names.size() != l.initial.size()) {
      throw value_error(fmt::format("sequential: layer {} has {} names for {} parameters", i,
                                    l.names.size(), l.initial.size()));
    }
    if (!l.apply) throw value_error(fmt::format("sequential: layer {} has no function apply", i));
    for (const std::string& name : l.names) names_.push_back(fmt::format("{}.{}", i, name));
    initial_.insert(initial_.end(), l.initial.begin(), l.initial.end());
  }
}

std::int64_t sequential::parameter_count() const {
  std::int64_t count = 0;
  for (const array& p : initial_) count += p.size();
  return count;
}

void sequential::check_parameters(const std::vector<array>& parameters, const char* op) const {
  if (parameters.size() != initial_.size()) {
    throw value_error(fmt::format("sequential::{}: needs {} parameters, got {}", op,
                                  initial_.size(), parameters.size()));
  }
  for (std::size_t i = 0; i < initial_.size(); ++i) {
    if (parameters[i].shape() != initial_[i].shape()) {
      throw shape_error(fmt::format("sequential::{}: {} has shape {}, needs {}", op, names_[i],
                                    parameters[i].shape().str(), initial_[i].shape().str()));
    }
  }
}

array sequential::apply(const std::vector<array>& parameters, const array& x) const {
  check_parameters(parameters, "apply");
  std::span<const array> rest = parameters;
  array y = x;
  for (const layer& l : layers_) {
    y = l.apply(rest.first(l.names.size()), y);
    rest = rest.subspan(l.names.size());
  }
  return y;
}

std::map<std::string, array> sequential::named(const std::vector<array>& parameters) const {
  check_parameters(parameters, "named");
  std::map<std::string, array> out;
  for (std::size_t i = 0; i < names_.size(); ++i) out.emplace(names_[i], parameters[i]);
  return out;
}

std::vector<array> sequential::ordered(const std::map<std::string, array>& arrays) const {
  std::vector<array> out;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const auto found = arrays.find(names_[i]);
    if (found == arrays.end()) {
      throw value_error(fmt::format("sequential::ordered: parameter {} is missing", names_[i]));
    }
    if (found->second.dtype() != initial_[i].dtype()) {
      throw dtype_error(fmt::format("sequential::ordered: {} has dtype {}, needs {}", names_[i],
                                    tutti::name(found->second.dtype()),
                                    tutti::name(initial_[i].dtype())));
    }
    out.push_back(found->second);
  }
  if (arrays.size() != names_.size()) {
    throw value_error(fmt::format("sequential::ordered: {} arrays for {} parameters", arrays.size(),
                                  names_.size()));
  }
  check_parameters(out, "ordered");
  return out;
}

sequential perceptron(const std::vector<std::int64_t>& widths, random::key key, const activation& f,
                      const linear_options& options, dtype type, const device& on) {
  if (widths.size() < 2) {
    throw value_error(fmt::format("perceptron: needs two widths or more, got {}", widths.size()));
  }
  if (!f) throw value_error("perceptron: the activation function is empty");
  const int count = static_cast<int>(widths.size()) - 1;
  const std::vector<random::key> keys = random::split(key, count);
  std::vector<layer> layers;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    if (i > 0) layers.push_back(activate(f));
    layers.push_back(linear(widths[i], widths[i + 1], keys[i], options, type, on));
  }
  return sequential(std::move(layers));
}

}  // namespace tutti::nn
