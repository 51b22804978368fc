# SPDX-License-Identifier: Apache-2.0
# Script mode: compiles with what pkg-config says of a Tutti installed in PREFIX, and with nothing
# else: an application in C++ (CXX), a user of plugin.h in C (CC), and the plugin template (TEMPLATE)
# by the SDK. SOURCE is tests/package, FOLDER takes the results, LIBDIR is relative to PREFIX.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
set(ENV{PKG_CONFIG_PATH} ${PREFIX}/${LIBDIR}/pkgconfig)

# flags_of(PACKAGES): in the list `flags`.
function(flags_of packages)
  execute_process(COMMAND ${PKG_CONFIG} --cflags --libs ${packages}
    OUTPUT_VARIABLE text OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  message("${packages}: ${text}")
  separate_arguments(words UNIX_COMMAND "${text}")
  set(flags ${words} PARENT_SCOPE)
endfunction()

flags_of(tutti)
execute_process(COMMAND ${CXX} -std=c++20 ${SOURCE}/consumer/main.cpp -o ${FOLDER}/consumer ${flags}
  COMMAND_ERROR_IS_FATAL ANY)
set(ENV{LD_LIBRARY_PATH} ${PREFIX}/${LIBDIR})
execute_process(COMMAND ${FOLDER}/consumer OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
if(NOT text STREQUAL "reference:0 sum 45\n")
  message(FATAL_ERROR "the consumer prints ${text}")
endif()
flags_of("tutti-nn;tutti-data")
execute_process(COMMAND ${CXX} -std=c++20 ${SOURCE}/consumer/network.cpp -o ${FOLDER}/network ${flags}
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${FOLDER}/network WORKING_DIRECTORY ${FOLDER} OUTPUT_VARIABLE text
  COMMAND_ERROR_IS_FATAL ANY)
if(NOT text STREQUAL "23 numbers\n")
  message(FATAL_ERROR "the network prints ${text}")
endif()
unset(ENV{LD_LIBRARY_PATH})

flags_of(tutti-plugin)
if(flags MATCHES "-l")
  message(FATAL_ERROR "tutti-plugin links something: ${flags}")
endif()
execute_process(COMMAND ${CC} -std=c99 ${SOURCE}/plugin_header/main.c -o ${FOLDER}/plugin_header
  ${flags} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${FOLDER}/plugin_header COMMAND_ERROR_IS_FATAL ANY)

flags_of(tutti-plugin-host-engine)
file(GLOB sources ${TEMPLATE}/*.cpp)
execute_process(COMMAND ${CXX} -std=c++20 -O1 -shared -fPIC -fvisibility=hidden -Wl,--no-undefined
  ${sources} -o ${FOLDER}/libtutti_threads.so ${flags} COMMAND_ERROR_IS_FATAL ANY)
set(ENV{TUTTI_PLUGIN_PATH} ${FOLDER})
set(ENV{TUTTI_DEVICE} threads)
set(ENV{LD_LIBRARY_PATH} ${PREFIX}/${LIBDIR})
execute_process(COMMAND ${FOLDER}/consumer OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
if(NOT text STREQUAL "threads:0 sum 45\n")
  message(FATAL_ERROR "with the template the consumer prints ${text}")
endif()
