# SPDX-License-Identifier: Apache-2.0
# Tests: tutti_add_test builds a Boost.Test program and registers it, tutti_add_test_program only builds one,
# tutti_register_device_tests runs a program once per plugin of this build and per schedule, tutti_test_paths
# passes paths to a program. Labels: host (no device), the plugin's name, and plain_build (only in builds
# without sanitizers).

# Test code is compiled much more often than it runs, so it is not optimised; the library is compiled as
# usual. Except with TUTTI_TEST_EVERYTHING test code is not instrumented for the address sanitizer either, so
# that the commands are the same in all presets, which share the compiler cache. The thread sanitizer needs
# both sides.
add_library(tutti_test_options INTERFACE)
if(TUTTI_SANITIZE AND (TUTTI_TEST_EVERYTHING OR TUTTI_SANITIZE MATCHES "thread"))
  target_link_libraries(tutti_test_options INTERFACE tutti_options)
  set(flags "-O0 -g1")
else()
  target_link_libraries(tutti_test_options INTERFACE tutti_warnings $<LINK_ONLY:tutti_options>)
  set(flags "-O0")
endif()
if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  string(TOUPPER "${CMAKE_BUILD_TYPE}" config)
  set(CMAKE_CXX_FLAGS_${config} "${flags} -DNDEBUG")
  set(CMAKE_C_FLAGS_${config} "${flags} -DNDEBUG")
endif()

set(TUTTI_TEST_CACHE_DIR ${PROJECT_BINARY_DIR}/test-cache)
file(MAKE_DIRECTORY ${TUTTI_TEST_CACHE_DIR})
set(TUTTI_TEST_SUPPRESSIONS ${PROJECT_SOURCE_DIR}/tests/support)

# Features are tested where no kernel is compiled: on the plugins reference and cpu. `tutti verify` and a few
# whole programs (BACKENDS below) compile kernels, and with TUTTI_TEST_EVERYTHING all tests do.
# The environment of each test, independent of the caller's shell.
set(TUTTI_TEST_ENVIRONMENT
  POCL_AFFINITY=unset:
  POCL_CACHE_DIR=set:${TUTTI_TEST_CACHE_DIR}/pocl
  POCL_EXTRA_BUILD_FLAGS=unset:
  OCL_ICD_VENDORS=unset:
  TUTTI_CACHE_MB=set:0
  TUTTI_CACHE_DIR=set:${TUTTI_TEST_CACHE_DIR}/tutti
  TUTTI_PLUGIN_PATH=set:${TUTTI_PLUGIN_OUTPUT_DIRECTORY}
  TUTTI_PLUGIN_TRUST=unset:
  TUTTI_DEVICE=unset:
  TUTTI_FALLBACK=unset:
  TUTTI_HOST_DEVICES=unset:
  TUTTI_LOG=unset:
  TUTTI_PROOF=set:off
  TUTTI_COMM=unset:
  TUTTI_OPENCL_SCHEDULE=unset:
  POCL_DEVICES=unset:
  TUTTI_TIMEOUT=unset:
  TUTTI_TRANSFER=unset:
  TUTTI_TRACE=unset:
  ASAN_OPTIONS=set:suppressions=${TUTTI_TEST_SUPPRESSIONS}/asan.supp
  LSAN_OPTIONS=set:suppressions=${TUTTI_TEST_SUPPRESSIONS}/lsan.supp:print_suppressions=0
  UBSAN_OPTIONS=set:suppressions=${TUTTI_TEST_SUPPRESSIONS}/ubsan.supp:print_stacktrace=1
  # A test with hundreds of processes: waiting one second at the end of each for remaining threads, which is
  # the default, would take minutes.
  TSAN_OPTIONS=set:suppressions=${TUTTI_TEST_SUPPRESSIONS}/tsan.supp:halt_on_error=1:atexit_sleep_ms=100)

# The environment of tests with ranks; test machines may be busy for a long time.
set(TUTTI_TEST_MPI TUTTI_TIMEOUT=set:60
  OMPI_ALLOW_RUN_AS_ROOT=set:1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=set:1)

# The GPU schedule on a CPU. No user runs it on a CPU, so PoCL does not optimise it, except with
# TUTTI_TEST_EVERYTHING: this takes 0.4 of the time of tests that mostly compile.
set(TUTTI_TEST_GPU_SCHEDULE TUTTI_OPENCL_SCHEDULE=set:gpu)
set(TUTTI_TEST_NOT_OPTIMIZED "")
if(NOT TUTTI_TEST_EVERYTHING)
  set(TUTTI_TEST_NOT_OPTIMIZED POCL_EXTRA_BUILD_FLAGS=set:-cl-opt-disable)
