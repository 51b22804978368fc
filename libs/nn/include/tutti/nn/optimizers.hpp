// SPDX-License-Identifier: Apache-2.0
//
// Optimisers. step() returns the new parameters and is lazy (except lbfgs::step): evaluate them
// together with state() and the loss, eval(parameters, optimizer.state(), loss), so that one pass
// over the graph computes everything. Settings may be changed between steps without compiling
// again. Moments and updates of f16 and bf16 parameters are f32 (except for sgd). Throws
// value_error if the numbers of parameters, gradients and state differ or an option is out of
// range, shape_error if a gradient or its state has another shape than its parameter, dtype_error
// if the dtype of the state is neither the parameter's nor the promoted dtype of parameter and
// gradient.
//
// load_state() restores the results of state() (and steps()), so that training continues with the
// same bits as without an interruption. The arrays are on the parameters' device; options are not
// part of the state. It throws, without changing anything, for arrays that cannot be such a state:
// value_error for their number, dtype_error for one that is not floating. Whether they match the
// parameters is checked by the next step().
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tutti/array.hpp"
#include "tutti/grad.hpp"

namespace tutti::nn {

struct sgd_options {
  double learning_rate = 0.01;
  double momentum = 0;      ///< in [0, 1)
  bool nesterov = false;    ///< requires momentum
  double weight_decay = 0;  ///< times the parameter, added to the gradient (L2 penalty)
};

/// v = momentum v + g; p -= learning_rate v, or with Nesterov's look-ahead p -= learning_rate
/// (g + momentum v) (I. Sutskever et al., "On the importance of initialization and momentum in deep
/// learning", ICML 2013, with the learning rate outside v).
class TUTTI_API sgd {
 public:
  explicit sgd(const sgd_options& options = {});
  std::vector<array> step(const std::vector<array>& parameters,
                          const std::vector<array>& gradients);
  /// Velocities; empty before the first step and without momentum.
  const std::vector<array>& state() const { return velocity_; }
  /// Velocities, one per parameter; empty: as before the first step. Also throws value_error for
  /// velocities if options.momentum is 0, which would ignore them.
  void load_state(std::span<const array> state);
  sgd_options options;

 private:
  std::vector<array> velocity_;
};

struct adam_options {
  double learning_rate = 0.001;
  double beta1 = 0.9;    ///< in [0, 1)
  double beta2 = 0.999;  ///< in [0, 1)
  double epsilon = 1e-8;
  double weight_decay = 0;  ///< decoupled (I. Loshchilov, F. Hutter, "Decoupled Weight Decay
                            ///< Regularization", ICLR 2019): p -= learning_rate weight_decay p
  bool decoupled = true;    ///< false: weight_decay p is added to the gradient (L2 penalty)
};

/// D. Kingma, J. Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015, algorithm 1, with
/// bias correction; with weight_decay AdamW.
class TUTTI_API adam {
 public:
  explicit adam(const adam_options& options = {});
  std::vector<array> step(const std::vector<array>& parameters,
                          const std::vector<array>& gradients);
  /// First moments, then second moments; empty before the first step.
  const std::vector<array>& state() const { return state_; }
  /// The number of steps taken; the bias correction depends on it.
  std::int64_t steps() const { return steps_; }
  /// Both moments of each parameter in the order of state(), and steps(); empty with 0 steps: as
  /// before the first step. Also throws value_error if `steps` is negative, 0 with moments, or
  /// above 0 without, shape_error and dtype_error if the moments of a parameter differ.
  void load_state(std::span<const array> state, std::int64_t steps);
  adam_options options;

