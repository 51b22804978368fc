# SPDX-License-Identifier: Apache-2.0
# Every job runs on the device and agrees with the reference.
include(${CMAKE_CURRENT_LIST_DIR}/sample_checks.cmake)
run_sample(--size 3 --seconds 0)
expect_between(0 1e-5 largest_difference)
string(REGEX REPLACE ":.*" "" backend "$ENV{TUTTI_DEVICE}")
foreach(job IN ITEMS product elementwise reduction convolution sort)
  expect_between(0 60 "${job} ${backend}:0" 0)
  expect_between(0 60 "${job} ${backend}:0" 1)
endforeach()
expect_between(0 0 "sort ${backend}:0" 2)
run_sample(--size 1 --seconds 0 --device reference)
expect_between(0 0 largest_difference)

expect_failure(2 "--size" --size 0)
expect_failure(2 "--seconds" --seconds nan)
