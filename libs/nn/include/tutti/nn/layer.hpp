// SPDX-License-Identifier: Apache-2.0
//
// What a layer is, and how layers become networks. A layer is a value: the names and initial values
// of its parameters and of its state, and a pure function of parameters, state, input and how it is
// applied, which gives a result and the new state. Parameters and state are lists; names with dots
// ("0.weight", "body.1.bias") are the tree.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tutti/array.hpp"
#include "tutti/nn/activations.hpp"
#include "tutti/random.hpp"

namespace tutti::nn {

class layer;

namespace detail {
/// Told of each layer that is applied, from the outermost in.
class TUTTI_API layer_watcher {
 public:
  virtual ~layer_watcher() = default;
  virtual void enter(const layer& entered) = 0;
  virtual void leave(const array& value) = 0;
};
}  // namespace detail

/// How a layer is applied.
struct pass {
  bool training = false;             ///< dropout drops; batch norm uses the batch, and follows it
  std::optional<random::key> key{};  ///< for what is random in training: a new one each step
  detail::layer_watcher* watcher = nullptr;  ///< for the library itself
};
/// For training, with a key that containers split among their layers.
inline pass training(random::key key) { return {.training = true, .key = key}; }

/// What applying a layer gives.
struct applied {
  array value;
  std::vector<array> state;  ///< for the next time; without a gradient
};

using layer_function =
    std::function<applied(std::span<const array> parameters, std::span<const array> state,
                          const array& x, const pass& how)>;

/// What a layer is made of.
struct layer_parts {
  std::string kind = "layer";  ///< in messages and in summary()
  std::vector<std::string> names{};
  std::vector<array> parameters{};  ///< initial values, one a name
  std::vector<std::string> state_names{};
  std::vector<array> state{};  ///< initial values; one without elements may take any shape later
  layer_function apply{};
  std::vector<std::pair<std::string, layer>>
      children{};  ///< in the order in which they are applied
};

class TUTTI_API layer {
 public:
  /// Without a function: cannot be applied.
  layer();
  /// Of a function without state, randomness or another way in training.
  layer(std::vector<std::string> names, std::vector<array> initial,
        std::function<array(std::span<const array> parameters, const array& x)> function);
  /// Throws value_error where there are other than one name for each parameter and state, or one
  /// name twice.
  explicit layer(layer_parts parts);
  // Without moves, which would leave one behind that has no parts.
  layer(const layer&) = default;
  layer& operator=(const layer&) = default;
  ~layer() = default;

  const std::string& kind() const;
  // Of a temporary by value: `for (const array& p : linear(2, 3, key).parameters())` is no error.
  const std::vector<std::string>& names() const&;
  std::vector<std::string> names() && { return std::as_const(*this).names(); }
  /// The initial values, in the order of names().
  const std::vector<array>& parameters() const&;
  std::vector<array> parameters() && { return std::as_const(*this).parameters(); }
  const std::vector<std::string>& state_names() const&;
  std::vector<std::string> state_names() && { return std::as_const(*this).state_names(); }
  /// The initial state, in the order of state_names().
  const std::vector<array>& state() const&;
  std::vector<array> state() && { return std::as_const(*this).state(); }
  const std::vector<std::pair<std::string, layer>>& children() const;
  /// Whether there is something to apply.
  bool valid() const;
  /// Elements of all parameters.
  std::int64_t parameter_count() const;

  /// Throws value_error where parameters or state are not as many as their names, shape_error where
  /// one has another shape than its initial value, and what the layer throws for x.
  applied apply(std::span<const array> parameters, std::span<const array> state, const array& x,
                const pass& how = {}) const;
  /// For layers without state: value_error for others.
  array apply(std::span<const array> parameters, const array& x, const pass& how = {}) const;

  /// Parameters by name, as io::save_safetensors takes them.
  std::map<std::string, array> named(const std::vector<array>& parameters) const;
  /// The way back. Throws value_error for a missing or unknown name, shape_error and dtype_error
  /// where an array differs from the initial value.
  std::vector<array> ordered(const std::map<std::string, array>& arrays) const;
  /// The same for the state.
  std::map<std::string, array> named_state(const std::vector<array>& state) const;
  std::vector<array> ordered_state(const std::map<std::string, array>& arrays) const;

 private:
  std::shared_ptr<const layer_parts> parts_;
};

/// A layer without parameters. Throws value_error for an empty function.
TUTTI_API layer activate(activation f);

/// Layers one after the other. Parameters are named "LAYER.NAME", LAYER counting from 0 or the name
/// that is given. Throws value_error for a layer that is not valid(), and for a name that is empty,
/// has a dot or stands twice.
class TUTTI_API sequential : public layer {
 public:
  explicit sequential(std::vector<layer> layers);
  explicit sequential(std::vector<std::pair<std::string, layer>> layers);
};

/// shortcut(x) + body(x), x itself where there is no shortcut (K. He et al., "Deep Residual
/// Learning for Image Recognition", CVPR 2016): parameters "body.NAME", "shortcut.NAME". Applied,
/// throws shape_error where the two shapes differ.
TUTTI_API layer residual(const layer& body, const std::optional<layer>& shortcut = {});

enum class merge : std::uint8_t { concatenate, sum, product };
struct parallel_options {
  nn::merge how = merge::concatenate;
  std::int64_t axis = -1;  ///< along which results are concatenated; 1 for channels of images
};
/// All of x through each layer, the results merged; parameters "BRANCH.NAME". Throws value_error
/// for no layers; applied, shape_error where results do not fit.
TUTTI_API layer parallel(std::vector<layer> branches, const parallel_options& options = {});

/// The same layer, of which the backward pass keeps x, parameters and state only: it computes what
/// lies between once more (T. Chen et al., "Training Deep Nets with Sublinear Memory Cost",
/// arXiv:1604.06174), behind the gradient of its result and before the gradients of the layers
/// before. What it applies is random by the same key both times; what does not depend on x, as
/// where dropout drops, is kept all the same. With the gradient of x come those of all parameters.
TUTTI_API layer checkpoint(const layer& recomputed);

/// A table of all layers with shape and dtype of what each gives for an x like this, and its
/// parameters, with sums and bytes. Nothing is computed.
TUTTI_API std::string summary(const layer& model, const array& x);
/// For an x of zeros.
TUTTI_API std::string summary(const layer& model, const shape& x, dtype type = dtype::f32);

}  // namespace tutti::nn