endif()

# tutti_set_test(NAME [WAITS] [TIMEOUT seconds] [COST seconds] [LABELS label...]
#                [ENVIRONMENT variable=op:value...])
# COST is the approximate run time: long tests start first, so that none of them runs alone at the end. WAITS
# is for tests of time limits: they run one at a time and first, beside tests that compute (scripts/test runs
# one test more than there are processors).
function(tutti_set_test name)
  cmake_parse_arguments(arg "WAITS" "TIMEOUT;COST" "LABELS;ENVIRONMENT" ${ARGN})
  if(arg_WAITS)
    set(arg_COST 1000)
    set_tests_properties(${name} PROPERTIES RESOURCE_LOCK limits_of_time)
  endif()
  set(environment ${TUTTI_TEST_ENVIRONMENT})
  # ctest applies the last change of a variable.
  list(APPEND environment ${arg_ENVIRONMENT})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  set_tests_properties(${name} PROPERTIES
    ENVIRONMENT_MODIFICATION "${environment}"
    LABELS "${arg_LABELS}"
    TIMEOUT ${arg_TIMEOUT})
  if(arg_COST)
    set_tests_properties(${name} PROPERTIES COST ${arg_COST})
  endif()
endfunction()

# The environment of tests of the cuda plugin on tests/cuda/emulator; empty if it is not built. Its address
# ranges conflict with those of ThreadSanitizer.
set(TUTTI_TEST_CUDA_EMULATOR "")
find_package(Boost 1.74 QUIET COMPONENTS context)
if(TARGET tutti_cuda AND Boost_CONTEXT_FOUND AND NOT TUTTI_SANITIZE MATCHES "thread")
  set(TUTTI_TEST_CUDA_EMULATOR TUTTI_DEVICE=set:cuda
    TUTTI_CUDA_LIBRARIES=set:${PROJECT_BINARY_DIR}/tests/cuda/emulator/libraries
    TUTTI_EMULATOR_CACHE=set:${TUTTI_TEST_CACHE_DIR}/cuda_emulator)
elseif(TARGET tutti_cuda)
  message(STATUS "CUDA kernels are not run in tests: no Boost.Context, or a sanitizer of threads")
endif()
# The OpenCL driver that scripts/bootstrap --second-driver installs; tests with it use no other.
set(TUTTI_SECOND_DRIVER ${PROJECT_SOURCE_DIR}/build/second-driver/vendors)

# tutti_add_variant(NAME VARIANT PLUGIN [COMPUTES] [PASS regex] [TIMEOUT seconds] [COST seconds]
#                   [LABELS label...] [ENVIRONMENT variable=op:value...] COMMAND program argument...)
# adds the test NAME.VARIANT on a plugin. @VARIANT@ in COMMAND and @DEVICE@ in ENVIRONMENT stand for the
# variant and for what TUTTI_DEVICE is set to. COMPUTES: see tutti_register_device_tests.
function(tutti_add_variant name variant plugin)
  cmake_parse_arguments(arg "COMPUTES" "PASS;TIMEOUT;COST" "LABELS;ENVIRONMENT;COMMAND" ${ARGN})
  set(label ${plugin})
  set(device ${plugin})
  set(environment "")
  if(plugin STREQUAL "opencl")
    set(device opencl:cpu)
  endif()
  list(APPEND environment TUTTI_DEVICE=set:${device})
  if(variant MATCHES "^second_driver")
    list(APPEND environment OCL_ICD_VENDORS=set:${TUTTI_SECOND_DRIVER}
      TUTTI_TEST_SKIP_WITHOUT_DRIVER=set:1)
  elseif(variant STREQUAL "cuda_emulator")
    list(APPEND environment ${TUTTI_TEST_CUDA_EMULATOR})
    set(arg_TIMEOUT 3000)
  elseif(NOT plugin MATCHES "^(cpu|reference|opencl)$")
    list(APPEND environment TUTTI_TEST_SKIP_WITHOUT_DRIVER=set:1)
  endif()
  if(variant MATCHES "gpu_schedule")
    list(APPEND environment ${TUTTI_TEST_GPU_SCHEDULE})
    if(NOT arg_COMPUTES)
      list(APPEND environment ${TUTTI_TEST_NOT_OPTIMIZED})
    endif()
  endif()
  string(REPLACE "@VARIANT@" "${variant}" command "${arg_COMMAND}")
  string(REPLACE "@DEVICE@" "${device}" more "${arg_ENVIRONMENT}")
  add_test(NAME ${name}.${variant} COMMAND ${command})
  tutti_set_test(${name}.${variant} TIMEOUT ${arg_TIMEOUT} COST ${arg_COST}
    LABELS ${label} ${arg_LABELS} ENVIRONMENT ${environment} ${more})
  set_tests_properties(${name}.${variant} PROPERTIES SKIP_RETURN_CODE 77)
  if(arg_PASS)
    set_tests_properties(${name}.${variant} PROPERTIES PASS_REGULAR_EXPRESSION "${arg_PASS}")
  endif()
  if(NOT plugin MATCHES "^(cpu|reference|opencl)$" OR variant MATCHES "^second_driver")
    # Samples have no exit status for this, and print a message as any program.
    set_tests_properties(${name}.${variant} PROPERTIES
      SKIP_REGULAR_EXPRESSION "no [A-Za-z]+ driver|no OpenCL device: 0 platforms")
  endif()
