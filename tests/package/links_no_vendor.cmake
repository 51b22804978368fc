# SPDX-License-Identifier: Apache-2.0
# Script mode: fails where LIBRARY names a vendor's library among those it needs.
execute_process(COMMAND ${READELF} -d ${LIBRARY} OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "NEEDED[^\n]*" needed "${dynamic}")
if(NOT needed MATCHES "libc\\.so|libstdc\\+\\+")
  message(FATAL_ERROR "${LIBRARY}: no list of needed libraries in\n${dynamic}")
endif()
list(JOIN needed "\n" needed)
message("${needed}")
string(TOLOWER "${needed}" needed)
if(needed MATCHES "opencl|pocl|clblast|cuda|cublas|nvrtc|nccl|libhip|rocm|libze_|libmpi")
  message(FATAL_ERROR "${LIBRARY} links a vendor's library: ${CMAKE_MATCH_0}")
endif()
