// SPDX-License-Identifier: Apache-2.0
//
// One step of training, on one device or data-parallel on several: the same arithmetic, so that
// results differ by rounding only.
#pragma once

#include <memory>
#include <tutti/array.hpp>
#include <tutti/nn.hpp>
#include <vector>

#include "digits/training.hpp"

namespace digits {

class learner {
 public:
  virtual ~learner() = default;
  /// Enqueues a step on these rows of the training images.
  virtual void step(const tutti::array& rows) = 0;
  /// The parameters so far, on the device of the training images.
  virtual std::vector<tutti::array> parameters() const = 0;
};

/// Adam from the model's initial parameters; on all of how.parallel where that is given.
std::unique_ptr<learner> make_learner(const tutti::nn::sequential& model, const part& training,
                                      const settings& how);

}  // namespace digits
