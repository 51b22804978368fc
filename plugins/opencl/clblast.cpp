// SPDX-License-Identifier: Apache-2.0
//
// CLBlast, loaded for the first product, so that the plugin runs without it. Tuning tables have
// given wrong products before, so each device and precision must first compute a known product
// correctly; otherwise this plugin's own kernels are used.
#include "opencl/clblast.hpp"

#include "opencl/settings.hpp"
#include "sdk/op_info.hpp"

#if TUTTI_HAVE_CLBLAST
#include <clblast_c.h>
#include <dlfcn.h>

#include <algorithm>
#include <cmath>

namespace tutti::opencl {
namespace {

struct library {
  decltype(&CLBlastSgemm) sgemm = nullptr;
  decltype(&CLBlastDgemm) dgemm = nullptr;
  decltype(&CLBlastSgemmStridedBatched) sgemm_batched = nullptr;
  decltype(&CLBlastDgemmStridedBatched) dgemm_batched = nullptr;
  bool loaded() const { return sgemm && dgemm && sgemm_batched && dgemm_batched; }
};

library load() {
  library l;
  void* handle = dlopen("libclblast.so.1", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    log(TUTTI_LOG_INFO, std::string("matmul: no CLBlast, using own kernels: ") + dlerror());
    return l;
  }
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
  };
  find(l.sgemm, "CLBlastSgemm");
  find(l.dgemm, "CLBlastDgemm");
  find(l.sgemm_batched, "CLBlastSgemmStridedBatched");
  find(l.dgemm_batched, "CLBlastDgemmStridedBatched");
  return l;
}

const library& clblast() {
  static const library loaded = load();
  return loaded;
}

// A row-major matrix, or the transpose of one.
struct matrix {
  cl_mem memory;
  size_t offset, leading, batch_stride;
  CLBlastTranspose transpose;
};

bool as_matrix(const tutti_view& v, matrix& m) {
  const int64_t rows = static_cast<int64_t>(v.extent[1]), cols = static_cast<int64_t>(v.extent[2]);
  m.memory = nullptr;
  m.offset = 0;
  m.batch_stride = static_cast<size_t>(v.stride[0]);
  if (v.stride[0] < 0) return false;
  if ((cols == 1 || v.stride[2] == 1) && (rows == 1 || v.stride[1] >= cols)) {
    m.transpose = CLBlastTransposeNo;
    m.leading = static_cast<size_t>(rows == 1 ? cols : v.stride[1]);
    return true;
  }
  if ((rows == 1 || v.stride[1] == 1) && (cols == 1 || v.stride[2] >= rows)) {
    m.transpose = CLBlastTransposeYes;
    m.leading = static_cast<size_t>(cols == 1 ? rows : v.stride[2]);
    return true;
  }
  return false;
}

struct product {
  matrix a, b, c;
  size_t m, n, k, batches;
  int32_t dtype;
};

CLBlastStatusCode run(const product& p, cl_command_queue queue, cl_event* event) {
  const library& l = clblast();
  const auto one = [&](auto gemm, auto alpha, size_t batch, cl_event* done) {
    return gemm(CLBlastLayoutRowMajor, p.a.transpose, p.b.transpose, p.m, p.n, p.k, alpha,
                p.a.memory, p.a.offset + batch * p.a.batch_stride, p.a.leading, p.b.memory,
                p.b.offset + batch * p.b.batch_stride, p.b.leading, alpha * 0, p.c.memory,
                p.c.offset + batch * p.c.batch_stride, p.c.leading, &queue, done);
  };
  const auto many = [&](auto gemm, auto alpha) {
    return gemm(CLBlastLayoutRowMajor, p.a.transpose, p.b.transpose, p.m, p.n, p.k, alpha,
                p.a.memory, p.a.offset, p.a.leading, p.a.batch_stride, p.b.memory, p.b.offset,
                p.b.leading, p.b.batch_stride, alpha * 0, p.c.memory, p.c.offset, p.c.leading,
                p.c.batch_stride, p.batches, &queue, event);
  };
  const bool f64 = p.dtype == TUTTI_F64;
  if (p.batches > 1 && p.a.batch_stride > 0 && p.b.batch_stride > 0) {
    return f64 ? many(l.dgemm_batched, 1.0) : many(l.sgemm_batched, 1.0f);
  }
  for (size_t batch = 0; batch < p.batches; ++batch) {
    cl_event* done = batch + 1 == p.batches ? event : nullptr;
    const auto code = f64 ? one(l.dgemm, 1.0, batch, done) : one(l.sgemm, 1.0f, batch, done);
    if (code != CLBlastSuccess) return code;
  }
  return CLBlastSuccess;
}

// Odd sizes use the padded path of every kernel; small integers make the result exact.
template <typename T>
bool known_answer(tutti_device& device, int32_t dtype) {
  constexpr size_t m = 65, n = 47, k = 33;
  std::vector<T> a(m * k), b(k * n), c(m * n);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<T>(static_cast<int>(i * 7 % 13) - 6);
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<T>(static_cast<int>(i * 5 % 11) - 5);
  cl_int code = CL_SUCCESS;
  const owned_queue queue(clCreateCommandQueue(device.context->get(), device.info->id, 0, &code));
  check(code, "clCreateCommandQueue");
  const auto buffer = [&](std::vector<T>& from) {
    owned_memory memory(clCreateBuffer(device.context->get(),
                                       CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                       from.size() * sizeof(T), from.data(), &code));
    check(code, "clCreateBuffer");
    return memory;
  };
  const owned_memory ma = buffer(a), mb = buffer(b), mc = buffer(c);
  const product p{{ma.get(), 0, k, 0, CLBlastTransposeNo},
                  {mb.get(), 0, n, 0, CLBlastTransposeNo},
                  {mc.get(), 0, n, 0, CLBlastTransposeNo},
                  m,
                  n,
                  k,
                  1,
                  dtype};
  if (run(p, queue.get(), nullptr) != CLBlastSuccess) return false;
  check(clEnqueueReadBuffer(queue.get(), mc.get(), CL_TRUE, 0, c.size() * sizeof(T), c.data(), 0,
                            nullptr, nullptr),
        "clEnqueueReadBuffer");
  for (size_t i = 0; i < m; ++i) {
    for (size_t j = 0; j < n; ++j) {
      T sum = 0;
      for (size_t x = 0; x < k; ++x) sum += a[i * k + x] * b[x * n + j];
      if (c[i * n + j] != sum) return false;
    }
  }
  return true;
}

enum class trust { unknown, good, bad };

std::mutex trust_mutex;

trust& trust_of(const device_info& info, int32_t dtype) {
  static auto* table = new std::map<std::pair<const device_info*, int32_t>, trust>;
  return table->emplace(std::pair(&info, dtype), trust::unknown).first->second;
}

bool trusted(tutti_device& device, int32_t dtype) {
  const std::lock_guard lock(trust_mutex);
  trust& state = trust_of(*device.info, dtype);
  if (state == trust::unknown) {
    const bool right = dtype == TUTTI_F64 ? known_answer<double>(device, dtype)
                                          : known_answer<float>(device, dtype);
    state = right ? trust::good : trust::bad;
    if (!right) {
      log(TUTTI_LOG_WARN, "matmul: CLBlast gets a known " + std::string(sdk::dtype_name(dtype)) +
                              " product wrong on " + device.info->name + ", using own kernels");
    }
  }
  return state == trust::good;
}

void switch_off(const device_info& info, int32_t dtype, int status) {
  const std::lock_guard lock(trust_mutex);
  trust_of(info, dtype) = trust::bad;
  log(TUTTI_LOG_WARN, "matmul: CLBlast failed with status " + std::to_string(status) + " on " +
                          info.name + ", using own kernels from now on");
}

bool wanted(const device_info& info, int32_t dtype) {
  if (dtype != TUTTI_F32 && dtype != TUTTI_F64) return false;
  return settings().clblast.value_or(info.properties.type == TUTTI_DEVICE_GPU);
}

// False if CLBlast cannot compute the product.
bool describe(tutti_device& device, const sdk::operator_call& call, product& p) {
  const tutti_view *out = call.views, *a = out + 1, *b = out + 2;
  p.dtype = out->dtype;
  p.batches = out->extent[0];
  p.m = out->extent[1];
  p.n = out->extent[2];
  p.k = a->extent[2];
  if (!wanted(*device.info, p.dtype) || !clblast().loaded()) return false;
  if (p.batches == 0 || p.m == 0 || p.n == 0 || p.k == 0) return false;
  if (!as_matrix(*a, p.a) || !as_matrix(*b, p.b) || !as_matrix(*out, p.c)) return false;
  return p.c.transpose == CLBlastTransposeNo && trusted(device, p.dtype);
}

}  // namespace

