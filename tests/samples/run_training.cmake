# SPDX-License-Identifier: Apache-2.0
# Runs PROGRAM, NAME, a sample that trains a classifier, with ARGUMENTS and results in OUT: it must reach ACCURACY,
# leave a report, tell its results as JSON, end where it would have ended when it is killed on the way and
# resumed, and meet bad input with one line and status 1 or 2. EXAMPLE: a file for `predict`.
file(REMOVE_RECURSE ${OUT})
separate_arguments(ARGUMENTS)
set(ENV{TUTTI_DATA})

# run(STATUS argument...): the output is in `text`, what it complained about in `errors`.
function(run wanted)
  execute_process(COMMAND ${PROGRAM} ${ARGN}
    OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE status)
  if(NOT status STREQUAL wanted)
    message(FATAL_ERROR "${NAME} ${ARGN} ended with ${status}, not ${wanted}:\n${out}${err}")
  endif()
  set(text "${out}" PARENT_SCOPE)
  set(errors "${err}" PARENT_SCOPE)
endfunction()

run(0 ${ARGUMENTS} --out ${OUT}/straight)
message("${text}")
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
run(0 ${ARGUMENTS} --out ${OUT}/resumed --resume --json)
message("killed: ${status}; resumed: ${text}")
string(JSON accuracy ERROR_VARIABLE problem GET "${text}" test_accuracy)
if(problem OR accuracy LESS ACCURACY)
  message(FATAL_ERROR "--json gave ${problem} ${text}")
endif()
file(SHA256 ${OUT}/straight/weights.safetensors straight)
file(SHA256 ${OUT}/resumed/weights.safetensors resumed)
if(NOT straight STREQUAL resumed)
  message(FATAL_ERROR "the resumed run ended with other weights")
endif()

# complains(STATUS TEXT argument...): one line with TEXT.
function(complains wanted words)
  run(${wanted} ${ARGN})
  if(NOT errors MATCHES "^${NAME}: [^\n]*${words}[^\n]*\n$")
    message(FATAL_ERROR "${NAME} ${ARGN} should complain about ${words}, and said:\n${errors}")
  endif()
endfunction()
complains(2 "epochs" --epochs 0)
complains(1 "nowhere" --device nowhere --out ${OUT}/bad)
complains(1 "missing" --data ${OUT}/missing --out ${OUT}/bad)
file(WRITE ${OUT}/file "no folder")
complains(1 "file" ${ARGUMENTS} --out ${OUT}/file)
if(EXAMPLE)
  run(0 predict ${EXAMPLE} --out ${OUT}/straight)
  message("${text}")
  if(NOT text MATCHES ": [0-9] [01]\\.[0-9][0-9] \\(")
    message(FATAL_ERROR "predict said ${text}")
  endif()
  complains(1 "weights" predict ${EXAMPLE} --out ${OUT}/missing)
  complains(2 "no_file" predict ${OUT}/no_file --out ${OUT}/straight)
  complains(1 "file" predict ${OUT}/file --out ${OUT}/straight)
endif()
