// SPDX-License-Identifier: Apache-2.0
//
// The layer: checks, parameters and state by name, and the model as a table.
#include "tutti/nn/layer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/fail.hpp"
#include "nn/checks.hpp"
#include "tutti/ops.hpp"

namespace tutti::nn {

namespace {

void check_names(const char* what, const std::string& kind, const std::vector<std::string>& names,
                 const std::vector<array>& values) {
  if (names.size() != values.size())
    base::fail<value_error>("{}: {} names for {} {}", kind, names.size(), values.size(), what);
  std::set<std::string> seen;
  for (const std::string& name : names)
    if (!seen.insert(name).second)
      base::fail<value_error>("{}: the name {} occurs twice among its {}", kind, name, what);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!values[i].valid()) base::fail<value_error>("{}: {} has no value", kind, names[i]);
}

/// `open`: an initial value without elements allows any shape.
void check_values(const std::string& op, const char* what, const std::vector<std::string>& names,
                  const std::vector<array>& initial, std::span<const array> values, bool open) {
  if (values.size() != initial.size())
    base::fail<value_error>("{}: needs {} {}, got {}", op, initial.size(), what, values.size());
  for (std::size_t i = 0; i < initial.size(); ++i) {
    if (open && initial[i].size() == 0) continue;
    if (values[i].shape() != initial[i].shape())
      base::fail<shape_error>("{}: {} has shape {}, needs {}", op, names[i], values[i].shape(),
                              initial[i].shape());
  }
}

io::named_arrays by_name(const std::vector<std::string>& names, const std::vector<array>& values) {
  io::named_arrays out;
  for (std::size_t i = 0; i < names.size(); ++i) out.emplace(names[i], values[i]);
  return out;
}

std::vector<array> in_order(const std::string& op, const char* what,
                            const std::vector<std::string>& names,
                            const std::vector<array>& initial,
                            const std::map<std::string, array>& arrays, bool open,
                            const std::vector<std::string>& others) {
  std::vector<array> out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto found = arrays.find(names[i]);
    if (found == arrays.end()) base::fail<value_error>("{}: {} is missing", op, names[i]);
    if (found->second.dtype() != initial[i].dtype())
      base::fail<dtype_error>("{}: {} has dtype {}, needs {}", op, names[i], found->second.dtype(),
                              initial[i].dtype());
    out.push_back(found->second);
  }
  for (const auto& [name, unused] : arrays)
    if (std::ranges::find(names, name) == names.end() &&
        std::ranges::find(others, name) == others.end())
      base::fail<value_error>("{}: {} is none of the {} {}", op, name, names.size(), what);
  check_values(op, what, names, initial, out, open);
  return out;
}

const std::shared_ptr<const layer_parts>& no_parts() {
  static const auto none = std::make_shared<const layer_parts>();
  return none;
}

}  // namespace

layer::layer() : parts_(no_parts()) {}

layer::layer(std::vector<std::string> names, std::vector<array> initial,
             std::function<array(std::span<const array>, const array&)> function)
    : layer(layer_parts{.names = std::move(names),
                        .parameters = std::move(initial),
                        .apply = function
                                     ? layer_function([f = std::move(function)](
                                                          std::span<const array> parameters,
                                                          std::span<const array>, const array& x,
                                                          const pass&) -> applied {
                                         return {f(parameters, x), {}};
                                       })
                                     : layer_function()}) {}

layer::layer(layer_parts parts) {
  check_names("parameters", parts.kind, parts.names, parts.parameters);
  check_names("states", parts.kind, parts.state_names, parts.state);
  parts_ = std::make_shared<const layer_parts>(std::move(parts));
}

const std::string& layer::kind() const { return parts_->kind; }
const std::vector<std::string>& layer::names() const& { return parts_->names; }
const std::vector<array>& layer::parameters() const& { return parts_->parameters; }
const std::vector<std::string>& layer::state_names() const& { return parts_->state_names; }
const std::vector<array>& layer::state() const& { return parts_->state; }
const std::vector<std::pair<std::string, layer>>& layer::children() const {
  return parts_->children;
}
bool layer::valid() const { return static_cast<bool>(parts_->apply); }

std::int64_t layer::parameter_count() const {
  std::int64_t count = 0;
  for (const array& p : parts_->parameters) count += p.size();
  return count;
}

