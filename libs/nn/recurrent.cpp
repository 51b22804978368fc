// SPDX-License-Identifier: Apache-2.0
//
// Recurrent networks, unrolled over their steps, and layers with their weights.
#include "tutti/nn/recurrent.hpp"

#include <cmath>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "nn/checks.hpp"
#include "tutti/grad.hpp"
#include "tutti/movement.hpp"
#include "tutti/ops.hpp"

namespace tutti::nn {

using tutti::base::named;

namespace {

void check_recurrent(const char* op, std::int64_t in, std::int64_t hidden,
                     const recurrent_options& o) {
  detail::require_positive(op, "in", in);
  detail::require_positive(op, "hidden", hidden);
  detail::require_option(std::isfinite(o.forget_bias), op, "forget_bias", o.forget_bias);
  if (o.reverse && o.carry)
    base::fail<value_error>("{}: carry goes on forwards, reverse does not", op);
}

/// The weights and biases of `gates` gates.
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
  detail::add_parameter(parts, "input.weight", concatenate(of_input, 1));
  detail::add_parameter(parts, "hidden.weight", concatenate(of_hidden, 1));
  return parts;
}

/// The sizes of a call, and x W + b of all its steps.
struct prepared {
  std::int64_t hidden;
  array projected;            // [N, T, G hidden]
  std::vector<array> values;  // initial states
};

void check_fits(const char* op, const char* what, const array& given, const shape& wanted) {
  if (given.shape() != wanted)
    base::fail<shape_error>("{}: {} is {}, needs {}", op, what, given.shape(), wanted);
}

prepared prepare(const char* op, const array& x, const recurrent_weights& w, std::int64_t gates,
                 std::size_t states, const recurrence_options& o) {
  if (w.hidden.ndim() != 2 || x.ndim() != 3 || x.dim(1) < 1)
    base::fail<shape_error>(
        "{}: needs an input [N,T,in] with T at least 1 and weights of two axes, got {} "
        "and {}",
        op, x.shape(), w.hidden.shape());
  const std::int64_t hidden = w.hidden.dim(0), width = w.hidden.dim(1);
  check_fits(op, "hidden", w.hidden, {hidden, gates * hidden});
  check_fits(op, "input", w.input, {x.dim(2), width});
  if (w.bias) check_fits(op, "bias", *w.bias, {width});
  if (w.hidden_bias) check_fits(op, "hidden_bias", *w.hidden_bias, {width});
  if (w.peephole) check_fits(op, "peephole", *w.peephole, {3 * hidden});
  if (o.lengths) check_fits(op, "lengths", *o.lengths, {x.dim(0)});
  if (o.clip) detail::require_option(*o.clip > 0, op, "clip", *o.clip);
  if (!o.gate || !o.between || !o.result) base::fail<value_error>("{}: an activation is empty", op);
  if (o.state.size() > states)
    base::fail<value_error>("{}: {} states, it has {}", op, o.state.size(), states);
  prepared out{hidden, matmul(x, w.input), {}};
  if (w.bias) out.projected = out.projected + *w.bias;
  const shape wanted{x.dim(0), hidden};
  for (std::size_t i = 0; i < states; ++i) {
    const bool given = i < o.state.size() && o.state[i].valid() && o.state[i].size() > 0;
    if (given && o.state[i].shape() != wanted)
      base::fail<shape_error>("{}: the state is {}, the input needs {}", op, o.state[i].shape(),
                              wanted);
    out.values.push_back(given ? o.state[i]
                               : zeros(wanted, out.projected.dtype(), out.projected.device()));
  }
  return out;
}

/// Gate `which` of [..., gates * hidden].
array gate(const array& all_gates, std::int64_t which, std::int64_t hidden) {
  return all_gates(ellipsis(), slice{which * hidden, (which + 1) * hidden});
}

/// The activation of an operand clipped as the options say.
array limited(const activation& f, const array& x, const recurrence_options& o) {
  return f(o.clip ? clip(x, -*o.clip, *o.clip) : x);
}

/// One elementwise step: computes the states after it from the gates and the states before it, h
/// first. The first `summed` gates are of x W + b + h U + b'; the later ones are given separately,
/// those of h before those of x.
struct step_rule {
  std::int64_t gates, summed;
  std::function<std::vector<array>(std::span<const array> gates, std::span<const array> states)>
      advance;
};

std::vector<array> gates_of_step(const step_rule& rule, const array& from_x, const array& from_h,
                                 std::int64_t hidden) {
  std::vector<array> all;
  for (std::int64_t g = 0; g < rule.gates; ++g) {
    const array of_h = gate(from_h, g, hidden);
    all.push_back(g < rule.summed ? gate(from_x, g, hidden) + of_h : of_h);
  }
  for (std::int64_t g = rule.summed; g < rule.gates; ++g) all.push_back(gate(from_x, g, hidden));
  return all;
}

array product_with(const array& h, const array& weight, const array* bias) {
  return bias != nullptr ? matmul(h, weight) + *bias : matmul(h, weight);
}

/// The states after a step; `from_x`: x W + b of the step.
using cell = std::function<std::vector<array>(const array& from_x, const std::vector<array>&)>;

cell cell_of(const step_rule& rule, const array& weight, const array* bias) {
  return [&rule, weight, bias](const array& from_x, const std::vector<array>& states) {
    const array from_h = product_with(states[0], weight, bias);
    return rule.advance(gates_of_step(rule, from_x, from_h, weight.dim(0)), states);
  };
}

/// Whether each row is active at each of its steps: [N, steps, 1].
array running(const array& lengths, std::int64_t steps) {
  const array all = arange(steps, dtype::i64, lengths.device());
  return expand_dims(expand_dims(lengths.astype(dtype::i64), 1) > all, 2);
}

/// The states after each step.
std::vector<std::vector<array>> unroll(const std::vector<array>& steps, std::vector<array> states,
                                       const recurrence_options& o, const cell& advance) {
  std::vector<std::vector<array>> all(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::size_t t = o.reverse ? steps.size() - 1 - i : i;
    std::vector<array> next = advance(steps[t], states);
    if (o.lengths) {
      const array runs = expand_dims(*o.lengths > static_cast<std::int64_t>(t), 1);
      for (std::size_t s = 0; s < next.size(); ++s) next[s] = where(runs, next[s], states[s]);
    }
    all[t] = states = std::move(next);
  }
  return all;
}

std::size_t last_of(std::size_t steps, const recurrence_options& o) {
  return o.reverse ? 0 : steps - 1;
}

/// State `which` of all steps: [N, T, hidden].
array stacked(const std::vector<std::vector<array>>& all, std::size_t which) {
  std::vector<array> of_steps;
  for (const std::vector<array>& states : all) of_steps.push_back(states[which]);
  return stack(of_steps, 1);
}

/// h of each step; 0 after the end of a row.
recurrence recurrence_of(const array& h, std::vector<array> states, const recurrence_options& o) {
  if (o.last) return {states[0], std::move(states)};
  if (!o.lengths) return {h, std::move(states)};
  return {where(running(*o.lengths, h.dim(1)), h, zeros_like(h)), std::move(states)};
}

recurrence differentiated_by_operations(const prepared& from, const recurrence_options& o,
                                        const cell& advance) {
  const auto all = unroll(detail::steps_of(from.projected, 1), from.values, o, advance);
  return recurrence_of(stacked(all, 0), all[last_of(all.size(), o)], o);
}

/// The backward pass of a recurrence with steps rule.advance. Everything that is independent
/// between steps, the derivatives of rule.advance and the gradient of the weights, is computed for
/// all steps at once. Each step is then one product with the weights and one multiplication with
/// its derivatives.
class backward_pass {
 public:
  backward_pass(const step_rule& rule, const recurrence_options& o, const array& weight,
                const array* bias)
      : rule_(rule), options_(o), weight_(weight), bias_(bias), hidden_(weight.dim(0)) {}

