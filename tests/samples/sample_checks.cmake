# SPDX-License-Identifier: Apache-2.0
# For scripts that run PROGRAM, a sample that computes, with results in OUT: runs with --json and holds
# numbers against bounds; wrong input must end in one line and status 1 or 2.
include(${CMAKE_CURRENT_LIST_DIR}/expect.cmake)
file(REMOVE_RECURSE ${OUT})
file(MAKE_DIRECTORY ${OUT})
file(WRITE ${OUT}/file "")

# run_sample(ARGUMENT...): sets JSON to what it prints.
macro(run_sample)
  execute_process(COMMAND ${PROGRAM} --json ${ARGN}
    OUTPUT_VARIABLE JSON ERROR_VARIABLE errors RESULT_VARIABLE status)
  message("${JSON}${errors}")
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${NAME} ${ARGN} ended with status ${status}")
  endif()
endmacro()

# value_of(VARIABLE KEY...)
function(value_of variable)
  string(JSON value GET "${JSON}" ${ARGN})
  set(${variable} "${value}" PARENT_SCOPE)
endfunction()

# expect_between(LOW HIGH KEY...)
function(expect_between low high)
  value_of(value ${ARGN})
  if(value STREQUAL "" OR value LESS low OR value GREATER high)
    message(FATAL_ERROR "${NAME}: ${ARGN} is \"${value}\", expected ${low} to ${high}")
  endif()
endfunction()

function(expect_files)
  foreach(file IN LISTS ARGN)
    if(NOT EXISTS ${OUT}/${file})
      message(FATAL_ERROR "${NAME}: ${file} was not written")
    endif()
  endforeach()
endfunction()

expect_failure(2 "--no-such-option" --no-such-option)
expect_failure(1 "no_such_backend" --device no_such_backend)
