# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by the other scripts: the repository root, a heading, configuring and building a preset,
# and the list of files that clang-format looks after.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1

heading() { printf '\n== %s\n' "$*"; }

fail() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# The compiler's cache serves another clone of the same tree: paths below the root count as relative
# to it, and neither the folder nor the age of a header matters.
export CCACHE_BASEDIR="$root" CCACHE_NOHASHDIR=1
export CCACHE_SLOPPINESS=pch_defines,time_macros

# configure PRESET [OPTION...]: quiet where all is well, the whole log where not. In a folder
# that is built from nothing the library is compiled in units of several files, which takes half of
# the time; one in which somebody works stays as it is.
configure() {
  local preset=$1
  shift
  local launcher=()
  if command -v ccache >/dev/null; then
    launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache)
  fi
  local units=()
  if [ ! -e "build/$preset/CMakeCache.txt" ]; then units=(-DTUTTI_UNITS=ON); fi
  mkdir -p "build/$preset"
  local log="build/$preset/configure.log"
  if ! cmake --preset "$preset" "${launcher[@]}" "${units[@]}" "$@" >"$log" 2>&1; then
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

# The C, C++, CUDA and OpenCL files of this tree, tracked or new, but for rendered ones.
formatted_files() {
  git ls-files --cached --others --exclude-standard -- \
    '*.c' '*.h' '*.cpp' '*.hpp' '*.cl' '*.cu' ':!tests/cuda/golden' | while read -r file; do
    if [ -f "$file" ]; then echo "$file"; fi
  done
}

# Debian 12's version; another one lays out some lines differently.
find_clang_format() {
  command -v clang-format-14 || command -v clang-format || fail "clang-format is not installed"
}
