# SPDX-License-Identifier: Apache-2.0
# Energy and momentum are conserved, energy to the second order of the time step.
include(${CMAKE_CURRENT_LIST_DIR}/sample_checks.cmake)
run_sample(--bodies 33 --steps 100 --f64 --out ${OUT})
expect_between(-1e-3 1e-3 energy_drift)
expect_between(0 1e-14 end_momentum)
expect_between(-1 -0.0001 energy)
expect_files(tracks.svg)
run_sample(--bodies 2 --steps 200 --disc 0 --out ${OUT})
expect_between(0 1e-5 end_momentum)

expect_failure(2 "--bodies" --bodies 1)
expect_failure(2 "--time-step" --time-step nan)
expect_failure(2 "--softening" --softening 0)
expect_failure(1 "cannot make the folder" --out ${OUT}/file/below)
