// SPDX-License-Identifier: Apache-2.0
//
// A small transformer that learns a text letter by letter and then continues it: training with Adam
// and a learning rate schedule, then sampling with cached keys and values.
#include <fmt/format.h>

#include <iostream>
#include <set>
#include <tutti/data.hpp>
#include <tutti/nn.hpp>
#include <tutti/tutti.hpp>
#include <utility>

#include "common/command_line.hpp"
#include "common/data_files.hpp"
#include "common/fit.hpp"
#include "common/model_file.hpp"
#include "common/numbers.hpp"
#include "common/progress.hpp"
#include "common/results.hpp"

using tutti::array;
namespace nn = tutti::nn;

struct options : samples::common_options {
  using common_options::common_options;
  std::int64_t width = 64, heads = 4, blocks = 2, context = 64, length = 300;
  double temperature = 0.7;
  std::string prompt = "The ", weights;
  bool no_cache = false;
};

/// Bytes as their indices in `letters`.
std::vector<std::int32_t> codes_of(const std::string& text, const std::string& letters) {
  std::vector<std::int32_t> out;
  for (const char c : text) {
    out.push_back(static_cast<std::int32_t>(letters.find(c)));
    if (out.back() < 0)
      throw tutti::value_error(fmt::format("--prompt \"{}\": the text has no \"{}\"", text, c));
  }
  return out;
}

/// Letters [N, T] to scores [N, T, letters] of the next letter. With `cache` it has the same
/// parameters, and its state are keys and values of previous letters.
nn::sequential transformer(const options& o, const std::string& letters, bool cache) {
  const auto keys = tutti::random::split({o.seed}, static_cast<int>(o.blocks) + 2);
  const std::int64_t count = std::ssize(letters);
  nn::transformer_options how;  // causal, with rotary positions
  how.attention.cache = cache;
  const auto type = tutti::dtype::f32;
  const tutti::device on = o.device();
  std::vector<nn::layer> layers{nn::embedding(count, o.width, keys[0], {}, type, on)};
  for (std::size_t i = 2; i < keys.size(); ++i)
    layers.push_back(nn::transformer_block(o.width, o.heads, keys[i], how, type, on));
  layers.push_back(nn::layer_norm({o.width}, {}, type, on));
  layers.push_back(nn::linear(o.width, count, keys[1], {.weight = nn::glorot_uniform}, type, on));
  return nn::sequential(layers);
}

/// Windows of letters [N, context + 1]: compares the scores of each letter with the next one.
array next_letter_loss(const array& scores, const std::vector<array>& batch) {
  return nn::cross_entropy(scores({{}, {0, -1}}), batch[0]({{}, {1, {}}}));
}

std::vector<array> train(const nn::sequential& model, std::vector<std::int32_t> codes,
                         const options& o) {
  const std::size_t count = codes.size();
  const std::string text = samples::checksum(std::as_bytes(std::span(codes)));
  const std::int64_t window = o.context + 1, rows = std::ssize(codes) / window;
  const std::int64_t test = (rows + 9) / 10;  // windows reserved for the test
  codes.resize(static_cast<std::size_t>(rows * window));
  const array windows = array::from(codes, {rows, window}, o.device());
  const array held_out = windows({{0, test}});
  const tutti::data::loader batches(
      tutti::data::rows_of(std::vector<array>{windows({{test, {}}})}),
      {.batch_size = o.batch, .key = {o.seed}, .on = o.device(), .job = o.job()});
  nn::trainer trainer(model, nn::adam(), next_letter_loss, {.group = o.group(), .clip_norm = 1});
  o.log() << fmt::format("{}\n{} letters, {} parameters\n", samples::devices_text(trainer.group()),
                         count, model.parameter_count());
  const std::int64_t steps = o.epochs * batches.batches();
  const auto rate =
      nn::warmup_schedule(steps / 10 + 1, nn::cosine_schedule(o.learning_rate, steps));
  const auto score = [&] {
    return samples::score{next_letter_loss(trainer(held_out), {held_out}).item()};
  };
  const auto history =
      samples::fit(trainer, o, {batches, rate, score, "windows", {{"text", text}}});
  tutti::io::save_safetensors(o.out / "weights.safetensors", model.named(trainer.parameters()));
  auto report = samples::report_of("A text, letter by letter", trainer.group(), history);
  report.settings = {{"width", o.width}, {"blocks", o.blocks}, {"context", o.context}};
  samples::finish(report, o);
  return trainer.parameters();
}