bool clblast_serves(tutti_device& device, const sdk::operator_call& call) {
  product p{};
  return describe(device, call, p);
}

bool clblast_matmul(tutti_stream& stream, const sdk::operator_call& call,
                    const sdk::operator_memory& memory, tutti_event** event) {
  tutti_device& device = *stream.device;
  product p{};
  if (!describe(device, call, p)) return false;  // another product has failed since
  matrix* const operands[] = {&p.c, &p.a, &p.b};
  for (size_t n = 0; n < 3; ++n) {
    operands[n]->memory = memory.operands[n].buffer->memory;
    operands[n]->offset = memory.operands[n].offset / sdk::dtype_size(p.dtype);
  }
  cl_event done = nullptr;
  const CLBlastStatusCode code = run(p, stream.queue, event != nullptr ? &done : nullptr);
  if (code != CLBlastSuccess) {
    switch_off(*device.info, p.dtype, code);
    return false;
  }
  if (event != nullptr) *event = hand_out(stream, done);
  return true;
}

}  // namespace tutti::opencl

#else

namespace tutti::opencl {

bool clblast_serves(tutti_device&, const sdk::operator_call&) { return false; }

bool clblast_matmul(tutti_stream&, const sdk::operator_call&, const sdk::operator_memory&,
                    tutti_event**) {
  return false;
}

}  // namespace tutti::opencl
#endif
