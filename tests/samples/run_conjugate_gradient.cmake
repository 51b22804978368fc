# SPDX-License-Identifier: Apache-2.0
# The solution is right to the second order of the mesh width; the preconditioner saves iterations.
include(${CMAKE_CURRENT_LIST_DIR}/sample_checks.cmake)
run_sample(--points 15 --out ${OUT})
expect_between(1.95 2.05 order)
expect_between(1e-9 1e-3 error)
value_of(with iterations)
value_of(without plain_iterations)
if(NOT with LESS without)
  message(FATAL_ERROR "${with} iterations with a preconditioner, ${without} without")
endif()
expect_files(residuals.svg)
run_sample(--points 7 --preconditioner jacobi --out ${OUT})
expect_between(1.9 2.1 order)

expect_failure(2 "--points" --points 1)
expect_failure(2 "--preconditioner" --preconditioner other)
expect_failure(2 "--tolerance" --tolerance nan)
expect_failure(1 "cannot make the folder" --out ${OUT}/file/below)
