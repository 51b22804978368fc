// SPDX-License-Identifier: Apache-2.0
//
// Questions to a device whose answers are known, and the asking, straight through the function
// tables of its plugin. Nearly all answers are exact: small integers, and positions.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plugin/opened_device.hpp"
#include "plugin/proof/family.hpp"
#include "tutti/plugin.h"

namespace tutti::detail {

/// Elements as they lie in memory, contiguous and row-major.
struct tensor {
  std::int32_t type = 0;  ///< tutti_dtype
  std::vector<std::uint64_t> extents;
  std::vector<char> bytes;
};

/// Of numbers that are converted as the library would: floats rounded to nearest even, integers
/// wrapped; complex ones have an imaginary part of 0.
tensor make_tensor(std::int32_t type, std::vector<std::uint64_t> extents,
                   const std::vector<double>& values);
/// Of i64, bit for bit.
tensor make_tensor(const std::vector<std::int64_t>& values);

/// The same room, filled with what no answer is made of: a kernel that writes nothing shows.
TUTTI_INTERNAL_API tensor overwritten(tensor t);

/// One element as a number; of complex ones the real part.
double element(const tensor& t, std::size_t i);

/// `n` numbers without a pattern from `low` to `high`, whole ones.
std::vector<double> whole_numbers(std::size_t n, std::uint32_t seed, int low, int high);

/// What is known of an answer, and how near a device must come.
struct answer {
  tensor right;
  double tolerance = 0;      ///< relative to each element; 0: the very bits, but any NaN for NaN
  std::vector<bool> tiny{};  ///< elements that may be 0 as well: what is read or given is denormal
};

/// What a device says by its answers, beyond right and wrong: "denormals of f32" are "kept" or
/// "flushed to zero", "division of f32" is "correctly rounded" or "within 1.3 ulp".
using device_facts = std::map<std::string, std::string>;

/// What is wrong with `got`, e.g. "5 instead of 4 at 7 of 1003"; empty where nothing is.
TUTTI_INTERNAL_API std::string mistake(const answer& known, const tensor& got);

struct operator_question {
  tutti_operator kind = TUTTI_OPERATOR_MATMUL;
  std::vector<std::uint64_t> params{};  ///< the bytes of its struct; empty where it has none
  std::vector<tensor> inputs;
  tensor before;  ///< what the output holds
  answer known;
};

template <class Params>
std::vector<std::uint64_t> as_words(const Params& params) {
  std::vector<std::uint64_t> words((sizeof params + 7) / 8);
  std::memcpy(words.data(), &params, sizeof params);
  return words;
}

/// A program of one output. Inputs are declared first, then scalars, then instructions.
struct program_question {
  std::string label;
  std::vector<tensor> inputs{};
  std::vector<std::uint8_t> scalar_types{};
  std::vector<tutti_scalar> scalars{};
  std::vector<tutti_instruction> code{};
  std::uint32_t result = 0;  ///< the value that is stored, or reduced
  std::int32_t reduction = TUTTI_REDUCE_NONE;
  std::uint8_t accumulator = 0;
  /// Of inputs [rows, columns]; along columns the rows vanish, along rows the columns.
  bool along_columns = false;
  answer known{};

  std::uint32_t input(tensor t);
  std::uint32_t scalar(std::uint8_t type, double value);
  std::uint32_t op(tutti_opcode opcode, std::uint8_t type, std::initializer_list<uint32_t> of);
};

/// What the device gives; nothing where it says that it does not offer this.
std::optional<tensor> ask(const opened_device& d, const operator_question& q);
std::optional<tensor> ask(const opened_device& d, const program_question& q);

/// Writes, copies and reads on two streams in the order of events, and in that of a wait of the
/// host's for work that is held up, and some larger ones; what is wrong with it.
std::string transfer_mistake(const opened_device& d);

/// Products and convolutions have about the extents of `use`, where there is one: devices choose
/// their kernels by them, and what is compiled for the question is then what the use needs.
TUTTI_INTERNAL_API std::optional<operator_question> question_of_operator(
    const kernel_family& family, const tutti_operator_desc* use = nullptr);
TUTTI_INTERNAL_API std::optional<program_question> question_of_program(const kernel_family& family);
/// That of TUTTI_OPERATOR_CONVOLUTION (convolution_answer.cpp), with a bias and relu where it
/// `has_epilogue`.
operator_question convolution_question(std::int32_t type, bool has_epilogue,
                                       const tutti_operator_desc* use);
/// What the answer to the question of an arithmetic family tells beyond right and wrong.
void add_facts(const kernel_family& family, const tensor& got, device_facts& facts);

}  // namespace tutti::detail
