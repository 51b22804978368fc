// SPDX-License-Identifier: Apache-2.0
//
// The library is loaded once and never unloaded: its threads do not survive an unload.
#include "sdk/host_engine/lapack.hpp"

#include <dlfcn.h>

#include <string>

#include "sdk/device_layer/host.hpp"

namespace tutti::sdk {
namespace {

class finder {
 public:
  explicit finder(void* library) : library_(library) {}

  template <typename F>
  void get(F*& function, const std::string& name) {
    function = reinterpret_cast<F*>(dlsym(library_, name.c_str()));
    complete_ = complete_ && function != nullptr;
  }
  bool is_complete() const { return complete_; }

 private:
  void* library_;
  bool complete_ = true;
};

template <typename T>
void get_routines(finder& in, lapack_routines<T>& to, const std::string& prefix) {
  constexpr bool is_complex = sizeof(typename real_of<T>::type) < sizeof(T);
  in.get(to.potrf, prefix + "potrf_");
  in.get(to.trsm, prefix + "trsm_");
  in.get(to.getrf, prefix + "getrf_");
  in.get(to.geqrf, prefix + "geqrf_");
  in.get(to.orgqr, prefix + (is_complex ? "ungqr_" : "orgqr_"));
  if constexpr (is_complex) {
    in.get(to.heevd, prefix + "heevd_");
    in.get(to.gesdd_complex, prefix + "gesdd_");
    in.get(to.geev_complex, prefix + "geev_");
  } else {
    in.get(to.syevd, prefix + "syevd_");
    in.get(to.gesdd, prefix + "gesdd_");
    in.get(to.geev, prefix + "geev_");
  }
}

const lapack* load() {
  for (const char* name : {"libopenblas.so.0", "liblapack.so.3"}) {
    void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    auto* found = new lapack{};
    finder in(library);
    get_routines(in, std::get<0>(found->routines), "s");
    get_routines(in, std::get<1>(found->routines), "d");
    get_routines(in, std::get<2>(found->routines), "c");
    get_routines(in, std::get<3>(found->routines), "z");
    if (in.is_complete()) {
      finder own(library);
      own.get(found->get_threads, "openblas_get_num_threads");
      own.get(found->set_threads, "openblas_set_num_threads");
      log(TUTTI_LOG_DEBUG, std::string("linear algebra by ") + name);
      return found;
    }
    delete found;
    dlclose(library);
  }
  return nullptr;
}

}  // namespace

const lapack* find_lapack() {
  static const lapack* const found = load();
  return found;
}

}  // namespace tutti::sdk