  struct cotangents {
    array projected, weight, bias;
    std::vector<array> states;
  };

  /// `states`: before the first step; `all`: of all steps [N, T, hidden]; `of_all` and `of_last`:
  /// cotangents of the states of all steps and of those after the last.
  cotangents run(const array& projected, std::span<const array> states, std::span<const array> all,
                 std::span<const array> of_all, std::span<const array> of_last) {
    const std::int64_t rows = projected.dim(0), steps = projected.dim(1);
    std::vector<array> before;
    for (std::size_t s = 0; s < states.size(); ++s) {
      const array first = expand_dims(states[s], 1);
      before.push_back(options_.reverse ? concatenate({all[s]({{}, {1, {}}}), first}, 1)
                                        : concatenate({first, all[s]({{}, {0, steps - 1}})}, 1));
    }
    const std::vector<array> rates = derivatives(projected, before);  // one [N, T, K, hidden] each
    const std::int64_t gates = rule_.gates, columns = rates[0].dim(2);
    const std::int64_t first_state = columns - static_cast<std::int64_t>(states.size());
    const auto over = [&](const array& a) {
      return broadcast_to(expand_dims(a, 1), {rows, columns, hidden_});
    };
    const auto back = [&](const array& of_step) {  // through the product with the weights
      const array of_gates = of_step({{}, {0, gates}}).reshape({rows, gates * hidden_});
      return matmul(of_gates, weight_.T());
    };
    std::vector<array> of_steps(static_cast<std::size_t>(steps));
    std::vector<array> of_states(of_last.begin(), of_last.end());
    array of_product;  // cotangent of h from the product of the next step
    for (std::int64_t i = steps; i-- > 0;) {
      const std::int64_t t = options_.reverse ? steps - 1 - i : i;
      array total;
      for (std::size_t s = 0; s < states.size(); ++s) {
        // All in the shape of the result, so that a step is one loop.
        array of_state = over(of_states[s]) + over(of_all[s](tutti::all(), t));
        if (s == 0 && of_product.valid()) of_state = of_state + over(of_product);
        const array part = of_state * rates[s](tutti::all(), t);
        total = total.valid() ? total + part : part;
      }
      of_steps[static_cast<std::size_t>(t)] = total;
      for (std::size_t s = 0; s < states.size(); ++s)
        of_states[s] = total(tutti::all(), first_state + static_cast<std::int64_t>(s));
      of_product = back(total);
    }
    of_states[0] = of_states[0] + of_product;

    cotangents out;
    out.states = std::move(of_states);
    const array of_gates = stack(of_steps, 1);  // [N, T, K, hidden]
    const auto flat = [&](const array& a) { return a.reshape({rows, steps, gates * hidden_}); };
    const array of_h = flat(of_gates({{}, {}, {0, gates}}));
    out.projected = of_h;
    if (rule_.summed < gates)
      out.projected = flat(concatenate(
          {of_gates({{}, {}, {0, rule_.summed}}), of_gates({{}, {}, {gates, first_state}})}, 2));
    out.weight = matmul(before[0].reshape({rows * steps, hidden_}).T(),
                        of_h.reshape({rows * steps, gates * hidden_}));
    if (bias_ != nullptr) out.bias = sum(of_h, {0, 1});
    return out;
  }

