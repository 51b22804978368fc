// SPDX-License-Identifier: Apache-2.0
//
// LAPACK matrices are column-major: a row-major matrix in memory is its transpose there. Most
// operations work on the transpose in place; LU and QR use a transposed copy.
#include "sdk/host_engine/lapack_matrices.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <mutex>
#include <numeric>
#include <string>
#include <vector>

#include "sdk/host_engine/lapack.hpp"
#include "sdk/host_layer/host_operator.hpp"
#include "sdk/host_layer/thread_team.hpp"
#include "sdk/linear_algebra.hpp"
#include "sdk/status.hpp"
#include "sdk/validate_operator.hpp"

namespace tutti::sdk {
namespace {

template <typename T>
bool is_finite(T x) {
  return std::isfinite(std::real(x)) && std::isfinite(std::imag(x));
}

// Whether 1 / x, which OpenBLAS multiplies by, overflows although x is not zero.
template <typename T>
bool has_no_inverse(T x) {
  const auto size = std::max(std::abs(std::real(x)), std::abs(std::imag(x)));
  return size != 0 && size < std::numeric_limits<typename real_of<T>::type>::min();
}

// to[j * rows + i] = from[i * columns + j], in blocks that fit the cache.
template <typename T>
void transpose_into(const T* from, size_t rows, size_t columns, T* to) {
  constexpr size_t block = 16;
  for (size_t j0 = 0; j0 < columns; j0 += block)
    for (size_t i0 = 0; i0 < rows; i0 += block)
      for (size_t j = j0; j < std::min(j0 + block, columns); ++j)
        for (size_t i = i0; i < std::min(i0 + block, rows); ++i)
          to[j * rows + i] = from[i * columns + j];
}

// The workspace size returned by a query.
template <typename T>
int size_from(T answer) {
  // Queries in f32 round sizes above 2^24.
  return static_cast<int>(std::ceil(static_cast<double>(std::real(answer)) * (1 + 1e-6)));
}

template <typename T>
class matrices {
  using R = typename real_of<T>::type;
  static constexpr bool is_complex = sizeof(R) < sizeof(T);

 public:
  matrices(const lapack& library, const operator_call& call, std::byte* const* operands)
      : use_(std::get<lapack_routines<T>>(library.routines)),
        call_(call),
        operands_(operands),
        params_(matrix_params(call)),
        m_(static_cast<int>(extents_of(call).rows)),
        n_(static_cast<int>(extents_of(call).columns)) {}

  void run(uint64_t matrix) const { run_matrix(*this, call_, matrix); }

  size_t rows() const { return static_cast<size_t>(m_); }
  size_t columns() const { return static_cast<size_t>(n_); }

  template <typename E = T>
  E* part(uint32_t view, uint64_t matrix) const {
    const tutti_view& v = call_.views[view];
    uint64_t elements = 1;
    for (uint32_t d = 1; d < v.rank; ++d) elements *= v.extent[d];
    return reinterpret_cast<E*>(operands_[view]) + matrix * elements;
  }
  const T* input(uint64_t matrix) const { return part(call_.view_count - 1, matrix); }

  void require(int info, const char* routine) const {
    if (info != 0)
      throw plugin_error(TUTTI_ERROR_DRIVER,
                         std::string(operator_name(call_.kind)) + ": LAPACK's " + routine +
                             " returned " + std::to_string(info),
                         info);
  }

  bool has_finite_input(uint64_t matrix) const {
    const T* a = input(matrix);
    return std::all_of(a, a + rows() * columns(), [](T x) { return is_finite(x); });
  }
  // Checks the triangle that eigh reads.
  bool has_finite_triangle(const T* a) const {
    for (size_t i = 0; i < columns(); ++i)
      for (size_t j = 0; j <= i; ++j)
        if (!is_finite(a[i * columns() + j])) return false;
    return true;
  }
  void fill_nan(uint64_t matrix) const {
    constexpr R nan = std::numeric_limits<R>::quiet_NaN();
    for (uint32_t view = 0; view < call_.output_count; ++view) {
      const tutti_view& v = call_.views[view];
      const uint64_t elements = v.rank == 2 ? v.extent[1] : v.extent[1] * v.extent[2];
      if (v.rank == 2)
        std::fill_n(part<R>(view, matrix), elements, nan);
      else
        std::fill_n(part(view, matrix), elements, T(nan));
    }
  }

