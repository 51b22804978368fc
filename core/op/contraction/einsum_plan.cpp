// SPDX-License-Identifier: Apache-2.0
//
// Subscripts to labels, and the order of contractions: dynamic programming over subsets of a few
// operands, otherwise greedy choice of pairs.
#include "op/contraction/einsum_plan.hpp"

#include <bit>
#include <limits>
#include <optional>
#include <string>

#include "base/fail.hpp"
#include "tutti/error.hpp"

namespace tutti::op {
namespace {

constexpr int first_ellipsis = 52;
constexpr int most_for_search = 8;

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
int label_of(char c) { return c <= 'Z' ? c - 'A' : 26 + c - 'a'; }
char letter_of(int label) { return static_cast<char>(label < 26 ? 'A' + label : 'a' + label - 26); }

// One comma-separated term: letters before and after the ellipsis.
struct term {
  label_list before, after;
  bool ellipsis = false;
  int letters() const { return static_cast<int>(before.size() + after.size()); }
};

class einsum_parser {
 public:
  einsum_parser(std::string_view text, const std::vector<shape>& operands)
      : text_(text), operands_(operands) {}

  contraction parse() {
    std::string compact;
    for (char c : text_)
      if (c != ' ') compact += c;
    const std::size_t arrow = compact.find("->");
    const std::vector<term> terms = split_terms(std::string_view(compact).substr(0, arrow));
    if (terms.size() != operands_.size())
      fail(std::to_string(terms.size()) + " terms for " + std::to_string(operands_.size()) +
           " operands");
    for (std::size_t i = 0; i < terms.size(); ++i) add_input(terms[i], operands_[i]);
    if (arrow == std::string::npos)
      imply_output();
    else
      read_output(read_term(std::string_view(compact).substr(arrow + 2)));
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    base::fail<value_error>("einsum: \"{}\": {}", text_, what);
  }

  std::vector<term> split_terms(std::string_view text) const {
    std::vector<term> out;
    for (;;) {
      const std::size_t comma = text.find(',');
      out.push_back(read_term(text.substr(0, comma)));
      if (comma == std::string_view::npos) return out;
      text.remove_prefix(comma + 1);
    }
  }

  term read_term(std::string_view text) const {
    term out;
    while (!text.empty()) {
      if (text.starts_with("...") && !out.ellipsis) {
        out.ellipsis = true;
        text.remove_prefix(3);
      } else if (is_letter(text[0])) {
        (out.ellipsis ? out.after : out.before).push_back(label_of(text[0]));
        text.remove_prefix(1);
      } else {
        fail("unexpected '" + std::string(1, text[0]) + "'");
      }
    }
    return out;
  }

  void add_input(const term& t, const shape& extents) {
    const int rest = extents.rank() - t.letters();
    if (rest < 0 || (rest > 0 && !t.ellipsis))
      fail("a term of " + std::to_string(t.letters()) + " letters for an operand of shape " +
           extents.str());
    label_list labels = t.before;
    for (int i = 0; i < rest; ++i) labels.push_back(label_count - rest + i);
    labels.insert(labels.end(), t.after.begin(), t.after.end());
    widest_ = std::max(widest_, rest);
    for (int i = 0; i < extents.rank(); ++i) {
      const int label = labels[static_cast<std::size_t>(i)];
      std::int64_t& known = out_.extents[static_cast<std::size_t>(label)];
      const bool first = (seen_ >> label & 1) == 0;
      seen_ |= label_set{1} << label;
      if (first || known == 1)
        known = extents[i];
      else if (extents[i] != 1 && extents[i] != known)
        base::fail<shape_error>("einsum: \"{}\": {} has extents {} and {}", text_, name_of(label),
                                known, extents[i]);
    }
    out_.inputs.push_back(std::move(labels));
  }

  static std::string name_of(int label) {
    if (label >= first_ellipsis)
      return "axis " + std::to_string(label - label_count) + " of \"...\"";
    return {'\'', letter_of(label), '\''};
  }

  void add_ellipsis() {
    for (int i = 0; i < widest_; ++i) out_.output.push_back(label_count - widest_ + i);
  }

  void imply_output() {
    add_ellipsis();
    std::array<int, label_count> times{};
    for (const label_list& input : out_.inputs)
      for (int label : input) ++times[static_cast<std::size_t>(label)];
    for (int label = 0; label < first_ellipsis; ++label)
      if (times[static_cast<std::size_t>(label)] == 1) out_.output.push_back(label);
  }

  void read_output(const term& t) {
    if (widest_ > 0 && !t.ellipsis) fail("the output lacks \"...\"");
    out_.output = t.before;
    if (t.ellipsis) add_ellipsis();
    out_.output.insert(out_.output.end(), t.after.begin(), t.after.end());
    label_set given = 0;
    for (int label : out_.output) {
      const label_set bit = label_set{1} << label;
      if ((seen_ & bit) == 0) fail("output " + name_of(label) + " is in no operand");
      if ((given & bit) != 0) fail("output " + name_of(label) + " is given twice");
      given |= bit;
    }
  }

  std::string_view text_;
  const std::vector<shape>& operands_;
  contraction out_;
  label_set seen_ = 0;
  int widest_ = 0;
};

// Sizes and costs of sets of labels.
class cost_model {
 public:
  explicit cost_model(const contraction& c) : c_(c) {}

