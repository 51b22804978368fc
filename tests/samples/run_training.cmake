# SPDX-License-Identifier: Apache-2.0
# Runs PROGRAM, a sample that trains a classifier, with ARGUMENTS and results in OUT: it must reach ACCURACY,
# leave a report, tell its results as JSON, end where it would have ended when it is killed on the way and
# resumed, and meet bad input with one line and status 1 or 2. EXAMPLE: a file for `predict`.
# OTHER: another sample, which must not resume these runs.
include(${CMAKE_CURRENT_LIST_DIR}/expect.cmake)
file(REMOVE_RECURSE ${OUT})
file(MAKE_DIRECTORY ${OUT})
separate_arguments(ARGUMENTS)
set(ENV{TUTTI_DATA})

expect_success(text ${ARGUMENTS} --out ${OUT}/straight)
if(NOT text MATCHES "\ntest accuracy: ([0-9.]+)\n$")
  message(FATAL_ERROR "no accuracy in the last line")
elseif(CMAKE_MATCH_1 LESS ACCURACY)
  message(FATAL_ERROR "test accuracy ${CMAKE_MATCH_1} is below ${ACCURACY}")
endif()
foreach(file IN ITEMS report.html metrics.json weights.safetensors loss.svg accuracy.svg confusion.svg)
  if(NOT EXISTS ${OUT}/straight/${file})
    message(FATAL_ERROR "${file} was not written")
  endif()
endforeach()

# Killed while it trains, or before, or after: in the end the weights are the same.
execute_process(COMMAND ${PROGRAM} ${ARGUMENTS} --out ${OUT}/resumed TIMEOUT 0.7
  OUTPUT_VARIABLE first ERROR_QUIET RESULT_VARIABLE status)
message("killed: ${status}; resumed:")
expect_success(text ${ARGUMENTS} --out ${OUT}/resumed --resume --json)
string(JSON accuracy ERROR_VARIABLE problem GET "${text}" test_accuracy)
if(problem OR accuracy LESS ACCURACY)
  message(FATAL_ERROR "--json gave ${problem} ${text}")
endif()
file(SHA256 ${OUT}/straight/weights.safetensors straight)
file(SHA256 ${OUT}/resumed/weights.safetensors resumed)
if(NOT straight STREQUAL resumed)
  message(FATAL_ERROR "the resumed run ended with other weights")
endif()

execute_process(COMMAND ${OTHER} --out ${OUT}/straight --resume
  OUTPUT_QUIET ERROR_VARIABLE errors RESULT_VARIABLE status)
if(NOT status EQUAL 1 OR NOT errors MATCHES "the run there is of ${NAME}\n$")
  message(FATAL_ERROR "another program resumed: status ${status}, \"${errors}\"")
endif()

if(NAME MATCHES "mnist_perceptron|image_classifier")  # other pictures, in the same place
  string(REPEAT ",7" 783 pixels)
  foreach(first IN ITEMS 1 2)
    file(WRITE ${OUT}/mnist/mnist_train.csv "3,${first}${pixels}\n4,5${pixels}\n")
    file(WRITE ${OUT}/mnist/mnist_test.csv "3,0${pixels}\n")
    set(few --data ${OUT}/mnist --epochs 1 --batch 2 --out ${OUT}/few)
    if(first EQUAL 1)
      expect_success(text ${few})
    else()
      execute_process(COMMAND ${PROGRAM} ${few} --resume
        OUTPUT_QUIET ERROR_VARIABLE errors RESULT_VARIABLE status)
    endif()
  endforeach()
  if(NOT status EQUAL 1 OR NOT errors MATCHES "the run there has checksum of the pictures [0-9]+, this one [0-9]+\n$")
    message(FATAL_ERROR "other pictures resumed: status ${status}, \"${errors}\"")
  endif()
endif()

expect_failure(2 "epochs" --epochs 0)
expect_failure(1 "nowhere" --device nowhere --out ${OUT}/bad)
expect_failure(1 "missing" --data ${OUT}/missing --out ${OUT}/bad)
file(WRITE ${OUT}/file "no folder")
expect_failure(1 "file" ${ARGUMENTS} --out ${OUT}/file)
if(EXAMPLE)
  expect_success(text predict ${EXAMPLE} --out ${OUT}/straight)
  if(NOT text MATCHES ": [0-9] [01]\\.[0-9][0-9] \\(")
    message(FATAL_ERROR "predict said ${text}")
  endif()
  expect_failure(2 "--epochs=3" predict ${EXAMPLE} --epochs=3)
  expect_failure(2 "--epochs: has no effect with predict" --epochs 3 predict ${EXAMPLE})
  expect_failure(1 "weights" predict ${EXAMPLE} --out ${OUT}/missing)
  expect_failure(1 "no_file" predict ${OUT}/no_file --out ${OUT}/straight)
  execute_process(COMMAND ${PROGRAM} predict ${OUT}/file ${EXAMPLE} --out ${OUT}/straight
    OUTPUT_VARIABLE text ERROR_VARIABLE errors RESULT_VARIABLE status)
  if(NOT status EQUAL 1 OR NOT text MATCHES "^${EXAMPLE}: [0-9] " OR NOT errors MATCHES "^${NAME}: [^\n]*file[^\n]*\n$")
    message(FATAL_ERROR "predict after a bad file: status ${status}, \"${text}\", \"${errors}\"")
  endif()
endif()
