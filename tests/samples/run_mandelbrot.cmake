# SPDX-License-Identifier: Apache-2.0
# Known points, the mirror image below the real axis, and the area of the set.
include(${CMAKE_CURRENT_LIST_DIR}/sample_checks.cmake)
run_sample(--columns 140 --rows 120 --iterations 200 --out ${OUT})
expect_between(0 0 wrong_points)
expect_between(0 0 not_symmetric)
expect_between(1.45 1.6 area)
expect_files(mandelbrot.png)
run_sample(--columns 33 --rows 21 --iterations 50 --x -0.2 --y 0 --width 0.2 --f64 --out ${OUT})
expect_between(1 1 inside)         # within the cardioid
run_sample(--columns 1 --rows 1 --iterations 1 --x 5 --y 5 --out ${OUT})
expect_between(0 0 wrong_points)

expect_failure(2 "--width" --width 0)
expect_failure(2 "--x" --x nan)
expect_failure(2 "--rows" --rows 0)
expect_failure(2 "--iterations" --iterations -3)
expect_failure(1 "cannot make the folder" --out ${OUT}/file/below)
