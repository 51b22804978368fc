// SPDX-License-Identifier: Apache-2.0
#include "nn/optimizer_state.hpp"

#include "base/fail.hpp"
#include "tutti/ops.hpp"

namespace tutti::nn::detail {

namespace {

void check_state_of(const char* op, std::size_t i, const array& parameter, const array& gradient,
                    const array& state) {
  if (state.shape() != parameter.shape())
    base::fail<shape_error>("{}: parameter {} has shape {}, its state {}", op, i, parameter.shape(),
                            state.shape());
  // A gradient of a wider dtype widens the state in the first step.
  if (state.dtype() != parameter.dtype() && state.dtype() != result_type({parameter, gradient})) {
    base::fail<dtype_error>("{}: parameter {} is {}, its state {}", op, i, parameter.dtype(),
                            state.dtype());
  }
}

}  // namespace

std::vector<array> all_widened(const std::vector<array>& arrays) {
  std::vector<array> out;
  for (const array& a : arrays) out.push_back(widened(a));
  return out;
}

void check_loaded(const char* op, std::span<const array> state) {
  for (std::size_t i = 0; i < state.size(); ++i) {
    if (!state[i].valid())
      base::fail<value_error>("{}: state {} is an array without a value", op, i);
    if (!is_floating(state[i].dtype()))
      base::fail<dtype_error>("{}: state {} is {}, not floating", op, i, state[i].dtype());
  }
}

void prepare_state(const char* op, const std::vector<array>& parameters,
                   const std::vector<array>& gradients, std::size_t slots,
                   std::vector<array>& state, double initial) {
  if (parameters.size() != gradients.size())
    base::fail<value_error>("{}: {} parameters but {} gradients", op, parameters.size(),
                            gradients.size());
  if (!state.empty() && state.size() != slots * parameters.size())
    base::fail<value_error>("{}: {} parameters, but state of {}, of earlier steps or loaded", op,
                            parameters.size(), slots == 0 ? 0 : state.size() / slots);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const shape& wanted = parameters[i].shape();
    if (gradients[i].shape() != wanted)
      base::fail<shape_error>("{}: parameter {} has shape {}, its gradient {}", op, i, wanted,
                              gradients[i].shape());
    for (std::size_t at = i; at < state.size(); at += parameters.size())
      check_state_of(op, i, parameters[i], gradients[i], state[at]);
  }
  if (state.empty()) {
    for (std::size_t slot = 0; slot < slots; ++slot) {
      for (const array& p : parameters)
        state.push_back(initial == 0 ? zeros_like(p)
                                     : full(p.shape(), initial, p.dtype(), p.device()));
    }
  }
  // Keeps the history of the state from growing if the caller evaluates only the parameters.
  eval(state);
}

}  // namespace tutti::nn::detail
