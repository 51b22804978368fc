// SPDX-License-Identifier: Apache-2.0
//
// Losses and metrics. bool and integers become f32 in losses of numbers; f16 and bf16 are computed
// in f32 and rounded once. Empty operands throw shape_error, except for reduction::none and sum.
#pragma once

#include <cstdint>
#include <optional>

#include "tutti/array.hpp"

namespace tutti::nn {

/// How the losses of all elements are combined.
enum class reduction : std::uint8_t { mean, sum, none };

/// Mean of (prediction - target)^2. Throws shape_error unless the shapes are equal, as do the next
/// three.
TUTTI_API array mse(const array& prediction, const array& target);
/// |prediction - target|.
TUTTI_API array l1_loss(const array& prediction, const array& target,
                        reduction how = reduction::mean);
struct huber_options {
  double delta = 1;  ///< positive; where the parabola becomes linear
  reduction how = reduction::mean;
};
/// e^2 / 2 where |e| <= delta, else delta (|e| - delta / 2) (P. Huber, 1964).
TUTTI_API array huber_loss(const array& prediction, const array& target,
                           const huber_options& options = {});

struct binary_cross_entropy_options {
  std::optional<array> weight{};           ///< multiplies the loss; broadcasts to it
  std::optional<array> positive_weight{};  ///< multiplies the term of target; broadcasts
  reduction how = reduction::mean;
};
/// -(target log sigmoid(logits) + (1 - target) log(1 - sigmoid(logits))), without overflow.
TUTTI_API array binary_cross_entropy_with_logits(const array& logits, const array& target,
                                                 const binary_cross_entropy_options& options = {});

struct cross_entropy_options {
  double label_smoothing = 0;      ///< in [0, 1]: fraction that is spread over all classes
  std::optional<array> weights{};  ///< [C], of the classes; the mean is weighted by the labels'
  std::optional<std::int64_t> ignore{};  ///< a label that is ignored
  reduction how = reduction::mean;
};
/// -log softmax(logits)[label], logits [..., C] floating, labels [...] integers in [0, C). A label
/// out of range gives NaN, here and in the gradients, because it is known only on the device; so
/// does the mean if all labels are ignored.
/// Throws shape_error, dtype_error, value_error.
TUTTI_API array cross_entropy(const array& logits, const array& labels,
                              const cross_entropy_options& options = {});
/// The same for log probabilities, such as log_softmax returns. Throws value_error for smoothing.
TUTTI_API array nll_loss(const array& log_probabilities, const array& labels,
                         const cross_entropy_options& options = {});

struct kl_divergence_options {
  bool log_target = false;  ///< target contains logarithms too
  /// The mean is over the rows: the sum over the last axis is the divergence of one distribution.
  reduction how = reduction::mean;
};
/// Sum over the last axis of target (log target - input), input [..., C] logarithms of
/// probabilities, 0 where target is 0.
TUTTI_API array kl_divergence(const array& input, const array& target,
                              const kl_divergence_options& options = {});

struct triplet_options {
  double margin = 1;
  double epsilon = 1e-6;  ///< added to differences, so that the gradient is defined at distance 0
  reduction how = reduction::mean;
};
/// max(|anchor - positive| - |anchor - negative| + margin, 0), the Euclidean norm over the last
/// axis of [..., C] (F. Schroff et al., "FaceNet", CVPR 2015, without the squares).
TUTTI_API array triplet_loss(const array& anchor, const array& positive, const array& negative,
                             const triplet_options& options = {});

struct ctc_options {
  std::int64_t blank = 0;
  bool zero_infinity = false;  ///< 0, without gradient, for targets that do not fit their input
  /// For the mean, each loss is divided by the length of its target (at least 1), as in PyTorch.
  reduction how = reduction::mean;
};
/// -log of the probability of all alignments of targets (A. Graves et al., "Connectionist Temporal
/// Classification", ICML 2006): log_probabilities [N, T, C], targets [N, S] integers, of which the
/// first target_lengths[n] are used, with input_lengths[n] steps, both [N] integers. Infinite if a
/// target does not fit. Lengths outside [1, T] and [0, S], and classes outside [0, C) or blank,
/// give NaN, because they are known only on the device. The graph contains each of the T steps.
/// Throws shape_error, dtype_error, and value_error for a blank that is not a class.
TUTTI_API array ctc_loss(const array& log_probabilities, const array& targets,
                         const array& input_lengths, const array& target_lengths,
                         const ctc_options& options = {});

// ---- metrics

/// Fraction of rows of `scores` [N, C] whose largest value is at the label [N]; f32, one element.
TUTTI_API array accuracy(const array& scores, const array& labels);
/// [classes, classes] i64: how often class `truth` (row) was predicted as class `predicted`
/// (column); both [N] integers. Counted on the host. Throws index_error for a class outside [0,
/// classes).
TUTTI_API array confusion_matrix(const array& truth, const array& predicted, std::int64_t classes);

}  // namespace tutti::nn
