# SPDX-License-Identifier: Apache-2.0
# Formulas, gradients and simulation of options agree, and the simulation does not depend on chunks.
include(${CMAKE_CURRENT_LIST_DIR}/sample_checks.cmake)
set(small --paths 200000 --out ${OUT})
run_sample(${small})
expect_between(0 1e-12 gradient_error)
expect_between(0.01 5 sigmas)
expect_between(7.12 7.14 values 0)    # the call, by hand: 7.1281
expect_between(9.01 9.04 values 20)   # the put: 9.0249
expect_between(0.001 0.05 values 3)
expect_files(convergence.svg)
value_of(alone values)
run_sample(${small} --parallel)
value_of(together values)
if(NOT alone STREQUAL together)
  message(FATAL_ERROR "alone ${alone}, with --parallel ${together}")
endif()
run_sample(${small} --spot 50 --strike 40 --volatility 0.5 --rate -0.01 --years 2)
expect_between(0 1e-12 gradient_error)
expect_between(0.01 5 sigmas)

expect_failure(2 "--volatility" --volatility nan)
expect_failure(2 "--spot" --spot -1)
expect_failure(2 "--years" --years 0)
expect_failure(2 "--paths" --paths many)
expect_failure(2 "--parallel" --parallel --device reference)
expect_failure(1 "cannot make the folder" --out ${OUT}/file/below)