/// Prints `length` letters that follow the codes. The model sees at most `context` letters; at the
/// limit it continues with the last half of them.
void write_on(const std::vector<array>& parameters, const options& o, const std::string& letters) {
  const nn::sequential model = transformer(o, letters, !o.no_cache);
  std::string unseen = '\n' + o.prompt;  // shown by letters on a terminal, else by lines
  const bool is_terminal = samples::terminal_columns() > 0;
  const samples::stopwatch watch;
  std::vector<std::int32_t> codes = codes_of(o.prompt, letters);
  std::vector<array> state = model.state();
  std::int64_t begin = 0;  // of the visible letters
  for (const auto key : tutti::random::split({o.seed}, static_cast<int>(o.length))) {
    const std::int64_t end = std::ssize(codes);
    if (end - begin > o.context) {
      begin = end - (o.context + 1) / 2;
      state = model.state();
    }
    const std::int64_t from = state.empty() || state[0].size() == 0 ? begin : end - 1;
    const array x = array::from(std::vector(codes.begin() + from, codes.end()), o.device());
    const nn::applied next = model.apply(parameters, state, x.reshape({1, end - from}));
    state = next.state;
    const array scores = next.value({0, -1}) / o.temperature;
    codes.push_back(tutti::random::categorical(key, scores).item<std::int32_t>());
    unseen += letters[static_cast<std::size_t>(codes.back())];
    if (is_terminal || unseen.back() == '\n') o.log() << std::exchange(unseen, {}) << std::flush;
  }
  o.log() << unseen
          << fmt::format("\n\n{} letters, {:.1f}/s\n", o.length, o.length / watch.seconds());
}

void run(const options& o) {
  const std::string text = samples::read_text(o.data, 2 * (o.context + 1));
  const std::set<char> distinct(text.begin(), text.end());
  const std::string letters(distinct.begin(), distinct.end());
  codes_of(o.prompt, letters);  // throws for unknown letters
  samples::make_folder(o.out);
  const nn::sequential model = transformer(o, letters, false);
  write_on(o.weights.empty() ? train(model, codes_of(text, letters), o)
                             : samples::load_weights(o.weights, model, o.device()),
           o, letters);
}

int main(int argc, char** argv) {
  CLI::App app("Learns a text letter by letter and continues it.", "text_generator");
  options o(app, "random seed for weights, order and sampling");
  o.with_epochs(10, "the text").with_data("the text").with_out("text-results").with_parallel();
  o.with_batch(16, "windows").with_learning_rate(0.003).with_resume().with_json();
  o.data = "/usr/share/common-licenses/GPL-3";
  samples::count_option(app, "--width", o.width, 1, 1024, "width of the network");
  samples::count_option(app, "--blocks", o.blocks, 1, 32, "number of blocks of the network");
  samples::count_option(app, "--context", o.context, 1, 1024, "number of visible letters");
  samples::count_option(app, "--length", o.length, 1, 1000000, "number of letters to write");
  app.add_option("--prompt", o.prompt, "text to start with, at least one letter")
      ->check(samples::not_empty)
      ->capture_default_str();
  samples::number_option(app, "--temperature", o.temperature, 1e-6, 1e6,
                         "small: the likeliest letters; large: any");
  app.add_option("--weights", o.weights, "use these weights instead of training")
      ->excludes("--epochs", "--batch", "--learning-rate", "--parallel", "--resume", "--json");
  app.add_flag("--no-cache", o.no_cache, "recompute keys and values for each letter");
  return samples::run(app, argc, argv, [&] { run(o); });
}
