// SPDX-License-Identifier: Apache-2.0
//
// Neural networks as functions of explicit parameters: initialisers, layers, losses, metrics and
// optimisers. A network holds no trained state; parameters are a std::vector<array>, as
// value_and_grad (grad.hpp) takes them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tutti/array.hpp"
#include "tutti/random.hpp"

namespace tutti::nn {

// ---- initialisers, for a weight of shape [fan_in, fan_out]. Throw shape_error for another rank.

/// Normal of mean 0 and variance 2 / fan_in, for layers before a rectifier (K. He et al., "Delving
/// Deep into Rectifiers", ICCV 2015, eq. 10).
TUTTI_API array kaiming_normal(random::key key, const shape& shape, dtype type = dtype::f32,
                               const device& on = default_device());
/// Uniform in +- sqrt(6 / (fan_in + fan_out)) (X. Glorot, Y. Bengio, "Understanding the difficulty
/// of training deep feedforward neural networks", AISTATS 2010, eq. 16).
TUTTI_API array glorot_uniform(random::key key, const shape& shape, dtype type = dtype::f32,
                               const device& on = default_device());

using initializer = std::function<array(random::key, const shape&, dtype, const device&)>;

// ---- activations beyond relu, sigmoid, tanh and softmax of ops.hpp; bool and integers become f32

using activation = std::function<array(const array&)>;

/// a for a > 0, else slope * a.
TUTTI_API array leaky_relu(const array& a, double slope = 0.01);
/// a * Phi(a), Phi the normal distribution function (D. Hendrycks, K. Gimpel, arXiv:1606.08415).
/// Infinities give the limits here and in silu(): 0 at minus infinity, slopes 0 and 1.
TUTTI_API array gelu(const array& a);
/// a * sigmoid(a).
TUTTI_API array silu(const array& a);
/// log(1 + exp(a)) without overflow.
TUTTI_API array softplus(const array& a);

// ---- layers

/// A pure function of parameters and input, with names and initial values of the parameters.
struct layer {
  std::vector<std::string> names;
  std::vector<array> initial;
  std::function<array(std::span<const array> parameters, const array& x)> apply;
};

struct linear_options {
  bool bias = true;
  initializer weight = kaiming_normal;
};

/// x W + b: x [..., in], parameters "weight" [in, out] and "bias" [out], which starts at 0. Throws
/// value_error where a width is not positive or there is no initialiser; applied, shape_error where
/// x does not end in `in`.
TUTTI_API layer linear(std::int64_t in, std::int64_t out, random::key key,
                       const linear_options& options = {}, dtype type = dtype::f32,
                       const device& on = default_device());

/// A layer without parameters. Throws value_error for an empty function.
TUTTI_API layer activate(activation f);

/// Layers one after the other. Parameters are named "LAYER.NAME", LAYER counting from 0.
class TUTTI_API sequential {
 public:
  /// Throws value_error where a layer has no apply, or other than one name for each parameter.
  explicit sequential(std::vector<layer> layers);
  // Without moves, which would leave one behind that has no layers and gives its input back.
  sequential(const sequential&) = default;
  sequential& operator=(const sequential&) = default;

  const std::vector<std::string>& names() const { return names_; }
  /// The initial values, in the order of names().
  const std::vector<array>& parameters() const { return initial_; }
  /// Elements of all parameters.
  std::int64_t parameter_count() const;

  /// Throws value_error where `parameters` are not as many as names(), shape_error where one has
  /// another shape than its initial value.
  array apply(const std::vector<array>& parameters, const array& x) const;

  /// Parameters by name, as io::save_safetensors takes them.
  std::map<std::string, array> named(const std::vector<array>& parameters) const;
  /// The way back. Throws value_error for a missing or unknown name, shape_error and dtype_error
  /// where an array differs from the initial value.
  std::vector<array> ordered(const std::map<std::string, array>& arrays) const;

 private:
  void check_parameters(const std::vector<array>& parameters, const char* op) const;

  std::vector<layer> layers_;
  std::vector<std::string> names_;
  std::vector<array> initial_;
};

/// Linear layers of widths[0] inputs, then widths[1], ... units, `f` between them (none after the
/// last). Throws value_error for fewer than two widths and an empty `f`.
TUTTI_API sequential perceptron(const std::vector<std::int64_t>& widths, random::key key,
                                const activation& f, const linear_options& options = {},
                                dtype type = dtype::f32, const device& on = default_device());

// ---- losses: one element, floating

/// Mean over N of -log softmax(logits)[label], logits [N, C] floating, labels [N] integers in
/// [0, C). A label outside gives NaN, since it is known on the device only. Throws shape_error,
/// dtype_error.
TUTTI_API array cross_entropy(const array& logits, const array& labels);
/// Mean of (prediction - target)^2; bool and integers become f32. Throws shape_error unless the
/// shapes are equal.
TUTTI_API array mse(const array& prediction, const array& target);

// ---- metrics

/// Share of rows of `scores` [N, C] whose largest value stands at the label [N]; f32, one element.
TUTTI_API array accuracy(const array& scores, const array& labels);
/// [classes, classes] i64: how often row `truth` was taken for column `predicted`; both [N]
/// integers. Counted on the host. Throws index_error for a class outside [0, classes).
TUTTI_API array confusion_matrix(const array& truth, const array& predicted, std::int64_t classes);

// ---- optimisers. step() gives the new parameters and is lazy: evaluate them together with
// state() and the loss, eval(parameters, optimizer.state(), loss), so that one pass over the graph
// does it all. Settings may be changed
// between steps without compiling anything anew. Throws value_error where the counts of
// parameters, gradients and state differ or an option is out of range, shape_error where the shape
// of a gradient or of its state is not its parameter's, dtype_error where the state's dtype is
// neither the parameter's nor what parameter and gradient promote to (Adam: f32 for 2 bytes).
//
// load_state() puts back what state() (and steps()) gave, so that training goes on as if it had
// never been interrupted, bit for bit. The arrays lie on the parameters' device; options are not
// part of the state. It throws and changes nothing where they cannot be such a state: value_error
// for their number, dtype_error for one that is not floating. What they do not show, whether they
// fit the parameters, the next step() finds.

struct sgd_options {
  double learning_rate = 0.01;
  double momentum = 0;      ///< in [0, 1)
  bool nesterov = false;    ///< needs momentum
  double weight_decay = 0;  ///< added to the gradient, times the parameter (L2 penalty)
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
  /// Velocities, one a parameter; none: as before the first step. Throws also value_error for
  /// velocities where options.momentum is 0, which would drop them.
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
};

/// D. Kingma, J. Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015, algorithm 1, with
/// bias correction. Moments and steps of f16 and bf16 parameters are f32.
class TUTTI_API adam {
 public:
  explicit adam(const adam_options& options = {});
  std::vector<array> step(const std::vector<array>& parameters,
                          const std::vector<array>& gradients);
  /// First moments, then second moments; empty before the first step.
  const std::vector<array>& state() const { return state_; }
  /// How many steps were taken; the bias correction depends on it.
  std::int64_t steps() const { return steps_; }
  /// Both moments of each parameter in the order of state(), and steps(); none of 0 steps: as
  /// before the first step. Throws also value_error where `steps` is negative, or 0 with moments,
  /// or above 0 without, shape_error and dtype_error where the moments of a parameter differ.
  void load_state(std::span<const array> state, std::int64_t steps);
  adam_options options;

 private:
  std::vector<array> state_;
  std::int64_t steps_ = 0;
};

}  // namespace tutti::nn