endfunction()

# tutti_register_device_tests(NAME [BACKENDS] [COMPUTES] [PASS regex] [TIMEOUT seconds] [COST seconds]
#                             [LABELS label...] [ENVIRONMENT variable=op:value...]
#                             COMMAND program argument...)
# adds NAME.reference, NAME.cpu, and NAME.PLUGIN for any other plugin that was built but opencl, skipped
# (exit status 77) on a machine without its driver. With BACKENDS, for whole programs, also on PoCL
# NAME.opencl_cpu, NAME.opencl_gpu_schedule, NAME.second_driver and NAME.second_driver_gpu_schedule, and
# NAME.cuda_emulator (tests/cuda/emulator).
# With TUTTI_TEST_EVERYTHING those of PoCL and of the emulator come for every test; the OpenCL plugin
# then keeps what it compiles, and NAME.VARIANT_warm runs after NAME.VARIANT with that.
# @PLUGIN_FILE@ in COMMAND stands for the path of the plugin, @VARIANT@ for that part of the name, and
# @DEVICE@ in ENVIRONMENT for what TUTTI_DEVICE is set to. COMPUTES is for tests that compute longer
# than drivers compile for them: their kernels are always optimised.
function(tutti_register_device_tests name)
  cmake_parse_arguments(arg "BACKENDS;COMPUTES" "PASS;TIMEOUT;COST" "LABELS;ENVIRONMENT;COMMAND" ${ARGN})
  set(arguments PASS ${arg_PASS} TIMEOUT ${arg_TIMEOUT} COST ${arg_COST} LABELS ${arg_LABELS})
  if(arg_COMPUTES)
    list(PREPEND arguments COMPUTES)
  endif()
  get_property(plugins GLOBAL PROPERTY TUTTI_PLUGINS)
  foreach(plugin IN LISTS plugins)
    set(variants ${plugin})
    set(compiling "")
    if(plugin STREQUAL "opencl")
      set(variants "")
      set(compiling opencl_cpu opencl_gpu_schedule)
      if(arg_BACKENDS AND NOT TUTTI_SANITIZE)
        list(APPEND variants second_driver second_driver_gpu_schedule)
      endif()
    elseif(plugin STREQUAL "cuda" AND TUTTI_TEST_CUDA_EMULATOR)
      set(compiling cuda_emulator)
    endif()
    if(arg_BACKENDS OR TUTTI_TEST_EVERYTHING)
      list(APPEND variants ${compiling})
    endif()
    string(REPLACE "@PLUGIN_FILE@" "$<TARGET_FILE:tutti_${plugin}>" command "${arg_COMMAND}")
    foreach(variant IN LISTS variants)
      set(environment ${arg_ENVIRONMENT})
      if(TUTTI_TEST_EVERYTHING AND variant MATCHES "^opencl_(cpu|gpu_schedule)$")
        list(APPEND environment TUTTI_CACHE_MB=set:512)
        tutti_add_variant(${name} ${variant}_warm ${plugin} ${arguments}
          ENVIRONMENT ${environment} COMMAND ${command})
        set_tests_properties(${name}.${variant}_warm PROPERTIES DEPENDS ${name}.${variant})
      endif()
      tutti_add_variant(${name} ${variant} ${plugin} ${arguments}
        ENVIRONMENT ${environment} COMMAND ${command})
    endforeach()
  endforeach()
endfunction()

