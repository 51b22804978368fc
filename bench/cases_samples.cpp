// SPDX-License-Identifier: Apache-2.0
//
// Training steps of networks like those of the samples, of a perceptron with several batch sizes
// and of a transformer block, the whole tabular sample, text generation, and image loading,
// compared with PyTorch, JAX and scikit-learn (TUTTI_BENCH_PYTHON) for the same work.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <memory>

#include "child.hpp"
#include "harness.hpp"
#include "operands.hpp"
#include "tutti/data.hpp"
#include "tutti/ml.hpp"
#include "tutti/nn.hpp"
#include "tutti/tutti.hpp"

namespace tutti::bench {
namespace {

constexpr int steps = 10, letters = 76, length = 64;

array labels_of(std::int64_t n) { return (arange(n) % 10).astype(dtype::i64); }

array random_rows(const shape& extents) {
  return array::from(operand<float>(static_cast<std::size_t>(extents.size()), 11), extents);
}

void add(std::vector<bench_case>& cases, std::string name, std::string peer, double times,
         const std::function<workload()>& make) {
  cases.push_back(milliseconds(std::move(name), "fastest of JAX, PyTorch, scikit-learn", make,
                               times, std::move(peer)));
}

/// Training steps on one batch; waits for the last one, as a training loop does.
template <class Optimizer = nn::adam>
workload training(const nn::layer& model, const nn::batch_loss& loss, array x, array labels) {
  struct run {
    nn::trainer<Optimizer> trainer;
    std::vector<array> batch;
    double first = NAN, last = NAN;
  };
  eval({x, labels});
  auto r =
      std::make_shared<run>(run{{model, Optimizer(), loss}, {std::move(x), std::move(labels)}});
  return {.ours =
              [r] {
                for (int i = 1; i < steps; ++i) r->trainer.step(r->batch);
                r->last = r->trainer.step(r->batch).item();
                if (std::isnan(r->first)) r->first = r->last;
              },
          .check = [r] { return std::isfinite(r->last) ? "" : "the loss is not finite"; }};
}

array cross_entropy(const array& scores, const std::vector<array>& batch) {
  return nn::cross_entropy(scores, batch[1]);
}

workload perceptron() {
  const auto squared_error = [](const array& output, const std::vector<array>& batch) {
    return nn::mse(output, one_hot(batch[1], 10).astype(output.dtype())) * 10.0;
  };
  return training(nn::perceptron({784, 500, 10}, random::key{7}, tanh), squared_error,
                  random_rows({50, 784}), labels_of(50));
}

void add_steps(std::vector<bench_case>& cases, std::int64_t batch) {
  const auto add_with = [&]<class Optimizer>(const char* optimizer) {
    add(cases, fmt::format("perceptron: 10 steps, 784-500-10, {}, batch {}", optimizer, batch),
        fmt::format("perceptron {} {}", optimizer, batch), 1.1, [batch] {
          return training<Optimizer>(nn::perceptron({784, 500, 10}, random::key{7}, relu),
                                     cross_entropy, random_rows({batch, 784}), labels_of(batch));
        });
  };
  add_with.template operator()<nn::sgd>("SGD");
  add_with.template operator()<nn::adam>("Adam");
}

/// Value and gradients of one block, by its parameters and its input.
workload block() {
  const nn::layer model = nn::transformer_block(256, 4, random::key{7});
  std::vector<array> all = model.parameters();
  all.push_back(random_rows({8, 128, 256}));
  const array weights = random_rows({8, 128, 256});
  const auto work = value_and_grad([=](const std::vector<array>& a) {
    return sum(model.apply(std::span(a).first(a.size() - 1), a.back()) * weights);
  });
  eval(all);
  const auto results = std::make_shared<std::vector<array>>();
  return {.ours =
              [=] {
                auto [value, gradients] = work(all);
                *results = std::move(gradients);
                results->push_back(value);
                eval(*results);
                for (const array& a : *results) a.wait();
              },
          .check = [=] { return isfinite(results->back()).item<bool>() ? "" : "not finite"; }};
}

/// As in samples/common/networks.cpp: for each width a convolution, batch norm, ReLU, pooling.
nn::sequential convolutional(const std::vector<std::int64_t>& widths, std::int64_t places) {
  std::vector<nn::layer> layers;
  std::int64_t before = 1;
  for (const std::int64_t width : widths) {
    const nn::conv_options options{.padding = 1, .bias = false};
    layers.insert(layers.end(), {nn::conv2d(before, width, 3, random::key{7}, options),
                                 nn::batch_norm(width), nn::activate(relu), nn::max_pool(2)});
    before = width;
  }
  layers.insert(layers.end(), {nn::flatten(), nn::linear(before * places, 128, random::key{8}),
                               nn::activate(relu), nn::linear(128, 10, random::key{9})});
  return nn::sequential(layers);
}

workload recurrent() {
  const auto last = nn::activate([](const array& x) { return mean(x, 1); });
  return training(
      nn::sequential({nn::gru(40, 96, random::key{7}), last, nn::linear(96, 10, random::key{8})}),
      cross_entropy, random_rows({64, 63, 40}), labels_of(64));
}

nn::sequential transformer(bool cache) {
  nn::transformer_options how;
  how.attention.cache = cache;
  return nn::sequential({nn::embedding(letters, 64, random::key{1}),
                         nn::transformer_block(64, 4, random::key{2}, how),
                         nn::transformer_block(64, 4, random::key{3}, how), nn::layer_norm({64}),
                         nn::linear(64, letters, random::key{4})});
}

workload text() {
  const auto next_letter = [](const array& scores, const std::vector<array>& batch) {
    return nn::cross_entropy(scores, batch[1]);
  };
  const array x = (arange(16 * 64) * 7 % letters).reshape({16, 64});
  return training(transformer(false), next_letter, x, (x + 7) % letters);
}

workload writing() {
  const auto model = std::make_shared<nn::sequential>(transformer(true));
  const auto count = std::make_shared<int>(0);
  return {.ours =
              [model, count] {
                std::vector<array> state = model->state();
                std::int32_t letter = 1;
                for (const random::key& key : random::split({1}, length)) {
                  const nn::applied next = model->apply(
                      model->parameters(), state, array::from(std::vector{letter}, shape{1, 1}));
                  state = next.state;
                  letter = random::categorical(key, next.value({0, -1})).item<std::int32_t>();
                }
                *count = letter >= 0 && letter < letters ? length : 0;
              },
          .check = [count] { return *count == length ? "" : "no letter"; }};
}

/// From the file to accuracy and area under the curve.
workload table() {
  const auto accuracy = std::make_shared<double>(0);
  const std::filesystem::path file = beside("../share/tutti/data/breast_cancer.csv");
  const auto work = [=] {
    const auto t = data::read_table(file, {.skip_lines = 1, .has_header = false});
    const std::string target = t.names().back();
    const array x = t.drop({target}).to_array({}, dtype::f32), y = t.to_array(target, dtype::i64);
    const data::split rows =
        data::stratified_train_test_split(y.to_vector<std::int64_t>(), 0.25, random::key{1});
    ml::split_samples part = ml::split_rows(x, y, rows);
    ml::standard_scaler scaler;
    part.x_train = scaler.fit_transform(part.x_train);
    part.x_test = scaler.transform(part.x_test);
    ml::logistic_regression model;
    model.fit(part.x_train, part.y_train);
    const double area = ml::roc_auc_score(part.y_test, model.predict_proba(part.x_test)).item();
    *accuracy = area < 0.9 ? 0 : model.score(part.x_test, part.y_test);
  };
  return {.ours = work, .check = [accuracy] {
            return *accuracy > 0.9 ? "" : fmt::format("an accuracy of {}", *accuracy);
          }};
}

/// 10,000 JPEGs of 32 x 32, which peer_python.py also reads.
std::filesystem::path folder_of_pictures() {
  auto folder = std::filesystem::temp_directory_path() / "tutti-bench-pictures";
  if (std::filesystem::exists(folder / "done")) return folder;
  const host_array pixels =
      host_array::of((random_rows({10000, 32, 32, 3}) * 127.5 + 127.5).astype(dtype::u8));
  const std::span<const std::uint8_t> all = pixels.values<std::uint8_t>();
  for (int i = 0; i < 10000; ++i) {
    const auto own = folder / std::to_string(i % 10);
    if (i < 10) std::filesystem::create_directories(own);
    host_array one(dtype::u8, {32, 32, 3});
    std::copy_n(all.begin() + i * 3072, 3072, one.values<std::uint8_t>().begin());
    io::write_file(own / fmt::format("{}.jpg", i),
                   image::encode_image(one, image::file_format::jpeg));
  }
  io::write_file(folder / "done", "");
  return folder;
}

workload loader() {
  const auto rows = std::make_shared<std::int64_t>(0);
  const auto all = std::make_shared<data::loader>(
      data::pictures_of(data::list_images(folder_of_pictures()), {.channels = 3}),
      data::loader_options{.batch_size = 64, .key = {1}, .workers = 2});
  return {.ours =
              [rows, all] {
                *rows = 0;
                for (const data::batch& b : all->start(0)) *rows += b.arrays[0].dim(0);
              },
          .check = [rows] { return *rows == 10000 ? "" : fmt::format("{} pictures", *rows); }};
}

}  // namespace

void add_sample_cases(std::vector<bench_case>& cases) {
  for (const std::int64_t batch : {64, 128, 1024}) add_steps(cases, batch);
  add(cases, "transformer block: value and gradients, width 256, 8 x 128", "transformer block", 1,
      block);
  add(cases, "mnist_perceptron: 10 steps, 784-500-10, batch 50", "sample perceptron", 1.5,
      perceptron);
  add(cases, "image_classifier: 10 steps, 28 x 28, batch 64", "sample pictures", 1.5, [] {
    return training(convolutional({16, 32}, 49), cross_entropy, random_rows({64, 1, 28, 28}),
                    labels_of(64));
  });
  add(cases, "spoken_digits: 10 steps, 40 x 63, batch 64", "sample spectra", 1.5, [] {
    return training(convolutional({16, 32, 64}, 35), cross_entropy, random_rows({64, 1, 40, 63}),
                    labels_of(64));
  });
  add(cases, "spoken_digits --model gru: 10 steps, batch 64", "sample gru", 1.5, recurrent);
  add(cases, "text_generator: 10 steps, 2 blocks of 64, batch 16 x 64", "sample text", 1.5, text);
  add(cases, "text_generator: 64 letters with cache", "sample writing", 1.5, writing);
  add(cases, "tabular: breast cancer from file to ROC AUC", "sample table", 1, table);
  add(cases, "loader: 10,000 JPEGs of 32 x 32, 2 workers", "sample loader", 1, loader);
}

}  // namespace tutti::bench