 private:
  // For each state after a step, its derivatives with respect to all gates and states before it.
  std::vector<array> derivatives(const array& projected, const std::vector<array>& before) {
    std::vector<array> of =
        gates_of_step(rule_, projected, product_with(before[0], weight_, bias_), hidden_);
    const std::size_t gates = of.size();
    of.insert(of.end(), before.begin(), before.end());
    const vector_function step = [&](const std::vector<array>& given) {
      const std::span<const array> all = given;
      std::vector<array> next = rule_.advance(all.first(gates), all.subspan(gates));
      if (options_.lengths)
        for (std::size_t s = 0; s < next.size(); ++s)
          next[s] = where(running(*options_.lengths, projected.dim(1)), next[s], all[gates + s]);
      return next;
    };
    const std::vector<array> next = step(of);
    std::vector<array> rates;
    for (std::size_t s = 0; s < next.size(); ++s) {
      std::vector<array> one;
      for (std::size_t k = 0; k < next.size(); ++k)
        one.push_back(k == s ? ones_like(next[k]) : zeros_like(next[k]));
      rates.push_back(stack(vjp(step, of, one).second, 2));
    }
    return rates;
  }

  const step_rule& rule_;
  const recurrence_options& options_;
  const array& weight_;
  const array* bias_;
  std::int64_t hidden_;
};

/// As differentiated_by_operations(), with the gradient of backward_pass.
recurrence differentiated_at_once(const prepared& from, const recurrent_weights& w,
                                  const recurrence_options& o, const step_rule& rule) {
  const std::size_t states = from.values.size();
  std::vector<array> arguments{from.projected, w.hidden};
  arguments.insert(arguments.end(), from.values.begin(), from.values.end());
  if (w.hidden_bias) arguments.push_back(*w.hidden_bias);
  const auto states_in = [states](const std::vector<array>& given, std::size_t first) {
    return std::span(given).subspan(first, states);
  };
  const auto bias_in = [states](const std::vector<array>& given) {
    return given.size() > states + 2 ? &given.back() : nullptr;
  };
  // The states after the last step, then each state of all steps.
  const vector_function forward = [=](const std::vector<array>& given) {
    const auto first = states_in(given, 2);
    const auto all = unroll(unstack(given[0], 1), {first.begin(), first.end()}, o,
                            cell_of(rule, given[1], bias_in(given)));
    std::vector<array> values = all[last_of(all.size(), o)];
    for (std::size_t s = 0; s < states; ++s) values.push_back(stacked(all, s));
    return values;
  };
  const backward_function backward = [=](const std::vector<array>& given,
                                         const std::vector<array>& values,
                                         const std::vector<array>& cotangents) {
    backward_pass pass(rule, o, given[1], bias_in(given));
    auto found = pass.run(given[0], states_in(given, 2), states_in(values, states),
                          states_in(cotangents, states), states_in(cotangents, 0));
    std::vector<array> out{found.projected, found.weight};
    out.insert(out.end(), found.states.begin(), found.states.end());
    if (found.bias.valid()) out.push_back(found.bias);
    return out;
  };
  std::vector<array> values = custom_vjp(forward, backward)(arguments);
  const array h = values[states];
  values.resize(states);
  return recurrence_of(h, std::move(values), o);
}

/// Whether the function is known to be elementwise and without arrays of its own.
bool is_elementwise(const activation& f) {
  using function = array (*)(const array&);
  const function* const plain = f.target<function>();
  return plain != nullptr &&
         (*plain == function{sigmoid} || *plain == function{tanh} || *plain == function{relu});
}

recurrence run(const prepared& from, const recurrent_weights& w, const recurrence_options& o,
               const step_rule& rule) {
  if (is_elementwise(o.gate) && is_elementwise(o.between) && is_elementwise(o.result) &&
      !w.peephole && is_floating(from.projected.dtype()) && is_floating(w.hidden.dtype()))
    return differentiated_at_once(from, w, o, rule);
  return differentiated_by_operations(
      from, o, cell_of(rule, w.hidden, w.hidden_bias ? &*w.hidden_bias : nullptr));
}

/// The options for a layer's call, with its state if it continues.
recurrence_options options_of(const recurrent_options& o, std::span<const array> state) {
  return {.reverse = o.reverse, .last = o.last, .state = {state.begin(), state.end()}};
}

void check_sequence(const char* op, const array& x, std::int64_t in) {
  if (x.ndim() != 3 || x.dim(2) != in || x.dim(1) < 1)
    base::fail<shape_error>("{}: input must be [N,T,{}] with T at least 1, got {}", op, in,
                            x.shape());
}

applied finished(recurrence&& done, bool carry) {
  if (!carry) return {std::move(done.value), {}};
  for (array& a : done.state) a = stop_gradient(a);
  return {std::move(done.value), std::move(done.state)};
}

using network = recurrence (*)(const array&, const recurrent_weights&, const recurrence_options&);

/// A layer that applies the function to its parameters: weights, bias, hidden bias.
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
    const auto advance = [o](std::span<const array> gates, std::span<const array>) {
      return std::vector<array>{limited(o.between, gates[0], o)};
    };
    return run(prepare("rnn", x, w, 1, 1, o), w, o, {1, 1, advance});
  });
}