  void by_plain_loops(uint64_t matrix) const {
    std::array<host_view, most_operands> views{};
    for (uint32_t n = 0; n < call_.view_count; ++n) {
      const tutti_view& v = call_.views[n];
      views[n] = {operands_[n], v.dtype, v.rank, v.extent, v.stride};
    }
    matrix_on_host({&call_, views.data(), nullptr}, matrix);
  }

  void cholesky(uint64_t matrix) const {
    T* out = part(0, matrix);
    std::memcpy(out, input(matrix), rows() * rows() * sizeof(T));
    int info = 0;
    use_.potrf(params_.upper != 0 ? "L" : "U", &n_, out, &n_, &info, 1);
    if (info > 0) throw_no_result(call_, matrix, not_positive_definite);
    require(info, "potrf");
    for (size_t i = 0; i < rows(); ++i) {
      T* const row = out + i * rows();
      if (params_.upper != 0)
        std::fill(row, row + i, T(0));
      else
        std::fill(row + i + 1, row + rows(), T(0));
    }
  }

  // x^T op(a)^T = b^T
  void triangular_solve(uint64_t matrix) const {
    const T* a = part(1, matrix);
    T* out = part(0, matrix);
    for (size_t i = 0; i < rows() && params_.unit_diagonal == 0; ++i) {
      const T pivot = a[i * rows() + i];
      if (pivot == T(0)) throw_no_result(call_, matrix, singular);
      if (has_no_inverse(pivot)) return by_plain_loops(matrix);
    }
    std::memcpy(out, input(matrix), rows() * columns() * sizeof(T));
    static constexpr const char* names[] = {"N", "T", "C"};
    const T one(1);
    use_.trsm("R", params_.upper != 0 ? "L" : "U", names[params_.transpose],
              params_.unit_diagonal != 0 ? "U" : "N", &n_, &m_, &one, a, &m_, out, &n_, 1, 1, 1, 1);
  }

  void lu(uint64_t matrix) const {
    std::vector<T> turned(rows() * columns());
    transpose_into(input(matrix), rows(), columns(), turned.data());
    std::vector<int> pivots(std::min(rows(), columns()));
    int info = 0;
    use_.getrf(&m_, &n_, turned.data(), &m_, pivots.data(), &info);
    if (info > 0 && params_.must_be_regular != 0) throw_no_result(call_, matrix, singular);
    require(std::min(info, 0), "getrf");
    for (size_t i = 0; i < pivots.size(); ++i)
      if (has_no_inverse(turned[i * rows() + i])) return by_plain_loops(matrix);
    transpose_into(turned.data(), columns(), rows(), part(0, matrix));
    auto* order = part<int64_t>(1, matrix);
    std::iota(order, order + rows(), int64_t{0});
    for (size_t i = 0; i < pivots.size(); ++i)
      std::swap(order[i], order[static_cast<size_t>(pivots[i]) - 1]);
  }

  void qr(uint64_t matrix) const {
    const size_t k = call_.views[0].extent[2], least = std::min(rows(), columns());
    std::vector<T> turned(rows() * std::max(k, columns()));
    transpose_into(input(matrix), rows(), columns(), turned.data());
    std::vector<T> tau(least), work(1);
    const int width = static_cast<int>(k), steps = static_cast<int>(least);
    int info = 0;
    for (int size = -1; size != 0; size = size < 0 ? size_from(work[0]) : 0) {
      work.resize(static_cast<size_t>(std::max(size, 1)));
      use_.geqrf(&m_, &n_, turned.data(), &m_, tau.data(), work.data(), &size, &info);
      require(info, "geqrf");
    }
    T* r = part(1, matrix);
    for (size_t i = 0; i < k; ++i)
      for (size_t j = 0; j < columns(); ++j)
        r[i * columns() + j] = j >= i ? turned[j * rows() + i] : T(0);
    for (int size = -1; size != 0; size = size < 0 ? size_from(work[0]) : 0) {
      work.resize(static_cast<size_t>(std::max(size, 1)));
      use_.orgqr(&m_, &width, &steps, turned.data(), &m_, tau.data(), work.data(), &size, &info);
      require(info, "orgqr");
    }
    transpose_into(turned.data(), k, rows(), part(0, matrix));
  }

