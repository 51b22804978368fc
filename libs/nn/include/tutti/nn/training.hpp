// SPDX-License-Identifier: Apache-2.0
//
// Utilities for training: loss and gradients of a layer with state, schedules of the learning rate,
// clipping, groups of parameters, averages, early stopping, lower precision,
// accumulation.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tutti/array.hpp"
#include "tutti/error.hpp"
#include "tutti/nn/layer.hpp"

namespace tutti::nn {

// ---- loss and gradients

struct training_result {
  array loss;                    ///< one element
  std::vector<array> gradients;  ///< one per parameter
  std::vector<array> state;      ///< the new state
  array output;                  ///< the result of the model
};
/// One forward and backward pass of the model: loss(output) must be one floating element.
/// Everything stays lazy: evaluate the results together. Throws as value_and_grad() and
/// layer::apply().
TUTTI_API training_result loss_and_gradients(const layer& model,
                                             const std::vector<array>& parameters,
                                             const std::vector<array>& state, const array& x,
                                             const pass& how,
                                             const std::function<array(const array&)>& loss);

/// Adds gradients of several small batches, so that the result is that of one large batch.
class TUTTI_API gradient_accumulator {
 public:
  /// Adds weight * gradients, where the weight is for example the number of rows of a batch whose
  /// loss is a mean over them. Throws value_error if the number of gradients differs from before,
  /// for a weight that is not positive, shape_error for other shapes.
  void add(const std::vector<array>& gradients, double weight = 1);
  /// The sums divided by the sum of weights. Throws value_error before the first add().
  std::vector<array> mean() const;
  /// The arrays to evaluate after each add(), so that the graph does not grow.
  const std::vector<array>& sums() const { return sums_; }
  void clear();

 private:
  std::vector<array> sums_;
  double weight_ = 0;
};

// ---- schedules: the learning rate of a step, counting from 0, for optimizer.options.learning_rate

using schedule = std::function<double(std::int64_t step)>;

// All throw value_error for rates that are negative or not finite, and numbers of steps below 1.
TUTTI_API schedule constant_schedule(double rate);
/// rate * factor^floor(step / every).
TUTTI_API schedule step_schedule(double rate, std::int64_t every, double factor = 0.1);
/// rate * factor^step.
TUTTI_API schedule exponential_schedule(double rate, double factor);
/// From rate to last along (1 - step / steps)^power, then last.
TUTTI_API schedule polynomial_schedule(double rate, std::int64_t steps, double power = 1,
                                       double last = 0);
/// From rate to last along half a cosine, then last (I. Loshchilov, F. Hutter, "SGDR",
/// arXiv:1608.03983, eq. 5).
TUTTI_API schedule cosine_schedule(double rate, std::int64_t steps, double last = 0);
/// `steps` steps that increase linearly to then(0), (step + 1) / (steps + 1) of it, followed by
/// `then` from its step 0.
TUTTI_API schedule warmup_schedule(std::int64_t steps, schedule then);
struct one_cycle_options {
  double rise = 0.3;    ///< fraction of the steps before the peak, in (0, 1)
  double first = 0.04;  ///< fraction of the peak at the beginning
  double last = 4e-6;   ///< fraction of the peak at the end
};
/// Up to the peak and down, each along half a cosine (L. Smith, N. Topin, arXiv:1708.07120).
TUTTI_API schedule one_cycle_schedule(double peak, std::int64_t steps,
                                      const one_cycle_options& options = {});

struct plateau_options {
  double factor = 0.1;      ///< in (0, 1)
  int patience = 10;        ///< number of reports without improvement before the rate falls
  double threshold = 1e-4;  ///< minimum relative improvement
  double least = 0;         ///< minimum rate
  bool larger_is_better = false;
};
/// A rate that decreases when a number, for example a loss, stops improving.
class TUTTI_API plateau_schedule {
 public:
  explicit plateau_schedule(double rate, const plateau_options& options = {});
  /// Reports the number of this epoch and returns the rate of the next one. NaN is no improvement.
  double operator()(double value);
  double rate() const { return rate_; }

 private:
  plateau_options options_;
  double rate_, best_;
  int waited_ = 0;
};

/// Stops training when a number stops improving.
class TUTTI_API early_stopping {
 public:
  /// `least`: minimum improvement. Throws value_error for a negative patience or least.
  explicit early_stopping(int patience, double least = 0, bool larger_is_better = false);
  /// Reports the number of this epoch; returns true if it and the `patience` numbers before it were
  /// not better than the best. NaN is no improvement.
  bool operator()(double value);
  double best() const { return best_; }
  /// Whether the last number is the best so far, so that its parameters should be kept.
  bool is_best() const { return waited_ == 0; }

