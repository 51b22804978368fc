// SPDX-License-Identifier: Apache-2.0
//
// Linear algebra of matrices without a result, which fail the launch with their index, and of
// matrices with NaN, which must not be ignored.
#include <algorithm>
#include <functional>

#include "matrices.hpp"
#include "sdk/host_types.hpp"
#include "sdk/linear_algebra.hpp"

namespace tutti::conformance {
namespace {

// Many matrices, one of which is invalid.
constexpr uint64_t batch = 23, bad = 17;

template <typename S>
matrix_call square_call(int32_t kind, uint64_t size) {
  matrix_call call{kind, outputs_of(kind), {}};
  const host::operator_row& row = *host::find_operator(kind);
  const auto extent_of = [&](char letter) { return letter == 'B' ? batch : size; };
  for (const tutti_view_desc& v : host::least_views(row, dtype_of<S>(), extent_of))
    call.views.push_back(packed_view(static_cast<uint8_t>(v.dtype), {v.extent, v.extent + v.rank}));
  return call;
}

// The view of what is decomposed, or of the triangle.
view_spec& matrix_view(matrix_call& call) {
  return call.kind == TUTTI_OPERATOR_TRIANGULAR_SOLVE ? call.views[1] : call.views.back();
}

// Hermitian and dominated by its diagonal, so every operator has a result.
template <typename S>
void fill_regular(matrix_call& call, generator& random) {
  for (size_t n = call.outputs; n < call.views.size(); ++n)
    for (uint64_t b = 0; b < batch; ++b) {
      const uint64_t size = call.views[n].extent[1];
      auto a = random_matrix<wide_of<S>>(size, size, random);
      for (uint64_t i = 0; i < size; ++i) {
        a(i, i) = static_cast<long double>(2 * size + i);
        for (uint64_t j = 0; j < i; ++j) a(i, j) = conjugate(a(j, i));
      }
      store<S>(call.views[n], b, a);
    }
}

template <typename S>
S& bad_element(matrix_call& call, uint64_t i, uint64_t j) {
  view_spec& v = matrix_view(call);
  const uint64_t size = v.extent[1];
  return *element_of<S>(v, (bad * size + i) * size + j);
}

// The stream is usable after each failure: the same launch with regular matrices succeeds.
template <typename S>
void check_failure(session& s, matrix_call& call, const std::function<void(matrix_call&)>& spoil) {
  generator random(s.seed);
  fill_regular<S>(call, random);
  matrix_call spoilt = call;
  spoil(spoilt);
  spoilt.run_in_vain(s, bad);
  call.run(s);
}

template <typename S>
void check_not_definite(session& s) {
  for (const uint64_t size : {1, 5, 40})
    for (const uint32_t upper : {0u, 1u}) {
      s.note(std::to_string(size) + (upper != 0 ? ", upper" : ", lower"));
      matrix_call call = square_call<S>(TUTTI_OPERATOR_CHOLESKY, size);
      call.params.upper = upper;
      const uint64_t last = size - 1;
      check_failure<S>(s, call, [&](matrix_call& c) { bad_element<S>(c, last, last) = S(-1); });
      check_failure<S>(s, call, [&](matrix_call& c) { bad_element<S>(c, 0, 0) = S(0); });
      // The diagonal is positive, the matrix is not.
      if (size > 1)
        check_failure<S>(s, call, [&](matrix_call& c) {
          bad_element<S>(c, last, 0) = bad_element<S>(c, 0, last) = S(1000);
        });
    }
}

template <typename S>
void check_singular_triangle(session& s) {
  for (const uint64_t size : {1, 5, 40})
    for (const uint32_t upper : {0u, 1u}) {
      s.note(std::to_string(size) + (upper != 0 ? ", upper" : ", lower"));
      matrix_call call = square_call<S>(TUTTI_OPERATOR_TRIANGULAR_SOLVE, size);
      call.params.upper = upper;
      for (const uint64_t at : {uint64_t{0}, size - 1}) {
        check_failure<S>(s, call, [&](matrix_call& c) { bad_element<S>(c, at, at) = S(0); });
        // If ones replace the diagonal, nothing is singular.
        matrix_call unit = call;
        unit.params.unit_diagonal = 1;
        bad_element<S>(unit, at, at) = S(0);
        unit.run(s);
      }
    }
}

template <typename S>
void check_singular_lu(session& s) {
  for (const uint64_t size : {1, 5, 40}) {
    s.note(std::to_string(size));
    matrix_call call = square_call<S>(TUTTI_OPERATOR_LU, size);
    call.params.must_be_regular = 1;
    for (const uint64_t column : {uint64_t{0}, size / 2, size - 1})
      check_failure<S>(s, call, [&](matrix_call& c) {
        for (uint64_t i = 0; i < size; ++i) bad_element<S>(c, i, column) = S(0);
      });
  }
}

// Whether a result has a NaN in that matrix.
bool has_nan(const matrix_call& call, uint64_t matrix) {
  return std::any_of(
      call.views.begin(), call.views.begin() + call.outputs, [&](const view_spec& v) {
        const uint64_t size = points_of(v.extent) / v.extent[0];
        return sdk::with_stored_type(v.data.data.dtype, [&](auto tag) {
          using stored = typename decltype(tag)::type;
          const std::byte* const first =
              v.data.data.bytes.data() + (v.data.offset + matrix * size) * stored::bytes;
          for (uint64_t i = 0; i < size; ++i) {
            const auto x = stored::load(first + i * stored::bytes);
            if (x != x) return true;
          }
          return false;
        });
      });
}

// A NaN in the lower triangle of one matrix: it fails or its result has NaN, the others are
// correct.
template <typename S>
void check_nan(session& s, int32_t kind) {
  for (const uint64_t size : {5, 40}) {
    s.note(std::to_string(size));
    matrix_call call = square_call<S>(kind, size);
    generator random(s.seed);
    fill_regular<S>(call, random);
    bad_element<S>(call, size - 1, 0) = not_a_number<S>();
    const outcome result = call.launch(s);
    if (result) {
      require(result.code == TUTTI_ERROR_INVALID_ARGUMENT, "a matrix with NaN is code {}: {}",
              result.code, result.message);
      continue;
    }
    for (uint64_t b = 0; b < batch; ++b)
      require(has_nan(call, b) == (b == bad),
              "a matrix with NaN is number {}, and the result of number {} has {}NaN", bad, b,
              b == bad ? "no " : "");
  }
}

}  // namespace

void add_matrix_failure_groups(groups& all, const session& s) {
  for (const host::operator_row& row : host::operator_rows) {
    if (!sdk::is_linear_algebra(row.number)) continue;
    add_matrix_groups(all, s, std::string("nan/") + row.name, "", [&row](auto element) {
      return [&row](session& t) { check_nan<decltype(element)>(t, row.number); };
    });
  }
  add_matrix_groups(all, s, "cholesky", "not_definite", [](auto element) {
    return [](session& t) { check_not_definite<decltype(element)>(t); };
  });
  add_matrix_groups(all, s, "triangular_solve", "failures", [](auto element) {
    return [](session& t) { check_singular_triangle<decltype(element)>(t); };
  });
  add_matrix_groups(all, s, "lu", "failures", [](auto element) {
    return [](session& t) { check_singular_lu<decltype(element)>(t); };
  });
}

}  // namespace tutti::conformance
