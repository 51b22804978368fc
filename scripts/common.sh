# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by the other scripts: the repository root, headings, configuring and building a preset, and the list
# of files for clang-format.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1

heading() { printf '\n== %s\n' "$*"; }

fail() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# The compiler cache is shared by clones of the same tree: paths below the root are relative to it, and
# neither the folder nor the time of a header matters. It compares the bytes of all headers, not preprocessed
# text: preprocessed text does not change with comments, but a precompiled header of the old bytes makes the
# compiler read the header again.
export CCACHE_BASEDIR="$root" CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1
export CCACHE_SLOPPINESS=pch_defines,time_macros

# All instruction sets of the host engine, and the one to which builds for this machine are restricted.
all_host_sets="baseline;avx2;avx512"
own_host_set() {
  if grep -qw avx2 /proc/cpuinfo && grep -qw fma /proc/cpuinfo; then echo avx2; else echo baseline; fi
}

# configure PRESET [OPTION...]: prints the log only in case of an error. A new build folder compiles units of
# several files and only for the instruction set of this machine, which takes half of the time; an existing
# folder keeps its settings.
configure() {
  local preset=$1
  shift
  local launcher=()
  if command -v ccache >/dev/null; then
    launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache)
  fi
  local new=()
  if [ ! -e "build/$preset/CMakeCache.txt" ]; then
    new=(-DTUTTI_UNITS=ON "-DTUTTI_HOST_SETS=$(own_host_set)")
  fi
  mkdir -p "build/$preset"
  local log="build/$preset/configure.log"
  if ! cmake --preset "$preset" "${launcher[@]}" "${new[@]}" "$@" >"$log" 2>&1; then
    cat "$log" >&2
    return 1
  fi
}

# build PRESET [TARGET...]
build() {
  local preset=$1
  shift
  local targets=()
  if [ $# -gt 0 ]; then targets=(--target "$@"); fi
  cmake --build --preset "$preset" --parallel "$(nproc)" "${targets[@]}"
}

# The C, C++, CUDA and OpenCL files of this tree, tracked or new, except rendered ones.
formatted_files() {
  git ls-files --cached --others --exclude-standard -- \
    '*.c' '*.h' '*.cpp' '*.hpp' '*.cl' '*.cu' | while read -r file; do
    if [ -f "$file" ]; then echo "$file"; fi
  done
}

# The version of Debian 12; other versions format some lines differently.
find_clang_format() {
  command -v clang-format-14 || command -v clang-format || fail "clang-format is not installed"
}
