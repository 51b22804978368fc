// SPDX-License-Identifier: Apache-2.0
//
// Layers composed of other layers.

#include <set>

#include "base/fail.hpp"
#include "nn/checks.hpp"
#include "tutti/grad.hpp"
#include "tutti/nn/layer.hpp"
#include "tutti/ops.hpp"

namespace tutti::nn {

namespace {

using named_layers = std::vector<std::pair<std::string, layer>>;

/// Passes each child its part of parameters, state and randomness, in order.
class children_in_turn {
 public:
  children_in_turn(const named_layers& children, std::span<const array> parameters,
                   std::span<const array> state, const pass& how)
      : children_(children), parameters_(parameters), state_(state), how_(how) {
    if (how.key && children.size() > 0)
      keys_ = random::split(*how.key, static_cast<int>(children.size()));
  }

  array apply_next(const array& x) {
    const layer& child = children_[next_].second;
    pass own = how_;
    if (!keys_.empty()) own.key = keys_[next_];
    ++next_;
    applied result = child.apply(taken(parameters_, child.names().size()),
                                 taken(state_, child.state_names().size()), x, own);
    new_state_.insert(new_state_.end(), result.state.begin(), result.state.end());
    return result.value;
  }

  std::vector<array>& new_state() { return new_state_; }

 private:
  static std::span<const array> taken(std::span<const array>& from, std::size_t count) {
    const std::span<const array> first = from.first(count);
    from = from.subspan(count);
    return first;
  }

