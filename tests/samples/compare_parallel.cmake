# SPDX-License-Identifier: Apache-2.0
# Runs PROGRAM, a sample that trains a network, with ARGUMENTS on the first device of TUTTI_DEVICE and on
# all of them, in FOLDER: losses and accuracies of each epoch must agree within rounding, one of the TEST
# items more or less. With LAUNCHER, which starts ranks, all devices are those of all of them; ABSENT
# names a result that they must not write.
get_filename_component(NAME ${PROGRAM} NAME)
separate_arguments(ARGUMENTS)
string(REGEX REPLACE "[^a-z0-9]" "_" out "${NAME}-parallel-$ENV{TUTTI_DEVICE}")
if(LAUNCHER)
  string(APPEND out _ranks)
endif()
set(out ${FOLDER}/${out})
file(REMOVE_RECURSE ${out})

function(train into)
  execute_process(COMMAND ${launcher} ${PROGRAM} ${ARGUMENTS} --epochs 3 --out ${out} ${ARGN}
    OUTPUT_VARIABLE text ERROR_VARIABLE errors RESULT_VARIABLE status)
  message("${text}${errors}")
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${NAME} ${ARGN} ended with status ${status}")
  endif()
  if(NOT text MATCHES "\n(test )?accuracy: 0\\.[0-9][0-9][0-9][0-9]\n$")
    message(FATAL_ERROR "${NAME} ${ARGN}: the last line is not the accuracy")
  endif()
  # Losses, accuracies and losses of the test, of each epoch, in units of 0.0001.
  string(REGEX MATCHALL "(loss|test) [01]\\.[0-9][0-9][0-9][0-9]" numbers "${text}")
  list(TRANSFORM numbers REPLACE "[a-z]+ ([01])\\.([0-9]+)" "1\\1\\2")
  set(${into} "${numbers}" PARENT_SCOPE)
  set(text "${text}" PARENT_SCOPE)
endfunction()

string(REGEX REPLACE ",.*|:all" "" first "$ENV{TUTTI_DEVICE}")
train(alone --device ${first})
separate_arguments(launcher UNIX_COMMAND "${LAUNCHER}")
train(together --parallel)
list(LENGTH alone count)
if(NOT count EQUAL 9)
  message(FATAL_ERROR "${count} numbers in the table, expected 9: ${alone}")
endif()
math(EXPR one "10000 / ${TEST} + 1")
set(allowed 2 ${one} 2)  # rounding of a loss; one item
if(LAUNCHER AND NOT text MATCHES "rank 0 [a-z]+:0, rank 1 [a-z]+:0")
  message(FATAL_ERROR "${NAME} --parallel does not name the devices of both ranks")
endif()
list(LENGTH together count)
if(NOT count EQUAL 9)
  message(FATAL_ERROR "${count} numbers in the table of --parallel, expected 9: ${together}")
endif()
foreach(i RANGE 8)
  list(GET alone ${i} a)
  list(GET together ${i} b)
  math(EXPR kind "${i} % 3")
  list(GET allowed ${kind} most)
  math(EXPR difference "${a} - ${b}")
  if(difference GREATER most OR difference LESS -${most})
    message(FATAL_ERROR "number ${i} of the table is ${a} alone and ${b} together")
  endif()
endforeach()

if(ABSENT AND EXISTS ${out}/${ABSENT})
  message(FATAL_ERROR "${out}/${ABSENT} was written")
endif()

execute_process(COMMAND ${PROGRAM} ${ARGUMENTS} --parallel --device ${first}
  OUTPUT_VARIABLE text ERROR_VARIABLE errors RESULT_VARIABLE status)
if(NOT status EQUAL 2 OR NOT errors MATCHES "^${NAME}: [^\n]*--parallel[^\n]*\n$")
  message(FATAL_ERROR "--parallel and --device: status ${status}, \"${errors}\"")
endif()
