# SPDX-License-Identifier: Apache-2.0
# Heat is conserved; a mode decays as the difference equation says, and as the heat equation says to
# the second order in the width of a cell.
include(${CMAKE_CURRENT_LIST_DIR}/sample_checks.cmake)
# The error to the heat equation is 0.2303 (pi / cells)^2 here, by the next terms of both decays.
foreach(cells_and_bounds IN ITEMS "16 0.0086 0.0092" "32 0.00218 0.00226")
  separate_arguments(cells_and_bounds)
  list(GET cells_and_bounds 0 cells)
  list(SUBLIST cells_and_bounds 1 2 bounds)
  math(EXPR steps "${cells} * ${cells} / 2")  # the same time for both
  run_sample(--cells ${cells} --steps ${steps} --f64 --out ${OUT})
  expect_between(0 1e-12 heat_drift)
  expect_between(0 1e-11 discrete_error)
  expect_between(${bounds} continuous_error)
  expect_between(0.13 0.15 decay)
endforeach()
expect_files(start.png end.png)
run_sample(--cells 33 --steps 100 --out ${OUT})
expect_between(0 1e-5 heat_drift)
expect_between(0 1e-4 discrete_error)
expect_failure(1 "unstable" --time-step 1)
expect_failure(2 "--time-step" --time-step nan)
expect_failure(2 "--cells" --cells 1)
expect_failure(2 "--diffusivity" --diffusivity 0)
expect_failure(1 "cannot make the folder" --out ${OUT}/file/below)
