// SPDX-License-Identifier: Apache-2.0
//
// A model as a table.
#include <fmt/format.h>

#include "tutti/error.hpp"
#include "tutti/nn/layer.hpp"
#include "tutti/ops.hpp"

namespace tutti::nn {

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
