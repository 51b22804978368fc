# SPDX-License-Identifier: Apache-2.0
# cmake -DREADELF=... -DPLUGIN=... -P: fails where the plugin needs a library of CUDA at load time.
execute_process(COMMAND ${READELF} -d ${PLUGIN} OUTPUT_VARIABLE text RESULT_VARIABLE status)
if(NOT status EQUAL 0 OR NOT text MATCHES "NEEDED.*libc\\.so")
  message(FATAL_ERROR "readelf -d ${PLUGIN} shows no needed library:\n${text}")
endif()
if(text MATCHES "lib(cuda|cudart|cublas|cublasLt|nvrtc|nvJitLink|nccl)[^a-zA-Z]")
  message(FATAL_ERROR "${PLUGIN} must find CUDA at run time, but needs ${CMAKE_MATCH_0}\n${text}")
endif()
