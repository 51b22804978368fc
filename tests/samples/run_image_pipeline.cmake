# SPDX-License-Identifier: Apache-2.0
# Runs PROGRAM, the image pipeline, on one device and on several of which one fails (with LAUNCHER on several
# ranks instead), with results in OUT:
# the same bytes, every picture once, and shapes that are told apart. Features of GPUs may differ from those
# of CPUs in the last bit, and so in what is rounded.
include(${CMAKE_CURRENT_LIST_DIR}/expect.cmake)
file(REMOVE_RECURSE ${OUT})
set(files contact.png edges.png)
if(NOT "$ENV{TUTTI_DEVICE}" MATCHES "cuda|gpu")
  list(APPEND files hog.png answers.csv)
endif()

expect_success(alone --count 160 --out ${OUT}/alone)
if(NOT alone MATCHES "accuracy on 40 pictures: ([01]\\.[0-9]+)\n$" OR CMAKE_MATCH_1 LESS 0.9)
  message(FATAL_ERROR "accuracy below 0.9, or none")
endif()

# expect_equal(RUN): the files of this run have the same bytes.
function(expect_equal run)
  foreach(file IN LISTS files)
    file(SHA256 ${OUT}/alone/${file} one)
    file(SHA256 ${OUT}/${run}/${file} other)
    if(NOT one STREQUAL other)
      message(FATAL_ERROR "${file} differs")
    endif()
  endforeach()
endfunction()

if(LAUNCHER)
  separate_arguments(PROGRAM UNIX_COMMAND "${LAUNCHER} ${PROGRAM}")
  expect_success(ranks --count 160 --parallel --out ${OUT}/ranks)
  if(NOT ranks MATCHES "rank 1 [^\n]*\n160 items in ")
    message(FATAL_ERROR "rank 1 is not in the report")
  endif()
  expect_equal(ranks)
  return()
endif()

set(device $ENV{TUTTI_DEVICE})
string(REGEX REPLACE ":.*" "" first ${device})
string(APPEND first ":0")
set(ENV{TUTTI_HOST_DEVICES} 3)
set(ENV{TUTTI_DEVICE} ${device},reference:1,reference:2)
expect_success(several --count 160 --parallel --fail ${first} --out ${OUT}/several)
if(NOT several MATCHES "${first}[^\n]*told to fail" OR NOT several MATCHES "160 items in ")
  message(FATAL_ERROR "no device failed, or not all pictures were worked on")
endif()
expect_equal(several)
set(ENV{TUTTI_LOG} error) # that it is taken out is another line
expect_failure(1 "told to fail" --count 160 --device reference:2 --fail reference:2 --out ${OUT}/bad)

# Pictures of a folder without classes: features, and no answers.
set(ENV{TUTTI_DEVICE} ${device})
file(COPY ${OUT}/alone/contact.png ${OUT}/alone/edges.png ${OUT}/alone/hog.png DESTINATION ${OUT}/flat)
expect_success(flat ${OUT}/flat --out ${OUT}/of-flat)
if(flat MATCHES "accuracy" OR NOT EXISTS ${OUT}/of-flat/hog.png)
  message(FATAL_ERROR "a folder without classes: \"${flat}\"")
endif()

file(WRITE ${OUT}/broken/a.png "no picture")
file(WRITE ${OUT}/empty/a.txt "")
expect_failure(2 "--size" --size 8)
expect_failure(1 "opencl:77 takes no part" --fail opencl:77 --out ${OUT}/bad)
expect_failure(2 "--parallel" --parallel --device reference)
expect_failure(1 "a.png" ${OUT}/broken --out ${OUT}/bad)
expect_failure(1 "has no files that end in" ${OUT}/empty --out ${OUT}/bad)
expect_failure(1 "absent: cannot be read" ${OUT}/absent --out ${OUT}/bad)
expect_failure(1 "cannot make the folder" --out ${OUT}/empty/a.txt/below)
