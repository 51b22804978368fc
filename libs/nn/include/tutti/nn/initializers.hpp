// SPDX-License-Identifier: Apache-2.0
//
// Initial values of weights. A weight with two axes is [fan_in, fan_out]; one with more axes
// belongs to a convolution, [out, in / groups, window...], where fan_in is the number of terms of
// one output, in / groups times the window, and fan_out is out times the window. Fewer than two
// axes, or an extent below 1, throw shape_error.
#pragma once

#include <cstdint>
#include <functional>

#include "tutti/array.hpp"
#include "tutti/random.hpp"

namespace tutti::nn {

using initializer = std::function<array(random::key, const shape&, dtype, const device&)>;

/// Normal of mean 0 and variance 2 / fan_in, for layers before a rectifier (K. He et al., "Delving
/// Deep into Rectifiers", ICCV 2015, eq. 10).
TUTTI_API array kaiming_normal(random::key key, const shape& shape, dtype type = dtype::f32,
                               const device& on = default_device());
/// Uniform of the same variance: in +- sqrt(6 / fan_in).
TUTTI_API array kaiming_uniform(random::key key, const shape& shape, dtype type = dtype::f32,
                                const device& on = default_device());
/// Uniform in +- sqrt(6 / (fan_in + fan_out)) (X. Glorot, Y. Bengio, "Understanding the difficulty
/// of training deep feedforward neural networks", AISTATS 2010, eq. 16).
TUTTI_API array glorot_uniform(random::key key, const shape& shape, dtype type = dtype::f32,
                               const device& on = default_device());
/// Normal of the same variance, 2 / (fan_in + fan_out).
TUTTI_API array glorot_normal(random::key key, const shape& shape, dtype type = dtype::f32,
                              const device& on = default_device());
/// Normal of variance 1 / fan_in (Y. LeCun et al., "Efficient BackProp", 1998, section 4.6).
TUTTI_API array lecun_normal(random::key key, const shape& shape, dtype type = dtype::f32,
                             const device& on = default_device());
/// Uniform of the same variance: in +- sqrt(3 / fan_in).
TUTTI_API array lecun_uniform(random::key key, const shape& shape, dtype type = dtype::f32,
                              const device& on = default_device());
/// A matrix with orthonormal rows or columns, whichever are fewer, uniformly distributed: the
/// factor Q of a normal matrix with the signs of R's diagonal (F. Mezzadri, "How to generate random
/// matrices from the classical compact groups", 2007). Weights with more axes are [out, the rest].
TUTTI_API array orthogonal(random::key key, const shape& shape, dtype type = dtype::f32,
                           const device& on = default_device());

// ---- initialisers of a given size, for any shape. Throw value_error for a number that is not
// finite or a deviation below 0.

/// Normal of mean 0.
TUTTI_API initializer normal_values(double deviation);
/// Normal with mean 0, truncated to two deviations (of the normal before truncation, as usual).
TUTTI_API initializer truncated_normal_values(double deviation);
/// Uniform in [-limit, limit).
TUTTI_API initializer uniform_values(double limit);
TUTTI_API initializer constant_values(double value);

}  // namespace tutti::nn
