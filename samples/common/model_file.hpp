// SPDX-License-Identifier: Apache-2.0
//
// A trained classifier in a file: weights, state, class names, parameters of the model.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <tutti/nn.hpp>
#include <tutti/tutti.hpp>
#include <vector>

namespace samples {

using texts = std::map<std::string, std::string>;

class model_file {
 public:
  /// Writes the file. Class names must not contain '/'.
  static void save(const std::filesystem::path& path, const tutti::nn::layer& model,
                   const std::vector<tutti::array>& parameters,
                   const std::vector<tutti::array>& state, const std::vector<std::string>& classes,
                   texts about = {});
  /// Throws tutti::io_error if the file does not exist.
  model_file(const std::filesystem::path& path, const tutti::device& on);

  const std::vector<std::string>& classes() const { return classes_; }
  /// The text `name` of `about` in save(). Throws tutti::io_error if it does not exist.
  const std::string& about(const std::string& name) const;

  /// A function that gives "cat 0.93 (dog 0.04, ship 0.01)" for an input: the most likely classes
  /// by the softmax of the model's scores [1, classes]. Throws tutti::io_error for weights of
  /// another model.
  std::function<std::string(const tutti::array& x)> classifier(const tutti::nn::layer& model) const;

 private:
  std::string text_of(const tutti::array& scores) const;

  std::filesystem::path path_;
  tutti::io::named_arrays parameters_, state_;
  std::vector<std::string> classes_;
  texts about_;
};

/// The parameters in a file that io::save_safetensors() wrote from model.named(). Throws
/// tutti::io_error, also for those of another model.
std::vector<tutti::array> load_weights(const std::filesystem::path& path,
                                       const tutti::nn::layer& model, const tutti::device& on);

}  // namespace samples
