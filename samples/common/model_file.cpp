// SPDX-License-Identifier: Apache-2.0
//
// A trained classifier in a file.
#include "common/model_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <sstream>
#include <tutti/data.hpp>

namespace samples {

using tutti::array;

namespace {

const std::string state_prefix = "state.";

tutti::io_error of_another_model(const std::filesystem::path& path, const tutti::error& e) {
  return tutti::io_error(fmt::format("{}: weights of another model: {}", path.string(), e.what()));
}

}  // namespace

void model_file::save(const std::filesystem::path& path, const tutti::nn::layer& model,
                      const std::vector<array>& parameters, const std::vector<array>& state,
                      const std::vector<std::string>& classes, texts about) {
  tutti::io::named_arrays all = model.named(parameters);
  all.add(state_prefix, model.named_state(state));
  about["classes"] = fmt::format("{}", fmt::join(classes, "/"));
  tutti::io::save_safetensors(path, all, about);
}

std::vector<array> load_weights(const std::filesystem::path& path, const tutti::nn::layer& model,
                                const tutti::device& on) {
  const tutti::io::named_arrays weights = tutti::io::load_safetensors(path, on);
  try {
    return model.ordered(weights);
  } catch (const tutti::error& e) {
    throw of_another_model(path, e);
  }
}

model_file::model_file(const std::filesystem::path& path, const tutti::device& on) : path_(path) {
  if (!std::filesystem::exists(path))
    throw tutti::io_error(path.string() +
                          " is not there: train first, or give that training's --out");
  parameters_ = tutti::io::load_safetensors(path, on, &about_);
  state_ = parameters_.take(state_prefix);
  std::istringstream names(about("classes"));
  for (std::string name; std::getline(names, name, '/');) classes_.push_back(name);
}

const std::string& model_file::about(const std::string& name) const {
  const auto at = about_.find(name);
  if (at == about_.end())
    throw tutti::io_error(
        fmt::format("{}: no model of this program: it does not say its {}", path_.string(), name));
  return at->second;
}

std::function<std::string(const array& x)> model_file::classifier(
    const tutti::nn::layer& model) const {
  try {
    return [this, model, parameters = model.ordered(parameters_),
            state = model.ordered_state(state_)](const array& x) {
      return text_of(model.apply(parameters, state, x).value);
    };
  } catch (const tutti::error& e) {
    throw of_another_model(path_, e);
  }
}

std::string model_file::text_of(const array& scores) const {
  const std::vector<float> shares = softmax(scores, 1).to_vector<float>();
  if (shares.size() != classes_.size())
    throw tutti::io_error(fmt::format("{}: {} classes, but the model tells {}", path_.string(),
                                      classes_.size(), shares.size()));
  std::vector<std::size_t> order(shares.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return shares[a] > shares[b]; });
  std::string text = fmt::format("{} {:.2f}", classes_[order[0]], shares[order[0]]);
  for (std::size_t i = 1; i < std::min<std::size_t>(3, order.size()); ++i)
    text += fmt::format("{}{} {:.2f}", i == 1 ? " (" : ", ", classes_[order[i]], shares[order[i]]);
  return order.size() > 1 ? text + ")" : text;
}

}  // namespace samples