  double elements(label_set labels) const {
    double product = 1;
    for (; labels != 0; labels &= labels - 1)
      product *= static_cast<double>(std::max<std::int64_t>(
          c_.extents[static_cast<std::size_t>(std::countr_zero(labels))], 1));
    return product;
  }
  // Multiplications, and elements to store.
  double step(label_set a, label_set b, label_set result) const {
    if (std::popcount(result) > max_rank) return std::numeric_limits<double>::infinity();
    return elements(a | b) + elements(result);
  }

 private:
  const contraction& c_;
};

[[noreturn]] void fail_rank() {
  base::fail<shape_error>(
      "einsum: every order of contractions needs more than {} dimensions on the way", max_rank);
}

// The cheapest tree over all subsets of operands.
class exhaustive_search {
 public:
  exhaustive_search(const contraction& c, const std::vector<label_set>& inputs, label_set output)
      : count_(static_cast<int>(inputs.size())), best_(std::size_t{1} << count_) {
    const cost_model costs(c);
    for (unsigned set = 1; set < best_.size(); ++set) {
      label_set inside = 0, outside = output;
      for (int i = 0; i < count_; ++i)
        ((set >> i & 1) != 0 ? inside : outside) |= inputs[static_cast<std::size_t>(i)];
      best_[set].labels = inside & outside;
      if (std::has_single_bit(set)) continue;
      best_[set].cost = std::numeric_limits<double>::infinity();
      for (unsigned part = (set - 1) & set; part > set - part; part = (part - 1) & set)
        consider(costs, set, part);
    }
    if (best_.back().cost == std::numeric_limits<double>::infinity()) fail_rank();
  }

  std::vector<std::pair<int, int>> steps() {
    emit(static_cast<unsigned>(best_.size() - 1));
    return std::move(steps_);
  }

 private:
  struct entry {
    label_set labels = 0;
    double cost = 0;
    unsigned part = 0;
  };

  void consider(const cost_model& costs, unsigned set, unsigned part) {
    const entry& a = best_[part];
    const entry& b = best_[set ^ part];
    const double cost = a.cost + b.cost + costs.step(a.labels, b.labels, best_[set].labels);
    if (cost >= best_[set].cost) return;
    best_[set].cost = cost;
    best_[set].part = part;
  }

  // Index of the array that holds `set`.
  int emit(unsigned set) {
    if (std::has_single_bit(set)) return std::countr_zero(set);
    const unsigned part = best_[set].part;
    const int high = emit(part);
    const int low = emit(set ^ part);
    steps_.emplace_back(std::min(low, high), std::max(low, high));
    return count_ + static_cast<int>(steps_.size()) - 1;
  }

  int count_;
  std::vector<entry> best_;
  std::vector<std::pair<int, int>> steps_;
};

// Repeatedly the pair whose result is smallest compared with the operands that it replaces.
std::vector<std::pair<int, int>> greedy_order(const contraction& c, std::vector<label_set> sets,
                                              label_set output) {
  const cost_model costs(c);
  std::vector<int> left;
  for (std::size_t i = 0; i < sets.size(); ++i) left.push_back(static_cast<int>(i));
  const auto result_of = [&](int a, int b) {
    label_set outside = output;
    for (int i : left)
      if (i != a && i != b) outside |= sets[static_cast<std::size_t>(i)];
    return (sets[static_cast<std::size_t>(a)] | sets[static_cast<std::size_t>(b)]) & outside;
  };
  std::vector<std::pair<int, int>> steps;
  while (left.size() > 1) {
    std::optional<std::pair<int, int>> chosen;
    std::pair<double, double> lowest;
    for (std::size_t i = 0; i < left.size(); ++i) {
      for (std::size_t j = i + 1; j < left.size(); ++j) {
        const label_set a = sets[static_cast<std::size_t>(left[i])];
        const label_set b = sets[static_cast<std::size_t>(left[j])];
        const label_set result = result_of(left[i], left[j]);
        if (std::popcount(result) > max_rank) continue;
        const double growth = costs.elements(result) - costs.elements(a) - costs.elements(b);
        const std::pair cost{growth, costs.step(a, b, result)};
        if (chosen && cost >= lowest) continue;
        chosen = {left[i], left[j]};
        lowest = cost;
      }
    }
    if (!chosen) fail_rank();
    sets.push_back(result_of(chosen->first, chosen->second));
    std::erase_if(left, [&](int i) { return i == chosen->first || i == chosen->second; });
    left.push_back(static_cast<int>(sets.size()) - 1);
    steps.push_back(*chosen);
  }
  return steps;
}

}  // namespace

contraction parse_einsum(std::string_view subscripts, const std::vector<shape>& operands) {
  return einsum_parser(subscripts, operands).parse();
}

label_set labels_of(const label_list& list) {
  label_set out = 0;
  for (int label : list) out |= label_set{1} << label;
  return out;
}

std::vector<std::pair<int, int>> contraction_order(const contraction& c) {
  std::vector<label_set> sets;
  for (const label_list& input : c.inputs) sets.push_back(labels_of(input));
  const label_set output = labels_of(c.output);
  if (sets.size() < 2) return {};
  if (sets.size() > most_for_search) return greedy_order(c, std::move(sets), output);
  return exhaustive_search(c, sets, output).steps();
}

}  // namespace tutti::op
