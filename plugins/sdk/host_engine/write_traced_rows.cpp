// SPDX-License-Identifier: Apache-2.0
//
// Generates the instructions of machine code loops as C++ with the types of traced_language.hpp:
// write_traced_rows OUTPUT MATH... The rows are those of op_table.def and the functions those of
// the math source, with types renamed and `?:` replaced by pick(), because C++ cannot overload
// `?:`.
#include <cctype>
#include <map>
#include <set>
#include <stdexcept>

#include "sdk/host_engine/generator.hpp"
#include "sdk/op_info.hpp"
#include "sdk/renderer_internal.hpp"

using namespace tutti::sdk;
using detail::join;

namespace {

// Operations without an integer form.
const std::set<std::string> no_integer{"sign", "isnan", "isinf", "isfinite", "real", "imag"};

// Functions that are not a straight sequence of operations on lanes of one width.
const std::set<std::string> left_out{"nextafter", "complex", "real",    "imag",
                                     "sin_f64",   "cos_f64", "tan_f64", "cbrt_f64"};

std::string without_comments(const std::string& text) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) out += line.substr(0, line.find("//")) + '\n';
  return out;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::string with_types(const std::string& text) {
  static const std::map<std::string, std::string> types{
      {"float", "real"},   {"double", "real"},   {"int", "integer"}, {"long", "integer"},
      {"uint", "natural"}, {"ulong", "natural"}, {"bool", "truth"}};
  std::string out, word;
  for (char c : text + '\n') {
    if (is_word(c)) {
      word += c;
      continue;
    }
    const auto type = types.find(word);
    out += (type == types.end() ? word : type->second) + c;
    word.clear();
  }
  return out;
}

// Replaces `?:`, from the innermost parentheses outwards.
class picker {
 public:
  explicit picker(const std::string& text) : text_(text) {}

  std::string all() {
    std::string out;
    while (at_ < text_.size()) {
      out += expression(",;{})");
      if (at_ < text_.size()) out += text_[at_++];
    }
    return out;
  }

 private:
  // Parses up to one of `ends` outside parentheses.
  std::string expression(const std::string& ends) {
    std::string before, value;  // an assignment or `return`, and its value
    for (; at_ < text_.size() && ends.find(text_[at_]) == std::string::npos; ++at_) {
      const char c = text_[at_];
      if (c == '(') {
        value += bracket();
      } else if (c == '=' && !is_comparison()) {
        before += value + '=';
        value.clear();
      } else if (c == '?') {
        ++at_;
        const std::string chosen = expression(":");
        ++at_;
        const std::string otherwise = expression(ends);
        return before + join(" pick(", value, ", ", chosen, ", ", otherwise, ")");
      } else {
        value += c;
      }
      if (value.size() >= 6 && value.compare(value.size() - 6, 6, "return") == 0) {
        before += value;
        value.clear();
      }
    }
    return before + value;
  }
  std::string bracket() {
    std::string out = "(";
    for (++at_; at_ < text_.size() && text_[at_] != ')';) {
      out += expression(",)");
      if (at_ < text_.size() && text_[at_] == ',') out += text_[at_++];
    }
    return out + ')';
  }
  bool is_comparison() const {
    const char next = text_[at_ + 1], last = text_[at_ - 1];
    return next == '=' || last == '=' || last == '<' || last == '>' || last == '!';
  }

  const std::string& text_;
  size_t at_ = 0;
};

class row_writer {
 public:
  explicit row_writer(const dialect& words) : words_(words) {}

  // `text` is the expression in op_table.def; `types` are the operand types.
  void row(const std::string& name, uint16_t opcode, uint8_t of, uint8_t result,
           const std::vector<std::string>& types, std::string text) {
    const std::string dtype = dtype_name(of == TUTTI_BOOL ? result : of);
    text = detail::replaced(std::move(text), "@", dtype);
    text = detail::replaced(std::move(text), "$", "operand_");
    detail::collect_functions(text, functions_);
    const std::string function = join(name, "_of_", dtype_name(of), "_to_", dtype_name(result));
    rows_ +=
        join("uint32_t ", function,
             "([[maybe_unused]] lane_program& to, const uint32_t* operands) {\n  tracing = &to;\n");
    for (size_t n = 0; n < types.size(); ++n)
      rows_ += join("  const auto operand_", std::string(1, static_cast<char>('a' + n)),
                    " = operand_of<", types[n], ">(operands[", static_cast<uint32_t>(n), "]);\n");
    const std::string value = text + " ";
    rows_ += join("  return id_of(", picker(value).all(), ");\n}\n");
    table_ += join("    {", uint32_t{opcode}, ", ", uint32_t{of}, ", ", uint32_t{result}, ", ",
                   function, "},\n");
  }

  std::string text() const {
    std::string library = without_comments(detail::library_functions(words_, functions_));
    // AVX-512 has an instruction for this one, which takes no longer for denormal results.
    begin(library, "tutti_scale_f32(float p, int n)", "if (tracing->masks) return scaled(p, n);");
    begin(library, "tutti_turn_f32(uint m, uint a0, uint a1, uint a2, uint* high)",
          "if (tracing->masks) return turn(m, a0, a1, a2, high);");
    begin(library, "tutti_two_over_pi_f32(int j, uint* w0, uint* w1, uint* w2)",
          "return two_over_pi(j, w0, w1, w2);");
    return join(with_types(picker(library).all()), rows_,
                "constexpr traced_row traced_rows[] = {\n", table_, "};\n");
  }

