# SPDX-License-Identifier: Apache-2.0
# Output folders, compiler settings and the helpers that the rooms of this project share, above all
# tutti_embed_text (files into a C++ source) and tutti_add_plugin (a backend library).

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

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(TUTTI_PLUGIN_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/tutti/plugins)

# Every target of the project links this one for warnings and sanitizers.
add_library(tutti_options INTERFACE)
target_compile_options(tutti_options INTERFACE
  $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>:-Wall -Wextra -Wshadow -Wnon-virtual-dtor>
  $<$<COMPILE_LANG_AND_ID:C,GNU,Clang>:-Wall -Wextra>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC bug 105651: a false alarm on "text" + std::string.
  target_compile_options(tutti_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
if(TUTTI_WERROR)
  target_compile_options(tutti_options INTERFACE -Werror)
endif()
if(TUTTI_SANITIZE)
  # Two thirds of the time that -O2 -g takes to compile, and the same findings.
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1 -DNDEBUG")
  set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O1 -g1 -DNDEBUG")
  target_compile_options(tutti_options INTERFACE
    -fsanitize=${TUTTI_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  target_link_options(tutti_options INTERFACE -fsanitize=${TUTTI_SANITIZE})
endif()

# tutti_embed_text(TARGET NAMESPACE FILE...): gives TARGET a header "embedded_NAMESPACE.hpp" that
# declares, for every FILE, a std::string_view tutti::NAMESPACE::<file name with _ for .>.
function(tutti_embed_text target namespace)
  set(header ${CMAKE_CURRENT_BINARY_DIR}/embedded_${namespace}.hpp)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/embedded_${namespace}.cpp)
  add_custom_command(
    OUTPUT ${header} ${source}
    COMMAND ${CMAKE_COMMAND} -DNAMESPACE=${namespace} -DHEADER=${header} -DSOURCE=${source}
            "-DFILES=${ARGN}" -P ${PROJECT_SOURCE_DIR}/cmake/embed_text.cmake
    DEPENDS ${ARGN} ${PROJECT_SOURCE_DIR}/cmake/embed_text.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${header} ${source})
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
endfunction()

# tutti_shared_math(OUTPUT [OLD NEW]): kernels_cl/math_shared.cl together with its twin for double,
# with OLD replaced by NEW.
set(TUTTI_SHARED_MATH ${PROJECT_SOURCE_DIR}/kernels_cl/math_shared.cl)
function(tutti_shared_math output)
  file(READ ${TUTTI_SHARED_MATH} single)
  string(REPLACE "c64" "c128" double "${single}")
  string(REPLACE "f32" "f64" double "${double}")
  string(REPLACE "float" "double" double "${double}")
  set(text "${single}${double}")
  if(ARGC GREATER 1)
    string(REPLACE "${ARGV1}" "${ARGV2}" text "${text}")
  endif()
  file(CONFIGURE OUTPUT ${output} CONTENT "${text}" @ONLY)
endfunction()

# tutti_join_text(OUTPUT FILE...): the text of the files one after the other.
function(tutti_join_text output)
  set(joined "")
  foreach(file IN LISTS ARGN)
    file(READ ${file} text)
    string(APPEND joined "${text}")
  endforeach()
  file(CONFIGURE OUTPUT ${output} CONTENT "${joined}" @ONLY)
endfunction()

# tutti_operator_kernels(FOLDER EXTENSION): the kernels of operators in one language, as FOLDER/NAME.
# EXTENSION for gather, lookup, partition, scan and sort: what kernels_cl/*_shared.cl says once for
# all, begun by language.EXTENSION and, where the language has one, ended by NAME_cpu.EXTENSION. Lists
# the results in TUTTI_OPERATOR_KERNELS and what they are made of in TUTTI_OPERATOR_KERNEL_PARTS.
function(tutti_operator_kernels folder extension)
  set(shared ${PROJECT_SOURCE_DIR}/kernels_cl)
  set(own ${PROJECT_SOURCE_DIR}/kernels_${extension})
  set(start_of_partition ordering)
  set(start_of_sort ordering)
  set(start_of_scan scan_steps)
  foreach(name IN ITEMS gather lookup partition scan sort)
    set(parts ${own}/language.${extension})
    if(DEFINED start_of_${name})
      list(APPEND parts ${shared}/${start_of_${name}}_shared.cl ${own}/before_me.${extension})
    endif()
    list(APPEND parts ${shared}/${name}_shared.cl)
    if(EXISTS ${own}/${name}_cpu.${extension})
      list(APPEND parts ${own}/${name}_cpu.${extension})
    endif()
    tutti_join_text(${folder}/${name}.${extension} ${parts})
    list(APPEND files ${folder}/${name}.${extension})
    list(APPEND all_parts ${parts})
  endforeach()
  list(REMOVE_DUPLICATES all_parts)
  set(TUTTI_OPERATOR_KERNELS ${files} PARENT_SCOPE)
  set(TUTTI_OPERATOR_KERNEL_PARTS ${all_parts} PARENT_SCOPE)
endfunction()

# tutti_install_manifest(NAME): writes the manifest of the plugin behind its installation. It is of
# the file as it is there, with another RPATH than in the build and perhaps without symbols.
function(tutti_install_manifest name)
  set(folder ${CMAKE_INSTALL_LIBDIR}/tutti/plugins)
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
    COMMAND \"${CMAKE_COMMAND}\" -E env TUTTI_PLUGIN_OWNER=any
      \"$<TARGET_FILE:tutti_command>\" sign \"${plugin}\"
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)")
endfunction()

# tutti_add_plugin(NAME SOURCE...): builds libtutti_NAME.so into the plugin folder and installs it,
# with its manifest.
function(tutti_add_plugin name)
  add_library(tutti_${name} MODULE ${ARGN})
  set_property(GLOBAL APPEND PROPERTY TUTTI_PLUGINS ${name}) # tests run once on each
  target_link_libraries(tutti_${name} PRIVATE tutti_options tutti_sdk)
  set_target_properties(tutti_${name} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${TUTTI_PLUGIN_OUTPUT_DIRECTORY})
  install(TARGETS tutti_${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tutti/plugins)
  tutti_install_manifest(${name})
endfunction()
