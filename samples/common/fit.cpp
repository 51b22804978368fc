// SPDX-License-Identifier: Apache-2.0
//
// The training loop shared by the samples.
#include "common/fit.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>

#include "common/progress.hpp"

namespace samples {

using tutti::array;
using clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

namespace {

double seconds_since(clock::time_point begin) {
  return std::chrono::duration<double>(clock::now() - begin).count();
}

/// Epochs as the text of a checkpoint, with all digits of their numbers, and back.
std::string history_text(const std::vector<epoch_result>& history) {
  std::string out;
  for (const epoch_result& r : history)
    out +=
        fmt::format("{} {} {} {} {}\n", r.epoch, r.loss, r.test.loss, r.test.accuracy, r.seconds);
  return out;
}

std::vector<epoch_result> history_of(const std::string& text) {
  std::vector<epoch_result> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::vector<double> values;
    for (std::string word; words >> word;) values.push_back(std::stod(word));
    if (values.size() != 5) throw tutti::io_error("the checkpoint has no history of epochs");
    out.push_back(
        {static_cast<std::int64_t>(values[0]), values[1], {values[2], values[3]}, values[4]});
  }
  return out;
}

const std::string& text_of(const tutti::checkpoint& from, const std::string& key) {
  const auto at = from.metadata.find(key);
  if (at == from.metadata.end())
    throw tutti::io_error("the checkpoint is none of this program: it has no text \"" + key + '"');
  return at->second;
}

const std::string setting_prefix = "setting: ";

class fit_loop {
 public:
  fit_loop(training_run run, const common_options& options, const fit_task& task)
      : run_(std::move(run)),
        options_(options),
        task_(task),
        folder_(options.checkpoints()),
        per_epoch_(task.batches.batches()),
        progress_(options.log(), options.epochs * per_epoch_) {}

  std::vector<epoch_result> operator()() {
    begin();
    progress_.show_rate(
        task_.unit, static_cast<double>(task_.batches.items()) / static_cast<double>(per_epoch_));
    for (std::int64_t epoch = run_.steps() / per_epoch_; epoch < options_.epochs; ++epoch)
      train_epoch(epoch);
    return history_;
  }

 private:
  void begin() {
    kept_.emplace(folder_, tutti::checkpoint_options{.keep = 2});
    if (!options_.resume) return;
    std::vector<tutti::checkpoint_file> damaged;
    const auto found = kept_->newest(tutti::default_device(), &damaged);
    for (const tutti::checkpoint_file& file : damaged)
      options_.log() << "passed over: " << file.problem << '\n';
    if (!found && !damaged.empty())
      throw tutti::io_error(folder_.string() +
                            ": all checkpoints are damaged; a run without --resume replaces them");
    if (!found) {
      options_.log() << "no checkpoint in " << folder_.string() << ": training from the start\n";
      return;
    }
    go_on_from(*found);
    progress_.skip(run_.steps());
    options_.log() << fmt::format("going on from step {} of {}\n", run_.steps(), steps());
  }

  void go_on_from(const tutti::checkpoint& found) {
    const auto program = found.metadata.find("program");
    if (program != found.metadata.end() && program->second != options_.program())
      throw tutti::io_error(
          fmt::format("{}: the run there is of {}", folder_.string(), program->second));
    for (const auto& [name, value] : settings())
      if (const std::string& before = text_of(found, setting_prefix + name); before != value)
        throw tutti::io_error(fmt::format("{}: the run there has {} {}, this one {}",
                                          folder_.string(), name, before, value));
    if (found.step > steps())
      throw tutti::value_error(fmt::format("{}: the run there is at step {}, beyond {} epochs",
                                           folder_.string(), found.step, options_.epochs));
    try {
      run_.load(found.arrays);
    } catch (const tutti::error& e) {
      throw tutti::io_error(
          fmt::format("{}: the run there is of another model: {}", folder_.string(), e.what()));
    }
    history_ = history_of(text_of(found, "history"));
    loss_ = std::stod(text_of(found, "loss"));
    seconds_ = std::stod(text_of(found, "seconds"));
  }

  std::int64_t steps() const { return options_.epochs * per_epoch_; }

  /// The settings stored in a checkpoint.
  std::map<std::string, std::string> settings() const {
    std::map<std::string, std::string> out = task_.settings;
    out["seed"] = fmt::format("{}", options_.seed);
    out["batch"] = fmt::format("{}", options_.batch);
    out["learning rate"] = fmt::format("{}", options_.learning_rate);
    out["items"] = fmt::format("{}", task_.batches.items());
    return out;
  }

  void train_epoch(std::int64_t epoch) {
    const std::int64_t first = run_.steps() - epoch * per_epoch_;
    clock::time_point begin = clock::now();
    for (tutti::data::batch& b : task_.batches.start(epoch, first)) {
      if (task_.rate) run_.set_rate(task_.rate(run_.steps()));
      losses_.push_back(run_.step(b.arrays));
      progress_.advance();
      if (seconds_since(saved_) < task_.seconds_between_checkpoints) continue;
      add_losses();
      seconds_ += seconds_since(std::exchange(begin, clock::now()));
      save();
    }
    add_losses();
    seconds_ += seconds_since(begin);
    const bool is_last = epoch + 1 == options_.epochs;
    epoch_result result{epoch + 1, loss_ / static_cast<double>(per_epoch_), {}, seconds_};
    if (is_last && first_loss_ && last_loss_ > 10 * *first_loss_)
      diverged(fmt::format("the loss is {:.4g} at the last step, and was {:.4g} at the first",
                           last_loss_, *first_loss_));
    if (task_.test) {
      result.test = task_.test();
      require_finite(result.test.loss, "the loss of the test");
    }
    history_.push_back(result);
    loss_ = seconds_ = 0;
    if (is_last || seconds_since(saved_) >= task_.seconds_between_epochs) save();
    report(result);
  }

