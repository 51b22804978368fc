# SPDX-License-Identifier: Apache-2.0
# cmake -DTUTTI=... -P: without a driver the plugin loads, `tutti doctor` says what is missing and
# what to do and finds no problem, and the automatic choice goes on to another backend.
execute_process(COMMAND ${TUTTI} doctor OUTPUT_VARIABLE text RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "tutti doctor: exit status ${status}\n${text}")
endif()
foreach(part IN ITEMS "ok +cuda: version" "note +cuda: [^\n]*no NVIDIA driver[^\n]*install its driver"
        "selection\n +ok [^\n]*auto[^\n]*(cpu|opencl|reference):")
  if(NOT text MATCHES "${part}")
    message(FATAL_ERROR "tutti doctor does not say \"${part}\":\n${text}")
  endif()
endforeach()