  void eigh(uint64_t matrix) const {
    if (!has_finite_triangle(input(matrix))) return fill_nan(matrix);
    const bool vectors = call_.output_count == 2;
    std::vector<T> a(input(matrix), input(matrix) + rows() * rows());
    R* w = part<R>(0, matrix);
    const char* job = vectors ? "V" : "N";
    std::vector<T> work(1);
    std::vector<R> real_work(1);
    std::vector<int> places(1);
    int info = 0;
    for (int size = -1, reals = -1, count = -1; size != 0;) {
      if constexpr (is_complex)
        use_.heevd(job, "U", &n_, a.data(), &n_, w, work.data(), &size, real_work.data(), &reals,
                   places.data(), &count, &info, 1, 1);
      else
        use_.syevd(job, "U", &n_, a.data(), &n_, w, work.data(), &size, places.data(), &count,
                   &info, 1, 1);
      require(info, is_complex ? "heevd" : "syevd");
      if (size > 0) break;
      size = size_from(work[0]), reals = size_from(real_work[0]), count = places[0];
      work.resize(static_cast<size_t>(std::max(size, 1)));
      real_work.resize(static_cast<size_t>(std::max(reals, 1)));
      places.resize(static_cast<size_t>(std::max(count, 1)));
    }
    if (!vectors) return;
    // Eigenvectors of the conjugate, as rows in memory.
    T* v = part(1, matrix);
    transpose_into(a.data(), rows(), rows(), v);
    if constexpr (is_complex)
      std::transform(v, v + rows() * rows(), v, [](T x) { return std::conj(x); });
  }

  void eig(uint64_t matrix) const {
    using number = std::complex<R>;
    constexpr R nan = std::numeric_limits<R>::quiet_NaN();
    const size_t n = rows();
    number* w = part<number>(0, matrix);
    number* v = call_.output_count == 2 ? part<number>(1, matrix) : nullptr;
    if (!has_finite_input(matrix)) {
      std::fill_n(w, n, number(nan, nan));
      if (v != nullptr) std::fill_n(v, n * n, number(nan, nan));
      return;
    }
    const char* job = v != nullptr ? "V" : "N";
    std::vector<T> a(n * n), vectors(v != nullptr ? n * n : 1), work(1);
    std::vector<R> reals(n), imaginaries(n), real_work(2 * n);
    transpose_into(input(matrix), n, n, a.data());
    int info = 0;
    for (int size = -1; size != 0; size = size < 0 ? size_from(work[0]) : 0) {
      work.resize(static_cast<size_t>(std::max(size, 1)));
      if constexpr (is_complex)
        use_.geev_complex("N", job, &n_, a.data(), &n_, w, nullptr, &n_, vectors.data(), &n_,
                          work.data(), &size, real_work.data(), &info, 1, 1);
      else
        use_.geev("N", job, &n_, a.data(), &n_, reals.data(), imaginaries.data(), nullptr, &n_,
                  vectors.data(), &n_, work.data(), &size, &info, 1, 1);
      if (info > 0) throw_no_result(call_, matrix, not_convergent);
      require(info, "geev");
    }
    if constexpr (is_complex) {
      if (v != nullptr) transpose_into(vectors.data(), n, n, v);
    } else {
      for (size_t j = 0; j < n; ++j) w[j] = number(reals[j], imaginaries[j]);
      if (v != nullptr) join_parts(vectors.data(), imaginaries, v);
    }
  }
  // Eigenvectors of a real matrix: for a pair of complex eigenvalues, the first with positive
  // imaginary part, LAPACK returns the real and the imaginary part of the first eigenvector.
  void join_parts(const R* parts, const std::vector<R>& imaginaries, std::complex<R>* v) const {
    const size_t n = rows();
    for (size_t j = 0; j < n; ++j) {
      const bool is_pair = imaginaries[j] != 0 && j + 1 < n;
      for (size_t i = 0; i < n; ++i) {
        const R real = parts[j * n + i], imaginary = is_pair ? parts[(j + 1) * n + i] : R(0);
        v[i * n + j] = {real, imaginary};
        if (is_pair) v[i * n + j + 1] = {real, -imaginary};
      }
      if (is_pair) ++j;
    }
  }

