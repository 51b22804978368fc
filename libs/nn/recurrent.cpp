// SPDX-License-Identifier: Apache-2.0
//
// Recurrent networks, unrolled over their steps, and layers that hold their weights.
#include "tutti/nn/recurrent.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/named_errors.hpp"
#include "nn/checks.hpp"
#include "nn/steps.hpp"
#include "tutti/error.hpp"
#include "tutti/movement.hpp"
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

/// Sizes of a call, and x W + b of all its steps.
struct prepared {
  std::int64_t hidden;
  array projected;            // [N, T, G hidden]
  std::vector<array> values;  // the states to begin with
};

void check_fits(const char* op, const char* what, const array& given, const shape& wanted) {
  if (given.shape() != wanted)
    throw shape_error(
        fmt::format("{}: {} is {}, needs {}", op, what, given.shape().str(), wanted.str()));
}

prepared prepare(const char* op, const array& x, const recurrent_weights& w, std::int64_t gates,
                 std::size_t states, const recurrence_options& o) {
  if (w.hidden.ndim() != 2 || x.ndim() != 3 || x.dim(1) < 1)
    throw shape_error(
        fmt::format("{}: needs an input [N,T,in] with T at least 1 and weights of two axes, got {} "
                    "and {}",
                    op, x.shape().str(), w.hidden.shape().str()));
  const std::int64_t hidden = w.hidden.dim(0), width = w.hidden.dim(1);
  check_fits(op, "hidden", w.hidden, {hidden, gates * hidden});
  check_fits(op, "input", w.input, {x.dim(2), width});
  if (w.bias) check_fits(op, "bias", *w.bias, {width});
  if (w.hidden_bias) check_fits(op, "hidden_bias", *w.hidden_bias, {width});
  if (w.peephole) check_fits(op, "peephole", *w.peephole, {3 * hidden});
  if (o.lengths) check_fits(op, "lengths", *o.lengths, {x.dim(0)});
  if (o.clip) detail::require_option(*o.clip > 0, op, "clip", *o.clip);
  if (!o.gate || !o.between || !o.result)
    throw value_error(fmt::format("{}: an activation is empty", op));
  if (o.state.size() > states)
    throw value_error(fmt::format("{}: {} states, it has {}", op, o.state.size(), states));
  prepared out{hidden, matmul(x, w.input), {}};
  if (w.bias) out.projected = out.projected + *w.bias;
  const shape wanted{x.dim(0), hidden};
  for (std::size_t i = 0; i < states; ++i) {
    const bool given = i < o.state.size() && o.state[i].valid() && o.state[i].size() > 0;
    if (given && o.state[i].shape() != wanted)
      throw shape_error(fmt::format("{}: the state is {}, the input needs {}", op,
                                    o.state[i].shape().str(), wanted.str()));
    out.values.push_back(given ? o.state[i]
                               : zeros(wanted, out.projected.dtype(), out.projected.device()));
  }
  return out;
}

/// The states behind a step, h first; `projected` x W + b of the step.
using cell = std::function<std::vector<array>(const array& projected, std::vector<array> values)>;

recurrence unroll(prepared&& from, const recurrence_options& o, const cell& advance) {
  const std::vector<array> steps = detail::steps_of(from.projected, 1);
  std::vector<array> results(steps.size()), values = std::move(from.values);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::size_t t = o.reverse ? steps.size() - 1 - i : i;
    std::vector<array> next = advance(steps[t], values);
    results[t] = next[0];
    if (o.lengths) {
      const array runs = expand_dims(*o.lengths > static_cast<std::int64_t>(t), 1);
      results[t] = where(runs, next[0], zeros_like(next[0]));
      for (std::size_t s = 0; s < next.size(); ++s) next[s] = where(runs, next[s], values[s]);
    }
    values = std::move(next);
  }
  return {o.last ? values[0] : stack(results, 1), std::move(values)};
}

/// What the activation gives for a limited operand.
array limited(const activation& f, const array& x, const recurrence_options& o) {
  return f(o.clip ? clip(x, -*o.clip, *o.clip) : x);
}

/// Gate `which` of [..., gates * hidden].
array gate(const array& all_gates, std::int64_t which, std::int64_t hidden) {
  return all_gates(ellipsis(), slice{which * hidden, (which + 1) * hidden});
}

/// The options of a layer's call; its state where it goes on.
recurrence_options options_of(const recurrent_options& o, std::span<const array> state) {
  return {.reverse = o.reverse, .last = o.last, .state = {state.begin(), state.end()}};
}

void check_sequence(const char* op, const array& x, std::int64_t in) {
  if (x.ndim() != 3 || x.dim(2) != in || x.dim(1) < 1)
    throw shape_error(fmt::format("{}: input must be [N,T,{}] with T at least 1, got {}", op, in,
                                  x.shape().str()));
}

applied finished(recurrence&& done, bool carry) {
  if (!carry) return {std::move(done.value), {}};
  for (array& a : done.state) a = stop_gradient(a);
  return {std::move(done.value), std::move(done.state)};
}

using network = recurrence (*)(const array&, const recurrent_weights&, const recurrence_options&);

