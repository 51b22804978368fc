# SPDX-License-Identifier: Apache-2.0
# Output folders and compiler settings, and the helpers of TuttiPlugin.cmake, which are also installed.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 99)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# Code that gains from -O3 asks for it (the host engine); elsewhere it only slows down compilation.
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(TUTTI_PLUGIN_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/tutti/plugins)

# Every target of the project links tutti_options, for warnings and sanitizers, or tutti_warnings.
add_library(tutti_warnings INTERFACE)
target_compile_options(tutti_warnings INTERFACE
  $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>:-Wall -Wextra -Wnon-virtual-dtor>
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wshadow=local>
  $<$<COMPILE_LANG_AND_ID:C,GNU,Clang>:-Wall -Wextra>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC bug 105651 and similar: false alarms on "text" + std::string, and more of them with precompiled
  # headers and larger units.
  target_compile_options(tutti_warnings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict;-Wno-array-bounds;-Wno-stringop-overflow>)
endif()
if(TUTTI_UNITS)
  # File-local names are visible to the other files of a unit.
  target_compile_options(tutti_warnings INTERFACE
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endif()
if(TUTTI_WERROR)
  target_compile_options(tutti_warnings INTERFACE -Werror)
endif()
add_library(tutti_options INTERFACE)
target_link_libraries(tutti_options INTERFACE tutti_warnings)
if(TUTTI_SANITIZE)
  # Compiles in half the time of -O2 -g, with the same findings.
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-Og -g1 -DNDEBUG")
  set(CMAKE_C_FLAGS_RELWITHDEBINFO "-Og -g1 -DNDEBUG")
  target_compile_options(tutti_options INTERFACE
    -fsanitize=${TUTTI_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  target_link_options(tutti_options INTERFACE -fsanitize=${TUTTI_SANITIZE})
endif()

set(TUTTI_KERNEL_FOLDER ${PROJECT_SOURCE_DIR}/kernels_cl)
include(${CMAKE_CURRENT_LIST_DIR}/TuttiPlugin.cmake)

# tutti_install_manifest(NAME [FOLDER]): writes the manifest of the plugin after its installation, for the installed
# file, whose RPATH differs from that of the build and which may be stripped.
function(tutti_install_manifest name)
  set(folder ${CMAKE_INSTALL_LIBDIR}/tutti/plugins/${ARGN})
  if(NOT IS_ABSOLUTE ${folder})
    string(PREPEND folder "\${CMAKE_INSTALL_PREFIX}/")
  endif()
  set(plugin "\$ENV{DESTDIR}${folder}/$<TARGET_FILE_NAME:tutti_${name}>")
  if(CMAKE_CROSSCOMPILING)
    install(CODE "file(REMOVE \"${plugin}.json\")
      message(STATUS \"No manifest: run tutti sign on ${plugin} where that runs\")")
    return()
  endif()
  install(CODE "execute_process(
    COMMAND \"${CMAKE_COMMAND}\" -E env TUTTI_PLUGIN_TRUST=any
      \"$<TARGET_FILE:tutti_command>\" sign \"${plugin}\"
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)")
endfunction()
