# SPDX-License-Identifier: Apache-2.0
# tutti_add_plugin, for the backends of this project and, installed, for those of others, and helpers for
# backends with kernels in a C-like language: tutti_operator_kernels and tutti_shared_math assemble kernels,
# tutti_embed_text embeds files in a C++ source. TUTTI_KERNEL_FOLDER contains the shared ones.

# tutti_add_plugin(NAME SOURCE...): the target tutti_NAME, which builds libtutti_NAME.so with the plugin SDK
# and installs it to tutti/plugins in the library folder. NAME is what users write in TUTTI_DEVICE. Outside of
# Tutti the file is written to the build folder of the project; create a manifest with `tutti sign` if
# required.
function(tutti_add_plugin name)
  if(NOT name MATCHES "^[a-z][a-z0-9_]*$")
    message(FATAL_ERROR "tutti_add_plugin(${name}): a name is a lower-case letter, then lower-case "
      "letters, digits and _")
  endif()
  if(NOT ARGN)
    message(FATAL_ERROR "tutti_add_plugin(${name}): no sources")
  endif()
  add_library(tutti_${name} MODULE ${ARGN})
  set_property(GLOBAL APPEND PROPERTY TUTTI_PLUGINS ${name}) # tests run once on each
  target_link_libraries(tutti_${name} PRIVATE Tutti::plugin_sdk)
  if(TARGET tutti_options)
    target_link_libraries(tutti_${name} PRIVATE tutti_options)
  endif()
  if(NOT TUTTI_PLUGIN_OUTPUT_DIRECTORY)
    set(TUTTI_PLUGIN_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  endif()
  # Only the entry point is visible: plugins that are loaded together share no symbols.
  set_target_properties(tutti_${name} PROPERTIES
    PREFIX lib
    LIBRARY_OUTPUT_DIRECTORY ${TUTTI_PLUGIN_OUTPUT_DIRECTORY}
    C_VISIBILITY_PRESET hidden
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  include(GNUInstallDirs)
  install(TARGETS tutti_${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tutti/plugins)
  if(COMMAND tutti_install_manifest)
    tutti_install_manifest(${name})
  endif()
endfunction()

# tutti_embed_text(TARGET NAMESPACE FILE...): adds a header "embedded_NAMESPACE.hpp" to TARGET that declares,
# for every FILE, a std::string_view tutti::NAMESPACE::<file name with _ for .>, and text_of(file name).
function(tutti_embed_text target namespace)
  set(header ${CMAKE_CURRENT_BINARY_DIR}/embedded_${namespace}.hpp)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/embedded_${namespace}.cpp)
  add_custom_command(
    OUTPUT ${header} ${source}
    COMMAND ${CMAKE_COMMAND} -DNAMESPACE=${namespace} -DHEADER=${header} -DSOURCE=${source}
            "-DFILES=${ARGN}" -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/embed_text.cmake
    DEPENDS ${ARGN} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/embed_text.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${header} ${source})
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
endfunction()

# tutti_shared_math(OUTPUT [OLD NEW]): kernels_cl/math_shared.cl together with its version for double, with
# OLD replaced by NEW.
set(TUTTI_SHARED_MATH ${TUTTI_KERNEL_FOLDER}/math_shared.cl)
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

# tutti_join_text(OUTPUT FILE...): concatenates the files and expands their includes from their own folders,
# because device programs cannot include files.
function(tutti_join_text output)
  set(joined "")
  foreach(file IN LISTS ARGN)
    file(READ ${file} text)
    get_filename_component(folder ${file} DIRECTORY)
    string(REGEX MATCHALL "#include \"[a-z0-9_.]+\"" includes "${text}")
    foreach(include IN LISTS includes)
      string(REGEX REPLACE "#include \"(.*)\"" "${folder}/\\1" included "${include}")
      if(EXISTS ${included})
        file(READ ${included} part)
        string(REPLACE "${include}" "${part}" text "${text}")
      endif()
    endforeach()
    string(APPEND joined "${text}")
  endforeach()
  file(CONFIGURE OUTPUT ${output} CONTENT "${joined}" @ONLY)
endfunction()

# tutti_operator_kernels(FOLDER EXTENSION): the kernels of operators in one language, as FOLDER/NAME.EXTENSION
# for every NAME of TUTTI_OPERATOR_KERNEL_NAMES: the text of kernels_cl/NAME_shared.cl,
# preceded by language.EXTENSION and, if the language has them, NAME_math_cpu.EXTENSION, followed by
# NAME_cpu.EXTENSION, NAME_sums_cpu.EXTENSION and NAME_lines_cpu.EXTENSION. These files are in the project's
# folder kernels_EXTENSION. Lists the results in TUTTI_OPERATOR_KERNELS and their inputs in
# TUTTI_OPERATOR_KERNEL_PARTS.
file(GLOB TUTTI_SHARED_FILES CONFIGURE_DEPENDS ${TUTTI_KERNEL_FOLDER}/*_shared.cl)
set(TUTTI_OPERATOR_KERNEL_NAMES "") # of the shared files that have kernels
foreach(TUTTI_SHARED_FILE IN LISTS TUTTI_SHARED_FILES)
  file(STRINGS ${TUTTI_SHARED_FILE} TUTTI_SHARED_KERNELS REGEX "^KERNEL void")
  if(TUTTI_SHARED_KERNELS AND TUTTI_SHARED_FILE MATCHES "([a-z_]+)_shared.cl$")
    list(APPEND TUTTI_OPERATOR_KERNEL_NAMES ${CMAKE_MATCH_1})
  endif()
endforeach()
function(tutti_operator_kernels folder extension)
  set(shared ${TUTTI_KERNEL_FOLDER})
  set(own ${PROJECT_SOURCE_DIR}/kernels_${extension})
  set(start_of_partition ordering)
  set(start_of_sort ordering)
  set(start_of_scan scan_steps)
  foreach(name IN LISTS TUTTI_OPERATOR_KERNEL_NAMES)
    set(parts ${own}/language.${extension})
    if(EXISTS ${own}/${name}_math_cpu.${extension})
      list(APPEND parts ${own}/${name}_math_cpu.${extension})
    endif()
    if(DEFINED start_of_${name})
      list(APPEND parts ${shared}/${start_of_${name}}_shared.cl ${own}/exclusive_scan.${extension})
    endif()
    list(APPEND parts ${shared}/${name}_shared.cl)
    foreach(part IN ITEMS ${name}_cpu ${name}_sums_cpu ${name}_lines_cpu)
      if(EXISTS ${own}/${part}.${extension})
        list(APPEND parts ${own}/${part}.${extension})
      endif()
    endforeach()
    tutti_join_text(${folder}/${name}.${extension} ${parts})
    list(APPEND files ${folder}/${name}.${extension})
    list(APPEND all_parts ${parts})
  endforeach()
  list(REMOVE_DUPLICATES all_parts)
  set(TUTTI_OPERATOR_KERNELS ${files} PARENT_SCOPE)
  set(TUTTI_OPERATOR_KERNEL_PARTS ${all_parts} PARENT_SCOPE)
endfunction()