  const named_layers& children_;
  std::span<const array> parameters_, state_;
  const pass& how_;
  std::vector<random::key> keys_;
  std::vector<array> new_state_;
  std::size_t next_ = 0;
};

using walk = std::function<array(children_in_turn& children, const array& x)>;

/// A layer with these children; `through` applies each once, in order.
layer_parts container(const char* kind, const named_layers& children, walk through) {
  layer_parts parts{.kind = kind, .children = children};
  std::set<std::string> seen;
  for (const auto& [label, child] : children) {
    if (label.empty() || label.find('.') != std::string::npos || !seen.insert(label).second)
      base::fail<value_error>("{}: the name '{}' is empty, has a dot or occurs twice", kind, label);
    if (!child.valid()) base::fail<value_error>("{}: layer {} has no function apply", kind, label);
    for (const std::string& name : child.names()) parts.names.push_back(label + "." + name);
    for (const std::string& name : child.state_names())
      parts.state_names.push_back(label + "." + name);
    parts.parameters.insert(parts.parameters.end(), child.parameters().begin(),
                            child.parameters().end());
    parts.state.insert(parts.state.end(), child.state().begin(), child.state().end());
  }
  parts.apply = [children, through = std::move(through)](
                    std::span<const array> parameters, std::span<const array> state, const array& x,
                    const pass& how) -> applied {
    children_in_turn in_turn(children, parameters, state, how);
    array value = through(in_turn, x);
    return {std::move(value), std::move(in_turn.new_state())};
  };
  return parts;
}

layer_parts one_after_the_other(const named_layers& children) {
  return container("sequential", children,
                   [count = children.size()](children_in_turn& in_turn, const array& x) {
                     array y = x;
                     for (std::size_t i = 0; i < count; ++i) y = in_turn.apply_next(y);
                     return y;
                   });
}

named_layers numbered(const std::vector<layer>& layers) {
  named_layers out;
  for (std::size_t i = 0; i < layers.size(); ++i) out.emplace_back(std::to_string(i), layers[i]);
  return out;
}

array merged(const std::vector<array>& results, const parallel_options& options) {
  if (options.how == merge::concatenate) return concatenate(results, options.axis);
  array out = results[0];
  for (std::size_t i = 1; i < results.size(); ++i) {
    if (results[i].shape() != out.shape())
      base::fail<shape_error>("parallel: branches 0 and {} give {} and {}", i, out.shape(),
                              results[i].shape());
    out = options.how == merge::sum ? out + results[i] : out * results[i];
  }
  return out;
}

}  // namespace

sequential::sequential(std::vector<layer> layers) : layer(one_after_the_other(numbered(layers))) {}

sequential::sequential(std::vector<std::pair<std::string, layer>> layers)
    : layer(one_after_the_other(layers)) {}

layer residual(const layer& body, const std::optional<layer>& shortcut) {
  named_layers children{{"body", body}};
  if (shortcut) children.emplace_back("shortcut", *shortcut);
  return layer(
      container("residual", children,
                [has_shortcut = shortcut.has_value()](children_in_turn& in_turn, const array& x) {
                  const array y = in_turn.apply_next(x);
                  const array kept = has_shortcut ? in_turn.apply_next(x) : x;
                  if (y.shape() != kept.shape())
                    base::fail<shape_error>("residual: the body gives {}, the shortcut {}",
                                            y.shape(), kept.shape());
                  return kept + y;
                }));
}

layer parallel(std::vector<layer> branches, const parallel_options& options) {
  if (branches.empty()) throw value_error("parallel: no layers");
  return layer(
      container("parallel", numbered(branches),
                [count = branches.size(), options](children_in_turn& in_turn, const array& x) {
                  std::vector<array> results;
                  for (std::size_t i = 0; i < count; ++i) results.push_back(in_turn.apply_next(x));
                  return merged(results, options);
                }));
}

namespace {

/// `value`, computed after `others`: it depends on a condition over them that is always true. So
/// the evaluation neither computes it earlier nor merges it with an earlier computation.
array after(const array& value, const std::vector<array>& others) {
  array known;
  for (const array& other : others) {
    if (other.size() == 0) continue;
    array first = stop_gradient(other);
    while (first.ndim() > 0) first = first[0];
    const array is_nan = isnan(first), either = is_nan | logical_not(is_nan);
    known = known.valid() ? known & either : either;
  }
  return known.valid() ? where(known, value, zeros({}, value.dtype(), value.device())) : value;
}

/// The values of `forward`. The gradient is that of `again`, the same function, recomputed from the
/// last argument. Arguments that are neither floating nor complex have no gradient and are not
/// passed to vjp().
std::vector<array> recomputed_values(const vector_function& forward, const vector_function& again,
                                     const std::vector<array>& arguments) {
  const auto backward = [again](std::vector<array> given, const std::vector<array>&,
                                const std::vector<array>& cotangents) {
    given.back() = after(given.back(), {cotangents[0]});
    std::vector<array> differentiable;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < given.size(); ++i)
      if (is_floating(given[i].dtype()) || is_complex(given[i].dtype())) {
        differentiable.push_back(given[i]);
        places.push_back(i);
      }
    const auto of_these = [&](const std::vector<array>& some) {
      std::vector<array> all = given;
      for (std::size_t i = 0; i < places.size(); ++i) all[places[i]] = some[i];
      return std::vector<array>{again(all)[0]};
    };
    const auto found = vjp(of_these, differentiable, {cotangents[0]}).second;
    std::vector<array> out(given.size());
    for (std::size_t i = 0; i < places.size(); ++i) out[places[i]] = found[i];
    // Earlier layers wait until these gradients no longer need the intermediate values.
    if (out.back().valid()) out.back() = after(out.back(), {out.begin(), out.end() - 1});
    return out;
  };
  return custom_vjp(forward, backward)(arguments);
}

}  // namespace

layer checkpoint(const layer& recomputed) {
  layer_parts parts = container("checkpoint", {{"body", recomputed}}, {});
  parts.names = recomputed.names();
  parts.state_names = recomputed.state_names();
  parts.apply = [recomputed](std::span<const array> parameters, std::span<const array> state,
                             const array& x, const pass& how) -> applied {
    const std::size_t weights = parameters.size(), states = state.size();
    const auto values_with = [=](const pass& used) -> vector_function {
      return [=](const std::vector<array>& given) {
        const std::span<const array> all(given);
        applied result =
            recomputed.apply(all.first(weights), all.subspan(weights, states), given.back(), used);
        std::vector<array> values{result.value};
        values.insert(values.end(), result.state.begin(), result.state.end());
        return values;
      };
    };
    pass unwatched = how;  // the backward pass may run after the watcher's lifetime
    unwatched.watcher = nullptr;
    std::vector<array> arguments(parameters.begin(), parameters.end());
    arguments.insert(arguments.end(), state.begin(), state.end());
    arguments.push_back(x);
    std::vector<array> values =
        recomputed_values(values_with(how), values_with(unwatched), arguments);
    std::vector<array> new_state;
    for (std::size_t i = 1; i < values.size(); ++i) new_state.push_back(stop_gradient(values[i]));
    return {values[0], std::move(new_state)};
  };
  return layer(std::move(parts));
}

}  // namespace tutti::nn