 private:
  int patience_;
  double least_;
  bool larger_is_better_;
  double best_;
  int waited_ = 0;
};

// ---- clipping

struct clipped_gradients {
  std::vector<array> gradients;
  array norm;  ///< of all gradients together, before; one element
};
/// Gradients times min(1, most / norm), where norm is the Euclidean norm over all of them; NaN if
/// it is not finite. Throws value_error unless most > 0 and there are gradients, dtype_error for
/// one that is not floating.
TUTTI_API clipped_gradients clip_by_norm(const std::vector<array>& gradients, double most);
/// Each element clipped to [-most, most].
TUTTI_API std::vector<array> clip_by_value(const std::vector<array>& gradients, double most);

// ---- averages of parameters

/// average = decay average + (1 - decay) parameters, divided by 1 - decay^updates, so without a
/// bias towards the initial value. f16 and bf16 are averaged in f32.
class TUTTI_API exponential_average {
 public:
  /// Throws value_error unless 0 <= decay < 1.
  explicit exponential_average(double decay = 0.999);
  /// Throws value_error if the number of parameters differs from before, shape_error for other
  /// shapes.
  void update(const std::vector<array>& parameters);
  /// The averages, in the dtypes of the parameters. Throws value_error before the first update.
  std::vector<array> parameters() const;
  /// The arrays to evaluate after each update(), and to save with updates().
  const std::vector<array>& state() const { return sums_; }
  std::int64_t updates() const { return updates_; }
  /// Throws value_error for a negative number, and for 0 with state or vice versa.
  void load_state(std::span<const array> state, std::int64_t updates);

 private:
  double decay_;
  std::vector<array> sums_;
  std::vector<dtype> types_;
  std::int64_t updates_ = 0;
};

// ---- lower precision: master weights stay f32 and are cast within the loss, so gradients are f32

/// Floating arrays cast to `type`, others unchanged. Differentiable.
TUTTI_API std::vector<array> cast(std::span<const array> arrays, dtype type);

struct loss_scaler_options {
  /// Initial scale, in [2^-126, 2^126]. It is the gradient of a loss in f16, whose maximum is
  /// 65504.
  double scale = 32768;
  double growth = 2;          ///< at least 1
  double backoff = 0.5;       ///< in (0, 1)
  std::int64_t every = 2000;  ///< steps without overflow, after which the scale grows
};
/// Scales the loss so that gradients do not underflow in f16 (P. Micikevicius et al., "Mixed
/// Precision Training", ICLR 2018).
class TUTTI_API loss_scaler {
 public:
  explicit loss_scaler(const loss_scaler_options& options = {});
  /// loss * scale(); pass its gradients to unscale().
  array scaled(const array& loss) const;
  /// Gradients / scale(), or nothing if one is not finite: then skip this step; the scale is
  /// reduced. Reads one bool, so it evaluates the gradients and waits.
  std::optional<std::vector<array>> unscale(const std::vector<array>& gradients);
  double scale() const { return scale_; }

 private:
  loss_scaler_options options_;
  double scale_;
  std::int64_t good_ = 0;
};

// ---- groups of parameters

/// The indices of the names for which `belongs` is true.
TUTTI_API std::vector<std::size_t> places_of(
    const std::vector<std::string>& names,
    const std::function<bool(const std::string& name)>& belongs);

/// Several optimisers of one kind, each for some of the parameters, for example with different
/// rates, or without weight decay for biases.
template <class Optimizer>
class grouped {
 public:
  struct group {
    std::vector<std::size_t> places;  ///< indices of its parameters in the list
    Optimizer optimizer;
  };
  explicit grouped(std::vector<group> groups) : groups_(std::move(groups)) {}

  /// Throws value_error if a parameter is in no group or in two, or an index is out of range, and
  /// as the optimisers do.
  std::vector<array> step(const std::vector<array>& parameters,
                          const std::vector<array>& gradients) {
    check(parameters.size(), gradients.size());
    std::vector<array> updated(parameters.size());
    for (group& g : groups_) {
      std::vector<array> own, slopes;
      for (const std::size_t place : g.places) {
        own.push_back(parameters[place]);
        slopes.push_back(gradients[place]);
      }
      const std::vector<array> next = g.optimizer.step(own, slopes);
      for (std::size_t i = 0; i < next.size(); ++i) updated[g.places[i]] = next[i];
    }
    return updated;
  }
  /// The state of all groups, concatenated. To save and resume, use the state of each group.
  std::vector<array> state() const {
    std::vector<array> all;
    for (const group& g : groups_)
      all.insert(all.end(), g.optimizer.state().begin(), g.optimizer.state().end());
    return all;
  }
  std::vector<group>& groups() { return groups_; }
  const std::vector<group>& groups() const { return groups_; }

 private:
  void check(std::size_t parameters, std::size_t gradients) const {
    std::vector<int> owners(parameters);
    for (const group& g : groups_)
      for (const std::size_t place : g.places) {
        if (place >= parameters)
          throw value_error("grouped: place " + std::to_string(place) + " of " +
                            std::to_string(parameters) + " parameters");
        ++owners[place];
      }
    for (std::size_t i = 0; i < parameters; ++i)
      if (owners[i] != 1)
        throw value_error("grouped: parameter " + std::to_string(i) + " is in " +
                          std::to_string(owners[i]) + " groups");
    if (parameters != gradients)
      throw value_error("grouped: " + std::to_string(parameters) + " parameters but " +
                        std::to_string(gradients) + " gradients");
  }
  std::vector<group> groups_;
};

}  // namespace tutti::nn