applied layer::apply(std::span<const array> parameters, std::span<const array> state,
                     const array& x, const pass& how) const {
  const std::string op = kind() + "::apply";
  if (!valid()) base::fail<value_error>("{}: the layer has no function apply", op);
  check_values(op, "parameters", names(), parts_->parameters, parameters, false);
  check_values(op, "states", state_names(), parts_->state, state, true);
  if (how.watcher != nullptr) how.watcher->enter(*this);
  applied result = parts_->apply(parameters, state, x, how);
  if (!result.value.valid()) base::fail<value_error>("{}: the function gave no array", op);
  if (result.state.size() != parts_->state.size())
    base::fail<value_error>("{}: the function gave {} states for {}", op, result.state.size(),
                            parts_->state.size());
  if (how.watcher != nullptr) how.watcher->leave(result.value);
  return result;
}

array layer::apply(std::span<const array> parameters, const array& x, const pass& how) const {
  if (!state_names().empty())
    base::fail<value_error>(
        "{}::apply: the layer has state ({}): hand it over, apply(parameters, state, x)", kind(),
        state_names().front());
  return apply(parameters, {}, x, how).value;
}

io::named_arrays layer::named(const std::vector<array>& parameters) const {
  check_values(kind() + "::named", "parameters", names(), parts_->parameters, parameters, false);
  return by_name(names(), parameters);
}

std::vector<array> layer::ordered(const std::map<std::string, array>& arrays) const {
  return in_order(kind() + "::ordered", "parameters", names(), parts_->parameters, arrays, false,
                  state_names());
}

io::named_arrays layer::named_state(const std::vector<array>& state) const {
  check_values(kind() + "::named_state", "states", state_names(), parts_->state, state, true);
  return by_name(state_names(), state);
}

std::vector<array> layer::ordered_state(const std::map<std::string, array>& arrays) const {
  return in_order(kind() + "::ordered_state", "states", state_names(), parts_->state, arrays, true,
                  names());
}

layer activate(activation f) {
  if (!f) throw value_error("activate: the function is empty");
  layer_parts parts{.kind = "activate"};
  parts.apply = [f = std::move(f)](std::span<const array>, std::span<const array>, const array& x,
                                   const pass&) -> applied {
    return {f(x), {}};
  };
  return layer(std::move(parts));
}

namespace {

struct summary_row {
  std::string name, output, parameters;
};

/// Shape, dtype and parameters of each layer, in the order in which they are applied.
class summary_watcher : public detail::layer_watcher {
 public:
  void enter(const layer& entered) override {
    std::string label = entered.kind();
    if (!open_.empty()) {
      frame& above = open_.back();
      if (above.next < above.of.children().size()) {
        const auto& [name, child] = above.of.children()[above.next++];
        label = name == child.kind() ? name : fmt::format("{}: {}", name, entered.kind());
      }
    }
    rows.push_back({std::string(2 * open_.size(), ' ') + label, "",
                    fmt::format("{}", entered.parameter_count())});
    open_.push_back({entered, 0, rows.size() - 1});
  }
  void leave(const array& value) override {
    rows[open_.back().row].output = fmt::format("{} {}", name(value.dtype()), value.shape().str());
    open_.pop_back();
  }
  std::vector<summary_row> rows;

 private:
  struct frame {
    layer of;
    std::size_t next, row;
  };
  std::vector<frame> open_;
};

std::string table_of(const std::vector<summary_row>& rows) {
  std::size_t first = 0, second = 0, third = 0;
  for (const summary_row& r : rows) {
    first = std::max(first, r.name.size());
    second = std::max(second, r.output.size());
    third = std::max(third, r.parameters.size());
  }
  std::string out;
  for (const summary_row& r : rows)
    out += fmt::format("{:<{}}  {:<{}}  {:>{}}\n", r.name, first, r.output, second, r.parameters,
                       third);
  return out;
}

std::size_t bytes_of(const std::vector<array>& arrays) {
  std::size_t bytes = 0;
  for (const array& a : arrays) bytes += a.nbytes();
  return bytes;
}

}  // namespace

std::string summary(const layer& model, const array& x) {
  summary_watcher watcher;
  watcher.rows.push_back({"layer", "output", "parameters"});
  model.apply(model.parameters(), model.state(), x, {.watcher = &watcher});
  return table_of(watcher.rows) + fmt::format("{} parameters, {} bytes; state of {} bytes\n",
                                              model.parameter_count(), bytes_of(model.parameters()),
                                              bytes_of(model.state()));
}

std::string summary(const layer& model, const shape& x, dtype type) {
  const device on = model.parameters().empty() ? default_device() : model.parameters()[0].device();
  return summary(model, zeros(x, type, on));
}

}  // namespace tutti::nn
