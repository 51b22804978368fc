# SPDX-License-Identifier: Apache-2.0
# The installed package: headers, libraries, plugins in tutti/plugins, the tutti command, the plugin SDK, the
# documents, and the files for find_package(Tutti) and pkg-config. Each plugin installs itself
# (tutti_add_plugin).
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Tutti)
get_property(libraries GLOBAL PROPERTY TUTTI_LIBRARIES)
list(TRANSFORM libraries PREPEND tutti_ OUTPUT_VARIABLE library_targets)
install(TARGETS tutti ${library_targets} tutti_all tutti_plugin_header tutti_sdk tutti_host_engine
  EXPORT TuttiTargets
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/core/include/tutti
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h" PATTERN "*.def")
file(GLOB library_headers ${PROJECT_SOURCE_DIR}/libs/*/include/tutti)
install(DIRECTORY ${library_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.hpp")
install(CODE "set(source \"${PROJECT_SOURCE_DIR}\")
set(staging \"${PROJECT_BINARY_DIR}/sdk_headers\")
set(destination \"${CMAKE_INSTALL_INCLUDEDIR}/tutti\")")
install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/install_sdk.cmake)
install(EXPORT TuttiTargets NAMESPACE Tutti:: DESTINATION ${package_dir})

set(kernel_folder ${CMAKE_INSTALL_DATADIR}/tutti/kernels_cl)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/kernels_cl/ DESTINATION ${kernel_folder})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/TuttiConfig.cmake.in
  ${PROJECT_BINARY_DIR}/TuttiConfig.cmake INSTALL_DESTINATION ${package_dir}
  PATH_VARS kernel_folder)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/TuttiConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/TuttiConfig.cmake ${PROJECT_BINARY_DIR}/TuttiConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/TuttiPlugin.cmake ${PROJECT_SOURCE_DIR}/cmake/embed_text.cmake
  DESTINATION ${package_dir})

# Folders for pkg-config, relative to its files, so that the prefix can be moved.
set(pkg_config_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH up /${pkg_config_dir} /)
string(REGEX REPLACE "/$" "" up ${up})
foreach(name IN ITEMS tutti tutti-plugin tutti-plugin-sdk tutti-plugin-host-engine)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${pkg_config_dir})
endforeach()
foreach(name IN LISTS libraries)
  get_target_property(description tutti_${name} TUTTI_PC_DESCRIPTION)
  get_target_property(requires tutti_${name} TUTTI_PC_REQUIRES)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/tutti-library.pc.in
    ${PROJECT_BINARY_DIR}/tutti-${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/tutti-${name}.pc DESTINATION ${pkg_config_dir})
endforeach()

# The pages as in the source, whose links are relative.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR}
  FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.png")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md
  ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/CONTRIBUTING.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/samples/plugin_template
  DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
