// SPDX-License-Identifier: Apache-2.0
//
// The perceptron of the sample: trained on one device, or data-parallel on several.
#pragma once

#include <string>
#include <tutti/data.hpp>
#include <tutti/ml.hpp>
#include <tutti/nn.hpp>
#include <tutti/tutti.hpp>

#include "common/command_line.hpp"
#include "common/fit.hpp"
#include "common/results.hpp"
#include "common/table_data.hpp"

struct answers {
  tutti::array labels, scores;  ///< [rows]; [rows] or [rows, classes]
  std::string devices;          ///< that learned
};

/// A perceptron trained with Adam, with --parallel on all devices of all ranks; rank 0 saves its
/// weights and a report.
inline answers learn_by_adam(const tutti::ml::split_samples& part, const samples::table_data& p,
                             const samples::common_options& common) {
  const auto keys = tutti::random::split({common.seed}, 2);
  const auto model =
      tutti::nn::perceptron({p.x.dim(1), 64, std::ssize(p.classes)}, keys[0], tutti::relu, {},
                            tutti::dtype::f32, part.x_train.device());
  tutti::nn::trainer trainer(model, tutti::nn::adam({.learning_rate = common.learning_rate}),
                             samples::cross_entropy, {.group = common.group()});
  const tutti::data::loader batches(tutti::data::rows_of(std::vector{part.x_train, part.y_train}),
                                    {.batch_size = common.batch,
                                     .key = keys[1],
                                     .on = part.x_train.device(),
                                     .job = common.job()});
  const auto test = [&] {
    const tutti::array scores = trainer(part.x_test);
    return samples::score{tutti::nn::cross_entropy(scores, part.y_test).item(),
                          tutti::nn::accuracy(scores, part.y_test).item()};
  };
  const auto history = samples::fit(
      trainer, common,
      {.batches = batches,
       .test = test,
       .unit = "rows",
       .settings = {
           {"checksum of the features", samples::checksum(tutti::host_array::of(p.x).bytes())},
           {"checksum of the targets", samples::checksum(tutti::host_array::of(p.y).bytes())}}});
  auto report = samples::report_of("A table, by a perceptron", trainer.group(), history);
  if (common.leads()) {
    tutti::io::save_safetensors(common.out / "weights.safetensors",
                                model.named(trainer.parameters()));
    samples::save_report(report, common);
  }
  const tutti::array scores = trainer(part.x_test);
  return {argmax(scores, 1), softmax(scores, 1), trainer.group().names()};
}