recurrence lstm(const array& x, const recurrent_weights& w, const recurrence_options& o) {
  return named("lstm", [&] {
    const auto advance = [o, peephole = w.peephole](std::span<const array> gates,
                                                    std::span<const array> before) {
      const std::int64_t hidden = before[0].dim(-1);
      const auto seeing = [&](std::size_t which, std::int64_t by, const array& c) {
        return limited(o.gate,
                       peephole ? gates[which] + gate(*peephole, by, hidden) * c : gates[which], o);
      };
      const array i = seeing(0, 0, before[1]), f = o.coupled ? 1 - i : seeing(1, 1, before[1]);
      const array g = limited(o.between, gates[2], o);
      const array c = f * before[1] + i * g;
      return std::vector<array>{seeing(3, 2, c) * o.result(c), c};
    };
    return run(prepare("lstm", x, w, 4, 2, o), w, o, {4, 4, advance});
  });
}

recurrence gru(const array& x, const recurrent_weights& w, const recurrence_options& o) {
  return named("gru", [&] {
    const auto next = [o](const array& z, const array& sum, const array& h) {
      const array n = limited(o.between, sum, o);
      return std::vector<array>{n + z * (h - n)};
    };
    const auto advance = [o, next](std::span<const array> gates, std::span<const array> before) {
      const array r = limited(o.gate, gates[0], o), z = limited(o.gate, gates[1], o);
      return next(z, gates[3] + r * gates[2], before[0]);
    };
    prepared from = prepare("gru", x, w, 3, 1, o);
    if (!o.reset_before) return run(from, w, o, {3, 2, advance});
    // The product of the last gate is of r * h.
    const std::int64_t hidden = from.hidden;
    const auto behind = [&](const array& h, std::int64_t first, std::int64_t gates) {
      const slice part{first * hidden, (first + gates) * hidden};
      const array sum = matmul(h, w.hidden(all(), part));
      return w.hidden_bias ? sum + (*w.hidden_bias)(part) : sum;
    };
    return differentiated_by_operations(
        from, o, [&](const array& from_x, const std::vector<array>& states) {
          const array from_h = behind(states[0], 0, 2);
          const auto both = [&](std::int64_t g) {
            return limited(o.gate, gate(from_x, g, hidden) + gate(from_h, g, hidden), o);
          };
          const array r = both(0), z = both(1);
          const array sum = gate(from_x, 2, hidden) + behind(r * states[0], 2, 1);
          return next(z, sum, states[0]);
        });
  });
}

layer rnn(std::int64_t in, std::int64_t hidden, random::key key, const recurrent_options& options,
          dtype type, const device& on) {
  return named("rnn", [&] {
    check_recurrent("rnn", in, hidden, options);
    layer_parts parts = gates_of("rnn", 1, in, hidden, key, options, type, on);
    detail::add_parameter(parts, "bias", zeros({hidden}, type, on));
    return layer_of(std::move(parts), in, hidden, {"hidden"}, options, rnn);
  });
}

layer lstm(std::int64_t in, std::int64_t hidden, random::key key, const recurrent_options& options,
           dtype type, const device& on) {
  return named("lstm", [&] {
    check_recurrent("lstm", in, hidden, options);
    layer_parts parts = gates_of("lstm", 4, in, hidden, key, options, type, on);
    detail::add_parameter(
        parts, "bias",
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
    for (const char* name : {"bias", "hidden.bias"})
      detail::add_parameter(parts, name, zeros({3 * hidden}, type, on));
    return layer_of(std::move(parts), in, hidden, {"hidden"}, options, gru);
  });
}

}  // namespace tutti::nn