 private:
  std::vector<array> state_;
  std::int64_t steps_ = 0;
};

struct rmsprop_options {
  double learning_rate = 0.01;
  double decay = 0.99;  ///< of the mean squares, in [0, 1)
  double epsilon = 1e-8;
  double momentum = 0;      ///< in [0, 1)
  bool centered = false;    ///< use the variance instead of the mean square
  double weight_decay = 0;  ///< times the parameter, added to the gradient
};

/// s = decay s + (1 - decay) g^2; v = momentum v + g / (sqrt(s) + epsilon); p -= learning_rate v
/// (T. Tieleman, G. Hinton, lecture 6.5 of "Neural Networks for Machine Learning", 2012; centered:
/// A. Graves, arXiv:1308.0850, s less the square of the mean gradient under the root).
class TUTTI_API rmsprop {
 public:
  explicit rmsprop(const rmsprop_options& options = {});
  std::vector<array> step(const std::vector<array>& parameters,
                          const std::vector<array>& gradients);
  /// Mean squares, then with `centered` mean gradients, then velocities with momentum.
  const std::vector<array>& state() const { return state_; }
  /// Also throws value_error for a number that is not divisible into those kinds.
  void load_state(std::span<const array> state);
  rmsprop_options options;

 private:
  std::vector<array> state_;
};

struct adagrad_options {
  double learning_rate = 0.01;
  double epsilon = 1e-10;
  double initial = 0;       ///< initial sum of squares, not negative
  double weight_decay = 0;  ///< times the parameter, added to the gradient
};

/// s += g^2; p -= learning_rate g / (sqrt(s) + epsilon) (J. Duchi et al., "Adaptive Subgradient
/// Methods", JMLR 12, 2011).
class TUTTI_API adagrad {
 public:
  explicit adagrad(const adagrad_options& options = {});
  std::vector<array> step(const std::vector<array>& parameters,
                          const std::vector<array>& gradients);
  /// Sums of squares.
  const std::vector<array>& state() const { return state_; }
  void load_state(std::span<const array> state);
  adagrad_options options;

 private:
  std::vector<array> state_;
};

struct lion_options {
  double learning_rate = 1e-4;
  double beta1 = 0.9;       ///< in [0, 1)
  double beta2 = 0.99;      ///< in [0, 1)
  double weight_decay = 0;  ///< decoupled
};

/// p -= learning_rate (sign(beta1 m + (1 - beta1) g) + weight_decay p); m = beta2 m + (1 - beta2) g
/// (X. Chen et al., "Symbolic Discovery of Optimization Algorithms", arXiv:2302.06675, algorithm
/// 2).
class TUTTI_API lion {
 public:
  explicit lion(const lion_options& options = {});
  std::vector<array> step(const std::vector<array>& parameters,
                          const std::vector<array>& gradients);
  /// Momenta.
  const std::vector<array>& state() const { return state_; }
  void load_state(std::span<const array> state);
  lion_options options;

 private:
  std::vector<array> state_;
};

struct lbfgs_options {
  double learning_rate = 1;          ///< the first step length along a direction, positive
  int history = 10;                  ///< number of pairs kept, at least 1
  int iterations = 20;               ///< per step(), at least 1
  int evaluations = 25;              ///< of the loss per line search, at least 1
  double tolerance_gradient = 1e-7;  ///< stop if no element of the gradient is larger
  double tolerance_change = 1e-9;    ///< stop if neither loss nor parameters change by more
};

/// Limited-memory BFGS with a line search for the strong Wolfe conditions (J. Nocedal, S. Wright,
/// "Numerical Optimization", 2006, algorithms 7.4, 7.5, 3.5 and 3.6, c1 = 1e-4, c2 = 0.9). For
/// losses that are the same function in each call: no new batch within a step.
class TUTTI_API lbfgs {
 public:
  explicit lbfgs(const lbfgs_options& options = {});
  /// Up to options.iterations iterations on `loss` from `parameters`, all floating with one dtype.
  /// Evaluates the loss. Throws value_error for a loss that is not finite at `parameters`; other
  /// trial steps with such a loss are shortened.
  std::vector<array> step(const function& loss, const std::vector<array>& parameters);
  /// The loss at the end of the last step, NaN before the first.
  double loss() const { return loss_; }
  /// Number of evaluations of the loss and its gradient in the last step.
  int evaluations() const { return evaluations_; }
  /// The changes of the parameters, then those of the gradients, oldest first, flattened.
  std::vector<array> state() const;
  /// Throws value_error for an odd number or more than the history allows, shape_error for arrays
  /// that are not 1-d with equal lengths.
  void load_state(std::span<const array> state);
  lbfgs_options options;

 private:
  std::vector<array> changes_, slopes_;
  double loss_;
  int evaluations_ = 0;
};

}  // namespace tutti::nn