 private:
  static void begin(std::string& library, const std::string& function, const std::string& with) {
    const std::string head = function + " {";
    const size_t body = library.find(head);
    if (body == std::string::npos) throw std::runtime_error("no " + head);
    library.insert(body + head.size(), join(" ", with, " "));
  }

  const dialect& words_;
  std::set<std::string> functions_;
  std::string rows_, table_;
};

void write_rows(row_writer& out) {
  for (const op_info& row : op_rows()) {
    const detail::op_texts texts = detail::texts_of(row.opcode);
    if (left_out.count(row.name) > 0) continue;
    for (uint8_t dtype : {TUTTI_F32, TUTTI_F64}) {
      if (texts.float_text == nullptr || !accepts(row.kind, dtype)) continue;
      if (left_out.count(join(row.name, "_", dtype_name(dtype))) > 0) continue;
      out.row(row.name, row.opcode, dtype, result_dtype(row.result, dtype),
              std::vector<std::string>(row.arity, "real"), texts.float_text);
    }
    const bool of_truth = texts.int_text != nullptr && accepts(row.kind, TUTTI_BOOL) &&
                          result_dtype(row.result, TUTTI_BOOL) == TUTTI_BOOL;
    // Function texts use more than one operation.
    if (of_truth && std::string(texts.int_text).find("tutti_") == std::string::npos)
      out.row(row.name, row.opcode, TUTTI_BOOL, TUTTI_BOOL,
              std::vector<std::string>(row.arity, "truth"), texts.int_text);
  }
  for (uint8_t dtype : {TUTTI_F32, TUTTI_F64}) {
    out.row("where", TUTTI_OP_where, TUTTI_BOOL, dtype, {"truth", "real", "real"}, "$a ? $b : $c");
    out.row("cast", TUTTI_OP_cast, TUTTI_BOOL, dtype, {"truth"}, "$a ? real(1) : real(0)");
    out.row("cast", TUTTI_OP_cast, dtype, TUTTI_BOOL, {"real"}, "$a != real(0)");
  }
  // Loads and stores convert.
  for (uint8_t half : {TUTTI_F16, TUTTI_BF16}) {
    out.row("cast", TUTTI_OP_cast, half, TUTTI_F32, {"real"}, "$a");
    out.row("cast", TUTTI_OP_cast, TUTTI_F32, half, {"real"}, "$a");
  }
}

// 32-bit integers, which wrap.
void write_integers(row_writer& out) {
  for (uint8_t dtype : {TUTTI_I32, TUTTI_U32}) {
    const std::string word = dtype == TUTTI_I32 ? "integer" : "natural";
    for (const op_info& row : op_rows()) {
      const detail::op_texts texts = detail::texts_of(row.opcode);
      if (texts.int_text == nullptr || !accepts(row.kind, dtype)) continue;
      const std::string text = detail::replaced(texts.int_text, "$u", "$");
      if (text.find("tutti_") != std::string::npos || no_integer.count(row.name) > 0) continue;
      if (row.opcode == TUTTI_OP_where) continue;
      out.row(row.name, row.opcode, dtype, result_dtype(row.result, dtype),
              std::vector<std::string>(row.arity, word), text);
    }
    out.row("left_shift", TUTTI_OP_left_shift, dtype, dtype, {word, word}, "$a << $b");
    out.row("right_shift", TUTTI_OP_right_shift, dtype, dtype, {word, word}, "$a >> $b");
    out.row("bitwise_not", TUTTI_OP_bitwise_not, dtype, dtype, {word}, join("$a ^ ", word, "(-1)"));
    out.row("where", TUTTI_OP_where, TUTTI_BOOL, dtype, {"truth", word, word}, "$a ? $b : $c");
    out.row("cast", TUTTI_OP_cast, TUTTI_BOOL, dtype, {"truth"},
            join("$a ? ", word, "(1) : ", word, "(0)"));
    out.row("cast", TUTTI_OP_cast, dtype, TUTTI_BOOL, {word}, join("$a != ", word, "(0)"));
    out.row("cast", TUTTI_OP_cast, dtype, TUTTI_F32, {word}, "real($a)");
  }
  // Loads convert to 32 bits.
  for (uint8_t dtype : {TUTTI_I8, TUTTI_I16, TUTTI_U8, TUTTI_U16}) {
    out.row("cast", TUTTI_OP_cast, dtype, TUTTI_I32, {"integer"}, "$a");
    out.row("cast", TUTTI_OP_cast, dtype, TUTTI_U32, {"integer"}, "$a");
    out.row("cast", TUTTI_OP_cast, dtype, TUTTI_F32, {"integer"}, "real($a)");
    out.row("cast", TUTTI_OP_cast, dtype, TUTTI_BOOL, {"integer"}, "$a != integer(0)");
  }
  out.row("cast", TUTTI_OP_cast, TUTTI_I32, TUTTI_U32, {"integer"}, "natural($a)");
  out.row("cast", TUTTI_OP_cast, TUTTI_U32, TUTTI_I32, {"natural"}, "integer($a)");
}

std::string text_of(const std::vector<std::string>& arguments) {
  std::vector<std::string> math;
  for (const std::string& path : arguments) math.push_back(generator::read(path));
  dialect words;
  words.libraries.assign(math.begin(), math.end());
  row_writer out(words);
  write_rows(out);
  write_integers(out);
  return out.text();
}

}  // namespace

int main(int count, char** words) {
  return generator::run("write_traced_rows", "MATH...", 1, count, words, text_of);
}
