// SPDX-License-Identifier: Apache-2.0
//
// Connectionist temporal classification: the forward recursion over a target with blanks between
// its labels, in log space.

#include <limits>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "nn/checks.hpp"
#include "tutti/indexing.hpp"
#include "tutti/movement.hpp"
#include "tutti/nn/losses.hpp"
#include "tutti/ops.hpp"
#include "tutti/sorting.hpp"

namespace tutti::nn {

using tutti::base::named;

namespace {

constexpr const char* ctc_name = "ctc_loss";
// The logarithm of probability 0. Not minus infinity, for which the slope of logaddexp is NaN; far
// above the lowest f32, so that sums stay finite.
constexpr double impossible = -1e30;

void check_ctc(const array& log_p, const array& targets, const array& input_lengths,
               const array& target_lengths, const ctc_options& o) {
  detail::require_floating(ctc_name, "log_probabilities", log_p.dtype());
  for (const array* a : {&targets, &input_lengths, &target_lengths})
    if (!is_integral(a->dtype()))
      base::fail<dtype_error>("{}: targets and lengths must be integers, got {}", ctc_name,
                              a->dtype());
  const bool fits = log_p.ndim() == 3 && log_p.dim(1) >= 1 && targets.ndim() == 2 &&
                    targets.dim(0) == log_p.dim(0) &&
                    input_lengths.shape() == shape{log_p.dim(0)} &&
                    target_lengths.shape() == shape{log_p.dim(0)};
  if (!fits)
    base::fail<shape_error>(
        "{}: needs log_probabilities [N,T,C] with T at least 1, targets [N,S] and lengths [N] and "
        "[N], got {}, {}, {} and {}",
        ctc_name, log_p.shape(), targets.shape(), input_lengths.shape(), target_lengths.shape());
  if (targets.dim(1) > std::int64_t{1} << 60)
    base::fail<shape_error>("{}: targets {} are too long", ctc_name, targets.shape());
  if (o.blank < 0 || o.blank >= log_p.dim(2))
    base::fail<value_error>("{}: blank {} is not below {}", ctc_name, o.blank, log_p.dim(2));
}

/// [N, 2 S + 1]: blank, first label, blank, second label, ..., blank.
array with_blanks(const array& labels, std::int64_t blank) {
  const std::int64_t rows = labels.dim(0), count = labels.dim(1);
  const array blanks = full({rows, count, 1}, blank, dtype::i64, labels.device());
  const array pairs = concatenate({blanks, expand_dims(labels, 2)}, 2).reshape({rows, 2 * count});
  return concatenate({pairs, full({rows, 1}, blank, dtype::i64, labels.device())}, 1);
}

/// Shifted `by` positions to the right, filled with `impossible`.
array shifted(const array& alpha, std::int64_t by) {
  const std::int64_t rows = alpha.dim(0), places = alpha.dim(1);
  const std::int64_t kept = std::max<std::int64_t>(places - by, 0);
  const array before = full({rows, places - kept}, impossible, alpha.dtype(), alpha.device());
  return concatenate({before, alpha(all(), slice{0, kept})}, 1);
}

struct lattice {
  array emitted;  ///< [N, T, L] log probabilities of the labels with blanks
  array skips;    ///< [N, L] whether a label follows another one without a blank
  array input_lengths, target_lengths;  ///< [N, 1] i64, within their ranges
  array good;                           ///< [N] whether lengths and labels are valid
};

lattice lattice_of(const array& log_p, const array& targets, const array& input_lengths,
                   const array& target_lengths, std::int64_t blank) {
  const std::int64_t rows = log_p.dim(0), steps = log_p.dim(1), classes = log_p.dim(2);
  const std::int64_t most = targets.dim(1), places = 2 * most + 1;
  const device on = log_p.device();
  const array labels = targets.astype(dtype::i64);
  const array inputs = input_lengths.astype(dtype::i64), counts = target_lengths.astype(dtype::i64);
  const array unused = arange(most, dtype::i64, on) >= expand_dims(counts, 1);
  const array fit = (labels >= 0) & (labels < classes) & (labels != blank);
  const array good =
      (inputs >= 1) & (inputs <= steps) & (counts >= 0) & (counts <= most) & all(fit | unused, 1);
  const array extended = with_blanks(
      clip(where(unused, full({}, blank, dtype::i64, on), labels), 0, classes - 1), blank);
  const array index = broadcast_to(expand_dims(extended, 1), {rows, steps, places});
  const array two_before =
      concatenate({full({rows, std::min<std::int64_t>(2, places)}, blank, dtype::i64, on),
                   extended(all(), slice{0, std::max<std::int64_t>(places - 2, 0)})},
                  1);
  return {maximum(take_along_axis(log_p, index, 2), impossible),
          (extended != blank) & (extended != two_before), expand_dims(clip(inputs, 1, steps), 1),
          expand_dims(clip(counts, 0, most), 1), good};
}

/// [N] -log of the probability of all alignments.
array negative_log_likelihood(const lattice& l) {
  const std::int64_t places = l.skips.dim(1);
  const device on = l.skips.device();
  const dtype type = l.emitted.dtype();
  const array place = arange(places, dtype::i64, on);
  const array never = full({}, impossible, type, on);
  const std::vector<array> emitted = detail::steps_of(l.emitted, 1);
  array alpha = where(place <= 1, emitted[0], never);
  for (std::size_t t = 1; t < emitted.size(); ++t) {
    array from = alpha;
    if (places > 1) {
      from = logaddexp(from, shifted(alpha, 1));
      from = logaddexp(from, where(l.skips, shifted(alpha, 2), never));
    }
    const array next = maximum(from + emitted[t], impossible);
    alpha = where(l.input_lengths > static_cast<std::int64_t>(t), next, alpha);
  }
  const array last = l.target_lengths * 2;
  const array ends = (place == last) | (place == last - 1);
  return -logsumexp(where(ends, alpha, never), 1);
}

}  // namespace

array ctc_loss(const array& log_probabilities, const array& targets, const array& input_lengths,
               const array& target_lengths, const ctc_options& options) {
  return named(ctc_name, [&] {
    check_ctc(log_probabilities, targets, input_lengths, target_lengths, options);
    const array log_p = detail::widened(log_probabilities);
    const dtype type = log_p.dtype();
    const auto number = [&](double value) { return full({}, value, type, log_p.device()); };
    const lattice l = lattice_of(log_p, targets, input_lengths, target_lengths, options.blank);
    // A factor, so that the gradients are NaN as well.
    const array factor = where(l.good, number(1), number(std::numeric_limits<double>::quiet_NaN()));
    array loss = negative_log_likelihood(l) * factor;
    const double end = options.zero_infinity ? 0 : std::numeric_limits<double>::infinity();
    loss = where(loss > -impossible / 2, number(end), loss);
    if (options.how == reduction::mean)
      loss = loss / maximum(l.target_lengths, 1).reshape({-1}).astype(type);
    return detail::narrowed(detail::reduced(ctc_name, loss, options.how),
                            log_probabilities.dtype());
  });
}

}  // namespace tutti::nn