  /// Reads the losses of the steps so far.
  void add_losses() {
    if (!first_loss_ && run_.steps() == std::ssize(losses_)) first_loss_ = losses_[0].item();
    for (const array& loss : losses_) loss_ += last_loss_ = loss.item();
    losses_.clear();
    require_finite(loss_, "the loss");
  }

  /// Checked before a checkpoint with such weights replaces an earlier one.
  void require_finite(double value, const char* what) const {
    if (!std::isfinite(value))
      diverged(fmt::format("{} is {} by step {} of {}", what, value, run_.steps(), steps()));
  }

  [[noreturn]] static void diverged(const std::string& how) {
    throw tutti::value_error("training diverged: " + how + "; a lower --learning-rate may help");
  }

  void save() {
    saved_ = clock::now();
    if (!options_.leads()) return;
    std::map<std::string, std::string> texts;
    for (const auto& [name, value] : settings()) texts[setting_prefix + name] = value;
    texts["program"] = options_.program();
    texts["history"] = history_text(history_);
    texts["loss"] = fmt::format("{}", loss_);
    texts["seconds"] = fmt::format("{}", seconds_);
    const tutti::checkpoint now{run_.steps(), run_.arrays(), texts};
    if (options_.resume || std::exchange(has_saved_, true))
      kept_->save(now);
    else
      replace_earlier_run(now);
    saved_ = clock::now();
  }

  /// Removes the files of an earlier run after the first checkpoint; restores them on failure.
  void replace_earlier_run(const tutti::checkpoint& now) {
    std::vector<fs::path> files;
    for (const tutti::checkpoint_file& file : kept_->list()) files.push_back(file.path);
    const auto aside = [](const fs::path& file) { return fs::path(file) += ".earlier"; };
    for (const fs::path& file : files) fs::rename(file, aside(file));
    try {
      kept_->save(now);
    } catch (...) {
      for (const fs::path& file : files) fs::rename(aside(file), file);
      throw;
    }
    for (const fs::path& file : files) fs::remove(aside(file));
  }

  void report(const epoch_result& r) {
    std::string text = fmt::format("epoch {:>{}}/{}  loss {:.4f}", r.epoch,
                                   std::to_string(options_.epochs).size(), options_.epochs, r.loss);
    if (!std::isnan(r.test.accuracy)) text += fmt::format("  test {:.4f}", r.test.accuracy);
    if (!std::isnan(r.test.loss)) text += fmt::format("  test loss {:.4f}", r.test.loss);
    const double items = static_cast<double>(task_.batches.items());
    progress_.report(
        text + fmt::format("  {:.1f} s, {:.0f} {}/s", r.seconds, items / r.seconds, task_.unit));
  }

  training_run run_;
  const common_options& options_;
  const fit_task& task_;
  const fs::path folder_;
  std::int64_t per_epoch_;
  progress progress_;
  std::optional<tutti::checkpoints> kept_;
  clock::time_point saved_ = clock::now();
  bool has_saved_ = false;
  std::vector<epoch_result> history_;
  std::vector<array> losses_;      // of steps not yet in loss_
  double loss_ = 0, seconds_ = 0;  // of this epoch so far
  double last_loss_ = 0;
  std::optional<double> first_loss_;  // unknown in a resumed run
};

}  // namespace

std::vector<epoch_result> fit(training_run run, const common_options& options,
                              const fit_task& task) {
  return fit_loop(std::move(run), options, task)();
}

std::string checksum(std::span<const std::byte> data) {
  const std::string_view text(reinterpret_cast<const char*>(data.data()), data.size());
  return fmt::format("{}", std::hash<std::string_view>{}(text));
}

array cross_entropy(const array& output, const std::vector<array>& batch) {
  return tutti::nn::cross_entropy(output, batch[1]);
}

score evaluate(const std::function<array(const array& x)>& model, const tutti::host_array& x,
               const tutti::host_array& labels, const tutti::nn::batch_loss& loss,
               std::int64_t batch) {
  const tutti::data::loader rows(tutti::data::rows_of({x, labels}),
                                 {.batch_size = batch, .shuffle = false, .workers = 0});
  double losses = 0, right = 0;
  for (tutti::data::batch& b : rows.start(0)) {
    const array scores = model(b.arrays[0]);
    const array loss_here = loss(scores, b.arrays),
                accuracy = tutti::nn::accuracy(scores, b.arrays[1]);
    tutti::eval({loss_here, accuracy});
    const auto count = static_cast<double>(b.indices.size());
    losses += loss_here.item() * count;
    right += accuracy.item() * count;
  }
  const auto count = static_cast<double>(rows.items());
  return {losses / count, right / count};
}

}  // namespace samples