  // a^T = u' s v'^H: in memory, u is v'^H and vh is u'.
  void svd(uint64_t matrix) const {
    if (!has_finite_input(matrix)) return fill_nan(matrix);
    const bool vectors = call_.output_count == 3;
    const int k = vectors ? static_cast<int>(call_.views[0].extent[2]) : 1;
    const bool full = vectors && (k != std::min(m_, n_) ||
                                  static_cast<int>(call_.views[2].extent[1]) != std::min(m_, n_));
    const char* job = !vectors ? "N" : full ? "A" : "S";
    std::vector<T> a(input(matrix), input(matrix) + rows() * columns());
    R* s = part<R>(vectors ? 1 : 0, matrix);
    T* u = vectors ? part(0, matrix) : a.data();
    T* vh = vectors ? part(2, matrix) : a.data();
    const size_t least = std::min(rows(), columns()), most = std::max(rows(), columns());
    std::vector<R> real_work(is_complex ? least * std::max(5 * least + 7, 2 * most + 2 * least + 1)
                                        : 1);
    std::vector<int> places(8 * least);
    std::vector<T> work(1);
    int info = 0;
    for (int size = -1; size != 0; size = size < 0 ? size_from(work[0]) : 0) {
      work.resize(static_cast<size_t>(std::max(size, 1)));
      if constexpr (is_complex)
        use_.gesdd_complex(job, &n_, &m_, a.data(), &n_, s, vh, &n_, u, &k, work.data(), &size,
                           real_work.data(), places.data(), &info, 1);
      else
        use_.gesdd(job, &n_, &m_, a.data(), &n_, s, vh, &n_, u, &k, work.data(), &size,
                   places.data(), &info, 1);
      require(info, "gesdd");
    }
  }

 private:
  const lapack_routines<T>& use_;
  const operator_call& call_;
  std::byte* const* operands_;
  const tutti_matrix_params params_;
  const int m_, n_;
};

// Limits the number of OpenBLAS threads during its lifetime: to one if our threads share a batch.
class thread_limit {
 public:
  thread_limit(const lapack& library, int most)
      : set_(library.get_threads != nullptr ? library.set_threads : nullptr) {
    if (set_ == nullptr) return;
    before_ = library.get_threads();
    if (before_ > most)
      set_(most);
    else
      set_ = nullptr;
  }
  ~thread_limit() {
    if (set_ != nullptr) set_(before_);
  }
  thread_limit(const thread_limit&) = delete;
  thread_limit& operator=(const thread_limit&) = delete;

 private:
  void (*set_)(int);
  int before_ = 1;
};

template <typename T>
void run_all(const lapack& library, const operator_call& call, std::byte* const* operands,
             thread_team& team) {
  // OpenBLAS threads belong to the process; two concurrent calls would interfere.
  static std::mutex* const turn = new std::mutex;
  const std::lock_guard lock(*turn);
  const matrices<T> all(library, call, operands);
  const uint64_t batch = extents_of(call).batch;
  const thread_limit limit(library, batch == 1 ? static_cast<int>(team.size()) : 1);
  if (batch == 1) return all.run(0);
  constexpr uint64_t steps_of_a_piece = 100000;
  const matrix_extents m = extents_of(call);
  const uint64_t steps = std::max<uint64_t>(m.rows * m.rows * m.columns, 1);
  team.split(batch, std::max<uint64_t>(steps_of_a_piece / steps, 1),
             [&](uint64_t begin, uint64_t end) {
               for (uint64_t matrix = begin; matrix < end; ++matrix) all.run(matrix);
             });
}

}  // namespace

bool fits_lapack(const operator_call& call) {
  for (uint32_t n = 0; n < call.view_count; ++n) {
    uint64_t elements = 1;
    for (uint32_t d = 1; d < call.views[n].rank; ++d) elements *= call.views[n].extent[d];
    if (elements > INT32_MAX / 8) return false;  // workspaces are several times as large
  }
  return true;
}

void run_by_lapack(const lapack& library, const operator_call& call, std::byte* const* operands,
                   thread_team& team) {
  switch (call.views[call.view_count - 1].dtype) {
    case TUTTI_F32:
      return run_all<float>(library, call, operands, team);
    case TUTTI_F64:
      return run_all<double>(library, call, operands, team);
    case TUTTI_C64:
      return run_all<std::complex<float>>(library, call, operands, team);
    default:
      return run_all<std::complex<double>>(library, call, operands, team);
  }
}

}  // namespace tutti::sdk
