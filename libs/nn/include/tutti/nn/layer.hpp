// SPDX-License-Identifier: Apache-2.0
//
// Layers and how they form networks. A layer is a value: the names and initial values of its
// parameters and of its state, and a pure function of parameters, state, input and mode, which
// returns a result and the new state. Parameters and state are lists; names with dots ("0.weight",
// "body.1.bias") represent a tree.
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
#include "tutti/named_arrays.hpp"
#include "tutti/nn/activations.hpp"
#include "tutti/random.hpp"

namespace tutti::nn {

class layer;

namespace detail {
/// Is notified of each layer that is applied, outer layers first.
class TUTTI_API layer_watcher {
 public:
  virtual ~layer_watcher() = default;
  virtual void enter(const layer& entered) = 0;
  virtual void leave(const array& value) = 0;
};
}  // namespace detail

/// How a layer is applied.
struct pass {
  bool training = false;             ///< enables dropout; batch norm uses and tracks the batch
  std::optional<random::key> key{};  ///< for random layers in training: a new one in each step
  detail::layer_watcher* watcher = nullptr;  ///< for internal use
};
/// For training, with a key that containers split among their layers.
inline pass training(random::key key) { return {.training = true, .key = key}; }

/// The result of applying a layer.
struct applied {
  array value;
  std::vector<array> state;  ///< the new state; without a gradient
};

using layer_function =
    std::function<applied(std::span<const array> parameters, std::span<const array> state,
                          const array& x, const pass& how)>;

/// The parts of a layer.
struct layer_parts {
  std::string kind = "layer";  ///< in messages and in summary()
  std::vector<std::string> names{};
  std::vector<array> parameters{};  ///< initial values, one per name
  std::vector<std::string> state_names{};
  std::vector<array> state{};  ///< initial values; one without elements may take any shape later
  layer_function apply{};
  std::vector<std::pair<std::string, layer>>
      children{};  ///< in the order in which they are applied
};

class TUTTI_API layer {
 public:
  /// Without a function: this layer cannot be applied.
  layer();
  /// From a function without state, randomness or a separate training mode.
  layer(std::vector<std::string> names, std::vector<array> initial,
        std::function<array(std::span<const array> parameters, const array& x)> function);
  /// Throws value_error unless there is exactly one name for each parameter and state, and for
  /// duplicate names.
  explicit layer(layer_parts parts);
  // Without moves, which would leave a layer without parts.
  layer(const layer&) = default;
  layer& operator=(const layer&) = default;
  ~layer() = default;

  const std::string& kind() const;
  // By value for temporaries: `for (const array& p : linear(2, 3, key).parameters())` is valid.
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
  /// Whether the layer can be applied.
  bool valid() const;
  /// Total number of elements of all parameters.
  std::int64_t parameter_count() const;

  /// Throws value_error if parameters or state differ in number from their names, shape_error if
  /// one has another shape than its initial value, and the exceptions of the layer for x.
  applied apply(std::span<const array> parameters, std::span<const array> state, const array& x,
                const pass& how = {}) const;
  /// For layers without state; value_error for others.
  array apply(std::span<const array> parameters, const array& x, const pass& how = {}) const;

  /// Parameters by name, as io::save_safetensors takes them.
  io::named_arrays named(const std::vector<array>& parameters) const;
  /// The inverse. Ignores names of the state, so that one file may have both. Throws value_error
  /// for a missing or unknown name, shape_error and dtype_error if an array differs from the
  /// initial value.
  std::vector<array> ordered(const std::map<std::string, array>& arrays) const;
  /// The same for the state. ordered_state() ignores names of parameters.
  io::named_arrays named_state(const std::vector<array>& state) const;
  std::vector<array> ordered_state(const std::map<std::string, array>& arrays) const;

 private:
  std::shared_ptr<const layer_parts> parts_;
};

/// A layer without parameters. Throws value_error for an empty function.
TUTTI_API layer activate(activation f);

/// Layers in sequence. Parameters are named "LAYER.NAME", where LAYER is the index from 0 or the
/// given name. Throws value_error for a layer that is not valid(), and for a name that is empty,
/// contains a dot or is repeated.
class TUTTI_API sequential : public layer {
 public:
  explicit sequential(std::vector<layer> layers);
  explicit sequential(std::vector<std::pair<std::string, layer>> layers);
};

/// shortcut(x) + body(x), or x + body(x) without a shortcut (K. He et al., "Deep Residual Learning
/// for Image Recognition", CVPR 2016): parameters "body.NAME", "shortcut.NAME". When applied,
/// throws shape_error if the two shapes differ.
TUTTI_API layer residual(const layer& body, const std::optional<layer>& shortcut = {});

enum class merge : std::uint8_t { concatenate, sum, product };
struct parallel_options {
  nn::merge how = merge::concatenate;
  std::int64_t axis = -1;  ///< along which results are concatenated; 1 for channels of images
};
/// Applies each layer to x and merges the results; parameters "BRANCH.NAME". Throws value_error
/// without layers; when applied, shape_error if results do not match.
TUTTI_API layer parallel(std::vector<layer> branches, const parallel_options& options = {});

/// The same layer, but for the backward pass only x, parameters and state are kept; intermediate
/// values are computed again (T. Chen et al., "Training Deep Nets with Sublinear Memory Cost",
/// arXiv:1604.06174), after the gradient of its result and before the gradients of earlier layers.
/// Both times random layers use the same key; values that do not depend on x, such as dropout
/// masks, are kept. With the gradient of x all gradients of parameters are computed.
TUTTI_API layer checkpoint(const layer& recomputed);

/// A table of all layers with the shape and dtype of their results for an input like x, and their
/// parameters, with sums and bytes. Nothing is computed.
TUTTI_API std::string summary(const layer& model, const array& x);
/// For an x of zeros.
TUTTI_API std::string summary(const layer& model, const shape& x, dtype type = dtype::f32);

}  // namespace tutti::nn
