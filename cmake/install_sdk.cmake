# SPDX-License-Identifier: Apache-2.0
# Part of the installation: the headers of the plugin SDK, and those of core/semantics and core/base that they
# include, as tutti/sdk/... Their include directives are adapted, so that their names cannot clash with those
# of other projects. Parameters: `source`, `staging` and `destination`, which is relative to the prefix.
file(REMOVE_RECURSE ${staging})
file(GLOB_RECURSE headers RELATIVE ${source}/plugins ${source}/plugins/sdk/*.hpp)
list(REMOVE_ITEM headers sdk/renderer_internal.hpp)
# The part of the host engine, a separate library, that backends use.
list(FILTER headers EXCLUDE REGEX "^sdk/host_engine/")
list(APPEND headers sdk/host_engine/host_engine.hpp sdk/host_engine/host_operators.hpp
  sdk/host_engine/on_buffers.hpp sdk/host_engine/host_cost.hpp)
file(GLOB semantics RELATIVE ${source}/core ${source}/core/semantics/*.hpp)
foreach(header IN LISTS headers semantics ITEMS base/signals.hpp)
  if(header MATCHES "^sdk/")
    file(READ ${source}/plugins/${header} text)
    set(installed ${header})
  else()
    file(READ ${source}/core/${header} text)
    set(installed sdk/${header})
  endif()
  string(REPLACE "#include \"sdk/" "#include \"tutti/sdk/" text "${text}")
  string(REGEX REPLACE "#include \"(semantics|base)/" "#include \"tutti/sdk/\\1/" text "${text}")
  file(WRITE ${staging}/${installed} "${text}")
endforeach()
cmake_path(ABSOLUTE_PATH destination BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX})
file(INSTALL DESTINATION ${destination} TYPE DIRECTORY
  FILES ${staging}/sdk)
