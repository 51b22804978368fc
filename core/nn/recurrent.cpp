// SPDX-License-Identifier: Apache-2.0
//
// Recurrent layers, unrolled over their steps.
#include <fmt/format.h>

#include <cmath>

#include "base/named_errors.hpp"
#include "nn/checks.hpp"
#include "nn/steps.hpp"
#include "tutti/error.hpp"
#include "tutti/movement.hpp"
#include "tutti/nn_recurrent.hpp"
#include "tutti/ops.hpp"

namespace tutti::nn {

using tutti::detail::named;

namespace {

void check_recurrent(const char* op, std::int64_t in, std::int64_t hidden,
                     const recurrent_options& o) {
  detail::require_positive(op, "in", in);
  detail::require_positive(op, "hidden", hidden);
  detail::require_option(std::isfinite(o.forget_bias), op, "forget_bias", o.forget_bias);
  if (o.reverse && o.carry)
    throw value_error(fmt::format("{}: carry goes on forwards, reverse does not", op));
}

/// Weights and biases of so many gates.
layer_parts gates_of(const char* op, std::int64_t gates, std::int64_t in, std::int64_t hidden,
                     random::key key, const recurrent_options& o, dtype type, const device& on) {
  const std::vector<random::key> keys = random::split(key, static_cast<int>(2 * gates));
  std::vector<array> of_input, of_hidden;
  for (std::size_t g = 0; g < static_cast<std::size_t>(gates); ++g) {
    of_input.push_back(detail::initial_values(op, "recurrent_options::input_weight", o.input_weight,
                                              keys[2 * g], {in, hidden}, type, on));
    of_hidden.push_back(detail::initial_values(op, "recurrent_options::hidden_weight",
                                               o.hidden_weight, keys[2 * g + 1], {hidden, hidden},
                                               type, on));
  }
  layer_parts parts{.kind = op};
  parts.names = {"input.weight", "hidden.weight"};
  parts.parameters = {concatenate(of_input, 1), concatenate(of_hidden, 1)};
  return parts;
}

/// `values` of one step's states, h first; `projected` x W + b of the step.
using cell = std::function<std::vector<array>(const array& projected, std::vector<array> values)>;

struct unrolled {
  array result;
  std::vector<array> values;
};

unrolled unroll(const array& projected, std::vector<array> values, const recurrent_options& o,
                const cell& advance) {
  const std::vector<array> steps = detail::steps_of(projected, 1);
  std::vector<array> results(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::size_t t = o.reverse ? steps.size() - 1 - i : i;
    values = advance(steps[t], std::move(values));
    results[t] = values[0];
  }
  const array result = o.last ? values[0] : stack(results, 1);
  return {result, std::move(values)};
}

void check_sequence(const char* op, const array& x, std::int64_t in) {
  if (x.ndim() != 3 || x.dim(2) != in || x.dim(1) < 1)
    throw shape_error(fmt::format("{}: input must be [N,T,{}] with T at least 1, got {}", op, in,
                                  x.shape().str()));
}

/// The states to begin with: what was carried, or zeros.
std::vector<array> begun(const char* op, std::span<const array> state, std::size_t count,
                         const array& x, std::int64_t hidden) {
  std::vector<array> out;
  const shape wanted{x.dim(0), hidden};
  for (std::size_t i = 0; i < count; ++i) {
    if (i >= state.size() || state[i].size() == 0) {
      out.push_back(zeros(wanted, x.dtype(), x.device()));
    } else if (state[i].shape() != wanted) {
      throw shape_error(fmt::format("{}: the state is {}, the input needs {}", op,
                                    state[i].shape().str(), wanted.str()));
    } else {
      out.push_back(state[i]);
    }
  }
  return out;
}

void carry_states(layer_parts& parts, const recurrent_options& o,
                  const std::vector<std::string>& names, std::int64_t hidden, dtype type,
                  const device& on) {
  if (!o.carry) return;
  parts.state_names = names;
  parts.state.assign(names.size(), zeros({0, hidden}, type, on));
}

applied finished(unrolled&& done, bool carry) {
  if (!carry) return {std::move(done.result), {}};
  for (array& a : done.values) a = stop_gradient(a);
  return {std::move(done.result), std::move(done.values)};
}

/// Gate `which` of [N, gates * hidden].
array gate(const array& all_gates, std::int64_t which, std::int64_t hidden) {
  return all_gates(all(), slice{which * hidden, (which + 1) * hidden});
}

}  // namespace

layer lstm(std::int64_t in, std::int64_t hidden, random::key key, const recurrent_options& options,
           dtype type, const device& on) {
  return named("lstm", [&] {
    check_recurrent("lstm", in, hidden, options);
    layer_parts parts = gates_of("lstm", 4, in, hidden, key, options, type, on);
    parts.names.push_back("bias");
    parts.parameters.push_back(
        concatenate({zeros({hidden}, type, on), full({hidden}, options.forget_bias, type, on),
                     zeros({2 * hidden}, type, on)}));
    carry_states(parts, options, {"hidden", "cell"}, hidden, type, on);
    parts.apply = [in, hidden, o = options](std::span<const array> p, std::span<const array> state,
                                            const array& x, const pass&) -> applied {
      return named("lstm", [&]() -> applied {
        check_sequence("lstm", x, in);
        const array projected = matmul(x, p[0]) + p[2];
        const array weight = p[1];
        const cell advance = [&](const array& from_x, std::vector<array> v) {
          const array gates = from_x + matmul(v[0], weight);
          const array i = sigmoid(gate(gates, 0, hidden)), f = sigmoid(gate(gates, 1, hidden));
          const array g = tanh(gate(gates, 2, hidden)), out = sigmoid(gate(gates, 3, hidden));
          const array c = f * v[1] + i * g;
          return std::vector<array>{out * tanh(c), c};
        };
        return finished(unroll(projected, begun("lstm", state, 2, projected, hidden), o, advance),
                        o.carry);
      });
    };
    return layer(std::move(parts));
  });
}

layer gru(std::int64_t in, std::int64_t hidden, random::key key, const recurrent_options& options,
          dtype type, const device& on) {
  return named("gru", [&] {
    check_recurrent("gru", in, hidden, options);
    layer_parts parts = gates_of("gru", 3, in, hidden, key, options, type, on);
    parts.names.insert(parts.names.end(), {"bias", "hidden.bias"});
    parts.parameters.insert(parts.parameters.end(), 2, zeros({3 * hidden}, type, on));
    carry_states(parts, options, {"hidden"}, hidden, type, on);
    parts.apply = [in, hidden, o = options](std::span<const array> p, std::span<const array> state,
                                            const array& x, const pass&) -> applied {
      return named("gru", [&]() -> applied {
        check_sequence("gru", x, in);
        const array projected = matmul(x, p[0]) + p[2];
        const array weight = p[1], bias = p[3];
        const cell advance = [&](const array& from_x, std::vector<array> v) {
          const array from_h = matmul(v[0], weight) + bias;
          const auto both = [&](std::int64_t which) {
            return sigmoid(gate(from_x, which, hidden) + gate(from_h, which, hidden));
          };
          const array r = both(0), z = both(1);
          const array n = tanh(gate(from_x, 2, hidden) + r * gate(from_h, 2, hidden));
          return std::vector<array>{n + z * (v[0] - n)};
        };
        return finished(unroll(projected, begun("gru", state, 1, projected, hidden), o, advance),
                        o.carry);
      });
    };
    return layer(std::move(parts));
  });
}

}  // namespace tutti::nn