# tutti_test_paths(TARGET NAME path [NAME path...]): tutti_test::paths::NAME in that program, or in
# those that link an INTERFACE target. The names stand in tutti_test/paths.hpp.
function(tutti_test_paths target)
  set(definitions "")
  set(rest ${ARGN})
  while(rest)
    list(POP_FRONT rest name path)
    string(APPEND definitions "const char* const ${name} = \"${path}\";\n")
  endwhile()
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${target}_paths.cpp)
  file(GENERATE OUTPUT ${source} CONTENT "// Generated. See tutti_test_paths.
#include \"tutti_test/paths.hpp\"
namespace tutti_test::paths {
${definitions}}  // namespace tutti_test::paths
")
  set(scope PRIVATE)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL INTERFACE_LIBRARY)
    set(scope INTERFACE)
  endif()
  set_source_files_properties(${source} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  target_sources(${target} ${scope} ${source})
  target_include_directories(${target} ${scope} ${PROJECT_SOURCE_DIR}/tests/support)
endfunction()

# tutti_add_test_program(TARGET [DEVICE] SOURCES file... [LIBRARIES target...]) builds a program of
# Boost.Test cases; with DEVICE it links the library and prints the device it runs on.
function(tutti_add_test_program target)
  cmake_parse_arguments(arg "DEVICE" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE tutti_test_options ${arg_LIBRARIES})
  if(arg_DEVICE)
    target_link_libraries(${target} PRIVATE tutti_test_device_main Tutti::tutti)
  else()
    target_link_libraries(${target} PRIVATE tutti_test_main)
  endif()
  list(LENGTH arg_SOURCES count)
  if(TUTTI_UNITS AND count GREATER 1)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6)
  endif()
  # All share one precompiled header, because their flags are the same.
  if(NOT target STREQUAL "test_support")
    target_precompile_headers(${target} REUSE_FROM test_support)
  endif()
endfunction()

# tutti_add_test(NAME [DEVICE [BACKENDS] [COMPUTES]]
#                SOURCES file... [LIBRARIES target...] [LABELS label...] [TIMEOUT seconds] [COST seconds])
# builds test_NAME. With DEVICE it links the library, prints the device it runs on and is registered
# by tutti_register_device_tests; without, it is registered once as NAME.
function(tutti_add_test name)
  cmake_parse_arguments(arg "DEVICE;BACKENDS;COMPUTES" "TIMEOUT;COST" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "tutti_add_test(${name}): no SOURCES")
  endif()
  set(device "")
  if(arg_DEVICE)
    set(device DEVICE)
  endif()
  tutti_add_test_program(test_${name} ${device} SOURCES ${arg_SOURCES} LIBRARIES ${arg_LIBRARIES})
  get_property(plugins GLOBAL PROPERTY TUTTI_PLUGINS)
  if(arg_DEVICE)
    foreach(plugin IN LISTS plugins)
      add_dependencies(test_${name} tutti_${plugin})
    endforeach()
    set(flags "")
    foreach(flag IN ITEMS BACKENDS COMPUTES)
      if(arg_${flag})
        list(APPEND flags ${flag})
      endif()
    endforeach()
    tutti_register_device_tests(${name} ${flags} TIMEOUT ${arg_TIMEOUT} COST ${arg_COST} LABELS ${arg_LABELS}
      COMMAND test_${name})
  else()
    add_test(NAME ${name} COMMAND test_${name})
    tutti_set_test(${name} TIMEOUT ${arg_TIMEOUT} COST ${arg_COST} LABELS host ${arg_LABELS})
  endif()
endfunction()

# tutti_add_gradient_test(NAME [LIBRARIES target...]) builds test_NAME_gradients from gradients_test.cpp, which holds
# gradients against central differences: formulas over other operations, whatever the device, for
# which drivers would compile for minutes.
function(tutti_add_gradient_test name)
  cmake_parse_arguments(arg "" "" "LIBRARIES" ${ARGN})
  tutti_add_test(${name}_gradients SOURCES gradients_test.cpp
    LIBRARIES Tutti::tutti ${arg_LIBRARIES})
  target_include_directories(test_${name}_gradients PRIVATE ${PROJECT_SOURCE_DIR}/tests/grad)
  add_dependencies(test_${name}_gradients tutti_reference)
  tutti_set_test(${name}_gradients LABELS reference ENVIRONMENT TUTTI_DEVICE=set:reference)
endfunction()

# tutti_add_composition_test(NAME SOURCES file... [LIBRARIES target...]
#                            [ENVIRONMENT variable=op:value...]) builds
# test_NAME for compositions of operations, whose kernels others compile: NAME.reference on plain
# loops, NAME.cpu with that ENVIRONMENT, and no more with TUTTI_TEST_EVERYTHING.
function(tutti_add_composition_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES;ENVIRONMENT" ${ARGN})
  tutti_add_test_program(test_${name} DEVICE SOURCES ${arg_SOURCES} LIBRARIES ${arg_LIBRARIES})
  add_dependencies(test_${name} tutti_reference tutti_cpu)
  tutti_add_variant(${name} reference reference COMMAND test_${name})
  tutti_add_variant(${name} cpu cpu COMMAND test_${name} ENVIRONMENT ${arg_ENVIRONMENT})
endfunction()