/// A layer of the parts that applies the function to its parameters: weights, bias, hidden bias.
layer layer_of(layer_parts&& parts, std::int64_t in, std::int64_t hidden,
               const std::vector<std::string>& states, const recurrent_options& options,
               network function) {
  if (options.carry) {
    const array& like = parts.parameters[0];
    parts.state_names = states;
    parts.state.assign(states.size(), zeros({0, hidden}, like.dtype(), like.device()));
  }
  const std::string op = parts.kind;
  parts.apply = [op, in, function, o = options](std::span<const array> p,
                                                std::span<const array> state, const array& x,
                                                const pass&) -> applied {
    return named(op, [&]() -> applied {
      check_sequence(op.c_str(), x, in);
      recurrent_weights weights{.input = p[0], .hidden = p[1], .bias = p[2]};
      if (p.size() > 3) weights.hidden_bias = p[3];
      return finished(function(x, weights, options_of(o, state)), o.carry);
    });
  };
  return layer(std::move(parts));
}

}  // namespace

recurrence rnn(const array& x, const recurrent_weights& w, const recurrence_options& o) {
  return named("rnn", [&] {
    return unroll(prepare("rnn", x, w, 1, 1, o), o, [&](const array& from_x, std::vector<array> v) {
      array sum = from_x + matmul(v[0], w.hidden);
      if (w.hidden_bias) sum = sum + *w.hidden_bias;
      return std::vector<array>{limited(o.between, sum, o)};
    });
  });
}

recurrence lstm(const array& x, const recurrent_weights& w, const recurrence_options& o) {
  return named("lstm", [&] {
    prepared from = prepare("lstm", x, w, 4, 2, o);
    const std::int64_t hidden = from.hidden;
    const cell advance = [&, hidden](const array& from_x, std::vector<array> v) {
      array gates = from_x + matmul(v[0], w.hidden);
      if (w.hidden_bias) gates = gates + *w.hidden_bias;
      const auto seeing = [&](std::int64_t which, std::int64_t peephole, const array& c) {
        const array sum = gate(gates, which, hidden);
        return limited(o.gate, w.peephole ? sum + gate(*w.peephole, peephole, hidden) * c : sum, o);
      };
      const array i = seeing(0, 0, v[1]), f = o.coupled ? 1 - i : seeing(1, 1, v[1]);
      const array g = limited(o.between, gate(gates, 2, hidden), o);
      const array c = f * v[1] + i * g;
      return std::vector<array>{seeing(3, 2, c) * o.result(c), c};
    };
    return unroll(std::move(from), o, advance);
  });
}

recurrence gru(const array& x, const recurrent_weights& w, const recurrence_options& o) {
  return named("gru", [&] {
    prepared from = prepare("gru", x, w, 3, 1, o);
    const std::int64_t hidden = from.hidden;
    const auto behind = [&](const array& h, std::int64_t first, std::int64_t gates) {
      const slice part{first * hidden, (first + gates) * hidden};
      const array sum = matmul(h, gates == 3 ? w.hidden : w.hidden(all(), part));
      if (!w.hidden_bias) return sum;
      return sum + (gates == 3 ? *w.hidden_bias : (*w.hidden_bias)(part));
    };
    const cell advance = [&](const array& from_x, std::vector<array> v) {
      const array from_h = behind(v[0], 0, o.reset_before ? 2 : 3);
      const auto both = [&](std::int64_t which) {
        return limited(o.gate, gate(from_x, which, hidden) + gate(from_h, which, hidden), o);
      };
      const array r = both(0), z = both(1);
      const array reset = o.reset_before ? behind(r * v[0], 2, 1) : r * gate(from_h, 2, hidden);
      const array n = limited(o.between, gate(from_x, 2, hidden) + reset, o);
      return std::vector<array>{n + z * (v[0] - n)};
    };
    return unroll(std::move(from), o, advance);
  });
}

layer rnn(std::int64_t in, std::int64_t hidden, random::key key, const recurrent_options& options,
          dtype type, const device& on) {
  return named("rnn", [&] {
    check_recurrent("rnn", in, hidden, options);
    layer_parts parts = gates_of("rnn", 1, in, hidden, key, options, type, on);
    parts.names.push_back("bias");
    parts.parameters.push_back(zeros({hidden}, type, on));
    return layer_of(std::move(parts), in, hidden, {"hidden"}, options, rnn);
  });
}

layer lstm(std::int64_t in, std::int64_t hidden, random::key key, const recurrent_options& options,
           dtype type, const device& on) {
  return named("lstm", [&] {
    check_recurrent("lstm", in, hidden, options);
    layer_parts parts = gates_of("lstm", 4, in, hidden, key, options, type, on);
    parts.names.push_back("bias");
    parts.parameters.push_back(
        concatenate({zeros({hidden}, type, on), full({hidden}, options.forget_bias, type, on),
                     zeros({2 * hidden}, type, on)}));
    return layer_of(std::move(parts), in, hidden, {"hidden", "cell"}, options, lstm);
  });
}

layer gru(std::int64_t in, std::int64_t hidden, random::key key, const recurrent_options& options,
          dtype type, const device& on) {
  return named("gru", [&] {
    check_recurrent("gru", in, hidden, options);
    layer_parts parts = gates_of("gru", 3, in, hidden, key, options, type, on);
    parts.names.insert(parts.names.end(), {"bias", "hidden.bias"});
    parts.parameters.insert(parts.parameters.end(), 2, zeros({3 * hidden}, type, on));
    return layer_of(std::move(parts), in, hidden, {"hidden"}, options, gru);
  });
}

}  // namespace tutti::nn
