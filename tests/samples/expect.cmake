# SPDX-License-Identifier: Apache-2.0
# For scripts that run PROGRAM, a sample, and look at what it prints.
get_filename_component(NAME ${PROGRAM} NAME)

# expect_success(VARIABLE ARGUMENT...): status 0; what it printed goes to VARIABLE.
function(expect_success into)
  execute_process(COMMAND ${PROGRAM} ${ARGN}
    OUTPUT_VARIABLE text ERROR_VARIABLE errors RESULT_VARIABLE status)
  message("${text}${errors}")
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${NAME} ${ARGN} ended with status ${status}")
  endif()
  set(${into} "${text}" PARENT_SCOPE)
endfunction()

# expect_failure(STATUS TEXT ARGUMENT...): that status, and one line with TEXT, a regular expression.
function(expect_failure expected what)
  execute_process(COMMAND ${PROGRAM} ${ARGN}
    OUTPUT_VARIABLE text ERROR_VARIABLE errors RESULT_VARIABLE status)
  if(NOT status EQUAL expected OR NOT text STREQUAL "" OR NOT errors MATCHES "^${NAME}: [^\n]+\n$"
     OR NOT errors MATCHES "${what}")
    message(FATAL_ERROR "${NAME} ${ARGN}: status ${status}, expected ${expected}, and one line with "
      "\"${what}\"; got \"${text}\" and \"${errors}\"")
  endif()
endfunction()
