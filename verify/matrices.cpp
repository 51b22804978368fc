// SPDX-License-Identifier: Apache-2.0
#include "matrices.hpp"

namespace tutti::conformance {

outcome matrix_call::launch(session& s) {
  const std::vector<view_spec> before = views;
  const std::vector<tutti_view_desc> described = describe(views);
  tutti_operator_desc desc = describe(kind, described, &params);
  desc.output_count = outputs;
  desc.input_count = static_cast<uint32_t>(views.size()) - outputs;
  outcome result = try_operator(s, desc, views);
  for (size_t n = 0; n < views.size(); ++n) {
    if (n < outputs)
      check_guards(views[n], before[n].data.data);
    else
      require(views[n].data.data.bytes == before[n].data.data.bytes, "an input has changed");
  }
  return result;
}

void matrix_call::run(session& s) {
  const outcome result = launch(s);
  require(!result, "failed with code {}: {}", result.code, result.message);
}

void matrix_call::run_in_vain(session& s, uint64_t bad) {
  const outcome result = launch(s);
  require(bool(result), "a matrix without a result is no error");
  require(result.code == TUTTI_ERROR_INVALID_ARGUMENT, "a matrix without a result is code {}: {}",
          result.code, result.message);
  require(result.message.find(std::to_string(bad)) != std::string::npos,
          "the message does not name matrix {}: {}", bad, result.message);
}

}  // namespace tutti::conformance
