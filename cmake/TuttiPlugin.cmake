# SPDX-License-Identifier: Apache-2.0
# tutti_add_plugin, for the backends of this project and, installed, for those of others.

# tutti_add_plugin(NAME SOURCE...): the target tutti_NAME, which builds libtutti_NAME.so with the
# plugin SDK in it and installs it to tutti/plugins below the library folder. NAME is what users write
# in TUTTI_DEVICE. Outside Tutti the file lies in the folder of the project's build.
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
  # Only the entry is seen from outside: plugins that are loaded beside each other share no symbols.
  set_target_properties(tutti_${name} PROPERTIES
    PREFIX lib
    LIBRARY_OUTPUT_DIRECTORY ${TUTTI_PLUGIN_OUTPUT_DIRECTORY}
    C_VISIBILITY_PRESET hidden
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  include(GNUInstallDirs)
  install(TARGETS tutti_${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tutti/plugins)
endfunction()
